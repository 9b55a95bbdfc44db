import { simulateThreat } from '@palisade/contract/anti-hacking';
import { changePassword } from '@palisade/contract/auth';
import { readDashboard } from '@palisade/contract/dashboard';
import { assignSubscription } from '@palisade/contract/subscription';
import { expect, test, vi } from 'vitest';
import { replyOf, startTestApp } from '#test/harness.ts';

const DAY_MS = 86_400_000;

test('mails are kept for 30 days, drills for 90, scores for as long as they can be looked at, and nothing else goes', async () => {
  let clock = Date.parse('2026-11-20T10:00:00Z');
  const { app, call, signIn } = await startTestApp({ surroundings: { now: () => clock, retention_look_ms: 20 } });
  const person = await signIn('boss');
  const premium = { plan_name: 'All', price: 1, duration_months: 12, max_devices: 1, is_premium: true, features: [] } as const;
  await call(assignSubscription, { token: person.token, body: { user_email: person.email, ...premium, features: [] } });
  const passwords = [person.password, 'the long password one', 'the long password two', 'the long password three'];
  const happen = async (turn: number) => {
    const change = { current_password: passwords[turn] ?? '', new_password: passwords[turn + 1] ?? '' };
    replyOf(await call(changePassword, { token: person.token, body: change }));
    replyOf(await call(simulateThreat, { token: person.token }));
  };
  const left = async () => [
    (await app.database.selectFrom('mails').select('id').execute()).length,
    (await app.database.selectFrom('alerts').select('id').where('simulated', '=', 1).execute()).length,
    (await app.database.selectFrom('score_history').select('since').execute()).length,
  ];
  const pass = (days: number) => {
    clock += days * DAY_MS;
  };

  await happen(0);
  replyOf(await call(readDashboard, { token: person.token }));
  pass(5);
  await happen(1);
  expect(await left()).toEqual([2, 2, 1]);
  pass(25 + 1);
  await vi.waitFor(async () => expect(await left()).toEqual([1, 2, 1]));
  pass(60);
  await vi.waitFor(async () => expect(await left()).toEqual([0, 1, 1]));
  pass(367 - 91);
  await vi.waitFor(async () => expect(await left()).toEqual([0, 0, 1]));
  clock += 1;
  await vi.waitFor(async () => expect(await left()).toEqual([0, 0, 0]));
});
