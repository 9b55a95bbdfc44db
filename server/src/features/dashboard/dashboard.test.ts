import { readDashboard } from '@palisade/contract/dashboard';
import { addRule } from '@palisade/contract/firewall';
import { EICAR, PDF } from '@palisade/scanner/test/files';
import { needing } from '@palisade/scanner/test/needs';
import { describe, expect, test } from 'vitest';
import { isStoreShared, replyOf, startListeningApp, startTestApp } from '#test/harness.ts';
import { listenAs } from '#test/socket.ts';
import { createSteeredEngine, unreadAs } from '#test/steered-engine.ts';
import { scanned } from '#test/upload.ts';

/** Asked for from the first day on; it counts from the second. */
const SECOND_FACTOR = {
  id: 'no_two_factor',
  title: 'Only a password protects your sign-in',
  deduction: 0,
  gain: 0,
  fix_route: '/dashboard?open=security&tab=two-factor',
};

const DEEP = Buffer.from('an archive in too many others');

const NO_PLAN = {
  ...{ has_subscription: false, plan_name: null, is_premium: false, expires_at: null, price: null, currency: null },
  ...{ features: [], max_devices: null, max_web_devices: null, max_profiles: null, duration_months: null },
};
const NOTHING = {
  ...{ threats_neutralized: 0, test_files_neutralized: 0, firewall_rules: 0, files_scanned: 0, files_infected: 0 },
  ...{ test_files_found: 0, files_pending: 0, last_finished_at: null },
};

describe('the status of the dashboard', async () => {
  const { engine, steered } = createSteeredEngine();
  steered.find = (bytes) => (bytes.equals(DEEP) ? unreadAs('depth') : {});
  const app = await startTestApp({ surroundings: { embedded_engine: engine } });
  const { call, signIn } = app;
  await signIn('boss');
  const { token } = await signIn('maria');
  const status = async () => replyOf(await call(readDashboard, { token }));

  test('of a new account has a score of 100 and one thing to do, no plan, no scan', async () => {
    const { status: told, ...rest } = await status();
    expect(told).toMatchObject({
      ...{ state: 'attention', sentence: SECOND_FACTOR.title, others: [], protected_by: [], is_scored: false },
      ...{ next: { id: 'no_two_factor', action: 'Turn on two-factor', fix_route: SECOND_FACTOR.fix_route } },
      looked_at: { files_read: 0, files_unread: 0, rules: 0, devices: 0, last_file_at: null },
    });
    expect(rest).toEqual({
      ...{ security_score: 100, score_breakdown: [SECOND_FACTOR], score_checks: { ran: 16, unknown: 17 }, last_scan: 'Never' },
      ...{ subscription: NO_PLAN, recent_scans: [], devices: null, measured: NOTHING },
    });
  });

  test('counts what was scanned at once, lists the latest, and takes off for unread files and open rules', async () => {
    const record = await scanned(app, token, 'eicar.com', EICAR);
    expect((await status()).measured).toEqual({
      ...{ ...NOTHING, threats_neutralized: 1, test_files_neutralized: 1, files_scanned: 1, files_infected: 1 },
      ...{ test_files_found: 1, last_finished_at: record.scanned_at },
    });
    for (let index = 0; index < 5; index += 1) await scanned(app, token, `${index}.pdf`, PDF);
    const unread = await scanned(app, token, 'deep.gz', DEEP);
    replyOf(await call(addRule, { token, body: { rule_name: "'; drop", port: '22' } }));
    const after = await status();
    expect(after.recent_scans.map(({ filename }) => filename)).toEqual(['deep.gz', '4.pdf', '3.pdf', '2.pdf', '1.pdf', '0.pdf']);
    expect(after.last_scan).toBe(unread.scanned_at);
    expect(after.measured).toMatchObject({ files_scanned: 7, files_infected: 1, files_pending: 1, firewall_rules: 1 });
    expect(after.measured.last_finished_at).not.toBe(unread.scanned_at);
    // An open port takes 8, a harmless test file and a file that was not fully read nothing.
    expect(after.security_score).toBe(92);
    expect(after.score_breakdown.map(({ id }) => id)).toEqual(['no_two_factor', 'port_22_open']);
  });

  test('says when an infected file could be neither sealed nor removed', async () => {
    const tom = await signIn('tom');
    await scanned(app, tom.token, 'toms.com', EICAR);
    // As the alert says of a file that stayed where it was.
    await app.app.database
      .updateTable('alerts')
      .set({ outcome: 'unknown', severity: 'high' })
      .where('description', 'like', '%toms.com%')
      .execute();
    const { measured, status: told } = replyOf(await call(readDashboard, { token: tom.token }));
    expect(measured).toMatchObject({ files_scanned: 1, files_infected: 1 });
    expect(told.next).toMatchObject({ id: 'infected_not_removed', fix_route: '/chat' });
  });
});

needing('a server alone', !isStoreShared()).test(
  'the status is kept until something is told to its person, and for 5 s at most',
  async () => {
    let clock = Date.parse('2026-11-20T10:00:00Z');
    const { app, url, call, signIn } = await startListeningApp({ surroundings: { now: () => clock } });
    // Pages of administrators hear about each new person as well, some time later.
    await signIn('boss', 'admin');
    const { token } = await signIn('maria', 'customer');
    const rules = async () => replyOf(await call(readDashboard, { token })).measured.firewall_rules;
    const socket = await listenAs({ url }, token);
    replyOf(await call(addRule, { token, body: { rule_name: 'First' } }));
    // The event of the rule comes after the answer: it must not come between the two readings.
    await socket.event((event) => event.kind === 'changed' && event.topic === 'rules');
    socket.leave();
    expect(await rules()).toBe(1);
    // By hand, so that no event is told.
    await app.database.deleteFrom('firewall_rules').execute();
    expect(await rules()).toBe(1);
    replyOf(await call(addRule, { token, body: { rule_name: 'Second' } }));
    replyOf(await call(addRule, { token, body: { rule_name: 'Third' } }));
    expect(await rules()).toBe(2);
    await app.database.deleteFrom('firewall_rules').execute();
    clock += 5_001;
    expect(await rules()).toBe(0);
  },
);
