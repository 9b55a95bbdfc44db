import { changePassword, forgotPassword, login, register } from '@palisade/contract/auth';
import { sendMessage } from '@palisade/contract/chat';
import { listOutbox, passOnMail } from '@palisade/contract/mail';
import { readOverview } from '@palisade/contract/overview';
import { readConfig } from '@palisade/contract/platform';
import { setupConfig } from '@palisade/contract/setup';
import { assignSubscription, createTemplate, requestPlan } from '@palisade/contract/subscription';
import { eventually } from '@palisade/scanner/test/eventually';
import { expect, test } from 'vitest';
import { problemOf, replyOf, startTestApp } from '#test/harness.ts';
import { updateRows } from '#test/rows.ts';

const NOTHING = {
  conversations: 0,
  remote_requests: 0,
  plan_requests: 0,
  plans_ending: 0,
  jobs: 0,
  false_alarms: 0,
  mails: 0,
  unproven: 0,
};

test('a fresh installation says that the first account administers it, and then its next steps', async () => {
  let later_ms = 0;
  const app = await startTestApp({ surroundings: { now: () => Date.now() + later_ms } });
  const { call } = app;
  expect(replyOf(await call(readConfig)).administrator).toBe('first_account');
  const boss = await app.registerAndSignIn();
  expect(replyOf(await call(readConfig)).administrator).toBe('there');
  const first = replyOf(await call(readOverview, { token: boss.token }));
  expect(first).toEqual({
    waiting: { ...NOTHING, mails: first.waiting.mails },
    is_mail_connected: false,
    first_steps: { provider: false, second_factor: false, first_scan: false, others: false },
  });

  const client_info = { company_name: 'Harbour IT', support_phone: '', support_email: '', support_promise: '' };
  const body = { client_info, setup_type: 'basic_installation' as const, timestamp: '2026-11-20T10:00:00.000Z' };
  await call(setupConfig, { token: boss.token, body });
  const file = new FormData();
  file.append('file', new Blob(['hello']), 'a.txt');
  await app.fetch(`/api/antivirus/scan`, { method: 'POST', headers: { authorization: `Bearer ${boss.token}` }, body: file });
  const customer = await app.registerAndSignIn();
  expect(replyOf(await call(readOverview, { token: boss.token })).first_steps).toEqual({
    provider: true,
    second_factor: false,
    first_scan: true,
    others: true,
  });

  const template = {
    template_name: 'Family',
    base_price: 5,
    duration_months: 12 as const,
    max_devices: 1 as const,
    is_premium: true,
  } as const;
  const created = replyOf(await call(createTemplate, { token: boss.token, body: { ...template, features: [] } }));
  await call(requestPlan, { token: customer.token, body: { template_id: created.template.id } });
  const { waiting } = replyOf(await call(readOverview, { token: boss.token }));
  expect(waiting.plan_requests).toBe(1);
  expect(waiting.mails).toBe(0);

  // Work that has used up its attempts stays, and is counted.
  await updateRows(
    app.app.database,
    'jobs',
    { kind: 'retention' },
    { dead_at: new Date().toISOString(), claimed_by: null, lease_until: null },
  );
  // A change by hand tells no event: an answer is trusted for 5 s.
  later_ms = 5_001;
  expect(replyOf(await call(readOverview, { token: boss.token })).waiting.jobs).toBe(1);
});

test('counts unanswered conversations of others, and plans that end within 30 days', async () => {
  let now = Date.parse('2026-11-20T10:00:00Z');
  const app = await startTestApp({ surroundings: { now: () => now } });
  const boss = await app.registerAndSignIn('boss', 'admin');
  const maria = await app.registerAndSignIn('maria');
  const tom = await app.registerAndSignIn('tom');
  const waiting = async (token = boss.token) => replyOf(await app.call(readOverview, { token })).waiting;
  const say = (token: string) => app.call(sendMessage, { token, body: { message: 'It is slow.', sender: 'user' } });
  replyOf(await say(maria.token));
  replyOf(await say(tom.token));
  // Administrators do not answer themselves.
  replyOf(await say(boss.token));
  expect((await waiting()).conversations).toBe(2);

  const plan = { plan_name: 'Family', price: 5, max_devices: 1, is_premium: false, features: [] } as const;
  const assign = (user_email: string, duration_months: 1 | 3) =>
    app.call(assignSubscription, { token: boss.token, body: { ...plan, features: [], user_email, duration_months } });
  replyOf(await assign(maria.email, 1));
  replyOf(await assign(tom.email, 3));
  expect((await waiting()).plans_ending).toBe(1);
  now += 31 * 86_400_000;
  const again = replyOf(await app.call(login, { body: { email: boss.email, password: boss.password } })).access_token;
  expect((await waiting(again)).plans_ending).toBe(0);
  now += 35 * 86_400_000;
  const later = replyOf(await app.call(login, { body: { email: boss.email, password: boss.password } })).access_token;
  expect((await waiting(later)).plans_ending).toBe(1);
});

test('in public exposure people who have not confirmed their email wait', async () => {
  const app = await startTestApp({
    environment: { EXPOSURE: 'public', ADMIN_EMAILS: 'boss@example.com', RESET_DELIVERY: 'outbox' },
  });
  const boss = await app.registerAndSignIn('boss', 'admin');
  const before = replyOf(await app.call(readOverview, { token: boss.token })).waiting.unproven;
  const body = { email: 'new@example.com', username: 'newcomer', password: 'a long enough password' };
  replyOf(await app.call(register, { body }));
  await eventually(async () =>
    expect(replyOf(await app.call(readOverview, { token: boss.token })).waiting.unproven).toBe(before + 1),
  );
});

test('in public exposure an address of the settings administers, once it was confirmed', async () => {
  const app = await startTestApp({
    environment: { EXPOSURE: 'public', ADMIN_EMAILS: 'boss@example.com', RESET_DELIVERY: 'outbox' },
  });
  const body = { email: 'boss@example.com', username: 'boss', password: 'a long enough password' };
  expect(replyOf(await app.call(readConfig)).administrator).toBe('named_email');
  await app.call(register, { body });
  expect(replyOf(await app.call(readConfig)).administrator).toBe('named_email');
});

test('without a mail server letters with a code wait for an administrator, for a day; notices do not wait', async () => {
  let now = Date.parse('2026-11-20T10:00:00Z');
  const app = await startTestApp({
    environment: { EXPOSURE: 'public', ADMIN_EMAILS: 'office@example.com', RESET_DELIVERY: 'outbox' },
    surroundings: { now: () => now },
  });
  const boss = await app.registerAndSignIn('boss', 'admin');
  const maria = await app.registerAndSignIn('maria');
  const waiting = async () => replyOf(await app.call(readOverview, { token: boss.token })).waiting.mails;
  const before = await waiting();
  await app.call(forgotPassword, { body: { email: maria.email } });
  await eventually(async () => expect(await waiting()).toBe(before + 1));
  const new_password = 'another long password';
  replyOf(await app.call(changePassword, { token: maria.token, body: { current_password: maria.password, new_password } }));
  const subjects = replyOf(await app.call(listOutbox, { token: boss.token })).map(({ subject }) => subject);
  expect(subjects).toContain('Palisade: Your password was changed');
  expect(await waiting()).toBe(before + 1);
  const mails = replyOf(await app.call(listOutbox, { token: boss.token }));
  const reset = mails.find(({ subject }) => /reset/i.test(subject));
  // It is older than the notice, and someone waits for it.
  expect(mails[0]).toMatchObject({ id: reset?.id, kind: 'proof', is_urgent: true });
  expect(mails.slice(1).some(({ is_urgent }) => is_urgent)).toBe(false);
  const passOn = () => app.call(passOnMail, { token: boss.token, body: { mail_id: reset?.id ?? '' } });
  expect(replyOf(await passOn())).toMatchObject({ status: 'passed_on', text: null });
  expect(problemOf(await passOn())).toMatchObject({ status: 409 });
  expect(await waiting()).toBe(before);
  now += 90_000_000;
  const again = replyOf(await app.call(login, { body: { email: boss.email, password: boss.password } })).access_token;
  expect(replyOf(await app.call(readOverview, { token: again })).waiting.mails).toBe(0);
});
