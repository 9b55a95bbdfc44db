import { expect, type Page } from '@playwright/test';
import { expectAccessible, expectAccessibleOnPhone, expectNothingCutOff, openSignedIn, test } from './palisade.ts';

const CODE = /^[A-HJ-NP-Z2-9]{3}-[A-HJ-NP-Z2-9]{3}-[A-HJ-NP-Z2-9]{3}$/;

const field = (page: Page) => page.getByRole('textbox', { name: 'Message' });
const send = (page: Page) => page.getByRole('button', { name: 'Send', exact: true });
const log = (page: Page) => page.getByRole('log', { name: 'Messages' });
const conversation = (page: Page) => page.getByRole('region', { name: 'Conversation with support' });
const banner = (page: Page) => page.getByRole('region', { name: 'Open session' });
const history = (page: Page) => page.getByRole('region', { name: 'Session history' });

async function expectGoodOnPhone(page: Page): Promise<void> {
  await expectNothingCutOff(page);
  await expectAccessibleOnPhone(page);
}

async function createSession(page: Page): Promise<string> {
  await page.getByRole('button', { name: 'New Session' }).click();
  await page.getByRole('dialog', { name: 'New Session' }).getByRole('button', { name: 'Create Session' }).click();
  await expect(banner(page).getByText('Waiting for connection...')).toBeVisible();
  return await codeOf(page);
}

async function codeOf(page: Page): Promise<string> {
  return (await banner(page).getByText(CODE).textContent()) ?? '';
}

// proves: asvs-3.2.2
test('a message is kept verbatim and gets a marked automatic reply after 1.5 seconds', async ({ page }) => {
  test.slow();
  await openSignedIn(page, 'maria');
  await page.goto('/chat');
  await expect(page.getByText('What can we help with?')).toBeVisible();
  await expect(conversation(page).getByText('Online', { exact: true })).toBeVisible();
  await expect(send(page)).toBeDisabled();
  await field(page).fill('  \n ');
  await expect(send(page)).toBeDisabled();
  await expectAccessible(page);

  await page.clock.install();
  await page.clock.pauseAt(Date.now() + 60_000);
  await field(page).fill('<b>I think</b> I have a virus');
  await send(page).click();
  // The answer comes in real time, what it sets off in the fake one.
  await expect(async () => {
    await page.clock.runFor(1);
    await expect(log(page).getByText('<b>I think</b> I have a virus')).toBeVisible({ timeout: 200 });
    // Not what is on its way: the reply comes with the answer.
    await expect(log(page).getByText('Sent', { exact: true })).toBeVisible({ timeout: 200 });
  }).toPass();
  await expect(field(page)).toHaveValue('');
  await page.clock.runFor(1_400);
  await expect(page.getByText('Automatic reply')).toHaveCount(0);
  await page.clock.runFor(100);
  await expect(log(page).getByText('Automatic reply')).toBeVisible();
  await expect(log(page).getByText(/Go to Antivirus, press Choose files/)).toBeVisible();
  await page.clock.resume();
  await expectAccessible(page);
  await expectGoodOnPhone(page);

  await page.reload();
  await expect(log(page).getByText('<b>I think</b> I have a virus')).toBeVisible();
});

test('sending shows that somebody types, and a failure loses nothing', async ({ page }) => {
  await openSignedIn(page, 'maria');
  await page.goto('/chat');
  const logged: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error') logged.push(message.text());
  });

  const held = Promise.withResolvers<void>();
  await page.route('**/api/chat/messages', async (route) => {
    if (route.request().method() === 'POST') await held.promise;
    await route.continue();
  });
  await page.getByRole('button', { name: 'Performance issues' }).click();
  await expect(field(page)).toHaveValue(/slow/);
  await send(page).click();
  await expect(page.getByText('Typing…')).toBeVisible();
  await expect(send(page)).toBeDisabled();
  held.resolve();
  await expect(log(page).getByRole('listitem').first()).toContainText('slow');
  await expect(page.getByText('Typing…')).toHaveCount(0);

  await page.unroute('**/api/chat/messages');
  let isBack = false;
  await page.route('**/api/chat/messages', (route) => (isBack ? route.continue() : route.abort()));
  await field(page).fill('do not lose me');
  await send(page).click();
  await expect(log(page).getByText(/Not sent yet\. We’ll send it/)).toBeVisible();
  await expect(log(page).getByText('do not lose me')).toBeVisible();
  await expect(field(page)).toHaveValue('');
  await expect(conversation(page).getByText('Offline', { exact: true })).toBeVisible();
  expect(logged.join('\n')).toContain('Network error');
  await expectAccessible(page);

  const retry = page.getByRole('button', { name: 'Retry' });
  await retry.click({ trial: true });
  // The queue sends it soon as well: pressed at once, before that takes the button away.
  isBack = true;
  await retry.dispatchEvent('click');
  await expect(log(page).getByText(/Not sent yet/)).toHaveCount(0);
  await expect(log(page).getByText('do not lose me')).toBeVisible();
  await expect(conversation(page).getByText('Online', { exact: true })).toBeVisible();
  await page.unroute('**/api/chat/messages');

  for (const status of [403, 422, 500]) {
    const problem = { type: 'x', title: 'x', status, detail: `Refused with ${status}.`, code: 'internal' };
    await page.route('**/api/chat/messages', (route) =>
      route.fulfill({ status, contentType: 'application/problem+json', body: JSON.stringify(problem) }),
    );
    await field(page).fill(`kept at ${status}`);
    await send(page).click();
    await expect(page.getByRole('alert').filter({ hasText: `Refused with ${status}.` })).toBeVisible();
    await page.unroute('**/api/chat/messages');
    await log(page).getByRole('button', { name: 'Edit' }).click();
    await expect(field(page)).toHaveValue(`kept at ${status}`);
  }
});

// proves: support-customer-30
test('the chat’s way in the sidebar opens the live chat in a window of its own', async ({ page, context }) => {
  test.slow();
  await openSignedIn(page, 'maria');
  const opened = context.waitForEvent('page');
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Support Chat' }).click();
  const live = await opened;
  await expect(live).toHaveURL(/\/live-chat$/);
  await expect(live.getByRole('heading', { level: 1, name: 'Support Chat' })).toBeVisible();
  await expect(live.getByRole('navigation')).toHaveCount(0);
  expect(await live.evaluate(() => window.opener === null)).toBe(true);
  await expectAccessible(live);
  await expectGoodOnPhone(live);
  await expect(page).toHaveURL(/\/dashboard$/);

  await page.goto('/chat');
  await page.getByRole('button', { name: 'Call support' }).click();
  await expect(page.getByText(/Support has no phone number that you can call from here/)).toBeVisible();
  await page.getByRole('button', { name: 'Video and live chat' }).click();
  await expect(
    page.getByRole('dialog', { name: 'Video and live chat' }).getByRole('link', { name: 'Open live chat' }),
  ).toHaveAttribute('href', '/live-chat');
  await expectAccessible(page);
});

test('signed out, the live chat asks to sign in first', async ({ page }) => {
  await page.goto('/live-chat');
  await page.getByRole('tab', { name: 'Login' }).click();
  await expect(page.getByRole('button', { name: 'Sign In' })).toBeVisible();
});

test.describe('with addresses of the provider', () => {
  test.use({ environment: { LIVE_CHAT_URL: 'https://chat.example.com/', REMOTE_PORTAL_URL: 'https://portal.example.com/' } });
  test('both lead there', async ({ page, context }) => {
    await context.route('https://*.example.com/**', (route) => route.fulfill({ contentType: 'text/html', body: 'elsewhere' }));
    await openSignedIn(page, 'maria');
    await expect(page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Support Chat' })).toHaveAttribute(
      'href',
      'https://chat.example.com/',
    );
    await page.goto('/remote');
    await expect(page.getByRole('link', { name: 'Open remote-support portal' })).toHaveAttribute(
      'href',
      'https://portal.example.com/',
    );
    const opened = context.waitForEvent('page');
    await createSession(page);
    await expect(await opened).toHaveURL('https://portal.example.com/');
  });
});

test('a customer shares a code, a technician joins with it and completes the session', async ({ page, browser, server }) => {
  test.slow();
  await openSignedIn(page, 'tina');
  const context = await browser.newContext({ baseURL: server.url });
  const customer = await context.newPage();
  await openSignedIn(customer, 'maria');

  await customer.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Remote Access' }).click();
  await expect(customer.getByText('No sessions yet')).toBeVisible();
  await customer.getByRole('button', { name: 'New Session' }).click();
  await expect(customer.getByText(/Share codes only with trusted support technicians/)).toBeVisible();
  // A second window opens only when the customer asks for it.
  await customer.getByRole('switch', { name: 'Also open the portal in a new window' }).check();
  const opened = context.waitForEvent('page');
  await customer.getByRole('button', { name: 'Create Session' }).click();
  const portal = await opened;
  await expect(portal).toHaveURL(/\/portal$/);
  const code = await codeOf(customer);
  await expect(customer.getByText('Waiting for connection...')).toBeVisible();
  await expect(portal.getByText(code)).toBeVisible();
  await expect(portal.getByLabel('Session code')).toHaveCount(0);

  await page.goto('/portal');
  await page.getByLabel('Session code').fill('AAA-AAA-AAA');
  await page.getByRole('button', { name: 'Join' }).click();
  await expect(page.getByText(/No session is waiting with this code/)).toBeVisible();
  await page.getByLabel('Session code').fill(code.toLowerCase().replaceAll('-', ' '));
  await page.keyboard.press('Enter');
  await expect(page.getByText(/You have joined the session of maria/)).toBeVisible();

  await expect(portal.getByRole('heading', { name: 'tina has joined your session' })).toBeVisible();
  await expect(customer.getByText('Waiting for connection...')).toHaveCount(0);
  await expect(history(customer).getByRole('listitem')).toContainText('Agent: tina');

  // The customer says yes first; here to talk without a screen.
  await expect(page.getByLabel('Session code')).toHaveCount(0);
  await expect(page.getByRole('button', { name: 'End session' })).toHaveCount(0);
  await portal.getByRole('button', { name: 'Approve without a screen' }).click();
  await expect(portal.getByText('Technician connected')).toBeVisible();
  await page.getByRole('button', { name: 'End session' }).click();
  await expect(
    page.getByRole('region', { name: 'Joined sessions' }).locator('.badge', { hasText: 'Completed' }).first(),
  ).toBeVisible();
  await expect(history(customer).locator('.badge', { hasText: 'Completed' }).first()).toBeVisible();
  await expect(banner(customer).getByText('No session is open. No one can join you.')).toBeVisible();
  await context.close();
});

test('the screens of remote access are accessible in every state', async ({ page, browser, server }) => {
  // Each look of axe takes seconds on a busy machine.
  test.slow();
  await openSignedIn(page, 'tina');
  const context = await browser.newContext({ baseURL: server.url });
  const customer = await context.newPage();
  await openSignedIn(customer, 'maria');
  await customer.goto('/remote');
  await expect(customer.getByText('No sessions yet')).toBeVisible();
  await expectAccessible(customer);
  await customer.getByRole('button', { name: 'New Session' }).click();
  await expectAccessible(customer);
  await customer.getByRole('button', { name: 'Create Session' }).click();
  const code = await codeOf(customer);
  await expectGoodOnPhone(customer);

  await page.goto('/portal');
  await page.getByLabel('Session code').fill('AAA-AAA-AAA');
  await page.getByRole('button', { name: 'Join' }).click();
  await expect(page.getByText(/No session is waiting with this code/)).toBeVisible();
  await expectAccessible(page);
  await expectGoodOnPhone(page);
  await page.getByLabel('Session code').fill(code);
  await page.getByRole('button', { name: 'Join' }).click();
  await expect(page.getByText(/You have joined the session of maria/)).toBeVisible();
  await expect(customer.getByRole('heading', { name: 'tina has joined your session' })).toBeVisible();
  await expectGoodOnPhone(customer);
  await expectGoodOnPhone(page);

  // While it runs, and once it is over: both lists have it, and the customer is asked how it was.
  await customer.getByRole('button', { name: 'Approve without a screen' }).click();
  await expect(page.getByRole('button', { name: 'End session' })).toBeVisible();
  await expectGoodOnPhone(page);
  await page.getByRole('button', { name: 'End session' }).click();
  await expect(customer.getByText('Your session with tina is over')).toBeVisible();
  await expect(history(customer).locator('.badge', { hasText: 'Completed' })).toBeVisible();
  await expectGoodOnPhone(customer);
  await expectGoodOnPhone(page);
  await context.close();
});

// proves: product-3.3-1
test('the banner follows the session every 5 seconds, and Cancel ends it', async ({ page }) => {
  await openSignedIn(page, 'maria');
  await page.goto('/remote');
  await page.clock.install();
  await createSession(page);
  let reads = 0;
  page.on('response', (response) => {
    if (response.url().includes('/api/remote/sessions?limit=20')) reads += 1;
  });
  await page.clock.pauseAt(Date.now() + 120_000);
  await expect.poll(() => reads).toBeGreaterThan(0);
  // The 5 seconds begin when the page has taken the answer in, a moment after it came.
  const before = reads;
  await page.clock.runFor(4_800);
  expect(reads).toBe(before);
  await expect
    .poll(async () => {
      await page.clock.runFor(100);
      return reads;
    })
    .toBe(before + 1);
  await page.clock.resume();
  await banner(page).getByRole('button', { name: 'Cancel' }).click();
  await expect(history(page).getByText('You cancelled it')).toBeVisible();
  await expect(page.getByText('Waiting for connection...')).toHaveCount(0);
});

test('a session that cannot be created opens the portal all the same, and an alert names it', async ({
  page,
  context,
  server,
}) => {
  await openSignedIn(page, 'maria');
  await page.goto('/remote');
  await page.route('**/api/remote/session', (route) => route.abort());
  const dialog = page.waitForEvent('dialog');
  const opened = context.waitForEvent('page');
  await page.getByRole('button', { name: 'New Session' }).click();
  await page.getByRole('button', { name: 'Create Session' }).click({ noWaitAfter: true });
  const alert = await dialog;
  expect(alert.message()).toContain('visit the portal');
  expect(alert.message()).toContain(`${server.url}/portal`);
  await alert.accept();
  await expect(await opened).toHaveURL(/\/portal$/);
  await expect(history(page).getByText('No sessions yet')).toBeVisible();
});

test('a history that cannot be read is logged and said, and read on Retry', async ({ page }) => {
  await openSignedIn(page, 'maria');
  const logged: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error') logged.push(message.text());
  });
  const problem = { type: 'x', title: 'x', status: 403, detail: 'Not now.', code: 'forbidden' };
  await page.route('**/api/remote/sessions*', (route) =>
    route.fulfill({ status: 403, contentType: 'application/problem+json', body: JSON.stringify(problem) }),
  );
  await page.goto('/remote');
  await expect(page.getByRole('alert')).toContainText('Not now.');
  expect(logged.join('\n')).toContain('Not now.');
  await expectAccessible(page);
  await page.unroute('**/api/remote/sessions*');
  await page.getByRole('button', { name: 'Retry' }).click();
  await expect(page.getByText('No sessions yet')).toBeVisible();
});

test('the keyboard alone writes to support, starts a session and ends it', async ({ page }) => {
  await openSignedIn(page, 'maria');
  await page.goto('/chat');
  await page.getByRole('button', { name: 'Firewall help' }).focus();
  await page.keyboard.press('Enter');
  await expect(field(page)).toBeFocused();
  await page.keyboard.type('my printer');
  await page.keyboard.press('Enter');
  await expect(log(page).getByText(/my printer/)).toBeVisible();
  await expect(field(page)).toBeFocused();

  await page.goto('/remote');
  await page.getByRole('button', { name: 'New Session' }).focus();
  await page.keyboard.press('Enter');
  const dialog = page.getByRole('dialog', { name: 'New Session' });
  await expect(dialog).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(dialog).toHaveCount(0);
  await expect(page.getByRole('button', { name: 'New Session' })).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(dialog.getByRole('button', { name: 'Close' })).toBeFocused();
  await page.keyboard.press('Tab');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Tab');
  await expect(dialog.getByRole('button', { name: 'Create Session' })).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(page.getByText('Waiting for connection...')).toBeVisible();
  await banner(page).getByRole('button', { name: 'Cancel' }).focus();
  await page.keyboard.press('Enter');
  await expect(history(page).getByText('You cancelled it')).toBeVisible();
});
