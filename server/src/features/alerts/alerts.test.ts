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
import { listAlerts, readStats, simulateThreat } from '@palisade/contract/anti-hacking';
import { login } from '@palisade/contract/auth';
import { readDashboard } from '@palisade/contract/dashboard';
import { listSessions } from '@palisade/contract/sessions';
import { assignSubscription } from '@palisade/contract/subscription';
import { EICAR } from '@palisade/scanner/test/files';
import { describe, expect, test, vi } from 'vitest';
import type { Incident } from '#platform/incident.ts';
import { problemOf, replyOf, startTestApp } from '#test/harness.ts';
import { scanned } from '#test/upload.ts';

const clock = { now: Date.parse('2026-11-20T10:00:00.000Z') };
const app = await startTestApp({ surroundings: { now: () => clock.now, every_ms: { digests: 20 } } });
const { call, signIn } = app;
const admin = await signIn('boss');
/** A token that the clock has not outlived. */
const tokenOf = async ({ email, password }: { email: string; password: string }) =>
  replyOf(await call(login, { body: { email, password } })).access_token;

/** Somebody with a premium plan, or without one, to whom things can happen. */
async function person(isPremium = true) {
  const { token, email, password } = await signIn();
  if (isPremium) {
    await call(assignSubscription, {
      token: await tokenOf(admin),
      body: {
        user_email: email,
        plan_name: 'Family Shield',
        price: 1,
        duration_months: 12,
        max_devices: 5,
        is_premium: true,
        features: [],
      },
    });
  }
  const { id } = await app.app.database.selectFrom('users').select('id').where('email', '=', email).executeTakeFirstOrThrow();
  const raise = (parts: Partial<Incident> = {}) => app.app.alerts.raise(incidentOf(id, parts));
  const list = async (query = '', as = token) => replyOf(await call(listAlerts, { token: as, query }));
  return { id, token, email, password, raise, list };
}

const at = () => new Date(clock.now).toISOString();

function incidentOf(user_id: string, parts: Partial<Incident>): Incident {
  return {
    rule: 'brute_force.pair',
    key: 'account and source',
    user_id,
    threat_type: 'brute_force',
    severity: 'medium',
    phrase: alertPhrase('brute_force.pair.from', { address: '203.0.113.7' }),
    at: at(),
    outcome: 'unknown',
    ip_address: '203.0.113.7',
    evidence: {
      threshold: alertPhrase('threshold.brute_force.pair', {}),
      events: [{ at: at(), what: alertPhrase('event.wrong_password', {}), source: '203.0.113.7' }],
    },
    browser_id: null,
    session_id: null,
    ...parts,
  };
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const mailsTo = async (email: string) =>
  (await app.app.database.selectFrom('mails').select(['subject', 'text']).where('recipient', '=', email).execute()).map(
    ({ subject, text }) => `${subject}\n${text}`,
  );

describe('merging', () => {
  test('repetitions are one alert, which moves to the head of the list', async () => {
    const { raise, list } = await person();
    await raise();
    await raise({ key: 'another account' });
    clock.now += 59 * MINUTE;
    await raise({ severity: 'high', outcome: 'blocked', phrase: asWritten('Again.') });
    const alerts = await list();
    expect(alerts).toMatchObject([{ count: 2, severity: 'high', description: 'Again.', blocked: true }, { count: 1 }]);
    expect(alerts[0]?.created_at).toBe(alerts[0]?.first_seen);
    expect(Date.parse(alerts[0]?.last_seen ?? '') - Date.parse(alerts[0]?.first_seen ?? '')).toBe(59 * MINUTE);
    expect(alerts[0]?.evidence.events).toHaveLength(2);
    // The newest of it got through, so it is not blocked any more; it stays as grave as it was.
    await raise();
    expect((await list())[0]).toMatchObject({ count: 3, blocked: false, outcome: 'unknown', severity: 'high' });
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
    await Promise.all(Array.from({ length: 8 }, () => raise()));
    expect((await list()).map(({ count }) => count)).toEqual([8]);
    clock.now += 2 * HOUR;
    await Promise.all(Array.from({ length: 8 }, () => raise()));
    expect((await list()).map(({ count }) => count)).toEqual([8, 8]);
  });

  test('keeps 5 samples, the newest, and no source where there are several', async () => {
    const { raise, list, token } = await person();
    for (let attempt = 0; attempt < 7; attempt += 1) {
      clock.now += MINUTE;
      const source = `198.51.100.${attempt}`;
      await raise({
        ip_address: null,
        evidence: { threshold: asWritten('Many.'), events: [{ at: at(), what: asWritten(`${attempt}`), source }] },
      });
    }
    const [alert] = await list();
    expect(alert?.evidence.events.map(({ what }) => what)).toEqual(['2', '3', '4', '5', '6']);
    const body = { alert_id: alert?.id ?? '' };
    expect(problemOf(await call(previewSuppression, { token, body }))).toMatchObject({ code: 'invalid_field' });
  });

  test('asks about two browsers apart', async () => {
    const { raise, list } = await person();
    for (const browser_id of ['laptop', 'phone', 'phone']) await raise({ rule: 'suspicious_login.new_browser', browser_id });
    expect((await list()).map(({ count }) => count)).toEqual([2, 1]);
  });

  test('pages hold while alerts move to the head', async () => {
    const { raise, list, token } = await person();
    for (let key = 0; key < 4; key += 1) await raise({ key: `${key}` });
    const query = '?limit=2&status=active&type=brute_force';
    const first = await call(listAlerts, { token, query });
    await raise({ key: '0' });
    const next = /^<([^>]+)>; rel="next"$/.exec(first.headers.get('link') ?? '')?.[1] ?? '';
    expect(next).toContain('status=active&type=brute_force');
    const rest = await list(next.slice(next.indexOf('?')));
    const seen = [...replyOf(first), ...rest].map(({ id }) => id);
    expect(new Set(seen).size).toBe(seen.length);
    expect(new Set([...seen, ...(await list()).map(({ id }) => id)]).size).toBe(4);
  });
});

test('alerts are found by their words and their source, and counted over all pages', async () => {
  const { raise, token } = await person();
  for (let key = 0; key < 5; key += 1)
    await raise({ key: `${key}`, phrase: asWritten(`Wrong passwords for door ${key}`), ip_address: '198.51.100.7' });
  await raise({ key: 'other', phrase: asWritten('Something else, 100 % sure'), ip_address: null });
  const read = async (query: string) => {
    const answer = await call(listAlerts, { token, query });
    return { rows: replyOf(answer).length, total: answer.headers.get('x-total-count') };
  };
  expect(await read('?limit=2')).toEqual({ rows: 2, total: '6' });
  expect(await read('?limit=2&search=DOOR')).toEqual({ rows: 2, total: '5' });
  expect(await read('?search=198.51.100')).toEqual({ rows: 5, total: '5' });
  expect(await read('?search=100%20%25')).toEqual({ rows: 1, total: '1' });
  expect(await read('?search=_oor')).toEqual({ rows: 0, total: '0' });
});

describe('the life of an alert', () => {
  test('is open, acknowledged, resolved with a reason, and open again, each in the log and never twice', async () => {
    const { raise, list, token, id: user_id } = await person();
    await raise();
    const [{ id = '' } = {}] = await list();
    const params = { id };
    expect(replyOf(await call(acknowledgeAlert, { token, params }))).toMatchObject({ status: 'acknowledged' });
    expect(problemOf(await call(acknowledgeAlert, { token, params }))).toMatchObject({ status: 409 });
    expect(problemOf(await call(reopenAlert, { token, params }))).toMatchObject({ status: 409 });
    const body = { reason: 'fixed', note: ' New password. ' } as const;
    expect(replyOf(await call(resolveAlert, { token, params, body }))).toMatchObject({
      status: 'resolved',
      resolution: { reason: 'fixed', note: 'New password.', until: null, at: at(), by: user_id },
    });
    expect(problemOf(await call(resolveAlert, { token, params, body }))).toMatchObject({ status: 409 });
    expect(await list('?status=active')).toEqual([]);
    expect(await list('?status=resolved')).toHaveLength(1);
    const reopened = replyOf(await call(reopenAlert, { token, params }));
    expect(reopened).toMatchObject({ status: 'open', resolution: null });
    expect(reopened.decisions.map(({ kind, by }) => `${by} ${kind}`)).toEqual([
      'person reopened',
      'person resolved',
      'person acknowledged',
    ]);
    const entries = await app.app.database
      .selectFrom('audit_entries')
      .select(['kind', 'actor_id', 'personal'])
      .where('subject_id', '=', user_id)
      .where('kind', 'in', ['alert_acknowledged', 'alert_resolved', 'alert_reopened'])
      .orderBy('seq')
      .execute();
    expect(entries.map(({ kind }) => kind)).toEqual(['alert_acknowledged', 'alert_resolved', 'alert_reopened']);
    for (const { actor_id, personal } of entries) {
      expect(actor_id).toBe(user_id);
      expect(personal).toContain(id);
    }
  });

  test.each([
    ['fixed', 'open'],
    ['test', 'open'],
    ['was_me', 'resolved'],
  ] as const)('resolved as %s, it is %s when it happens again', async (reason, status) => {
    const { raise, list, token } = await person();
    await raise();
    const [{ id = '' } = {}] = await list();
    replyOf(await call(resolveAlert, { token, params: { id }, body: { reason } }));
    await raise();
    const again = replyOf(await call(readAlert, { token, params: { id } }));
    expect(again).toMatchObject({ status, count: 2 });
    expect(again.decisions[0]).toMatchObject(status === 'open' ? { kind: 'recurred', by: 'monitor' } : { kind: 'resolved' });
    // Graver than the settled one, or from elsewhere: the decision was not about it.
    await raise({ severity: 'high' });
    expect(replyOf(await call(readAlert, { token, params: { id } }))).toMatchObject({ status: 'open', severity: 'high' });
  });

  test('an accepted risk stays so until its day, and no longer', async () => {
    const { raise, list, token } = await person();
    await raise();
    const [{ id = '' } = {}] = await list();
    const resolve = (until?: string) =>
      call(resolveAlert, { token, params: { id }, body: { reason: 'accepted_risk', ...(until && { until }) } });
    for (const until of [undefined, at(), new Date(clock.now + 400 * DAY).toISOString()])
      expect(problemOf(await resolve(until))).toMatchObject({ status: 422, errors: [{ field: 'until' }] });
    replyOf(await resolve(new Date(clock.now + 3 * DAY).toISOString()));
    clock.now += 2 * DAY;
    await raise();
    expect(await list()).toMatchObject([{ id, count: 2, status: 'resolved' }]);
    clock.now += 2 * DAY;
    await raise();
    expect(await list()).toMatchObject([{ count: 1, status: 'open' }, { id }]);
  });

  test('filters by state, severity, type and drills', async () => {
    const { raise, list, token } = await person();
    await raise({ severity: 'high' });
    await raise({ rule: 'intrusion_attempt.probing', threat_type: 'intrusion_attempt' });
    await call(simulateThreat, { token });
    expect(await list('?severity=high&simulated=false')).toMatchObject([{ threat_type: 'brute_force' }]);
    expect(await list('?type=intrusion_attempt&simulated=false')).toHaveLength(1);
    expect(await list('?simulated=true')).toMatchObject([{ rule: 'drill', simulated: true }]);
    expect(await list()).toHaveLength(3);
    expect((await call(listAlerts, { token, query: '?status=lost' })).status).toBe(422);
  });
});

describe('the score', () => {
  const scoreOf = async (token: string) => {
    const { security_score, score_breakdown } = replyOf(await call(readDashboard, { token }));
    // The second factor is asked for from the first day on, and counts later.
    return { security_score, score_breakdown: score_breakdown.filter(({ deduction }) => deduction > 0) };
  };

  test('leads to the newest alert of a severity that nothing has blocked, until it is resolved', async () => {
    const { raise, list, token } = await person();
    await raise({ key: 'older', severity: 'high', outcome: 'allowed' });
    await raise({ key: 'newer', severity: 'high', outcome: 'allowed' });
    await raise({ key: 'blocked', severity: 'high', outcome: 'blocked' });
    const [, newer, older] = await list();
    for (const alert of [newer, older]) {
      const { score_breakdown } = await scoreOf(token);
      expect(score_breakdown).toMatchObject([{ id: 'open_alert_high', fix_route: `/anti-hacking?alert=${alert?.id}` }]);
      replyOf(await call(resolveAlert, { token, params: { id: alert?.id ?? '' }, body: { reason: 'fixed' } }));
    }
    expect(await scoreOf(token)).toMatchObject({ security_score: 100, score_breakdown: [] });
  });

  test('of an outbreak that was not blocked comes back when it is resolved; of a file that lies in the open it does not', async () => {
    const { raise, list, token } = await person();
    const malware = { threat_type: 'malware_detected', outcome: 'allowed', ip_address: null } as const;
    await raise({ ...malware, rule: 'malware_detected.outbreak', severity: 'critical' });
    const resolve = async () => {
      const [{ id = '' } = {}] = await list('?status=active');
      replyOf(await call(resolveAlert, { token, params: { id }, body: { reason: 'fixed' } }));
    };
    expect(await scoreOf(token)).toMatchObject({ security_score: 49, score_breakdown: [{ id: 'open_alert_critical' }] });
    await resolve();
    expect(await scoreOf(token)).toMatchObject({ security_score: 100, score_breakdown: [] });
    await raise({ ...malware, rule: 'malware_detected.infected', severity: 'high', key: 'scan:left' });
    await resolve();
    expect(await scoreOf(token)).toMatchObject({ security_score: 80, score_breakdown: [{ id: 'infected_not_removed' }] });
  });
});

describe('a sign-in', () => {
  test('that was not me is ended, and the answer says what to do next', async () => {
    const { raise, list, token, email, password } = await person();
    const stolen = replyOf(await call(login, { body: { email, password } })).access_token;
    const sessions = replyOf(await call(listSessions, { token: stolen }));
    const session_id = sessions.find(({ current }) => current)?.id ?? '';
    const own = sessions.find(({ current }) => !current)?.id ?? '';
    const stranger = await signIn();
    const [foreign] = replyOf(await call(listSessions, { token: stranger.token }));
    const incident = {
      rule: 'suspicious_login.new_browser',
      threat_type: 'suspicious_login',
      outcome: 'allowed',
      browser_id: 'x',
    } as const;
    for (const id of [session_id, own, foreign?.id ?? '']) await raise({ ...incident, session_id: id });
    const [{ id = '' } = {}] = await list();
    const answer = replyOf(await call(disownAlert, { token, params: { id } }));
    expect(answer).toMatchObject({
      sessions_ended: 1,
      change_password: true,
      offer_two_factor: true,
      alert: { status: 'acknowledged', outcome: 'blocked', decisions: [{ kind: 'not_me' }] },
    });
    for (const [holder, status] of [
      [stolen, 401],
      [token, 200],
      [stranger.token, 200],
    ] as const)
      expect((await call(listSessions, { token: holder })).status).toBe(status);
  });

  test('has its browser trusted when it was me, reviewed when it was anything else, and forgotten when it was not me', async () => {
    const { raise, list, token, id: user_id } = await person();
    const browsers = app.app.database.$pickTables<'known_browsers'>();
    const seen = { user_id, client: 'Firefox on Windows', first_seen: at(), last_seen: at(), trusted_at: null, reviewed: 0 };
    for (const id of ['mine', 'settled', 'theirs']) {
      await browsers
        .insertInto('known_browsers')
        .values({ ...seen, id, browser_id: id, source: '203.0.113.7' })
        .execute();
      await raise({ rule: 'suspicious_login.new_browser', threat_type: 'suspicious_login', browser_id: id });
    }
    const [theirs, settled, mine] = (await list()).map(({ id }) => ({ token, params: { id } }));
    if (!theirs || !settled || !mine) throw new Error('an alert is missing');
    replyOf(await call(resolveAlert, { ...mine, body: { reason: 'was_me' } }));
    replyOf(await call(resolveAlert, { ...settled, body: { reason: 'fixed' } }));
    replyOf(await call(disownAlert, theirs));
    const kept = await browsers
      .selectFrom('known_browsers')
      .select(['id', 'trusted_at', 'reviewed'])
      .where('user_id', '=', user_id)
      .where('source', '=', '203.0.113.7')
      .orderBy('id')
      .execute();
    expect(kept).toEqual([
      { id: 'mine', trusted_at: at(), reviewed: 1 },
      { id: 'settled', trusted_at: null, reviewed: 1 },
    ]);
  });

  test('is the only thing that can have been me', async () => {
    const { raise, list, token } = await person();
    await raise({ threat_type: 'intrusion_attempt', rule: 'intrusion_attempt.probing' });
    const [{ id = '' } = {}] = await list();
    const was_me = await call(resolveAlert, { token, params: { id }, body: { reason: 'was_me' } });
    expect(problemOf(was_me)).toMatchObject({ status: 422, errors: [{ field: 'reason' }] });
    expect(problemOf(await call(disownAlert, { token, params: { id } }))).toMatchObject({ status: 409 });
  });
});

describe('a suppression', () => {
  test('hides the next of a false positive, counts it, and gives it back', async () => {
    const { list, token } = await person();
    await scanned(app, token, 'eicar.com', EICAR);
    const [alert] = await list();
    const { id = '', rule = '' } = alert ?? {};
    expect(replyOf(await call(previewSuppression, { token, body: { alert_id: id } }))).toMatchObject({ rule, would_hide: 1 });
    const resolved = await call(resolveAlert, {
      token,
      params: { id },
      body: { reason: 'false_positive', suppress: true },
    });
    expect(replyOf(resolved)).toMatchObject({ status: 'resolved', resolution: { reason: 'false_positive' } });

    await scanned(app, token, 'again.com', EICAR);
    expect(await list()).toHaveLength(1);
    const [hidden, ...others] = await list('?status=hidden');
    expect(hidden).toMatchObject({ hidden: true, status: 'open' });
    expect(hidden?.description).toContain('again.com');
    expect(others).toEqual([]);
    expect(replyOf(await call(readMonitor, { token })).alerts).toMatchObject({ active: 0, resolved: 1, hidden: 1 });
    // Neither is a threat that was blocked.
    expect(replyOf(await call(readStats, { token }))).toMatchObject({ threats_blocked_total: 0 });
    const [suppression] = replyOf(await call(listSuppressions, { token }));
    expect(suppression).toMatchObject({ rule, hidden_count: 1, last_hidden_at: at() });
    expect(Date.parse(suppression?.until ?? '') - clock.now).toBe(30 * DAY);

    expect((await call(deleteSuppression, { token, params: { id: suppression?.id ?? '' } })).status).toBe(204);
    expect(await list('?status=active')).toEqual([{ ...hidden, hidden: false }]);
    await scanned(app, token, 'third.com', EICAR);
    expect(await list('?status=active')).toHaveLength(2);
  });

  test('ends after 30 days, holds for one source, and never hides critical alerts', async () => {
    const { raise, list, token, email, password } = await person();
    await raise();
    const [{ id = '' } = {}] = await list();
    const body = { reason: 'false_positive', suppress: true } as const;
    replyOf(await call(resolveAlert, { token, params: { id }, body }));
    await raise({ key: 'of another account' });
    // Repetitions of the resolved alert stay there.
    await raise();
    expect(await list('?status=active')).toEqual([]);
    expect(replyOf(await call(listSuppressions, { token }))).toMatchObject([{ hidden_count: 2 }]);
    await raise({ key: 'elsewhere', ip_address: '203.0.113.8' });
    await raise({ key: 'grave', severity: 'critical' });
    expect((await list('?status=active')).map(({ severity }) => severity)).toEqual(['critical', 'medium']);
    const [critical] = await list('?severity=critical');
    const refused = await call(resolveAlert, { token, params: { id: critical?.id ?? '' }, body });
    expect(problemOf(refused)).toMatchObject({ status: 422, errors: [{ field: 'suppress' }] });
    clock.now += 30 * DAY;
    await raise({ key: 'later' });
    const later = await tokenOf({ email, password });
    expect((await list('?status=active', later))[0]).toMatchObject({ count: 1, severity: 'medium' });
    // It is over, and the alerts that it hid can still be brought back.
    const [over] = replyOf(await call(listSuppressions, { token: later }));
    expect(Date.parse(over?.until ?? '')).toBe(clock.now);
    expect((await call(deleteSuppression, { token: later, params: { id: over?.id ?? '' } })).status).toBe(204);
    expect(await list('?status=hidden', later)).toEqual([]);
  });

  test('is a false positive’s alone', async () => {
    const { raise, list, token } = await person();
    await raise();
    const [{ id = '' } = {}] = await list();
    const answer = await call(resolveAlert, { token, params: { id }, body: { reason: 'fixed', suppress: true } });
    expect(problemOf(answer)).toMatchObject({ status: 422, errors: [{ field: 'suppress' }] });
    const stranger = await person();
    expect((await call(previewSuppression, { token: stranger.token, body: { alert_id: id } })).status).toBe(404);
  });
});

describe('mails', () => {
  test('report grave alerts at once, once for a key and day, to everybody, and never a drill', async () => {
    const { raise, email } = await person(false);
    clock.now = Date.parse('2027-01-15T10:00:00.000Z');
    await raise();
    expect(await mailsTo(email)).toEqual([]);
    await raise({ severity: 'high' });
    await raise({ severity: 'high' });
    clock.now += 2 * HOUR;
    await raise({ severity: 'critical' });
    const [mail = '', ...others] = await mailsTo(email);
    expect(others).toEqual([]);
    for (const text of [
      'Security alert, high severity',
      'Five sign-ins to your account failed',
      '15 January 2027',
      '203.0.113.7',
      'What to do:',
    ])
      expect(mail).toContain(text);
    await raise({ severity: 'high', key: 'another' });
    expect(await mailsTo(email)).toHaveLength(2);
    clock.now += DAY;
    await raise({ severity: 'high' });
    expect(await mailsTo(email)).toHaveLength(3);
  });

  test('of a week tell premium accounts of the rest, once, and only when there is something to say', async () => {
    const digest = async (email: string) =>
      (await mailsTo(email)).filter((text) => text.includes('Your weekly security summary'));
    const [maria, quiet, poor] = [await person(), await person(), await person(false)];
    await vi.waitFor(async () =>
      expect(await app.app.database.selectFrom('alert_digest').select('next_at').execute()).toHaveLength(1),
    );
    for (const { raise } of [maria, poor]) await raise({ phrase: asWritten('One of the week.') });
    await maria.raise();
    await call(simulateThreat, { token: maria.token });
    clock.now += 8 * DAY;
    await vi.waitFor(async () => expect(await digest(maria.email)).toHaveLength(1), 5_000);
    const [text = ''] = await digest(maria.email);
    expect(text.match(/^- /gmu)).toHaveLength(1);
    expect(text).toContain('(2 times)');
    expect(await digest(quiet.email)).toEqual([]);
    expect(await digest(poor.email)).toEqual([]);
    clock.now += 8 * DAY;
    await vi.waitFor(async () => {
      const row = await app.app.database.selectFrom('alert_digest').select('since').executeTakeFirstOrThrow();
      expect(row.since).toBe(at());
    }, 5_000);
    expect(await digest(maria.email)).toHaveLength(1);
  });
});

test('the monitor lists the watched things, and the start of the watch', async () => {
  const { token } = await person();
  const monitor = replyOf(await call(readMonitor, { token }));
  expect(monitor.watching_since).toBe(at());
  expect(monitor.watches.map(({ id }) => id)).toEqual(['files', 'sign_ins', 'requests']);
  for (const { is_watched, reason } of monitor.watches) expect(is_watched).toBe(reason === null);
  expect(monitor.watches[0]).toMatchObject({ is_watched: true });
  expect(monitor.alerts).toEqual({ active: 0, resolved: 0, hidden: 0, real: 0, unstopped: 0, gravest: null });
});
