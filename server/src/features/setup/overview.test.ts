import { register } from '@palisade/contract/auth';
import { listOutbox } from '@palisade/contract/mail';
import { readOverview } from '@palisade/contract/overview';
import { readConfig } from '@palisade/contract/platform';
import { setupConfig } from '@palisade/contract/setup';
import { createTemplate, requestPlan } from '@palisade/contract/subscription';
import { expect, test } from 'vitest';
import { problemOf, replyOf, startTestApp } from '#test/harness.ts';

test('a fresh installation says that the first account administers it, and what it needs then', async () => {
  const app = await startTestApp();
  const { call } = app;
  expect(replyOf(await call(readConfig)).administrator).toBe('first_account');
  const boss = await app.signIn();
  expect(replyOf(await call(readConfig)).administrator).toBe('there');
  const first = replyOf(await call(readOverview, { token: boss.token }));
  expect(first).toEqual({
    waiting: { plan_requests: 0, false_alarms: 0, mails: first.waiting.mails, jobs: 0 },
    first_steps: { provider: false, second_factor: false, first_scan: false, others: false },
  });

  const client_info = { company_name: 'Harbour IT', support_phone: '', support_email: '', support_promise: '' };
  const body = { client_info, setup_type: 'basic_installation' as const, timestamp: '2026-11-20T10:00:00.000Z' };
  await call(setupConfig, { token: boss.token, body });
  const file = new FormData();
  file.append('file', new Blob(['hello']), 'a.txt');
  await fetch(`${app.url}/api/antivirus/scan`, {
    method: 'POST',
    headers: { authorization: `Bearer ${boss.token}` },
    body: file,
  });
  const customer = await app.signIn();
  expect(replyOf(await call(readOverview, { token: boss.token })).first_steps).toEqual({
    provider: true,
    second_factor: false,
    first_scan: true,
    others: true,
  });
  expect(problemOf(await call(readOverview, { token: customer.token })).status).toBe(403);

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
  const mails = replyOf(await call(listOutbox, { token: boss.token }));
  expect(waiting.mails).toBe(mails.filter(({ status }) => status !== 'sent').length);

  // Work that has used up its attempts stays, and is counted.
  await app.app.database
    .updateTable('jobs')
    .set({ dead_at: new Date().toISOString(), claimed_by: null, lease_until: null })
    .where('kind', '=', 'retention')
    .execute();
  expect(replyOf(await call(readOverview, { token: boss.token })).waiting.jobs).toBe(1);
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
