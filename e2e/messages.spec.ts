import { expect, type Page } from '@playwright/test';
import { test } from './palisade.ts';

// The specification's error catalogue: each message where a person reads it, when the call behind it fails.

const account = { email: 'maria@example.com', username: 'maria', password: 'a long enough password' };

interface Failure {
  /** The call that fails, below /api. */
  call: string;
  /** 'network': the connection is cut; 'broken': an answer that nobody can read; a number: a problem document with `detail`. */
  how: 'network' | 'broken' | { status: number; code: string; detail: string };
}

async function fail(page: Page, { call, how }: Failure): Promise<void> {
  await page.route(`**/api${call}*`, (route) => {
    if (how === 'network') return route.abort();
    if (how === 'broken') return route.fulfill({ status: 500, body: '<h1>Oops</h1>' });
    return route.fulfill({
      status: how.status,
      contentType: 'application/problem+json; charset=utf-8',
      body: JSON.stringify({ type: 'about:blank', title: 'Refused', ...how }),
    });
  });
}

const detail = 'The server says why.';
const refused = { status: 422, code: 'invalid_field', detail };
const premium = { status: 403, code: 'premium_required', detail };

/** A page signed in as the administrator, with a premium plan. */
async function open(page: Page, url: string, path: string): Promise<void> {
  const post = async (address: string, body: unknown, token?: string) => {
    const response = await page.request.post(`${url}/api${address}`, {
      data: body,
      headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
    });
    return await response.text();
  };
  await post('/auth/register', account);
  const signedIn = await post('/auth/login', { email: account.email, password: account.password });
  const token = /"access_token":"([^"]+)"/.exec(signedIn)?.[1] ?? '';
  const user = /"user_info":(\{[^}]*\})/.exec(signedIn)?.[1] ?? '';
  const plan = {
    user_email: account.email,
    plan_name: 'Plan',
    price: 1,
    duration_months: 1,
    max_devices: 1,
    is_premium: true,
    features: [],
  };
  await post('/admin/assign-subscription', plan, token);
  await page.addInitScript(
    ([access_token, user_info]) => {
      localStorage.setItem('palisade.access_token', access_token ?? '');
      localStorage.setItem('palisade.user_info', user_info ?? '');
    },
    [token, user],
  );
  await page.goto(path);
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
}

async function press(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name, exact: true }).click();
}

const AUTH: [string, Failure['how'], string, (page: Page) => Promise<void>, string][] = [
  ['/auth/login', refused, detail, signIn, '/'],
  ['/auth/login', 'broken', 'Login failed', signIn, '/'],
  ['/auth/login', 'network', 'Network error. Please try again.', signIn, '/'],
  ['/auth/register', refused, detail, createAccount, '/'],
  ['/auth/register', 'broken', 'Registration failed', createAccount, '/'],
  ['/auth/forgot-password', refused, detail, (page) => recover(page, 'Forgot Password?', 'Send Reset Instructions'), '/'],
  [
    '/auth/forgot-password',
    'broken',
    'Failed to send reset instructions',
    (page) => recover(page, 'Forgot Password?', 'Send Reset Instructions'),
    '/',
  ],
  [
    '/auth/recover-username',
    'broken',
    'Failed to recover username',
    (page) => recover(page, 'Forgot Username?', 'Recover Username'),
    '/',
  ],
  [
    '/auth/recover-username',
    'network',
    'Network error. Please try again.',
    (page) => recover(page, 'Forgot Username?', 'Recover Username'),
    '/',
  ],
  ['/auth/reset-password', 'broken', 'Failed to reset password', resetPassword, '/?mode=reset-password'],
  ['/nothing', 'broken', 'Invalid action', () => Promise.resolve(), '/?mode=nothing-of-ours'],
];

/** Where nobody has an account yet, registering comes first. */
async function openLogin(page: Page): Promise<void> {
  await page.getByRole('tab', { name: 'Login' }).click();
}

async function signIn(page: Page): Promise<void> {
  await openLogin(page);
  await page.getByLabel('Email').fill(account.email);
  await page.getByLabel('Password', { exact: true }).fill(account.password);
  await press(page, 'Sign In');
}

async function createAccount(page: Page): Promise<void> {
  await page.getByRole('tab', { name: 'Register' }).click();
  await page.getByLabel('Email').fill(account.email);
  await page.getByLabel('Username').fill(account.username);
  await page.getByLabel('Password', { exact: true }).fill(account.password);
  await page.getByLabel('Confirm Password', { exact: true }).fill(account.password);
  await press(page, 'Create Account');
}

async function recover(page: Page, link: string, submit: string): Promise<void> {
  await openLogin(page);
  await page.getByRole('link', { name: link }).click();
  await page.getByLabel('Email').fill(account.email);
  await press(page, submit);
}

async function resetPassword(page: Page): Promise<void> {
  await page.getByLabel('Reset Token').fill('a token');
  await page.getByLabel('New Password').fill(account.password);
  await press(page, 'Reset Password');
}

test('the specification: what goes wrong while signing in', async ({ page }) => {
  test.slow();
  for (const [call, how, sentence, act, path] of AUTH) {
    await test.step(`${call} ${typeof how === 'string' ? how : how.status}: ${sentence}`, async () => {
      await page.goto(path);
      await fail(page, { call, how });
      await act(page);
      await expect(page.getByText(sentence).first()).toBeVisible();
      await page.unrouteAll();
    });
  }
});

const SCREENS: [string, string, Failure['how'], string, (page: Page) => Promise<void>][] = [
  ['/admin/setup', '/admin/setup-config', 'broken', 'alert: Error saving configuration. Please try again.', completeSetup],
  ['/admin/setup', '/nothing', 'broken', 'alert: Client setup completed successfully', completeSetup],
  ['/antivirus', '/antivirus/scan', 'network', 'alert: Error scanning file. Please try again.', scanFile],
  ['/firewall', '/firewall/rules', 'broken', 'alert: Error adding firewall rule', addRule],
  ['/remote', '/remote/session', 'broken', 'alert: portal', newSession],
  // Before the subscriptions, of which the last takes the premium plan away.
  [
    '/anti-hacking',
    '/premium/anti-hacking/scan',
    premium,
    'Premium subscription required for advanced anti-hacking features',
    (page) => press(page, 'Start Scan'),
  ],
  [
    '/anti-hacking',
    '/premium/anti-hacking/scan',
    'broken',
    'Error performing anti-hacking scan',
    (page) => press(page, 'Start Scan'),
  ],
  ['/anti-hacking', '/premium/anti-hacking/alerts', 'broken', 'Error fetching anti-hacking alerts', (page) => reopen(page)],
  [
    '/anti-hacking',
    '/premium/anti-hacking/alerts',
    premium,
    'Premium subscription required for anti-hacking features',
    (page) => reopen(page),
  ],
  ['/subscription-manager', '/admin/subscriptions', 'broken', 'Error fetching subscriptions', (page) => reopen(page)],
  ['/subscription-manager', '/admin/subscription-templates', 'broken', 'Error fetching templates', (page) => reopen(page)],
  ['/subscription-manager', '/admin/assign-subscription', refused, `Error: ${detail}`, assign],
  ['/subscription-manager', '/admin/assign-subscription', 'broken', 'Failed to assign subscription', assign],
  ['/subscription-manager', '/nothing', 'broken', `Subscription assigned successfully to ${account.email}`, assign],
  ['/subscription-manager', '/admin/subscription-templates', refused, `Error: ${detail}`, createTemplate],
  ['/subscription-manager', '/admin/subscription-templates', 'broken', 'Failed to create template', createTemplate],
  ['/subscription-manager', '/nothing', 'broken', 'Template "Solo" created successfully', createTemplate],
];

async function completeSetup(page: Page): Promise<void> {
  await page.getByLabel('Company Name').fill('Nordlys');
  await page.getByLabel('Support Phone').fill('+1 800 555 0199');
  await page.getByLabel('Support Email').fill('help@example.com');
  await press(page, 'Complete Setup');
}

async function scanFile(page: Page): Promise<void> {
  await page
    .getByLabel('Choose files to scan')
    .setInputFiles({ name: 'a.txt', mimeType: 'text/plain', buffer: Buffer.from('a') });
}

async function addRule(page: Page): Promise<void> {
  await press(page, 'Add Rule');
  const dialog = page.getByRole('dialog', { name: 'Add Rule' });
  await dialog.getByLabel('Rule Name').fill('Office');
  await dialog.getByRole('button', { name: 'Add Rule' }).click();
}

async function newSession(page: Page): Promise<void> {
  await press(page, 'New Session');
  await press(page, 'Create Session');
}

async function reopen(page: Page): Promise<void> {
  await page.reload();
}

async function assign(page: Page): Promise<void> {
  await page.getByLabel('User Email').fill(account.email);
  await page.getByLabel('Plan Name').fill('Family Shield');
  await page.getByLabel('Custom Price').fill('19.99');
  await press(page, 'Assign Subscription');
}

async function createTemplate(page: Page): Promise<void> {
  await page.getByRole('tab', { name: 'Templates' }).click();
  await page.getByLabel('Template Name').fill('Solo');
  await page.getByLabel('Base Price').fill('5');
  await press(page, 'Create Template');
}

test('the specification: what goes wrong behind the sign-in', async ({ page, server }) => {
  test.setTimeout(180_000);
  await open(page, server.url, '/dashboard');
  const alerts: string[] = [];
  page.on('dialog', (dialog) => {
    alerts.push(dialog.message());
    return dialog.accept();
  });
  for (const [path, call, how, sentence, act] of SCREENS) {
    await test.step(`${path} ${call} ${typeof how === 'string' ? how : how.status}: ${sentence}`, async () => {
      await page.goto(path);
      await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
      await fail(page, { call, how });
      await act(page);
      const [, alert] = /^alert: (.*)$/.exec(sentence) ?? [];
      if (alert === undefined) await expect(page.getByText(sentence).first()).toBeVisible();
      else await expect.poll(() => alerts.at(-1) ?? '').toContain(alert);
      alerts.length = 0;
      await page.unrouteAll();
    });
  }
});
