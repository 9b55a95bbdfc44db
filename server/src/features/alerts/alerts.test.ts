import { alertPhrase, asWritten } from '@palisade/contract/alert-phrases';
import {
  acknowledgeAlert,
  deleteSuppression,
  disownAlert,
  listSuppressions,
  previewSuppression,
  readAlert,
  readMonitor,
  reopenAlert,
  resolveAlert,
} from '@palisade/contract/alerts';
import { type AlertsQuery, listAlerts } from '@palisade/contract/anti-hacking';
import { UNKNOWN_STATUS } from '@palisade/contract/status';
import { describe, expect, test } from 'vitest';
import { createKnownBrowsers } from '#features/detection/known-browsers.ts';
import { newId } from '#platform/id.ts';
import type { Incident } from '#platform/incident.ts';
import {
  addPerson,
  auditKindsOf,
  featureAccounts,
  featureAudit,
  featureDatabase,
  givePremium,
  heldJobs,
  heldMail,
  ORIGIN,
} from '#test/feature-database.ts';
import { replyOf, startTestApp } from '#test/harness.ts';
import { insertRow, oneRow } from '#test/rows.ts';
import { createAlertCounts } from './alert-counts.ts';
import { createAlertMails } from './alert-mails.ts';
import { type AlertRow, alertOf } from './alert-record.ts';
import { createAlerts } from './alerts.ts';
import { addDrill } from './drills.ts';
import { createMonitor } from './monitor.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const database = await featureDatabase();
const clock = { now: Date.parse('2026-11-20T10:00:00.000Z') };
const now = () => clock.now;
const at = (offset_ms = 0) => new Date(clock.now + offset_ms).toISOString();
const mail = heldMail();
const accounts = featureAccounts(database);
const ended: string[] = [];
const [STOLEN, OWN, FOREIGN] = [newId(), newId(), newId()];
const mails = createAlertMails({
  ...{ database, mail, accounts, now, jobs: heldJobs(), public_url: 'https://guard.example' },
  premium: { current: () => Promise.resolve({ is_premium: true }) },
  status: () => Promise.resolve(UNKNOWN_STATUS),
});
const counts = createAlertCounts({ database, now });
const alerts = createAlerts({
  ...{ database, mails, now, audit: featureAudit(now), tell() {}, onChange: counts.forget },
  consequences: {
    browsers: createKnownBrowsers({ database, now }),
    endSession(_, session_id) {
      ended.push(session_id);
      return Promise.resolve(session_id !== FOREIGN);
    },
    secondFactor: () => Promise.resolve({ enabled: false }),
  },
});

function incidentOf(user_id: string, parts: Partial<Incident> = {}): Incident {
  return {
    ...{ rule: 'brute_force.pair', key: 'account and source', user_id, threat_type: 'brute_force', severity: 'medium' },
    ...{ phrase: alertPhrase('brute_force.pair.from', { address: '203.0.113.7' }), at: at(), outcome: 'unknown' },
    ...{ ip_address: '203.0.113.7', browser_id: null, session_id: null },
    evidence: {
      threshold: alertPhrase('threshold.brute_force.pair', {}),
      events: [{ at: at(), what: alertPhrase('event.wrong_password', {}), source: '203.0.113.7' }],
    },
    ...parts,
  };
}

const PROBING = { rule: 'intrusion_attempt.probing', threat_type: 'intrusion_attempt' } as const;

/** A person to whom things can happen. */
async function person() {
  const id = await addPerson(database);
  const decider = { user_id: id, session_id: OWN, origin: ORIGIN };
  const list = (query: Partial<AlertsQuery> = {}) => alerts.list(id, { limit: 100, search: '', sort: 'latest', ...query });
  return {
    ...{ id, decider, email: `${id}@example.com`, list },
    raise: (parts: Partial<Incident> = {}) => alerts.raise(incidentOf(id, parts)),
    latest: async (query: Partial<AlertsQuery> = {}): Promise<AlertRow> => {
      const [row] = await list(query);
      if (row === undefined) throw new Error('there is no alert');
      return row;
    },
  };
}
const refusedField = (field: string) => ({ code: 'invalid_field', errors: [{ field }] });

describe('merging', () => {
  test('repetitions are one alert, which moves to the head of the list', async () => {
    const { raise, list } = await person();
    await raise();
    await raise({ key: 'another account' });
    clock.now += 59 * MINUTE;
    await raise({ severity: 'high', outcome: 'blocked', phrase: asWritten('Again.') });
    const [first, ...others] = (await list()).map(alertOf);
    expect(others).toMatchObject([{ count: 1 }]);
    expect(first).toMatchObject({ count: 2, severity: 'high', description: 'Again.', blocked: true });
    expect([first?.created_at, first?.last_seen]).toEqual([first?.first_seen, at()]);
    expect(Date.parse(first?.first_seen ?? '')).toBe(clock.now - 59 * MINUTE);
    expect(first?.evidence.events).toHaveLength(2);
    // The newest of it got through, so it is not blocked any more; it stays as grave as it was.
    await raise();
    expect((await list())[0]).toMatchObject({ count: 3, outcome: 'unknown', severity: 'high' });
  });

  test('ends with a gap of an hour, and after a day', async () => {
    const { raise, list } = await person();
    await raise();
    clock.now += HOUR;
    await raise();
    expect((await list()).map(({ count }) => count)).toEqual([1, 1]);
    for (let half = 0; half < 48; half += 1) {
      clock.now += HOUR / 2;
      await raise();
    }
    expect((await list()).map(({ count }) => count)).toEqual([1, 48, 1]);
  });

  test('of many at once is one alert that counts each', async () => {
    const { raise, list } = await person();
    for (const counted of [[8], [8, 8]]) {
      await Promise.all(Array.from({ length: 8 }, () => raise()));
      expect((await list()).map(({ count }) => count)).toEqual(counted);
      clock.now += 2 * HOUR;
    }
  });

  test('keeps 5 samples, the newest, and no source where there are several', async () => {
    const { raise, latest, id } = await person();
    for (let attempt = 0; attempt < 7; attempt += 1) {
      clock.now += MINUTE;
      const events = [{ at: at(), what: asWritten(`${attempt}`), source: `198.51.100.${attempt}` }];
      await raise({ ip_address: null, evidence: { threshold: asWritten('Many.'), events } });
    }
    const row = await latest();
    expect(alertOf(row).evidence.events.map(({ what }) => what)).toEqual(['2', '3', '4', '5', '6']);
    await expect(alerts.suppressions.preview(id, row.id)).rejects.toMatchObject({ code: 'invalid_field' });
  });

  test('asks about two browsers apart', async () => {
    const { raise, list } = await person();
    for (const browser_id of ['laptop', 'phone', 'phone']) await raise({ rule: 'suspicious_login.new_browser', browser_id });
    expect((await list()).map(({ count }) => count)).toEqual([2, 1]);
  });

  test('tells of no incident that was claimed by another server', async () => {
    const { id, list } = await person();
    await alerts.raise(incidentOf(id, { severity: 'critical' }), () => Promise.resolve(false));
    expect(await list()).toEqual([]);
  });
});

describe('the list', () => {
  test('has pages that hold while alerts move to the head', async () => {
    const { raise, list } = await person();
    for (let key = 0; key < 4; key += 1) await raise({ key: `${key}` });
    const first = await list({ limit: 2, status: 'active', type: 'brute_force' });
    await raise({ key: '0' });
    const rest = await list({ limit: 2, cursor: first.at(-1)?.last_id });
    const seen = [...first, ...rest].map(({ id }) => id);
    expect(new Set(seen).size).toBe(seen.length);
    expect(new Set([...seen, ...(await list()).map(({ id }) => id)]).size).toBe(4);
  });

  test.each([
    ['DOOR', 2],
    ['198.51.100', 2],
    ['100 %', 1],
    ['_oor', 0],
  ])('is searched for %s in words and sources, and counted', async (search, found) => {
    const { raise, list, id } = await person();
    for (const key of ['0', '1'])
      await raise({ key, phrase: asWritten(`Wrong passwords for door ${key}`), ip_address: '198.51.100.7' });
    await raise({ key: 'other', phrase: asWritten('Something else, 100 % sure'), ip_address: null });
    expect(await list({ search })).toHaveLength(found);
    expect(await alerts.count(id, { limit: 1, search, sort: 'latest' })).toBe(found);
  });

  test('begins with the most severe when asked, page by page, of those with the latest', async () => {
    const { raise, list } = await person();
    for (const [key, severity] of Object.entries({ a: 'low', b: 'critical', c: 'medium', d: 'critical', e: 'high' } as const))
      await raise({ key, severity, phrase: asWritten(key) });
    const pages: string[] = [];
    for (let cursor: string | undefined; pages.length < 5; ) {
      const rows = await list({ sort: 'severity', limit: 2, ...(cursor !== undefined && { cursor }) });
      pages.push(...rows.map(({ description }) => description));
      cursor = rows.at(-1)?.last_id;
    }
    expect(pages).toEqual(['d', 'b', 'e', 'c', 'a']);
  });

  test('is filtered by state, severity, type and drills', async () => {
    const { raise, list, id } = await person();
    await raise({ severity: 'high' });
    await raise(PROBING);
    await addDrill(id, { database, now: clock.now, random: () => 0 });
    expect(await list({ severity: 'high', simulated: 'false' })).toMatchObject([{ threat_type: 'brute_force' }]);
    expect(await list({ type: 'intrusion_attempt' })).toHaveLength(1);
    expect(await list({ simulated: 'true' })).toMatchObject([{ rule: 'drill', simulated: 1 }]);
    expect(await list({ status: 'resolved' })).toEqual([]);
    expect(await alerts.counts(id)).toMatchObject({ active: 3, real: 2, unstopped: 2, gravest: { severity: 'high' } });
  });
});

describe('the life of an alert', () => {
  test('is open, acknowledged, resolved with a reason, and open again, each in the log and never twice', async () => {
    const { id, raise, latest, list, decider } = await person();
    await raise();
    const row = await latest();
    const conflict = { code: 'conflict' };
    expect(await alerts.acknowledge(row, decider)).toMatchObject({ status: 'acknowledged' });
    await expect(alerts.acknowledge(row, decider)).rejects.toMatchObject(conflict);
    await expect(alerts.reopen(row, decider)).rejects.toMatchObject(conflict);
    const resolution = { reason: 'fixed', note: 'New password.', suppress: false } as const;
    expect(await alerts.resolve(row, resolution, decider)).toMatchObject({
      status: 'resolved',
      resolution: { reason: 'fixed', note: 'New password.', until: null, at: at(), by: id },
    });
    await expect(alerts.resolve(row, resolution, decider)).rejects.toMatchObject(conflict);
    expect([await list({ status: 'active' }), await list({ status: 'resolved' })]).toMatchObject([[], [{ id: row.id }]]);
    const reopened = await alerts.reopen(row, decider);
    expect(reopened).toMatchObject({ status: 'open', resolution: null });
    expect(reopened.decisions.map(({ kind, by }) => `${by} ${kind}`)).toEqual([
      'person reopened',
      'person resolved',
      'person acknowledged',
    ]);
    expect(await auditKindsOf(database, id)).toEqual(['alert_acknowledged', 'alert_resolved', 'alert_reopened']);
  });

  test.each([
    ['fixed', 'open'],
    ['test', 'open'],
    ['was_me', 'resolved'],
  ] as const)('resolved as %s, it is %s when it happens again', async (reason, status) => {
    const { raise, latest, decider } = await person();
    const incident = { rule: 'suspicious_login.new_browser', threat_type: 'suspicious_login' } as const;
    await raise(incident);
    await alerts.resolve(await latest(), { reason, suppress: false }, decider);
    await raise(incident);
    const again = await alerts.detail(await latest());
    expect(again).toMatchObject({ status, count: 2 });
    expect(again.decisions[0]).toMatchObject(status === 'open' ? { kind: 'recurred', by: 'monitor' } : { kind: 'resolved' });
    // Graver than the settled one: the decision was not about it.
    await raise({ ...incident, severity: 'high' });
    expect(await latest()).toMatchObject({ status: 'open', severity: 'high' });
  });

  test('an accepted risk stays so until its day, and no longer', async () => {
    const { raise, latest, list, decider } = await person();
    await raise();
    const row = await latest();
    const resolve = (until: string) => alerts.resolve(row, { reason: 'accepted_risk', until, suppress: false }, decider);
    for (const until of [at(), at(400 * DAY)]) await expect(resolve(until)).rejects.toMatchObject(refusedField('until'));
    await resolve(at(3 * DAY));
    clock.now += 2 * DAY;
    await raise();
    expect(await list()).toMatchObject([{ id: row.id, count: 2, status: 'resolved' }]);
    clock.now += 2 * DAY;
    await raise();
    expect(await list()).toMatchObject([{ count: 1, status: 'open' }, { id: row.id }]);
  });

  test('counts for the score, the newest first, until it is blocked or resolved', async () => {
    const { id, raise, list, decider } = await person();
    const tally = async () => await counts.tally(id);
    for (const key of ['older', 'newer']) await raise({ key, severity: 'high', outcome: 'allowed' });
    await raise({ key: 'blocked', severity: 'high', outcome: 'blocked' });
    for (const [index, row] of (await list()).slice(1).entries()) {
      expect(await tally()).toMatchObject({ open: { high: { count: 2 - index, newest: row.id }, critical: { count: 0 } } });
      await alerts.resolve(row, { reason: 'fixed', suppress: false }, decider);
    }
    expect((await tally()).open.high).toEqual({ count: 0, newest: undefined });
  });

  test.each([
    ['malware_detected.outbreak', 0],
    ['malware_detected.infected', 1],
  ])('of %s that was not blocked counts %i for the score when it is resolved', async (rule, unblocked_malware) => {
    const { id, raise, latest, decider } = await person();
    const malware = { threat_type: 'malware_detected', outcome: 'allowed', ip_address: null } as const;
    await raise({ ...malware, rule, severity: 'high', key: `scan:${rule}` });
    await alerts.resolve(await latest(), { reason: 'fixed', suppress: false }, decider);
    expect(await counts.tally(id)).toMatchObject({ unblocked_malware, open: { high: { count: 0 } } });
  });

  test('of lesser severity waits until it is seen, and refused password guessing for a week', async () => {
    const { id, raise, list, latest, decider } = await person();
    const open = async () => (await counts.tally(id)).open;
    await raise({
      key: 'lesser',
      rule: 'device_new_listening_port',
      threat_type: 'intrusion_attempt',
      severity: 'low',
      outcome: 'unknown',
    });
    // A browser and a file have checks of their own.
    await raise({ key: 'browser', rule: 'suspicious_login.new_browser', severity: 'low', outcome: 'unknown' });
    await raise({
      key: 'file',
      rule: 'malware_detected.infected',
      threat_type: 'malware_detected',
      severity: 'high',
      outcome: 'allowed',
    });
    const [lesser] = (await list()).slice(-1);
    if (lesser === undefined) throw new Error('it was raised');
    expect(await open()).toMatchObject({ lesser: { count: 1, newest: lesser.id }, high: { count: 0 }, guessing: { count: 0 } });
    await alerts.acknowledge(lesser, decider);
    expect((await open()).lesser.count).toBe(0);
    await raise({ key: 'guessing', severity: 'medium', outcome: 'blocked' });
    expect((await open()).guessing).toEqual({ count: 1, newest: (await latest()).id });
    clock.now += 8 * 86_400_000;
    counts.forget(id);
    expect((await open()).guessing.count).toBe(0);
  });
});

describe('a sign-in', () => {
  const incident = { rule: 'suspicious_login.new_browser', threat_type: 'suspicious_login', outcome: 'allowed' } as const;

  test('that was not me is ended where it is a session of mine and not this one, and the answer says what to do next', async () => {
    const { raise, latest, decider } = await person();
    for (const session_id of [STOLEN, OWN, FOREIGN]) await raise({ ...incident, browser_id: 'x', session_id });
    expect(await alerts.disown(await latest(), decider)).toMatchObject({
      ...{ sessions_ended: 1, change_password: true, offer_two_factor: true },
      alert: { status: 'acknowledged', outcome: 'blocked', decisions: [{ kind: 'not_me' }] },
    });
    expect(ended).toEqual([STOLEN, FOREIGN]);
  });

  test('has its browser trusted when it was me, reviewed when it was anything else, and forgotten when it was not me', async () => {
    const { id: user_id, raise, list, decider } = await person();
    const seen = { user_id, client: 'Firefox on Windows', first_seen: at(), last_seen: at(), trusted_at: null, reviewed: 0 };
    for (const id of ['mine', 'settled', 'theirs']) {
      await insertRow(database, 'known_browsers', { ...seen, id, browser_id: id, source: '203.0.113.7' });
      await raise({ ...incident, browser_id: id });
    }
    const [theirs, settled, mine] = await list();
    if (!theirs || !settled || !mine) throw new Error('an alert is missing');
    await alerts.resolve(mine, { reason: 'was_me', suppress: false }, decider);
    await alerts.resolve(settled, { reason: 'fixed', suppress: false }, decider);
    await alerts.disown(theirs, decider);
    const kept = database.selectFrom('known_browsers').select(['id', 'trusted_at', 'reviewed']).where('user_id', '=', user_id);
    expect(await kept.orderBy('id').execute()).toEqual([
      { id: 'mine', trusted_at: at(), reviewed: 1 },
      { id: 'settled', trusted_at: null, reviewed: 1 },
    ]);
  });

  test('is the only thing that can have been me', async () => {
    const { raise, latest, decider } = await person();
    await raise(PROBING);
    const row = await latest();
    await expect(alerts.resolve(row, { reason: 'was_me', suppress: false }, decider)).rejects.toMatchObject(
      refusedField('reason'),
    );
    await expect(alerts.disown(row, decider)).rejects.toMatchObject({ code: 'conflict' });
  });
});

describe('a suppression', () => {
  const falsePositive = { reason: 'false_positive', suppress: true } as const;
  const page = { limit: 10 };

  test('hides the next of a false positive from one source, counts it, and gives it back', async () => {
    const { id, raise, latest, list, decider } = await person();
    await raise({ outcome: 'blocked' });
    const row = await latest();
    expect(await alerts.suppressions.preview(id, row.id)).toMatchObject({ rule: row.rule, would_hide: 1 });
    await alerts.resolve(row, falsePositive, decider);
    // Repetitions of the resolved alert stay there.
    await raise();
    await raise({ key: 'of another account', outcome: 'blocked' });
    expect(await list({ status: 'active' })).toEqual([]);
    const [hidden, ...others] = await list({ status: 'hidden' });
    expect([hidden?.status, others]).toEqual(['open', []]);
    expect(await alerts.counts(id)).toMatchObject({ active: 0, resolved: 1, hidden: 1 });
    // Neither is a threat that was blocked.
    expect(await counts.stats(id, 'UTC')).toMatchObject({ threats_blocked_total: 0 });
    const [suppression] = await alerts.suppressions.list(id, page);
    expect(suppression).toMatchObject({ rule: row.rule, hidden_count: 2, last_hidden_at: at(), until: at(30 * DAY) });
    await raise({ key: 'elsewhere', ip_address: '203.0.113.8' });
    await raise({ key: 'grave', severity: 'critical' });
    expect((await list({ status: 'active' })).map(({ severity }) => severity)).toEqual(['critical', 'medium']);

    if (suppression === undefined) throw new Error('there is no suppression');
    await alerts.suppressions.remove(suppression, decider);
    expect((await list({ status: 'active' })).map((one) => one.id)).toContain(hidden?.id);
    await raise({ key: 'a third account' });
    expect(await list({ status: 'active' })).toHaveLength(4);
  });

  test('ends after 30 days, and what it hid can still be brought back', async () => {
    const { id, raise, latest, list, decider } = await person();
    await raise();
    await alerts.resolve(await latest(), falsePositive, decider);
    await raise({ key: 'hidden' });
    clock.now += 30 * DAY;
    await raise({ key: 'later' });
    expect(await list({ status: 'active' })).toMatchObject([{ count: 1 }]);
    const [over] = await alerts.suppressions.list(id, page);
    expect(over?.until).toBe(at());
    await alerts.suppressions.remove({ id: over?.id ?? '', rule: over?.rule ?? '', source: over?.source ?? '' }, decider);
    expect(await list({ status: 'hidden' })).toEqual([]);
  });

  test('is refused for a critical alert, and for one of another person', async () => {
    const { raise, latest, decider } = await person();
    await raise({ severity: 'critical' });
    const row = await latest();
    await expect(alerts.resolve(row, falsePositive, decider)).rejects.toMatchObject(refusedField('suppress'));
    await expect(alerts.suppressions.preview((await person()).id, row.id)).rejects.toMatchObject({ code: 'not_found' });
  });
});

test('grave alerts are mailed at once, once for a key and day, and never a drill', async () => {
  const { id, raise, email } = await person();
  clock.now = Date.parse('2027-01-15T10:00:00.000Z');
  await raise();
  await addDrill(id, { database, now: clock.now, random: () => 0.99 });
  expect(mail.to(email)).toEqual([]);
  for (const severity of ['high', 'high', 'critical'] as const) {
    await raise({ severity });
    clock.now += 2 * HOUR;
  }
  const [letter, ...others] = mail.letters.filter(({ recipient }) => recipient === email);
  expect([letter?.subject, others]).toEqual(['Security alert, high severity', []]);
  const text = letter?.lines.join('\n');
  for (const part of [
    'Five sign-ins to your account failed',
    '15 January 2027',
    '203.0.113.7',
    'What to do:',
    '/anti-hacking?alert=',
  ])
    expect(text).toContain(part);
  await raise({ severity: 'high', key: 'another' });
  clock.now += DAY;
  await raise({ severity: 'high' });
  expect(mail.to(email)).toHaveLength(3);
});

test('the monitor lists the watched things, and the start of the watch', async () => {
  const { id } = await person();
  const account = { findAccount: () => Promise.resolve({ created_at: at(-DAY) }) };
  const watches = { files: () => true, sign_ins: () => true, requests: () => false };
  const readState = await createMonitor({ database, accounts: account, watches, now });
  const { watching_since, watches: shown } = await readState(id);
  expect(watching_since).toBe(at());
  expect(shown.map(({ id: watch, is_watched }) => [watch, is_watched])).toEqual([
    ['files', true],
    ['sign_ins', true],
    ['requests', false],
  ]);
  for (const { is_watched, reason } of shown) expect(is_watched).toBe(reason === null);
  expect(await alerts.counts(id)).toEqual({
    ...{ active: 0, resolved: 0, hidden: 0 },
    ...{ real: 0, test_files: 0, unstopped: 0, gravest: null },
  });
});

test('the routes list, decide, hide and bring back', async () => {
  const { app, call, signIn } = await startTestApp();
  const { token, email } = await signIn();
  const { id: user_id } = await oneRow(app.database, 'users', { email });
  await givePremium(app.database, user_id);
  for (const key of ['one', 'two'])
    await app.alerts.raise({ ...incidentOf(user_id, PROBING), key, at: new Date().toISOString() });
  const page = await call(listAlerts, { token, query: '?limit=1&status=active' });
  expect(page.headers.get('x-total-count')).toBe('2');
  const next = /^<[^?]+(\?[^>]+)>; rel="next"$/.exec(page.headers.get('link') ?? '')?.[1] ?? '';
  expect(next).toContain('status=active');
  const [alert] = replyOf(await call(listAlerts, { token, query: next }));
  const params = { id: alert?.id ?? '' };
  expect((await call(listAlerts, { token, query: '?status=lost' })).status).toBe(422);
  expect(replyOf(await call(readAlert, { token, params })).decisions).toEqual([]);
  replyOf(await call(acknowledgeAlert, { token, params }));
  expect((await call(disownAlert, { token, params })).status).toBe(409);
  for (const body of [{ reason: 'fixed', suppress: true }, { reason: 'accepted_risk' }] as const)
    expect((await call(resolveAlert, { token, params, body })).status).toBe(422);
  expect(replyOf(await call(previewSuppression, { token, body: { alert_id: params.id } })).would_hide).toBe(2);
  const body = { reason: 'false_positive', suppress: true, note: ' Mine. ' } as const;
  expect(replyOf(await call(resolveAlert, { token, params, body })).resolution).toMatchObject({ note: 'Mine.' });
  const [suppression] = replyOf(await call(listSuppressions, { token }));
  expect((await call(deleteSuppression, { token, params: { id: suppression?.id ?? '' } })).status).toBe(204);
  replyOf(await call(reopenAlert, { token, params }));
  expect(replyOf(await call(readMonitor, { token })).alerts).toMatchObject({ active: 2, resolved: 0 });
});
