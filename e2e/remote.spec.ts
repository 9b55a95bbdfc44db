import { readFile } from 'node:fs/promises';
import { type Browser, chromium, type Download, expect, type Locator, type Page, test as plain } from '@playwright/test';
import { z } from 'zod';
import { expectAccessible, expectAccessibleOnPhone, expectNothingCutOff, openSignedIn, test } from './palisade.ts';
import { nestedZip } from './samples.ts';

/** Chromium answers its own picker: with this very tab, which is a picture like any other. */
const SHARES = ['--auto-accept-this-tab-capture'];
const REFUSES = ['--use-fake-ui-for-media-stream=deny'];

const banner = (page: Page) => page.getByRole('region', { name: 'Open session' });
const sharing = (page: Page) => page.getByRole('region', { name: 'Screen sharing' });
const workspace = (page: Page) => page.getByRole('region', { name: /^Session with / });
const picture = (page: Page) => page.getByLabel('The screen of maria');

/** A browser of the customer's own, whose picker answers as its flags say. */
async function startCustomer(flags: readonly string[]): Promise<Browser> {
  const { launchOptions } = plain.info().project.use;
  return await chromium.launch({ ...launchOptions, args: [...(launchOptions?.args ?? []), ...flags] });
}

/** A customer with a code, and a technician in the portal. */
async function meet(technician: Page, browser: Browser, baseURL: string): Promise<{ customer: Page; code: string }> {
  // The first account of an installation administers it, and so is of its staff.
  await openSignedIn(technician, 'tina');
  const customer = await (await browser.newContext({ baseURL, viewport: { width: 1280, height: 800 } })).newPage();
  await openSignedIn(customer, 'maria');
  const headers = { authorization: `Bearer ${await customer.evaluate(() => localStorage.getItem('palisade.access_token'))}` };
  const created = await customer.request.post('/api/remote/session', { headers });
  const { session_code } = z.object({ session_code: z.string() }).parse(await created.json());
  await customer.goto('/remote');
  await expect(banner(customer).getByText(session_code)).toBeVisible();
  await technician.goto('/portal');
  await technician.getByLabel('Session code').fill(session_code);
  await technician.getByRole('button', { name: 'Join' }).click();
  await expect(customer.getByRole('heading', { name: 'tina has joined your session' })).toBeVisible();
  return { customer, code: session_code };
}

/** Our own page stands in for whatever a customer shows: the one that Chromium gives without asking is the tab itself. */
async function shareOwnTab(page: Page): Promise<void> {
  await page.addInitScript(() => {
    const { mediaDevices } = navigator;
    const real = mediaDevices.getDisplayMedia.bind(mediaDevices);
    mediaDevices.getDisplayMedia = (options) =>
      real({ ...options, ...{ selfBrowserSurface: 'include', preferCurrentTab: true } });
  });
}

/** Sixteen blocks and two that frame them, white for 1, drawn anew with each frame: the time in ms, its lowest 16 bits. */
async function drawClock(page: Page): Promise<void> {
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
  await page.evaluate(() => {
    const clock = Object.assign(document.createElement('canvas'), { width: 18, height: 1 });
    Object.assign(clock.style, {
      position: 'fixed',
      inset: '0 0 auto 0',
      width: '100vw',
      height: '60px',
      zIndex: '99',
      imageRendering: 'pixelated',
      pointerEvents: 'none',
    });
    document.querySelector('main')?.append(clock);
    const context = clock.getContext('2d');
    const draw = () => {
      const now = Date.now() & 0xffff;
      for (let bit = 0; bit < 18; bit += 1) {
        const isOn = bit === 0 || (bit < 17 && ((now >> (bit - 1)) & 1) === 1);
        if (!context) return;
        context.fillStyle = isOn ? '#fff' : '#000';
        context.fillRect(bit, 0, 1, 1);
      }
      requestAnimationFrame(draw);
    };
    draw();
  });
}

/** What the technician's page shows just now: the age of the clock in its pixels, in ms, or what else is there. */
async function readClock(video: Locator): Promise<number | 'no clock' | 'black' | 'nothing'> {
  return await video.evaluate((element) => {
    if (!(element instanceof HTMLVideoElement) || element.videoWidth === 0) return 'nothing';
    const now = Date.now() & 0xffff;
    const { videoWidth: width, videoHeight: height } = element;
    const context = Object.assign(document.createElement('canvas'), { width, height }).getContext('2d');
    if (!context) return 'nothing';
    context.drawImage(element, 0, 0);
    const { data } = context.getImageData(0, 0, width, height);
    if (data.every((value, index) => index % 4 === 3 || value < 20)) return 'black';
    const y = Math.round((30 / 800) * height);
    const bits = Array.from(
      { length: 18 },
      (_, bit) => (data[(y * width + Math.round(((bit + 0.5) / 18) * width)) * 4] ?? 0) > 127,
    );
    if (bits[0] !== true || bits[17] !== false) return 'no clock';
    const shown = bits.slice(1, 17).reduce((sum, isOn, bit) => sum + (isOn ? 2 ** bit : 0), 0);
    return (now - shown + 0x10000) & 0xffff;
  });
}

async function bytesOf(saved: Download): Promise<Buffer> {
  return await readFile(await saved.path());
}

const textOf = async (saved: Download) => (await bytesOf(saved)).toString();

test('a customer approves, shows a screen, pauses and stops, and the technician sees just that', async ({ page, server }) => {
  test.slow();
  const browser = await startCustomer(SHARES);
  const { customer, code } = await meet(page, browser, server.url);
  await shareOwnTab(customer);
  await customer.reload();

  // Nothing is shown before the customer has said yes to this technician.
  await expect(customer.getByRole('heading', { name: 'tina has joined your session' })).toBeVisible();
  await expect(banner(customer)).toContainText('On its staff since');
  await expect(workspace(page).getByText('Waiting for maria to approve')).toBeVisible();
  await expect(picture(page)).toHaveCount(0);
  await drawClock(customer);
  await banner(customer).getByRole('button', { name: 'Approve', exact: true }).click();
  await expect(sharing(customer)).toContainText('tina sees what you share.');

  // A real picture: the clock that is drawn there is read from the pixels here, and it goes on.
  await expect(picture(page)).toBeVisible();
  await expect.poll(() => readClock(picture(page))).toEqual(expect.any(Number));
  const ages: number[] = [];
  await expect(async () => {
    const age = await readClock(picture(page));
    if (typeof age === 'number') ages.push(age);
    expect(ages.length).toBeGreaterThanOrEqual(15);
  }).toPass({ intervals: [40] });
  const sorted = ages.toSorted((one, other) => one - other);
  console.log(
    `glass to glass: p50 ${sorted[Math.floor(sorted.length / 2)]} ms, most ${sorted.at(-1)} ms, ${sorted.length} readings`,
  );
  expect(sorted[0]).toBeLessThan(10_000);
  await expect(workspace(page).locator('.workspace__quality')).toContainText(/frames?\/s, .*direct, \d+ × \d+/);

  // Both read the same code.
  const codeOf = (side: Page) => side.locator('.code-line__code').textContent();
  await expect.poll(() => codeOf(page)).toMatch(/^[A-Z2-9]{4} [A-Z2-9]{4}$/);
  expect(await codeOf(customer)).toBe(await codeOf(page));

  // The pointer is where it was meant, as a share of the picture, and a line stays until it is wiped away.
  const box = await picture(page).boundingBox();
  if (!box) throw new Error('The picture has no place.');
  const at = (x: number, y: number) => page.mouse.move(box.x + box.width * x, box.y + box.height * y);
  const pointer = customer.locator('.picture__pointer');
  await expect(async () => {
    await at(0.5, 0.5);
    await at(0.25, 0.6);
    const style = await pointer.evaluate((element) => [element.style.left, element.style.top].map(Number.parseFloat), undefined, {
      timeout: 500,
    });
    expect(style[0]).toBeCloseTo(25, 0);
    expect(style[1]).toBeCloseTo(60, 0);
  }).toPass();
  await page.getByRole('button', { name: 'Draw', exact: true }).click();
  await at(0.4, 0.4);
  await page.mouse.down();
  await at(0.5, 0.5);
  await at(0.6, 0.4);
  await page.mouse.up();
  const line = customer.locator('.picture__marks path');
  await expect(line).toHaveAttribute('d', /^M0\.4\d*,? ?0\.[34]\d*L/);
  await page.getByRole('button', { name: 'Wipe the drawing' }).click();
  await expect(line).toHaveCount(0);

  // Beside the picture they write to each other.
  await workspace(page).getByRole('textbox', { name: 'Message' }).fill('Press the button that I have marked.');
  await page.keyboard.press('Enter');
  await expect(customer.getByRole('log', { name: 'Messages of the session' })).toContainText(
    'Press the button that I have marked.',
  );

  // Paused, by key: black, and not a picture that stands still.
  await customer.keyboard.press('Alt+Shift+P');
  await expect(sharing(customer)).toContainText('tina sees black.');
  await expect(workspace(page).getByText(/has paused/)).toBeVisible();
  await expect.poll(() => readClock(picture(page))).toBe('black');
  await sharing(customer).getByRole('button', { name: 'Show again' }).click();
  await expect.poll(() => readClock(picture(page))).toEqual(expect.any(Number));

  // On every other screen the banner stays, and so does the picture.
  await customer.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Firewall' }).click();
  await expect(sharing(customer)).toContainText('tina sees what you share.');
  await expect(picture(page)).toBeVisible();

  // Stop: dead at once, for the technician too, whatever the server says later.
  const track = await picture(page).evaluateHandle((element) =>
    element instanceof HTMLVideoElement && element.srcObject instanceof MediaStream
      ? element.srcObject.getVideoTracks()[0]
      : undefined,
  );
  await sharing(customer).getByRole('button', { name: 'Stop', exact: true }).click();
  await expect.poll(() => track.evaluate((held) => held?.readyState)).toBe('ended');
  await expect(picture(page)).toHaveCount(0);
  await expect(sharing(customer)).toHaveCount(0);
  await expect(page.getByRole('region', { name: 'Joined sessions' })).toContainText('Ended by the customer');

  // Afterwards the customer says how it was, and reads what was recorded.
  await customer.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Remote Access' }).click();
  await expect(customer.getByText('Your session with tina is over')).toBeVisible();
  await customer.getByRole('radio', { name: '5 of 5: Very good' }).check({ force: true });
  await customer.getByRole('button', { name: 'Send rating' }).click();
  await expect(customer.getByText('You rated this help 5 of 5: very good.')).toBeVisible();
  await customer.getByRole('button', { name: 'What was recorded' }).click();
  const dialog = customer.getByRole('dialog', { name: `Session ${code}` });
  await expect(dialog.getByRole('list', { name: 'What was recorded' })).toContainText('Remote session approved');
  const saved = customer.waitForEvent('download');
  await dialog.getByRole('button', { name: 'Save the record as CSV' }).click();
  expect((await saved).suggestedFilename()).toBe(`remote-session-${code}.csv`);
  await expectAccessible(customer);
  await browser.close();
});

test('a picker that is refused leaves the technician waiting, and a page that is loaded again shares again', async ({
  page,
  server,
}) => {
  test.slow();
  const refusing = await startCustomer(REFUSES);
  const { customer: first } = await meet(page, refusing, server.url);
  await banner(first).getByRole('button', { name: 'Approve', exact: true }).click();
  await expect(banner(first).getByRole('alert')).toContainText('Press Approve to try again.');
  await expect(workspace(page).getByText('Waiting for maria to approve')).toBeVisible();
  await expectAccessible(first);
  await expectNothingCutOff(first);
  const stored = await first.context().storageState();
  await refusing.close();

  // The same person in a browser that shares.
  const browser = await startCustomer(SHARES);
  const context = await browser.newContext({ baseURL: server.url, viewport: { width: 1280, height: 800 }, storageState: stored });
  const customer = await context.newPage();
  await shareOwnTab(customer);
  await customer.goto('/remote');
  await drawClock(customer);
  await banner(customer).getByRole('button', { name: 'Approve', exact: true }).click();
  await expect.poll(() => readClock(picture(page))).toEqual(expect.any(Number));
  await expectAccessible(customer);
  await expectNothingCutOff(customer);
  await expectAccessible(page);
  await expectAccessibleOnPhone(page);
  await expectNothingCutOff(page);

  // A small window that stays on top has the picture, Pause and Stop, where the browser has such windows.
  await customer.getByRole('button', { name: 'Small window' }).click();
  const inSmall = () => customer.evaluate<string>('window.documentPictureInPicture.window?.document.body.innerText ?? ""');
  await expect.poll(inSmall).toMatch(/Pause\s+Stop/);

  await customer.reload();
  await expect(customer.getByRole('button', { name: 'Share again' })).toBeVisible();
  await expect(picture(page)).toHaveCount(0);
  await drawClock(customer);
  await customer.getByRole('button', { name: 'Share again' }).click();
  await expect.poll(() => readClock(picture(page))).toEqual(expect.any(Number));

  // The technician's page is gone and comes back: the customer is told, and the picture too.
  await page.goto('/dashboard');
  await expect(customer.getByText(/tina is not there just now/)).toBeVisible();
  await page.goto('/portal');
  await expect.poll(() => readClock(picture(page))).toEqual(expect.any(Number));
  await workspace(page).getByRole('button', { name: 'End session' }).click();
  await expect(customer.getByText('Your session with tina is over')).toBeVisible();
  await expect(sharing(customer)).toHaveCount(0);
  await browser.close();
});

test('files go both ways through the scanner, a recording takes a yes, and every screen says that a session runs', async ({
  page,
  server,
}) => {
  test.slow();
  const browser = await startCustomer(SHARES);
  const { customer } = await meet(page, browser, server.url);

  // On another screen of another tab they are asked as well.
  const elsewhere = await customer.context().newPage();
  const notice = elsewhere.getByRole('region', { name: 'Remote session' });
  await elsewhere.goto('/firewall');
  await expect(notice.getByRole('alert')).toContainText('tina asks to see your screen.', { timeout: 15_000 });
  await expect(notice.getByRole('link', { name: 'Look and answer' })).toHaveAttribute('href', '/remote');
  await expectAccessible(elsewhere);

  await shareOwnTab(customer);
  await customer.reload();
  await drawClock(customer);
  await banner(customer).getByRole('button', { name: 'Approve', exact: true }).click();
  await expect(picture(page)).toBeVisible({ timeout: 15_000 });
  await expect(notice).toContainText('They see what you share in another window', { timeout: 15_000 });

  // Nothing is sent until the customer allows it, which the technician asks for.
  const [hers, theirs] = [customer, page].map((side) => side.getByRole('region', { name: 'Files', exact: true }));
  if (!hers || !theirs) throw new Error('There are two sides.');
  await workspace(page).getByRole('button', { name: 'Files', exact: true }).click();
  await expect(theirs.getByRole('button', { name: 'Send a file' })).toHaveCount(0);
  await theirs.getByRole('button', { name: 'Ask to exchange files' }).click();
  await expect(hers.getByRole('alert')).toContainText('tina asks to exchange files with you.');
  await hers.getByRole('button', { name: 'Allow files' }).click();
  const clean = { name: 'settings.txt', mimeType: 'text/plain', buffer: Buffer.from('color = green') };
  for (const [from, to] of [
    [theirs, hers],
    [hers, theirs],
  ] as const) {
    const bad = (side: Locator) => side.getByRole('listitem').filter({ hasText: nestedZip.name });
    const before = await bad(to).count();
    await from.getByLabel('Files to send').setInputFiles([nestedZip, clean]);
    for (const side of [from, to]) {
      await expect(bad(side)).toHaveCount(before + 1, { timeout: 15_000 });
      await expect(bad(side).last()).toContainText('Infected (EICAR-Test-File): it did not arrive', { timeout: 30_000 });
      await expect(bad(side).getByRole('button', { name: /^Download/ })).toHaveCount(0);
    }
    const saved = to.page().waitForEvent('download');
    await to.getByRole('button', { name: `Download ${clean.name}` }).click({ timeout: 30_000 });
    expect(await textOf(await saved)).toBe('color = green');
  }
  await expectAccessible(customer);
  await expectNothingCutOff(customer);
  await expectAccessible(page);
  await expectNothingCutOff(page);

  // No recording without a yes of its own; a no ends it, and what there is goes to both.
  await expect(workspace(page).getByRole('button', { name: 'Record', exact: true })).toHaveCount(0);
  await workspace(page).getByRole('button', { name: 'Ask to record' }).click();
  await expect(customer.getByText('tina asks to record what you share.')).toBeVisible();
  await customer.getByRole('button', { name: 'Allow recording' }).click();
  await workspace(page).getByRole('button', { name: 'Record', exact: true }).click();
  await expect(workspace(page).getByText('You record the picture.')).toBeVisible();
  await expect(customer.getByText('What you share is being recorded. You both get the recording.')).toBeVisible({
    timeout: 15_000,
  });
  await expect(sharing(customer)).toContainText('It is being recorded.');
  await sharing(customer).getByRole('button', { name: 'Pause' }).click();
  await expect(workspace(page).getByText('The recording is paused.')).toBeVisible();
  await sharing(customer).getByRole('button', { name: 'Show again' }).click();
  await expect(workspace(page).getByText('You record the picture.')).toBeVisible();
  await customer.getByRole('button', { name: 'Stop recording' }).click();
  await expect(workspace(page).getByText('The recording is here.')).toBeVisible({ timeout: 30_000 });
  for (const side of [hers, theirs]) {
    const saved = side.page().waitForEvent('download');
    await side.getByRole('button', { name: /^Download remote-session-.*\.webm$/ }).click({ timeout: 30_000 });
    // What WebM begins with (RFC 8794).
    expect((await bytesOf(await saved)).subarray(0, 4).toString('hex')).toBe('1a45dfa3');
  }

  // Stop from the other tab ends it everywhere, and an administrator reads how it was.
  await notice.getByRole('button', { name: 'Stop', exact: true }).click();
  await expect(sharing(customer)).toHaveCount(0, { timeout: 15_000 });
  await expect(picture(page)).toHaveCount(0, { timeout: 15_000 });
  await expect(notice).toHaveCount(0, { timeout: 15_000 });
  await page.goto('/admin/remote-sessions');
  const row = page.getByRole('list', { name: 'Sessions' }).getByRole('listitem').filter({ hasText: 'tina with maria' });
  await expect(row).toContainText('Ended by the customer', { timeout: 15_000 });
  await row.getByRole('button', { name: 'Details of tina with maria' }).click();
  const record = page.getByRole('dialog').getByRole('list', { name: 'What was recorded' });
  await expect(record).toContainText('Recording of a remote session started', { timeout: 15_000 });
  await expect(record).toContainText(`File of a remote session did not arrive: ${nestedZip.name}`);
  await expectAccessible(page);
  await browser.close();
});
