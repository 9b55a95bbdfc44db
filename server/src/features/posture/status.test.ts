import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { judge } from './judge.ts';
import { readOpenRules } from './open-rules.ts';
import { CHECKED_PORTS } from './posture-checks.ts';
import type { PostureFacts } from './posture-facts.ts';
import { statusOf } from './status.ts';

const NOW = Date.parse('2026-11-20T10:00:00Z');
const DAY_MS = 86_400_000;

const count = fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, fc.integer({ min: 1, max: 9 }));
const names = fc.oneof({ weight: 3, arbitrary: fc.constant([]) }, fc.uniqueArray(fc.string({ minLength: 1 }), { maxLength: 5 }));
const things = names.map((some) => some.map((name) => ({ id: `id of ${name}`, name })));
const alerts = count.map((some) => ({ count: some, newest: some === 0 ? undefined : 'an-alert' }));
const scans = fc
  .record({
    clean: count,
    infected: count,
    pending: count,
    overdue: count,
    open: names,
    age_days: fc.integer({ min: 0, max: 60 }),
  })
  .map(({ open, age_days, ...counts }) => ({
    ...counts,
    open: { count: open.length, newest: open.slice(0, 3).map((filename) => ({ id: 'a-scan', filename })) },
    last_finished_at: counts.clean + counts.infected === 0 ? null : new Date(NOW - age_days * DAY_MS).toISOString(),
  }));
const devices = fc.option(
  fc.record({
    ...{ count: fc.integer({ min: 5, max: 9 }), plan_holds: fc.integer({ min: 0, max: 9 }) },
    ...{ unapplied: things, silent: things, outdated: things, unprotected: things, updates_waiting: things },
  }),
  { nil: undefined },
);
const facts: fc.Arbitrary<PostureFacts> = fc.record({
  account: fc.record({
    common_password: fc.constantFrom(undefined, false, true),
    second_factor: fc.constantFrom(
      undefined,
      { enabled: true, recovery_codes_left: 9 },
      { enabled: false, recovery_codes_left: 0 },
    ),
    is_admin: fc.boolean(),
    age_ms: fc.constantFrom(0, DAY_MS, 9 * DAY_MS),
    unreviewed_browsers: names,
  }),
  remote: fc.record({ long_sessions: count }),
  devices,
  web: fc.option(fc.record({ question_age_ms: fc.constantFrom(undefined, 0, 3 * DAY_MS), silent: things }), { nil: undefined }),
  home: fc.option(fc.record({ silent: things, without_plan: things, asks: count }), { nil: undefined }),
  scans,
  outside_quarantine: count.map((all) => ({ all, test_files: 0 })),
  alerts: fc.record({
    ...{ critical: alerts, high: alerts, lesser: alerts, guessing: alerts },
    browser: fc.constantFrom(undefined, 'a-browser'),
  }),
  rules: things.map((everything) => ({ ...readOpenRules([], CHECKED_PORTS), everything })),
  rule_count: count,
  plan: fc.option(fc.record({ ends_in_ms: fc.integer({ min: 1, max: 40 * DAY_MS }), is_asked: fc.boolean() }), {
    nil: undefined,
  }),
  signatures_age_ms: fc.constantFrom(undefined, 0, 3 * DAY_MS, 9 * DAY_MS),
});

/** Facts after a step is done, by the id of its check. */
const DONE: Readonly<Record<string, (was: PostureFacts) => PostureFacts>> = {
  common_password: (was) => ({ ...was, account: { ...was.account, common_password: false } }),
  no_two_factor: (was) => ({ ...was, account: { ...was.account, second_factor: { enabled: true, recovery_codes_left: 10 } } }),
  unreviewed_browser: (was) => ({ ...was, account: { ...was.account, unreviewed_browsers: [] } }),
  open_alert_critical: (was) => withoutAlerts(was, 'critical'),
  open_alert_high: (was) => withoutAlerts(was, 'high'),
  open_alert_lesser: (was) => withoutAlerts(was, 'lesser'),
  password_guessing: (was) => withoutAlerts(was, 'guessing'),
  allow_any_inbound: (was) => ({ ...was, rules: { ...was.rules, everything: [] } }),
  rule_not_applied: (was) => withDevices(was, { unapplied: [] }),
  device_silent: (was) => withDevices(was, { silent: [] }),
  agent_outdated: (was) => withDevices(was, { outdated: [] }),
  updates_waiting: (was) => withDevices(was, { updates_waiting: [] }),
  host_firewall_off: (was) => withDevices(was, { unprotected: [] }),
  web_device_silent: (was) => ({ ...was, web: was.web && { ...was.web, silent: [] } }),
  ask_waiting: (was) => ({ ...was, home: was.home && { ...was.home, asks: 0 } }),
  profile_device_silent: (was) => ({ ...was, home: was.home && { ...was.home, silent: [] } }),
  profile_no_plan: (was) => ({ ...was, home: was.home && { ...was.home, without_plan: [] } }),
  too_many_devices: (was) => withDevices(was, { plan_holds: 9 }),
  long_remote_session: (was) => ({ ...was, remote: { long_sessions: 0 } }),
  infected_not_removed: (was) => ({ ...was, outside_quarantine: { all: 0, test_files: 0 } }),
  infection_open: (was) => ({ ...was, scans: { ...was.scans, open: { count: 0, newest: [] } } }),
  signatures_old: (was) => ({ ...was, signatures_age_ms: 0 }),
  signatures_very_old: (was) => ({ ...was, signatures_age_ms: 0 }),
  files_overdue: (was) => ({ ...was, scans: { ...was.scans, overdue: 0 } }),
  plan_ending: (was) => ({ ...was, plan: was.plan && { ...was.plan, is_asked: true } }),
};

function withoutAlerts(was: PostureFacts, kind: 'critical' | 'high' | 'lesser' | 'guessing'): PostureFacts {
  return { ...was, alerts: { ...was.alerts, [kind]: { count: 0, newest: undefined } } };
}

function withDevices(was: PostureFacts, parts: Partial<NonNullable<PostureFacts['devices']>>): PostureFacts {
  return { ...was, devices: was.devices && { ...was.devices, ...parts } };
}

const read = (of: PostureFacts) => {
  const judged = judge(of);
  return { judged, status: statusOf(of, judged, NOW) };
};

describe('of 2,000 generated accounts the status', () => {
  const runs = { numRuns: 2_000 };

  test('says the same as score, reasons and findings, and never that all is well while a step is open', () => {
    fc.assert(
      fc.property(facts, (of) => {
        const { judged, status } = read(of);
        const steps = [...(status.next === null ? [] : [status.next]), ...status.others];
        const failed = judged.findings.filter(({ state }) => state === 'fail').map(({ id }) => id);
        expect(steps.map(({ id }) => id).sort()).toEqual(failed.sort());
        expect(judged.score_breakdown.map(({ id }) => id).sort()).toEqual(failed);
        expect(status.next === null).toBe(status.state === 'good' || status.state === 'unknown');
        expect(status.state === 'danger').toBe(steps.some(({ is_danger }) => is_danger));
        expect(status.sentence.startsWith('Nothing')).toBe(status.next === null);
        if (status.next !== null) expect(status.sentence).toBe(status.next.title);
        if (status.state === 'danger') expect(status.next?.is_danger).toBe(true);
      }),
      runs,
    );
  });

  test('loses each next step once it is done, until none is left', () => {
    fc.assert(
      fc.property(facts, (of) => {
        let now = of;
        for (let { next } = read(now).status; next !== null; { next } = read(now).status) {
          const { id } = next;
          now = DONE[id]?.(now) ?? now;
          const { status } = read(now);
          expect([status.next?.id, ...status.others.map((step) => step.id)]).not.toContain(id);
        }
        expect(['good', 'unknown']).toContain(read(now).status.state);
        expect(read(now).judged.security_score).toBe(100);
      }),
      runs,
    );
  });
});

const nobody = fc.sample(facts, { numRuns: 1, seed: 1 })[0];
if (nobody === undefined) throw new Error('there is one');
const quiet: PostureFacts = Object.values(DONE).reduce((was, done) => done(was), nobody);
const unseen: PostureFacts = {
  ...quiet,
  ...{ devices: undefined, web: undefined, home: undefined, rule_count: 0 },
  scans: { clean: 0, infected: 0, pending: 0, overdue: 0, open: { count: 0, newest: [] }, last_finished_at: null },
};

test('of an account without anything is not known yet; an old file alone does not protect', () => {
  expect(read(unseen).status).toMatchObject({ state: 'unknown', protected_by: [], is_scored: false });
  const scanned = (days: number) => ({
    ...unseen,
    scans: { ...unseen.scans, clean: 1, last_finished_at: new Date(NOW - days * DAY_MS).toISOString() },
  });
  expect(read(scanned(29)).status).toMatchObject({ state: 'good', protected_by: ['scans'], is_scored: true });
  expect(read(scanned(30)).status).toMatchObject({ state: 'good', protected_by: [] });
  const fresh = { ...quiet.account, second_factor: { enabled: false, recovery_codes_left: 0 }, age_ms: 0 };
  // Its one open step costs nothing yet, so a whole score would say too much.
  expect(read({ ...scanned(29), account: fresh }).status).toMatchObject({ state: 'attention', is_scored: false });
});

test('a device protects while it is heard', () => {
  const devices = { count: 1, plan_holds: 1, unapplied: [], outdated: [], unprotected: [], updates_waiting: undefined };
  expect(read({ ...unseen, devices: { ...devices, silent: [] } }).status).toMatchObject({
    state: 'good',
    protected_by: ['device'],
  });
  expect(read({ ...unseen, devices: { ...devices, silent: [{ id: 'laptop', name: 'Laptop' }] } }).status).toMatchObject({
    ...{ state: 'attention', protected_by: [] },
    next: { id: 'device_silent', fix_route: '/devices?device=laptop', action: 'Open the device' },
  });
});

test('web protection protects for a day after a question', () => {
  const status = (question_age_ms: number) => read({ ...unseen, web: { question_age_ms, silent: [] } }).status;
  expect(status(DAY_MS - 1)).toMatchObject({ state: 'good', protected_by: ['web_protection'] });
  expect(status(DAY_MS)).toMatchObject({ state: 'unknown', protected_by: [] });
});

test('an infected file comes before a critical alert, and both before everything else', () => {
  const alert = { count: 1, newest: 'an-alert' };
  const { next, others } = read({
    ...quiet,
    account: { ...quiet.account, second_factor: { enabled: false, recovery_codes_left: 0 } },
    scans: { ...quiet.scans, open: { count: 1, newest: [{ id: 'a-scan', filename: 'a.exe' }] } },
    alerts: { ...quiet.alerts, critical: alert, guessing: alert },
  }).status;
  expect([next?.id, ...others.map(({ id }) => id)]).toEqual([
    'infection_open',
    'open_alert_critical',
    'no_two_factor',
    'password_guessing',
  ]);
  expect(next).toMatchObject({ fix_route: '/antivirus?scan=a-scan', action: 'See what to do' });
});
