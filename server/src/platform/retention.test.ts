// proves: asvs-14.2.4

import { asWritten } from '@palisade/contract/alert-phrases';
import { simulateThreat } from '@palisade/contract/anti-hacking';
import { checkAudit } from '@palisade/contract/audit';
import { changePassword, currentUser } from '@palisade/contract/auth';
import { readDashboard } from '@palisade/contract/dashboard';
import { assignSubscription } from '@palisade/contract/subscription';
import { eventually } from '@palisade/scanner/test/eventually';
import { expect, test } from 'vitest';
import { replyOf, startTestApp } from '#test/harness.ts';
import { incidentOf } from '#test/incident-of.ts';
import { scanOf } from '#test/scan-of.ts';

const DAY_MS = 86_400_000;

test('mails are kept for 30 days, drills for 90, scores for as long as they can be looked at, and no others are removed', async () => {
  let clock = Date.parse('2026-11-20T10:00:00Z');
  const {
    app,
    call,
    registerAndSignIn: signIn,
  } = await startTestApp({ surroundings: { now: () => clock, every_ms: { retention: 20 } } });
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
  await app.keepScores();
  pass(5);
  await happen(1);
  // That the plan was given is a letter, too.
  expect(await left()).toEqual([3, 2, 1]);
  pass(25 + 1);
  await eventually(async () => expect(await left()).toEqual([1, 2, 1]));
  pass(60);
  await eventually(async () => expect(await left()).toEqual([0, 1, 1]));
  pass(367 - 91);
  await eventually(async () => expect(await left()).toEqual([0, 0, 1]));
  clock += 1;
  await eventually(async () => expect(await left()).toEqual([0, 0, 0]));
});

// proves: attack-D.23-2
test('scans, alerts that are over and entries of the audit log go after the days that are set, and the log still holds', async () => {
  let clock = Date.parse('2026-11-20T10:00:00Z');
  const {
    app,
    call,
    registerAndSignIn: signIn,
  } = await startTestApp({
    environment: { RETAIN_SCANS: '10', RETAIN_ALERTS: '10', RETAIN_AUDIT: '10' },
    surroundings: { now: () => clock, every_ms: { retention: 20 } },
  });
  const { id: user_id } = await signIn('boss');
  const scan = (id: string, kept: { sealed: number; spooled: number }) =>
    scanOf(user_id, new Date(clock).toISOString(), { id, scan_status: 'clean', ...kept });
  await app.database
    .insertInto('scans')
    .values([scan('old', { sealed: 0, spooled: 0 }), scan('sealed', { sealed: 1, spooled: 0 })])
    .execute();
  for (const description of ['over', 'open']) {
    const at = new Date(clock).toISOString();
    await app.alerts.raise(incidentOf(user_id, { phrase: asWritten(description), key: description, severity: 'low', at }));
  }
  await app.database.updateTable('alerts').set({ status: 'resolved' }).where('description', '=', 'over').execute();
  const left = async () => ({
    scans: (await app.database.selectFrom('scans').select('id').execute()).map(({ id }) => id),
    alerts: (await app.database.selectFrom('alerts').select('description').execute()).map((alert) => alert.description),
    entries: (await app.database.selectFrom('audit_entries').select('seq').orderBy('seq').execute()).map(({ seq }) => seq),
  });
  clock += 6 * DAY_MS;
  await signIn('maria');
  clock += 4 * DAY_MS;
  // The first one's session goes by the same look.
  await eventually(async () => expect(await app.database.selectFrom('sessions').select('id').execute()).toHaveLength(1));
  expect(await left()).toMatchObject({ scans: ['old', 'sealed'], entries: [1, 2, 3, 4] });
  clock += 1;
  await eventually(async () => expect(await left()).toEqual({ scans: ['sealed'], alerts: ['open'], entries: [3, 4] }));
  const { token } = await signIn('boss', 'admin');
  expect(replyOf(await call(checkAudit, { token }))).toMatchObject({ fault: null, checked_from: 3, entries: 5 });

  // Entries that are still within their time cannot be removed.
  await expect(app.database.deleteFrom('audit_entries').where('seq', '=', 3).execute()).rejects.toThrow('append-only');
  await expect(app.database.updateTable('audit_head').set({ anchor_seq: 1 }).execute()).rejects.toThrow('append-only');
  clock += 30 * DAY_MS;
  await eventually(async () => expect((await left()).entries).toEqual([]));
  const again = await signIn('boss', 'admin');
  expect(replyOf(await call(checkAudit, { token: again.token }))).toMatchObject({ fault: null, checked_from: 6, entries: 6 });
});

// proves: attack-D.23-2
test('expired sessions are removed, used or not', async () => {
  let clock = Date.parse('2026-11-20T10:00:00Z');
  const {
    app,
    call,
    registerAndSignIn: signIn,
  } = await startTestApp({ surroundings: { now: () => clock, every_ms: { retention: 20 } } });
  const { token } = await signIn('boss');
  await signIn('maria');
  const count = async () => (await app.database.selectFrom('sessions').select('id').execute()).length;
  clock += 6 * DAY_MS;
  expect((await call(currentUser, { token })).status).toBe(200);
  clock += DAY_MS;
  await eventually(async () => expect(await count()).toBe(1));
  expect((await call(currentUser, { token })).status).toBe(200);
  clock += 7 * DAY_MS;
  await eventually(async () => expect(await count()).toBe(0));
  expect((await call(currentUser, { token })).status).toBe(401);
});
