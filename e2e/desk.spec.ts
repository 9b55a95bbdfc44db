import type { Browser, BrowserContext, Page } from '@playwright/test';
import { expect } from '@playwright/test';
import {
  expectAccessible,
  expectAccessibleInEveryMode,
  expectAccessibleOnPhone,
  expectNothingCutOff,
  headersOf,
  openSignedIn,
  test,
  textOf,
} from './palisade.ts';
import type { Product } from './product.ts';
import { eicarFile } from './samples.ts';
import { hasSideBySide } from './side-by-side.ts';

// Three browsers: two customers and one technician.

const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

const log = (page: Page) => page.getByRole('log', { name: 'Messages' });
const field = (page: Page, name = 'Message') => page.getByRole('textbox', { name, exact: true });
const inbox = (page: Page) => page.getByRole('region', { name: 'Inbox' });

async function say(page: Page, words: string, name = 'Message'): Promise<void> {
  await field(page, name).fill(words);
  await field(page, name).press('Enter');
  await expect(log(page).getByText(words, { exact: true })).toBeVisible();
}

interface Desk {
  /** The first account: administrator, and so of the staff. */
  ada: Page;
  tina: Page;
  maria: Page;
  otto: Page;
  contexts: BrowserContext[];
}

async function openDesk(page: Page, browser: Browser, server: Product): Promise<Desk> {
  await openSignedIn(page, 'ada');
  const contexts = await Promise.all([0, 1, 2].map(() => browser.newContext({ baseURL: server.url })));
  const [tina, maria, otto] = await Promise.all(contexts.map((context) => context.newPage()));
  if (!tina || !maria || !otto) throw new Error('no pages');
  for (const [one, name] of [
    [tina, 'tina'],
    [maria, 'maria'],
    [otto, 'otto'],
  ] as const)
    await openSignedIn(one, name);
  const headers = await headersOf(page);
  const users = await page.request.get('/api/admin/users?search=tina', { headers });
  const user_id = await textOf(users, 'id');
  expect((await page.request.patch('/api/admin/users', { headers, data: { user_id, role: 'support' } })).status()).toBe(200);
  await tina.reload();
  await expect(tina.getByRole('link', { name: /^Support Desk/ })).toBeVisible();
  return { ada: page, tina, maria, otto, contexts };
}

async function close({ contexts }: Desk): Promise<void> {
  for (const context of contexts) await context.close();
}

async function helpEachOther(page: Page, browser: Browser, server: Product): Promise<void> {
  const desk = await openDesk(page, browser, server);
  const { tina, maria, otto } = desk;
  await maria.goto('/chat');
  await tina.goto('/support');
  await expect(inbox(tina).getByText('No open conversations')).toBeVisible();

  // The staff is there, apart from the connection.
  await expect(maria.getByRole('status', { name: 'Support' })).toContainText('Support is here');

  await say(maria, 'My printer prints nothing');
  await expect(log(maria).getByText('Automatic reply')).toBeVisible();
  const row = inbox(tina).getByRole('link', { name: /maria/ });
  await expect(row).toContainText('Waits');
  await otto.goto('/chat');
  await say(otto, 'I was charged twice');
  await expect(inbox(tina).getByRole('listitem')).toHaveCount(2);

  await row.click();
  const conversation = tina.getByRole('region', { name: 'Conversation with maria' });
  await conversation.getByRole('button', { name: 'Claim' }).click();
  await expect(conversation.getByText('Yours')).toBeVisible();
  await expect(log(tina).getByText('I was charged twice')).toHaveCount(0);

  // Typing is seen on both sides.
  await field(tina, 'Answer').pressSequentially('Good');
  await expect(maria.getByText(/is typing…/)).toBeVisible();
  await field(maria).pressSequentially('Hm');
  await expect(tina.getByText('maria is typing…')).toBeVisible();
  await field(maria).fill('');

  await say(tina, 'Good day Maria. Which printer?', 'Answer');
  await expect(log(maria).getByText('Good day Maria. Which printer?')).toBeVisible();
  await expect(maria.getByRole('status', { name: 'Support' })).toContainText('tina answers you');
  await expect(log(tina).getByText('Read', { exact: true })).toBeVisible();

  // A note is the staff's alone.
  await tina.getByRole('radio', { name: 'Note' }).check();
  await say(tina, 'She means the old one', 'Note');
  await say(maria, 'The grey one');
  await expect(log(tina).getByText('The grey one')).toBeVisible();
  await maria.reload();
  await expect(log(maria).getByText('The grey one')).toBeVisible();
  await expect(log(maria).getByText('She means the old one')).toHaveCount(0);

  // A person on another screen sees that a message came.
  await maria.goto('/dashboard');
  await tina.getByRole('radio', { name: 'Answer' }).check();
  await say(tina, 'Please turn it off and on.', 'Answer');
  await expect(maria).toHaveTitle(/^\(1\) /);
  await expect(maria.getByRole('link', { name: /Support Chat.*1 unread message/ })).toBeVisible();
  await maria.goto('/chat');
  await expect(log(maria).getByText('Please turn it off and on.')).toBeVisible();
  await expect(maria).toHaveTitle(/^Support Chat/);

  // Files: a picture is shown on both sides, an infected one reaches nobody.
  await maria.getByLabel('Choose files for your message').setInputFiles([
    { name: 'printer.png', mimeType: 'image/png', buffer: PIXEL },
    { name: eicarFile.name, mimeType: eicarFile.mimeType, buffer: eicarFile.buffer },
  ]);
  const files = maria.getByRole('list', { name: 'Files in your message' });
  await expect(files.getByText(/clean$/)).toBeVisible();
  await expect(files.getByText(/^Infected/)).toBeVisible();
  await say(maria, 'It looks like this');
  await expect(log(tina).getByRole('img', { name: 'printer.png' })).toBeVisible();
  await expect(log(tina).getByText(eicarFile.name)).toHaveCount(0);

  // A found message leads to its place in the conversation, on both sides.
  await maria.getByRole('button', { name: 'Search it' }).click();
  await maria.getByRole('searchbox', { name: 'Search the messages' }).fill('grey');
  await maria.getByRole('link', { name: /The grey one/ }).click();
  const found = (one: Page) => log(one).getByRole('listitem').filter({ hasText: 'The grey one' });
  await expect(found(maria)).toBeFocused();
  await inbox(tina).getByRole('radio', { name: /^All/ }).check();
  await inbox(tina).getByRole('searchbox').fill('grey');
  await inbox(tina)
    .getByRole('link', { name: /The grey one/ })
    .click();
  await expect(found(tina)).toBeFocused();
  await inbox(tina).getByRole('searchbox').fill('');

  // A remote session: its code stands in both.
  await conversation.getByRole('button', { name: 'Start a remote session' }).click();
  const code = await log(tina).locator('.message-card code').last().textContent();
  await expect(log(maria).getByText(code ?? '')).toBeVisible();

  // The customer's card: names and counts, and the opening is written down.
  await expect(tina.getByRole('complementary', { name: 'Customer card' }).getByText('maria@example.com')).toBeVisible();
  const audit = await page.request.get('/api/admin/audit', { headers: await headersOf(page) });
  expect(await audit.text()).toContain('customer_card_opened');

  await conversation.getByRole('button', { name: 'Close', exact: true }).click();
  await maria.getByRole('radio', { name: '5 of 5: Very good' }).check({ force: true });
  await maria.getByRole('button', { name: 'Send rating' }).click();
  await expect(maria.getByText('Thank you. You rated this help 5 of 5 (very good).')).toBeVisible();
  await inbox(tina)
    .getByRole('radio', { name: /^Closed/ })
    .check();
  await expect(inbox(tina).getByText('Rated 5 of 5')).toBeVisible();
  await expect(log(otto).getByText('My printer prints nothing')).toHaveCount(0);
  await close(desk);
}

// proves: support-customer-10, support-fault-3
test('a message without a connection waits, and arrives once and in order when it is back', async ({ page, browser, server }) => {
  test.slow();
  const desk = await openDesk(page, browser, server);
  const { tina, maria } = desk;
  await tina.goto('/support');
  await maria.goto('/chat');
  await say(maria, 'first');
  await inbox(tina).getByRole('link', { name: /maria/ }).click();
  await expect(log(tina).getByText('first')).toBeVisible();
  // The message arrives and its answer is lost: the message is there, and sent again behind it.
  await maria.route('**/api/chat/messages', async (route) => {
    if (route.request().method() === 'POST') await route.fetch();
    await route.abort();
  });
  await field(maria).fill('second');
  await field(maria).press('Enter');
  await expect(log(tina).getByText('second')).toBeVisible();
  await field(maria).fill('third');
  await field(maria).press('Enter');
  await expect(log(maria).getByText('Waiting')).toBeVisible();
  await maria.reload();
  await maria.unroute('**/api/chat/messages');
  await maria.goto('/chat');
  await expect(log(tina).getByText('third')).toBeVisible();
  for (const one of [maria, tina]) {
    for (const words of ['first', 'second', 'third']) await expect(log(one).getByText(words, { exact: true })).toHaveCount(1);
    const texts = await log(one).locator('.message__text').allTextContents();
    expect(texts.filter((text) => ['first', 'second', 'third'].includes(text))).toEqual(['first', 'second', 'third']);
  }
  await close(desk);
});

async function seeEachOther(page: Page, browser: Browser, server: Product): Promise<void> {
  const desk = await openDesk(page, browser, server);
  const { ada, tina, maria } = desk;
  await maria.goto('/chat');
  await say(maria, 'Who helps me?');
  for (const one of [ada, tina]) {
    await one.goto('/support');
    await inbox(one).getByRole('link', { name: /maria/ }).click();
    await expect(log(one).getByText('Who helps me?')).toBeVisible();
  }
  await expect(tina.getByText('ada has this open too')).toBeVisible();
  await field(ada, 'Answer').pressSequentially('I do');
  await expect(tina.getByText('ada is typing an answer')).toBeVisible();
  await ada.getByRole('button', { name: 'Claim' }).click();
  await expect(tina.getByText('With ada')).toBeVisible();
  await expect(tina.getByRole('button', { name: 'Claim' })).toHaveCount(0);
  await say(ada, 'I do. What is it?', 'Answer');
  await expect(log(maria).getByText('I do. What is it?')).toHaveCount(1);
  await expect(log(tina).getByText('I do. What is it?')).toHaveCount(1);
  await close(desk);
}

/** Two press at the same moment, each on a page of their own; then a server ends in the middle. */
async function raceAndOutlive(page: Page, browser: Browser, server: Product): Promise<void> {
  const desk = await openDesk(page, browser, server);
  const { ada, tina, maria } = desk;
  await maria.goto('/chat');
  await say(maria, 'Who helps me?');
  const conversation = (one: Page) => one.getByRole('region', { name: 'Conversation with maria' });
  for (const one of [ada, tina]) {
    await one.goto('/support');
    await inbox(one).getByRole('link', { name: /maria/ }).click();
    await expect(conversation(one).getByRole('button', { name: 'Claim' })).toBeVisible();
  }
  // The second person may find the button gone.
  const claims = [ada, tina].map((one) =>
    conversation(one)
      .getByRole('button', { name: 'Claim' })
      .click({ timeout: 5_000 })
      .catch(() => undefined),
  );
  await Promise.all(claims);
  const isHers = async (one: Page) => await conversation(one).getByText('Yours', { exact: true }).isVisible();
  await expect.poll(async () => (await Promise.all([ada, tina].map(isHers))).toSorted()).toEqual([false, true]);
  const [winner, loser, name] = (await isHers(ada)) ? [ada, tina, 'ada'] : [tina, ada, 'tina'];
  await expect(conversation(loser).getByText(`With ${name}`)).toBeVisible();

  await say(maria, 'before it');
  await expect(log(winner).getByText('before it')).toBeVisible();
  await server.crash();
  // Pages of the one that is gone come back at the other, and what failed is sent again.
  for (const words of ['right after it', 'and later']) {
    await field(maria).fill(words);
    // While one is on its way for the first time, the next stays in the field.
    await expect(async () => {
      await field(maria).press('Enter');
      await expect(field(maria)).toHaveValue('', { timeout: 1_000 });
    }).toPass({ timeout: 60_000 });
  }
  await field(winner, 'Answer').fill('I am still here');
  await field(winner, 'Answer').press('Enter');
  const words = ['Who helps me?', 'before it', 'right after it', 'and later', 'I am still here'];
  for (const one of [maria, winner, loser]) {
    for (const text of words) await expect(log(one).getByText(text, { exact: true })).toHaveCount(1, { timeout: 60_000 });
    const told = (await log(one).locator('.message__text').allTextContents()).filter((text) => words.includes(text));
    // The order is the server's, and the customer's own, whichever page wrote first.
    expect(told.filter((text) => text !== 'I am still here')).toEqual(words.slice(0, -1));
  }
  await maria.reload();
  for (const text of words) await expect(log(maria).getByText(text, { exact: true })).toHaveCount(1);
  await close(desk);
}

// proves: support-staff-13
test('two of the staff see each other in a conversation, and one gets it', async ({ page, browser, server }) => {
  test.slow();
  await seeEachOther(page, browser, server);
});

// proves: support-customer-25
test('a customer writes, a technician claims and answers, both see it live, and it is closed and rated', async ({
  page,
  browser,
  server,
}) => {
  test.setTimeout(240_000);
  await helpEachOther(page, browser, server);
});

// proves: support-scale-4
test.describe('on two servers behind a proxy', () => {
  test.skip(!hasSideBySide, 'There is no PostgreSQL and Redis on this machine that servers could share.');
  test.use({ servers: 2 });
  test('two of the staff see each other in a conversation, and one gets it', async ({ page, browser, server }) => {
    test.slow();
    await seeEachOther(page, browser, server);
  });

  test('a customer writes, a technician claims and answers, both see it live, and it is closed and rated', async ({
    page,
    browser,
    server,
  }) => {
    test.setTimeout(240_000);
    await helpEachOther(page, browser, server);
  });

  // proves: support-staff-5
  test('of two who claim at once one gets it, and a server that fails takes no message with it', async ({
    page,
    browser,
    server,
  }) => {
    test.setTimeout(240_000);
    await raceAndOutlive(page, browser, server);
  });
});

// proves: support-customer-22
test('a thing is shown to support by its own button, and help pages answer first', async ({ page, browser, server }) => {
  test.slow();
  const desk = await openDesk(page, browser, server);
  const { tina, maria } = desk;
  const headers = await headersOf(maria);
  await maria.request.post('/api/firewall/rules', { headers, data: { rule_name: 'Printer', port: '9100' } });
  await maria.goto('/firewall');
  await maria.getByRole('link', { name: 'Show Printer to support' }).click();
  await maria.getByRole('button', { name: 'Show it' }).click();
  await expect(log(maria).getByText('Firewall rule, shown to support')).toBeVisible();
  await tina.goto('/support');
  await inbox(tina).getByRole('link', { name: /maria/ }).click();
  await log(tina).getByRole('button', { name: 'Open it' }).click();
  await expect(tina.getByRole('dialog')).toContainText('9100');
  await expectAccessible(tina);

  await field(maria).fill('a man on the phone wants my card number');
  await expect(maria.getByText('This may answer it:')).toBeVisible();
  await maria.goto('/help');
  await maria.getByRole('searchbox', { name: 'Search the help pages' }).fill('pending');
  await maria.getByRole('link', { name: /What Pending means/i }).click();
  await expect(maria.getByRole('heading', { level: 1, name: /Pending/ })).toBeVisible();
  await expectAccessible(maria);
  await close(desk);
});

// proves: support-staff-24
test('administrators write help pages and canned answers, and set the hours', async ({ page }) => {
  test.slow();
  await openSignedIn(page, 'ada');
  await page.goto('/admin/help');
  await page.getByRole('button', { name: 'New page' }).click();
  await page.getByLabel('Title').fill('Paper jam');
  await page.getByLabel('In one sentence').fill('What to do when paper is stuck.');
  await page.getByLabel('Article', { exact: true }).fill('## Pull\n\n<b>Gently</b>.');
  await page.getByRole('tab', { name: 'Preview' }).click();
  await expect(page.getByRole('region', { name: 'Preview' })).toContainText('<b>Gently</b>.');
  await page.getByRole('checkbox', { name: /^Published/ }).check();
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByText('Saved.')).toBeVisible();
  await expectAccessibleInEveryMode(page);
  await page.goto('/help/paper-jam');
  await expect(page.getByRole('heading', { level: 2, name: 'Pull' })).toBeVisible();

  await page.goto('/support/answers');
  await page.getByRole('button', { name: 'New reply' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Shortcut').fill('jam');
  await dialog.getByLabel('Title').fill('Paper jam');
  await dialog.getByLabel('Text').fill('Good day {{customer}}, pull gently.');
  await expectAccessibleInEveryMode(page);
  await dialog.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByRole('button', { name: /\/jam/ })).toBeVisible();

  await page.goto('/admin/setup');
  const hours = page.getByRole('region', { name: 'Opening hours' });
  if (await hours.getByRole('switch').isChecked()) await hours.getByText('Support is there day and night').click();
  await hours.getByRole('button', { name: 'Save the hours' }).click();
  await expect(hours.getByText('The hours are saved.')).toBeVisible();
});

// proves: support-scale-10, support-staff-1
test('the desk on a phone shows one pane at a time, and the field stays above the keyboard', async ({
  page,
  browser,
  server,
}) => {
  test.slow();
  const desk = await openDesk(page, browser, server);
  const { tina, maria } = desk;
  await maria.goto('/chat');
  await say(maria, 'Hello from a phone');
  await tina.setViewportSize({ width: 390, height: 844 });
  await tina.goto('/support');
  await expect(inbox(tina).getByRole('link', { name: /maria/ })).toBeVisible();
  await expectAccessibleOnPhone(tina);
  await inbox(tina).getByRole('link', { name: /maria/ }).click();
  await expect(inbox(tina)).toBeHidden();
  await expect(log(tina).getByText('Hello from a phone')).toBeVisible();
  await expectAccessibleOnPhone(tina);
  // The conversation has the whole window while its field has the focus, and moves when it loses it: one press does it all the same.
  await field(tina, 'Answer').click();
  await tina.getByRole('button', { name: 'Customer card' }).click();
  await expect(tina.getByRole('complementary', { name: 'Customer card' }).getByText('maria@example.com')).toBeVisible();
  await expect(log(tina)).toBeHidden();
  await tina.getByRole('button', { name: 'Back to the conversation' }).click();
  await tina.getByRole('button', { name: 'Back to the inbox' }).click();
  await expect(inbox(tina)).toBeVisible();

  // The keyboard takes half of the window.
  await maria.setViewportSize({ width: 390, height: 844 });
  await field(maria).focus();
  await maria.setViewportSize({ width: 390, height: 420 });
  await expect(async () => {
    const box = await field(maria).boundingBox();
    expect((box?.y ?? 0) + (box?.height ?? 999)).toBeLessThanOrEqual(420);
    expect(box?.y).toBeGreaterThan(100);
  }).toPass();
  await expect(field(maria)).toBeFocused();
  await close(desk);
});

// proves: support-scale-9
test('the screens of the desk are accessible, whole at every width, and worked by keyboard', async ({
  page,
  browser,
  server,
}) => {
  test.setTimeout(300_000);
  const desk = await openDesk(page, browser, server);
  const { tina, maria } = desk;
  await maria.goto('/chat');
  await say(maria, 'Is anybody there?');
  await expect(log(maria).getByText('Automatic reply')).toBeVisible();
  await expectNothingCutOff(maria);
  await tina.goto('/support');
  await expect(inbox(tina).getByRole('listitem')).toHaveCount(1);
  await expectAccessibleInEveryMode(tina);
  await tina.keyboard.press('j');
  await expect(tina.getByRole('region', { name: 'Conversation with maria' })).toBeVisible();
  await expect(tina.getByRole('complementary', { name: 'Customer card' }).getByText('maria@example.com')).toBeVisible();
  await expectAccessibleInEveryMode(tina);
  await expectNothingCutOff(tina);
  await tina.keyboard.press('r');
  await expect(field(tina, 'Answer')).toBeFocused();
  await tina.keyboard.type('Yes.');
  await tina.keyboard.press('Enter');
  await expect(log(maria).getByText('Yes.')).toBeVisible();
  await expect(field(tina, 'Answer')).toBeFocused();
  await field(tina, 'Answer').blur();
  await tina.keyboard.press('/');
  await expect(inbox(tina).getByRole('searchbox')).toBeFocused();
  await inbox(tina).getByRole('searchbox').blur();
  await tina.keyboard.press('?');
  await expect(tina.getByRole('dialog', { name: 'Keys of the support desk' })).toBeVisible();
  await expectAccessible(tina);
  await tina.keyboard.press('Escape');
  await tina.keyboard.press('e');
  await expect(tina.getByText('Closed', { exact: true }).last()).toBeVisible();
  await page.goto('/support/reports');
  await expect(page.getByRole('table', { name: 'Weeks' })).toBeVisible();
  await expectAccessibleInEveryMode(page);
  await close(desk);
});

const WEEKDAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];

test('hours over midnight are kept, and are those of the day on which they begin', async ({ page, browser, server }) => {
  await openSignedIn(page, 'ada');
  // A zone in which it is noon, so that the journey is the same at any time of day.
  const now = new Date();
  const offset = 12 - now.getUTCHours();
  const time_zone = `Etc/GMT${offset > 0 ? '-' : '+'}${Math.abs(offset)}`;
  const today = new Date(now.getTime() + offset * 3_600_000).getUTCDay();
  const yesterday = WEEKDAYS[(today + 6) % 7] ?? '';
  const customer = await browser.newContext({ baseURL: server.url });
  const maria = await customer.newPage();
  await openSignedIn(maria, 'maria');

  const setHours = async (until: string) => {
    await page.goto('/admin/setup');
    const hours = page.getByRole('region', { name: 'Opening hours' });
    const always = hours.getByRole('switch', { name: 'Support is there day and night' });
    if (await always.isChecked()) await always.click();
    await hours.getByLabel('Time zone').fill(time_zone);
    const takeAway = hours.getByRole('button', { name: /: remove$/ });
    for (let left = await takeAway.count(); left > 0; left -= 1) await takeAway.first().click();
    await hours.getByRole('button', { name: `${yesterday}: add a time` }).click();
    await hours.getByLabel(`${yesterday}: from`).fill('22:00');
    await hours.getByLabel(`${yesterday}: to`).fill(until);
    await expect(hours.getByText('next day')).toBeVisible();
    await hours.getByRole('button', { name: 'Save the hours' }).click();
    await expect(hours.getByText('The hours are saved.')).toBeVisible();
    await page.reload();
    await expect(hours.getByLabel(`${yesterday}: to`)).toHaveValue(until);
    await expectNothingCutOff(page);
    // An administrator belongs to the staff, and is here while the page is open.
    await page.goto('about:blank');
    await maria.goto('/chat');
    return maria.getByRole('status', { name: 'Support' });
  };
  await expect(await setHours('14:00')).toContainText('We’re away.');
  await expect(await setHours('06:00')).toContainText(/Support is back on /);
  await customer.close();
});
