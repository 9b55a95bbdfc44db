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

  // The technician's page reads the clock from the pixels of the picture, which proves that the picture is live.
  await expect(picture(page)).toBeVisible();
  await expect.poll(() => readClock(picture(page))).toEqual(expect.any(Number));
  await expect(workspace(page).locator('.workspace__quality')).toContainText(/frames?\/s, .*direct, \d+ × \d+/);

  // Both sides show the same code.
  const codeOf = (side: Page) => side.locator('.code-line__code').textContent();
  await expect.poll(() => codeOf(page)).toMatch(/^[A-Z2-9]{4} [A-Z2-9]{4}$/);
  expect(await codeOf(customer)).toBe(await codeOf(page));

  // The pointer appears at the intended place, as a share of the picture, and a line stays until it is wiped.
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

  // Pausing by key sends black, not a frozen picture.
  await customer.keyboard.press('Alt+Shift+P');
  await expect(sharing(customer)).toContainText('tina sees black.');
  await expect(workspace(page).getByText(/has paused/)).toBeVisible();
  await expect.poll(() => readClock(picture(page))).toBe('black');
  await sharing(customer).getByRole('button', { name: 'Show again' }).click();
  await expect.poll(() => readClock(picture(page))).toEqual(expect.any(Number));

  // The banner and the picture stay on every other screen.
  await customer.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Firewall' }).click();
  await expect(sharing(customer)).toContainText('tina sees what you share.');
  await expect(picture(page)).toBeVisible();

  // Stopping ends the track at once, for the technician too, before the server confirms it.
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

  // Afterwards the customer rates the session and reads its record.
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

  // The same person in a browser that allows sharing.
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

  // Where the browser supports it, a small always-on-top window has the picture, Pause and Stop.
  await customer.getByRole('button', { name: 'Small window' }).click();
  const inSmall = () => customer.evaluate<string>('window.documentPictureInPicture.window?.document.body.innerText ?? ""');
  await expect.poll(inSmall).toMatch(/Pause\s+End session/);

  // The browser's own bar ends the picture: the technician is notified and sees no picture.
  await customer.locator('.mirror video').evaluate((video) => {
    const track = video instanceof HTMLVideoElement && video.srcObject instanceof MediaStream && video.srcObject.getTracks()[0];
    if (!track) throw new Error('Nothing is shared.');
    track.stop();
    // The browser fires this event when it ends a picture; `stop()` alone does not.
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

  // The technician's page leaves and returns: the customer sees a notice, and the picture resumes.
  await page.goto('/dashboard');
  await expect(customer.getByText(/tina is not there just now/)).toBeVisible();
  await page.goto('/portal');
  await expect.poll(() => readClock(picture(page))).toEqual(expect.any(Number));
  await workspace(page).getByRole('button', { name: 'End session' }).click();
  await expect(customer.getByText('Your session with tina is over')).toBeVisible();
  await expect(sharing(customer)).toHaveCount(0);
  await browser.close();
});
