import type { Page } from '@playwright/test';
import { expect } from '@playwright/test';
import { expectAccessible, expectAccessibleInEveryMode, expectNothingCutOff } from './accessible.ts';
import { headersOf, test } from './palisade.ts';
import { eicarFile } from './samples.ts';
import { hasSideBySide } from './side-by-side.ts';

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

// proves: support-customer-25
test('a customer writes, a technician claims and answers, both see it live, and it is closed and rated', async ({ palisade }) => {
  const admin = await palisade.open('ada', '/dashboard', { role: 'admin' });
  const tina = await palisade.open('tina', '/support', { role: 'support' });
  const maria = await palisade.open('maria', '/chat');
  await expect(inbox(tina).getByText('No open conversations')).toBeVisible();

  // The presence of staff is shown separately from the state of the connection.
  await expect(maria.getByRole('status', { name: 'Support' })).toContainText('Support is here');

  await say(maria, 'My printer prints nothing');
  await expect(log(maria).getByText('Automatic reply')).toBeVisible();
  const row = inbox(tina).getByRole('link', { name: /maria/ });
  await expect(row).toContainText('Waits');
  const otto = await palisade.open('otto', '/chat');
  await say(otto, 'I was charged twice');
  await expect(inbox(tina).getByRole('listitem')).toHaveCount(2);

  await row.click();
  const conversation = tina.getByRole('region', { name: 'Conversation with maria' });
  await conversation.getByRole('button', { name: 'Claim' }).click();
  await expect(conversation.getByText('Yours')).toBeVisible();
  await expect(log(tina).getByText('I was charged twice')).toHaveCount(0);

  await say(tina, 'Good day Maria. Which printer?', 'Answer');
  await expect(log(maria).getByText('Good day Maria. Which printer?')).toBeVisible();
  await expect(maria.getByRole('status', { name: 'Support' })).toContainText('tina answers you');
  await expect(log(tina).getByText('Read', { exact: true })).toBeVisible();

  // Only staff see a note.
  await tina.getByRole('radio', { name: 'Note' }).check();
  await say(tina, 'She means the old one', 'Note');
  await say(maria, 'The grey one');
  await expect(log(tina).getByText('The grey one')).toBeVisible();
  await maria.reload();
  await expect(log(maria).getByText('The grey one')).toBeVisible();
  await expect(log(maria).getByText('She means the old one')).toHaveCount(0);

  // The badge of an unread message appears on other screens.
  await maria.goto('/dashboard');
  await tina.getByRole('radio', { name: 'Answer' }).check();
  await say(tina, 'Please turn it off and on.', 'Answer');
  await expect(maria).toHaveTitle(/^\(1\) /);
  await expect(maria.getByRole('link', { name: /Support Chat.*1 unread message/ })).toBeVisible();
  await maria.goto('/chat');
  await expect(log(maria).getByText('Please turn it off and on.')).toBeVisible();
  await expect(maria).toHaveTitle(/^Support Chat/);

  // Both sides see a picture; an infected file is not delivered.
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

  // Both pages show the code of the remote session.
  await conversation.getByRole('button', { name: 'Start a remote session' }).click();
  const code = await log(tina).locator('.message-card code').last().textContent();
  await expect(log(maria).getByText(code ?? '')).toBeVisible();

  // The customer card shows names and counts, and the audit log records that it was opened.
  await expect(tina.getByRole('complementary', { name: 'Customer card' }).getByText('maria@example.com')).toBeVisible();
  const audit = await admin.request.get('/api/admin/audit', { headers: await headersOf(admin) });
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
});

// proves: support-customer-10, support-fault-3
test('a message without a connection waits, and arrives once and in order when it is back', async ({ palisade }) => {
  const tina = await palisade.open('tina', '/support', { role: 'support' });
  const maria = await palisade.open('maria', '/chat');
  await say(maria, 'first');
  await inbox(tina).getByRole('link', { name: /maria/ }).click();
  await expect(log(tina).getByText('first')).toBeVisible();
  // The server stores the message but the reply is lost, so the page sends it again.
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
});

// proves: support-scale-4, support-staff-5
test('at two servers of two who claim at once one gets it, and a server that fails takes no message with it', async ({
  startOwn,
}) => {
  test.skip(!hasSideBySide, '[needs PostgreSQL, an S3 server and Redis]');
  test.setTimeout(240_000);
  const palisade = await startOwn({}, 2);
  const maria = await palisade.open('maria', '/chat');
  const ada = await palisade.open('ada', '/support', { role: 'admin' });
  const tina = await palisade.open('tina', '/support', { role: 'support' });
  await say(maria, 'Who helps me?');
  const conversation = (one: Page) => one.getByRole('region', { name: 'Conversation with maria' });
  for (const one of [ada, tina]) {
    await inbox(one).getByRole('link', { name: /maria/ }).click();
    await expect(conversation(one).getByRole('button', { name: 'Claim' })).toBeVisible();
  }
  // The button may already be gone for the second person.
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
  await palisade.server.crash();
  // Pages of the crashed server reconnect to the other one and resend failed messages.
  for (const words of ['right after it', 'and later']) {
    await field(maria).fill(words);
    // While one message is sent for the first time, the next stays in the field.
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
    // The server orders messages by the order in which the customer wrote them, whichever page sent first.
    expect(told.filter((text) => text !== 'I am still here')).toEqual(words.slice(0, -1));
  }
});

// proves: support-scale-10, support-staff-1
test('the desk on a phone shows one pane at a time, and the field stays above the keyboard', async ({ palisade }) => {
  const viewport = { width: 390, height: 844 };
  const maria = await palisade.open('maria', '/chat', { viewport });
  await say(maria, 'Hello from a phone');
  const tina = await palisade.open('tina', '/support', { role: 'support', viewport });
  await expect(inbox(tina).getByRole('link', { name: /maria/ })).toBeVisible();
  await expectAccessible(tina);
  await inbox(tina).getByRole('link', { name: /maria/ }).click();
  await expect(inbox(tina)).toBeHidden();
  await expect(log(tina).getByText('Hello from a phone')).toBeVisible();
  await expectAccessible(tina);
  // The conversation fills the window while its field has the focus and changes size when the focus leaves. One press must work in spite of that.
  await field(tina, 'Answer').click();
  await tina.getByRole('button', { name: 'Customer card' }).click();
  await expect(tina.getByRole('complementary', { name: 'Customer card' }).getByText('maria@example.com')).toBeVisible();
  await expect(log(tina)).toBeHidden();
  await tina.getByRole('button', { name: 'Back to the conversation' }).click();
  await tina.getByRole('button', { name: 'Back to the inbox' }).click();
  await expect(inbox(tina)).toBeVisible();

  // The on-screen keyboard covers half of the window.
  await field(maria).focus();
  await maria.setViewportSize({ width: 390, height: 420 });
  await expect(async () => {
    const box = await field(maria).boundingBox();
    expect((box?.y ?? 0) + (box?.height ?? 999)).toBeLessThanOrEqual(420);
    expect(box?.y).toBeGreaterThan(100);
  }).toPass();
  await expect(field(maria)).toBeFocused();
});

// proves: support-scale-9
test('the screens of the desk are accessible, whole at every width, and worked by keyboard', async ({ palisade }) => {
  const maria = await palisade.open('maria', '/chat');
  await say(maria, 'Is anybody there?');
  await expect(log(maria).getByText('Automatic reply')).toBeVisible();
  await expectNothingCutOff(maria);
  const tina = await palisade.open('tina', '/support', { role: 'support' });
  await expect(inbox(tina).getByRole('listitem')).toHaveCount(1);
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
});
