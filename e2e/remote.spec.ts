import { expect, type Page } from '@playwright/test';
import { expectAccessible, expectNothingCutOff } from './accessible.ts';
import { test } from './palisade.ts';
import {
  banner,
  drawClock,
  openSession,
  picture,
  REFUSES,
  readClock,
  SHARES,
  shareOwnTab,
  sharing,
  startCustomer,
  workspace,
} from './session.ts';

test('a customer approves, shows a screen, pauses and stops, and the technician sees just that', async ({ palisade }) => {
  const { technician: page, customer, code, browser } = await openSession(palisade, { flags: SHARES });
  await shareOwnTab(customer);
  await customer.reload();

  // The picture appears only after the customer approved this technician.
  await expect(customer.getByRole('heading', { name: 'tina has joined your session' })).toBeVisible();
  await expect(banner(customer)).toContainText('On its staff since');
  await expect(workspace(page).getByText('Waiting for maria to approve')).toBeVisible();
  await expect(picture(page)).toHaveCount(0);
  await drawClock(customer);
  await banner(customer).getByRole('button', { name: 'Approve', exact: true }).click();
  await expect(sharing(customer)).toContainText('tina sees what you share.');

  // A real picture: the clock that is drawn there is read from the pixels here.
  await expect(picture(page)).toBeVisible();
  await expect.poll(() => readClock(picture(page))).toEqual(expect.any(Number));
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
  await sharing(customer).getByRole('button', { name: 'End session', exact: true }).click();
  await expect.poll(() => track.evaluate((held) => held?.readyState)).toBe('ended');
  await expect(picture(page)).toHaveCount(0);
  await expect(sharing(customer)).toHaveCount(0);
  await expect(page.getByRole('region', { name: 'Joined sessions' })).toContainText('Ended by the customer');

  // Afterwards the customer says how it was, and reads what was recorded.
  await customer.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Remote Access' }).click();
  await expect(customer.getByText('Your session with tina is over')).toBeVisible();
  await customer.getByRole('radio', { name: '5 of 5: Very good' }).check({ force: true });
  await customer.getByRole('button', { name: 'Send rating' }).click();
  await expect(customer.getByText('Thank you. You rated this help 5 of 5 (very good).')).toBeVisible();
  await customer.getByRole('button', { name: 'What was recorded' }).click();
  const dialog = customer.getByRole('dialog', { name: `Session ${code}` });
  await expect(dialog.getByRole('list', { name: 'What was recorded' })).toContainText('Remote session approved');
  const saved = customer.waitForEvent('download');
  await dialog.getByRole('button', { name: 'Save the record as CSV' }).click();
  expect((await saved).suggestedFilename()).toBe(`remote-session-${code}.csv`);
  await expectAccessible(customer);
  await browser.close();
});

// proves: remote-4, remote-5, remote-17
test('a picker that is refused leaves the technician waiting, and a share that ends, or a page that is loaded again, shares again', async ({
  palisade,
}) => {
  const { technician: page, customer: first, browser: refusing } = await openSession(palisade, { flags: REFUSES });
  await banner(first).getByRole('button', { name: 'Approve', exact: true }).click();
  await expect(banner(first).getByRole('alert')).toContainText('Press Approve to try again.');
  await expect(workspace(page).getByText('Waiting for maria to approve')).toBeVisible();
  await expectAccessible(first);
  const stored = await first.context().storageState();
  await refusing.close();

  // The same person in a browser that shares.
  const browser = await startCustomer(SHARES);
  const customer = await palisade.window({ browser, viewport: { width: 1280, height: 800 }, storageState: stored });
  await shareOwnTab(customer);
  await customer.goto('/remote');
  await drawClock(customer);
  await banner(customer).getByRole('button', { name: 'Approve', exact: true }).click();
  await expect.poll(() => readClock(picture(page))).toEqual(expect.any(Number));
  await expectAccessible(customer);
  await expectNothingCutOff(customer);
  await expectAccessible(page);
  await expectNothingCutOff(page);

  // A small window that stays on top has the picture, Pause and Stop, where the browser has such windows.
  await customer.getByRole('button', { name: 'Small window' }).click();
  const inSmall = () => customer.evaluate<string>('window.documentPictureInPicture.window?.document.body.innerText ?? ""');
  await expect.poll(inSmall).toMatch(/Pause\s+End session/);

  // The browser's own bar ends the picture: the technician is told, and sees none.
  await customer.locator('.mirror video').evaluate((video) => {
    const track = video instanceof HTMLVideoElement && video.srcObject instanceof MediaStream && video.srcObject.getTracks()[0];
    if (!track) throw new Error('Nothing is shared.');
    track.stop();
    // As the browser tells a page whose picture it has ended; `stop()` alone tells nobody.
    track.dispatchEvent(new Event('ended'));
  });
  await expect(workspace(page).getByText('They stopped sharing, or loaded the page again.')).toBeVisible();
  await expect(picture(page)).toHaveCount(0);
  await customer.getByRole('button', { name: 'Share again' }).click();
  await expect(picture(page)).toBeVisible();

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
