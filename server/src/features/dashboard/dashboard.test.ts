import { readDashboard } from '@palisade/contract/dashboard';
import { addRule, deleteRule } from '@palisade/contract/firewall';
import { assignSubscription } from '@palisade/contract/subscription';
import { EICAR, nestedGzip, PDF } from '@palisade/scanner/test/files';
import { needing } from '@palisade/scanner/test/needs';
import { describe, expect, test } from 'vitest';
import { isStoreShared, problemOf, replyOf, startScanningApp, startTestApp } from '#test/harness.ts';
import { listenAs } from '#test/socket.ts';
import { scanned } from '#test/upload.ts';

/** Asked for from the first day on; it counts from the second. */
const SECOND_FACTOR = {
  id: 'no_two_factor',
  title: 'Only a password protects your sign-in',
  deduction: 0,
  gain: 0,
  fix_route: '/dashboard?open=security&tab=two-factor',
};

describe('the status of the dashboard', async () => {
  const app = await startScanningApp();
  const { call, signIn } = app;
  const admin = await signIn('boss');
  const maria = await signIn('maria');
  const status = async (token = maria.token) => replyOf(await call(readDashboard, { token }));

  test('takes a token', async () => {
    expect(problemOf(await call(readDashboard, {}))).toMatchObject({ status: 401 });
    expect(problemOf(await call(readDashboard, { token: 'wrong' }))).toMatchObject({ status: 401 });
  });

  test('of a new account has a score of 100 and one thing to do, no plan, no scan', async () => {
    expect(await status()).toEqual({
      security_score: 100,
      score_breakdown: [SECOND_FACTOR],
      score_checks: { ran: 15, unknown: 13 },
      last_scan: 'Never',
      subscription: {
        has_subscription: false,
        plan_name: null,
        is_premium: false,
        expires_at: null,
        price: null,
        currency: null,
        features: [],
        max_devices: null,
        duration_months: null,
      },
      recent_scans: [],
      devices: null,
      measured: {
        threats_neutralized: 0,
        test_files_neutralized: 0,
        firewall_rules: 0,
        files_scanned: 0,
        files_infected: 0,
        test_files_found: 0,
        infected_in_the_open: false,
        files_pending: 0,
        last_finished_at: null,
      },
    });
  });

  test('counts what was scanned at once, and lists the latest', async () => {
    const record = await scanned(app, maria.token, 'eicar.com', EICAR);
    expect((await status()).measured).toEqual({
      threats_neutralized: 1,
      test_files_neutralized: 1,
      firewall_rules: 0,
      files_scanned: 1,
      files_infected: 1,
      test_files_found: 1,
      infected_in_the_open: false,
      files_pending: 0,
      last_finished_at: record.scanned_at,
    });
    for (let index = 0; index < 5; index += 1) await scanned(app, maria.token, `${index}.pdf`, PDF);
    const unread = await scanned(app, maria.token, 'deep.gz', nestedGzip(PDF, 17));
    const after = await status();
    expect(after.recent_scans.map(({ filename }) => filename)).toEqual(['deep.gz', '4.pdf', '3.pdf', '2.pdf', '1.pdf', '0.pdf']);
    expect(after.last_scan).toBe(unread.scanned_at);
    expect(after.measured).toMatchObject({ files_scanned: 7, files_infected: 1, files_pending: 1 });
    expect(after.measured.last_finished_at).not.toBe(unread.scanned_at);
    // A file of this week that was not fully read takes 2, a harmless test file nothing.
    expect(after.security_score).toBe(98);
    expect(after.score_breakdown.map(({ id }) => id)).toEqual(['no_two_factor', 'unread_lately']);
  });

  test('says when an infected file could be neither sealed nor removed', async () => {
    const tom = await signIn('tom');
    await scanned(app, tom.token, 'toms.com', EICAR);
    // As the alert says of a file that stayed where it was.
    await app.app.database.updateTable('alerts').set({ outcome: 'unknown' }).where('description', 'like', '%toms.com%').execute();
    expect((await status(tom.token)).measured).toMatchObject({ files_infected: 1, infected_in_the_open: true });
  });

  test('is one’s own', async () => {
    const { measured, recent_scans } = await status(admin.token);
    expect(measured.files_scanned).toBe(0);
    expect(recent_scans).toEqual([]);
  });

  test('counts the rules, takes off what they leave open, and gives it back once that is mended', async () => {
    const rule = { direction: 'inbound', action: 'allow', protocol: 'tcp', source_ip: '*', destination_ip: '*' } as const;
    const before = await status();
    const ssh = replyOf(await call(addRule, { token: maria.token, body: { ...rule, rule_name: "'; drop", port: '22' } }));
    replyOf(await call(addRule, { token: maria.token, body: { ...rule, rule_name: 'web', port: '443' } }));
    const open = await status();
    expect(open.measured.firewall_rules).toBe(2);
    expect(open.security_score).toBe(before.security_score - 8);
    expect(open.score_breakdown).toContainEqual({
      id: 'port_22_open',
      title: 'A rule opens port 22 (SSH) to the whole world',
      deduction: 8,
      gain: 8,
      fix_route: '/firewall',
    });
    await call(deleteRule, { token: maria.token, params: { id: ssh.id } });
    expect(await status()).toMatchObject({
      security_score: before.security_score,
      score_breakdown: before.score_breakdown,
      measured: { firewall_rules: 1 },
    });
  });

  test('shows the plan from the moment it is assigned', async () => {
    const body = {
      user_email: maria.email,
      plan_name: 'Family Shield',
      price: 19.99,
      duration_months: 12,
      max_devices: 5,
      is_premium: true,
      features: ['One', 'Two'],
    } as const;
    replyOf(await call(assignSubscription, { token: admin.token, body: { ...body, features: [...body.features] } }));
    expect((await status()).subscription).toMatchObject({
      has_subscription: true,
      plan_name: 'Family Shield',
      is_premium: true,
      price: 19.99,
      currency: 'USD',
      features: ['One', 'Two'],
    });
  });
});

needing('a server alone', !isStoreShared()).test(
  'the status is kept until something is told to its person, and for 5 s at most',
  async () => {
    let clock = Date.parse('2026-11-20T10:00:00Z');
    const { app, url, call, signIn } = await startTestApp({ surroundings: { now: () => clock } });
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
