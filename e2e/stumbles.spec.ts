import { expect, type Locator, type Page } from '@playwright/test';
import { givePremium, openSignedIn, register, signIn, test } from './palisade.ts';
import { cleanPdf, eicarFile } from './samples.ts';

// Obstacles that new people met, each in its place.

/** The parts of a page that something else is drawn over, where the page is scrolled so that they are in view. */
async function coveredBy(float: Locator, page: Page): Promise<string[]> {
  const place = await float.boundingBox();
  if (place === null) return [];
  const covered: string[] = [];
  for (const control of await page.getByRole('main').locator('button, a, input, select, summary').all()) {
    // As one scrolls to press it.
    await control.evaluate((element) => element.scrollIntoView({ block: 'center' }));
    const box = await control.boundingBox();
    if (box === null || box.width < 2) continue;
    const isOver =
      box.x < place.x + place.width &&
      place.x < box.x + box.width &&
      box.y < place.y + place.height &&
      place.y < box.y + box.height;
    if (isOver) covered.push((await control.textContent()) ?? '');
  }
  return covered;
}

/** Links and buttons that are smaller than WCAG 2.2 (2.5.8) asks for: 24 CSS px each way. Links in a sentence are as high as their line. */
function smallTargets(): string[] {
  return [...document.querySelectorAll('a[href^="tel:"], a[href^="mailto:"], button')].flatMap((target) => {
    const { width, height } = target.getBoundingClientRect();
    return width > 1 && (height < 24 || width < 24) ? [`${target.textContent} ${Math.round(width)}x${Math.round(height)}`] : [];
  });
}

// proves: product-2.1-1, product-2.1-2, product-2.2-1, product-2.4-1, product-2.8-6, product-2.10-1
test('the first start leads to an administrator, to set-up, and through the first steps', async ({ page, server }) => {
  test.slow();
  expect(new URL(server.url).hostname).toBe('localhost');
  let shift = 0;
  await page.exposeFunction('moved', (by: number) => {
    shift += by;
  });
  await page.addInitScript(`new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.moved(entry.value);
  }).observe({ type: 'layout-shift', buffered: true });`);
  await page.goto('/');
  await expect(page.getByRole('tab', { name: 'Register' })).toHaveAttribute('aria-selected', 'true');
  await expect(page.getByText(/^Create the first account/)).toBeVisible();
  await register(page, 'maria');
  // Later people do not read it.
  await page.getByRole('tab', { name: 'Register' }).click();
  await expect(page.getByText(/^Create the first account/)).toHaveCount(0);
  await page.getByRole('tab', { name: 'Login' }).click();
  await signIn(page, 'maria');
  const steps = page.getByRole('region', { name: 'Get started in four steps.' });
  await expect(steps.getByRole('listitem')).toHaveCount(4);
  shift = 0;
  await page.reload();
  await expect(steps).toBeVisible();
  await expect(page.getByRole('list', { name: 'What would raise the score' })).toBeVisible();
  expect(shift).toBeLessThanOrEqual(0.02);

  await steps.getByRole('link', { name: 'Set up' }).click();
  const messages: string[] = [];
  page.on('dialog', (dialog) => {
    messages.push(dialog.message());
    void dialog.accept();
  });
  await page.getByLabel('Company Name').fill('Harbour IT');
  await page.getByLabel('Support Phone').fill('call me maybe');
  await page.getByLabel('Support Email').fill('not-an-email');
  await expect(page.getByLabel('Support Phone')).toHaveAccessibleDescription(/People can’t call this number with a press/);
  await expect(page.getByLabel('Support Email')).toHaveAccessibleDescription(/This isn’t an email address/);
  await page.getByRole('button', { name: 'Complete Setup' }).click();
  await expect(page.getByRole('heading', { name: 'Setup Complete' })).toBeVisible();
  expect(messages).toEqual(['Client setup completed successfully']);
  await expect(page.getByText('call me maybe').first()).toBeVisible();
  await expect(page.locator('a[href^="tel:"], a[href^="mailto:"]')).toHaveCount(0);

  // A finished step shows it without a press; all steps disappear when they are put away.
  await page.getByRole('button', { name: 'Main Dashboard' }).click();
  const left = page.getByRole('region', { name: 'First steps: 3 left' });
  await expect(left.getByRole('listitem').filter({ hasText: 'Add your contact details' })).toContainText('(done)');
  const other = await page.context().newPage();
  await other.goto('/antivirus');
  await other.getByLabel('Choose files to scan').setInputFiles(cleanPdf);
  await expect(page.getByRole('region', { name: 'First steps: 2 left' })).toBeVisible();
  await page.getByRole('region', { name: 'First steps: 2 left' }).getByRole('button', { name: 'Hide' }).click();
  await page.reload();
  await expect(page.getByRole('heading', { level: 1, name: 'Security dashboard' })).toBeVisible();
  await expect(page.getByRole('list', { name: 'What would raise the score' })).toBeVisible();
  await expect(page.getByRole('region', { name: /First steps/ })).toHaveCount(0);
  await expect(page.getByRole('navigation', { name: 'Administration' }).getByRole('link')).toContainText([
    ...['Users', 'False alarms', 'Outbox', 'Audit log', 'Edit help pages', 'Remote sessions', 'Setup'],
  ]);
});

// proves: product-2.5-1, product-2.6-1, product-2.7-1, product-2.8-2, product-2.8-13, product-2.8-15
test('uploads are announced, names show what they are, and nothing covers or hides what is to be pressed', async ({ page }) => {
  test.slow();
  await openSignedIn(page, 'maria');
  const headers = await givePremium(page, 'maria');
  const client_info = { company_name: 'Harbour IT', support_phone: '+1 800 555 0199', support_email: 'help@harbour.example' };
  await page.request.post('/api/admin/setup-config', {
    headers,
    data: { client_info, setup_type: 'basic_installation', timestamp: new Date().toISOString() },
  });
  await page.goto('/antivirus');
  const long = { ...cleanPdf, name: `${'the accounts of a very long year '.repeat(4)}.pdf.exe` };
  await page.getByLabel('Choose files to scan').setInputFiles([eicarFile, cleanPdf, long]);
  const said = page.locator('[aria-live="polite"] p');
  await expect(said.filter({ hasText: `${cleanPdf.name}: clean` })).toHaveCount(1);
  await expect(said.filter({ hasText: `${eicarFile.name}: harmless test file` })).toHaveCount(1);
  const row = page.getByRole('list', { name: 'Just scanned' }).getByRole('listitem').filter({ hasText: 'the accounts' });
  await expect(row).toContainText('Looks like a .pdf file but is a program (.exe).');
  await page.setViewportSize({ width: 390, height: 844 });
  const ending = row.locator('mark').filter({ hasText: '.exe' });
  await expect(ending).toBeVisible();
  const [end, line] = [await ending.boundingBox(), await row.boundingBox()];
  expect((end?.x ?? 0) + (end?.width ?? 0)).toBeLessThanOrEqual((line?.x ?? 0) + (line?.width ?? 0));

  const float = page.getByRole('button', { name: 'Back to Dashboard' });
  for (const [path, there] of [
    ['/antivirus', page.getByRole('list', { name: 'Scans' })],
    ['/firewall', page.getByRole('region', { name: 'Would this pass?' })],
    ['/anti-hacking', page.getByRole('region', { name: 'Score and threats' })],
  ] as const) {
    await page.goto(path);
    await expect(there).toBeVisible();
    for (const width of [390, 768, 1440]) {
      await page.setViewportSize({ width, height: 844 });
      await expect(float).toBeVisible();
      expect(await coveredBy(float, page), `${path} at ${width} px`).toEqual([]);
    }
    expect(await page.evaluate(smallTargets), path).toEqual([]);
  }
  // The phone and the email of support, where they stand.
  await page.goto('/chat');
  await expect(page.getByRole('link', { name: '+1 800 555 0199' }).first()).toBeVisible();
  expect(await page.evaluate(smallTargets)).toEqual([]);

  // The ring of the focus is drawn whole: nothing around the control cuts it off.
  await page.goto('/firewall');
  await page.getByRole('button', { name: 'Add Rule' }).focus();
  await page.keyboard.press('Shift+Tab');
  await page.keyboard.press('Tab');
  const clipped = await page.getByRole('button', { name: 'Add Rule' }).evaluate((button) => {
    const { outlineWidth, outlineOffset } = getComputedStyle(button);
    const room = Number.parseFloat(outlineWidth) + Number.parseFloat(outlineOffset);
    const box = button.getBoundingClientRect();
    const around: string[] = [];
    for (let parent = button.parentElement; parent !== null && parent !== document.body; parent = parent.parentElement) {
      if (getComputedStyle(parent).overflow === 'visible') continue;
      const edge = parent.getBoundingClientRect();
      if (
        box.left - room < edge.left ||
        box.right + room > edge.right ||
        box.top - room < edge.top ||
        box.bottom + room > edge.bottom
      )
        around.push(parent.className);
    }
    return { room, around };
  });
  expect(clipped.room).toBeGreaterThan(0);
  expect(clipped.around).toEqual([]);

  // In forced colours what is on looks other than what is off, and a bar has a filled part.
  await page.emulateMedia({ forcedColors: 'active' });
  await page.goto('/dashboard');
  const toggle = page.getByRole('switch', { name: 'Real-time updates' });
  const look = () =>
    toggle.evaluate((input) =>
      JSON.stringify(
        [getComputedStyle(input), getComputedStyle(input, '::before')].map(({ backgroundColor, borderColor, transform }) => [
          backgroundColor,
          borderColor,
          transform,
        ]),
      ),
    );
  const on = await look();
  await toggle.uncheck();
  await expect.poll(look).not.toBe(on);
  const bar = page.getByRole('region', { name: 'System health' }).locator('.health__share').first();
  const colours = await bar.evaluate((share) =>
    [share, share.parentElement ?? share].map((part) => getComputedStyle(part).backgroundColor),
  );
  expect(colours[0]).not.toBe(colours[1]);
});

// proves: product-2.8-4, product-2.8-5, product-2.8-14
test('without a connection a screen says so and opens when it is back, and over a slow network it says that it is coming', async ({
  page,
  context,
}) => {
  test.slow();
  await openSignedIn(page, 'maria');
  await expect(page.getByText('Online', { exact: true })).toBeVisible();
  // A screen of which nothing has been fetched yet.
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  await page.route('**/assets/firewall-page*.js', async (route) => {
    await held;
    await route.continue();
  });
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Firewall' }).click();
  await expect(page.getByRole('progressbar', { name: 'Loading the screen' })).toBeVisible();
  release();
  await expect(page.getByRole('heading', { level: 1, name: 'Firewall' })).toBeVisible();
  await expect(page.getByRole('progressbar', { name: 'Loading the screen' })).toHaveCount(0);

  await context.setOffline(true);
  await expect(page.getByText('Offline', { exact: true })).toBeVisible();
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Antivirus' }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'No connection' })).toBeVisible();
  await expect(page.getByText(/broke|tell support/)).toHaveCount(0);
  await context.setOffline(false);
  await expect(page.getByText('Online', { exact: true })).toBeVisible();
  await expect(page.getByRole('heading', { level: 1, name: 'Antivirus' })).toBeVisible();

  // A success is shown and disappears; dates have one form.
  await page.goto('/dashboard?open=security&tab=password');
  const dialog = page.getByRole('dialog', { name: 'Security Preferences' });
  await dialog.getByLabel('Current Password').fill('a long enough password');
  await dialog.getByLabel('New Password').fill('another long password');
  await dialog.getByRole('button', { name: 'Change Password' }).click();
  await expect(dialog.getByText('Password changed. You’re signed out everywhere else.')).toBeVisible();
  await dialog.getByLabel('Current Password').fill('a');
  await expect(dialog.getByText('Password changed. You’re signed out everywhere else.')).toHaveCount(0);
});
