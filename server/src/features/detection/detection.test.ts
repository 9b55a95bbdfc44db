import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Alert, listAlerts } from '@palisade/contract/anti-hacking';
import { changePassword, currentUser, login, register } from '@palisade/contract/auth';
import { assignSubscription } from '@palisade/contract/subscription';
import { readSamples } from '@palisade/scanner/samples';
import { EICAR, zip } from '@palisade/scanner/test/files';
import { SIGNATURES_FOLDER } from '@palisade/scanner/test/signatures-folder';
import { pino } from 'pino';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { newId } from '#platform/id.ts';
import { inTransaction } from '#platform/in-transaction.ts';
import type { Incident } from '#platform/incident.ts';
import type { SecurityEvent } from '#platform/security-event.ts';
import { readAnswer, replyOf, startScanningApp, type TestApp } from '#test/harness.ts';
import { listenAs } from '#test/socket.ts';
import { scanned } from '#test/upload.ts';
import type { DetectionTables } from './detection.tables.ts';
import { createDetection } from './detection.ts';
import { createFindingNotifier } from './finding-notifier.ts';
import { createKnownBrowsers, type KnownBrowsers } from './known-browsers.ts';

const PLAN = { plan_name: 'Family', price: 1, duration_months: 12, max_devices: 1, is_premium: true, features: [] } as const;
const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';
const CHROME = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36';
const SAFARI =
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/19.0 Safari/605.1.15';
const SECOND = 1_000;
const HOUR = 3_600 * SECOND;

const repeat = <T>(count: number, what: T): T[] => Array.from({ length: count }, () => what);

/** The source and client of a call. */
interface Place {
  source: string;
  client: string;
}
/** Where the test itself calls from, so that it may use a session that began there. */
const HOME: Place = { source: '127.0.0.1', client: FIREFOX };

/** An installation behind a proxy, with a premium administrator and customer who signed in from home, and a clock that the test turns. */
async function start(surroundings: Parameters<typeof startScanningApp>[0] = {}) {
  const clock = { now: Date.parse('2026-11-16T08:00:00.000Z') };
  const app = await startScanningApp({
    environment: { TRUSTED_PROXIES: '127.0.0.1' },
    surroundings: { now: () => clock.now, ...surroundings.surroundings },
  });
  const boss = await app.signIn('boss');
  const member = async (name: string) => {
    const email = `${name}@example.com`;
    const password = 'a long enough password';
    replyOf(await app.call(register, { body: { email, username: name, password } }));
    replyOf(await app.call(assignSubscription, { token: boss.token, body: { user_email: email, ...PLAN, features: [] } }));
    const { token, id } = await entered(app, { email, password }, HOME);
    return { email, password, token, id };
  };
  replyOf(await app.call(assignSubscription, { token: boss.token, body: { user_email: boss.email, ...PLAN, features: [] } }));
  return { ...app, clock, boss, member };
}

function headersOf({ source, client }: Place) {
  return { 'x-forwarded-for': source, 'user-agent': client };
}

/** Signs in from somewhere, as a browser that keeps `browser_id`. */
async function enter(
  app: Pick<TestApp, 'url'>,
  credentials: { email: string; password: string; browser_id?: string },
  place: Place,
) {
  const headers = { ...headersOf(place), 'content-type': 'application/json' };
  return await readAnswer(
    login,
    await fetch(`${app.url}/api/auth/login`, { method: 'POST', headers, body: JSON.stringify(credentials) }),
  );
}

async function entered(...[app, credentials, place]: Parameters<typeof enter>) {
  const { access_token, user_info } = replyOf(await enter(app, credentials, place));
  return { token: access_token, id: user_info.id };
}

async function guess(app: Pick<TestApp, 'url'>, emails: readonly string[], place: Place): Promise<void> {
  for (const email of emails) expect((await enter(app, { email, password: 'not this one' }, place)).ok).toBe(false);
}

/** Alerts of failed sign-ins come after the answer. */
const soon = async (check: () => Promise<void> | void) => await vi.waitFor(check, { timeout: 10_000, interval: 10 });

/** A person's alerts, oldest first. */
async function alertsOf(app: Pick<TestApp, 'call'>, token: string): Promise<Alert[]> {
  return replyOf(await app.call(listAlerts, { token })).toReversed();
}
const kinds = (alerts: readonly Alert[]) => alerts.map(({ threat_type, severity }) => `${threat_type} ${severity}`);

const app = await start({
  surroundings: { every_ms: { detection: 500 }, volumes_fold_ms: 500, signatures_folder: SIGNATURES_FOLDER },
});

describe('sign-ins', () => {
  test('five wrong passwords are reported within a second, as refused from then on; four are not', async () => {
    const maria = await app.member('maria');
    const socket = await listenAs(app, maria.token);
    const place = { source: '198.51.100.1', client: CHROME };
    await guess(app, repeat(4, maria.email), place);
    expect(await alertsOf(app, maria.token)).toEqual([]);
    await guess(app, [maria.email], place);
    const before = performance.now();
    await socket.event(({ kind }) => kind === 'alerts_changed');
    expect(performance.now() - before).toBeLessThan(1_000);
    expect(await alertsOf(app, maria.token)).toMatchObject([
      { threat_type: 'brute_force', severity: 'medium', ip_address: '198.51.100.1', blocked: true, simulated: false },
    ]);
  });

  test('a spray over five accounts, and a sign-in right after it, are reported to the administrators who may sign in, and to none of the people', async () => {
    const [zoe, adam] = [await app.member('zoe'), await app.member('adam')];
    const place = { source: '198.51.100.2', client: CHROME };
    const gone = await app.member('gone');
    const disabled_at = new Date(app.clock.now).toISOString();
    await app.app.database.updateTable('users').set({ role: 'admin', disabled_at }).where('id', '=', gone.id).execute();
    const nobody = ['a@example.com', 'b@example.com', 'c@example.com', 'd@example.com'];
    await guess(app, nobody, place);
    expect(kinds(await alertsOf(app, app.boss.token))).toEqual([]);
    await guess(app, [zoe.email], place);
    await soon(async () => expect(kinds(await alertsOf(app, app.boss.token))).toEqual(['brute_force high']));
    expect(await alertsOf(app, zoe.token)).toEqual([]);
    expect(await alertsOf(app, adam.token)).toEqual([]);

    app.clock.now += 239 * SECOND;
    await entered(app, adam, place);
    // Their browser and their place are new, which is another matter.
    expect(kinds(await alertsOf(app, adam.token))).toEqual(['suspicious_login medium']);
    await soon(async () =>
      expect(kinds(await alertsOf(app, app.boss.token)).sort()).toEqual(['brute_force high', 'suspicious_login high']),
    );
    expect(await app.app.database.selectFrom('alerts').select('id').where('user_id', '=', gone.id).execute()).toEqual([]);
    expect(await alertsOf(app, zoe.token)).toEqual([]);
  });

  // proves: security-14
  test('a new browser is reported once; one that keeps its id, is of a known kind or comes from a known source is not', async () => {
    const eva = await app.member('eva');
    const browser_id = '01890a5d-ac96-774b-bcce-b302099a8057';
    await entered(app, eva, { source: '198.51.100.3', client: FIREFOX });
    await entered(app, { ...eva, browser_id }, { source: HOME.source, client: SAFARI });
    await entered(app, { ...eva, browser_id }, { source: '198.51.100.4', client: CHROME });
    expect(await alertsOf(app, eva.token)).toEqual([]);
    const stranger = { source: '192.0.2.9', client: 'curl/8.9' };
    await entered(app, eva, stranger);
    await entered(app, eva, stranger);
    expect(await alertsOf(app, eva.token)).toMatchObject([
      {
        threat_type: 'suspicious_login',
        severity: 'medium',
        description: 'Someone signed in to your account with a new browser: curl, from 192.0.2.9.',
        blocked: false,
        ip_address: '192.0.2.9',
      },
    ]);
  });

  // proves: security-15
  test('a session that is used elsewhere by another kind of browser is reported once; in another place alone it is not', async () => {
    const tim = await app.member('tim');
    const use = async (place: Place) => {
      const headers = { ...headersOf(place), authorization: `Bearer ${tim.token}` };
      replyOf(await readAnswer(currentUser, await fetch(`${app.url}/api/auth/me`, { headers })));
    };
    await use(HOME);
    await use({ ...HOME, source: '198.51.100.5' });
    await use({ ...HOME, client: CHROME });
    expect(await alertsOf(app, tim.token)).toEqual([]);
    await use({ source: '192.0.2.5', client: CHROME });
    await use({ source: '192.0.2.5', client: CHROME });
    const alerts = await vi.waitFor(async () => {
      const found = await alertsOf(app, tim.token);
      expect(found).not.toEqual([]);
      return found;
    });
    expect(alerts).toMatchObject([
      { threat_type: 'suspicious_login', severity: 'high', ip_address: '192.0.2.5', blocked: false },
    ]);
  });
});

describe('infected uploads', async () => {
  const samples = (await readSamples(join(SIGNATURES_FOLDER, 'samples'))).filter(({ kind }) => kind === 'hit');
  const bytesOf = (rule: string) => {
    const sample = samples.find((candidate) => candidate.rule === rule);
    if (sample === undefined) throw new Error(`there is no sample of ${rule}`);
    return sample.bytes;
  };

  test('eight test files are an outbreak of test files, and low', async () => {
    const mia = await app.member('mia');
    for (let index = 0; index < 8; index++) {
      await scanned(app, mia.token, `eicar-${index}.zip`, zip([{ name: `${index}.com`, content: EICAR }]));
    }
    const alerts = await alertsOf(app, mia.token);
    expect(new Set(kinds(alerts))).toEqual(new Set(['malware_detected low']));
    expect(alerts.filter(({ description }) => description.includes('infected files came within'))).toEqual([]);
    expect(alerts.filter(({ description }) => description === 'Eight harmless test files arrived in 6 minutes.')).toHaveLength(1);
  });

  test('three different infected files are an outbreak, and critical; the same one three times is not', async () => {
    const ben = await app.member('ben');
    const [first, second, third] = samples.filter(({ rule }) => /Webshell|ReverseShell|Ransom/i.test(rule));
    if (first === undefined || second === undefined || third === undefined) throw new Error('there are no three samples');
    for (const name of ['a', 'b', 'c']) expect((await scanned(app, ben.token, name, first.bytes)).scan_status).toBe('infected');
    await scanned(app, ben.token, 'd', second.bytes);
    expect(new Set(kinds(await alertsOf(app, ben.token)))).toEqual(new Set(['malware_detected high']));
    await scanned(app, ben.token, 'e', third.bytes);
    expect(kinds(await alertsOf(app, ben.token)).at(-1)).toBe('malware_detected critical');
  });

  test('phishing is reported by its own name, and never above medium', async () => {
    const lea = await app.member('lea');
    await scanned(app, lea.token, 'page.html', bytesOf('Phish_Page_Telegram_Exfil'));
    expect(await alertsOf(app, lea.token)).toMatchObject([
      { threat_type: 'phishing_attempt', severity: 'medium', blocked: true },
    ]);
  });
});

test('counts survive a restart', async () => {
  const location = { sqlite: join(mkdtempSync(join(tmpdir(), 'palisade-detection-')), 'palisade.sqlite') };
  const place = { source: '198.51.100.1', client: CHROME };
  const before = await start({ surroundings: { database: location } });
  const { email, password } = await before.member('maria');
  await guess(before, repeat(4, email), place);
  await before.app.close();

  const after = await startScanningApp({
    environment: { TRUSTED_PROXIES: '127.0.0.1' },
    surroundings: { database: location, now: () => before.clock.now },
  });
  const maria = await entered(after, { email, password }, HOME);
  expect(await alertsOf(after, maria.token)).toEqual([]);
  await guess(after, [email], place);
  await soon(async () => expect(kinds(await alertsOf(after, maria.token))).toEqual(['brute_force medium']));
});

test('a finding of a killed server is reported by the next start, once', async () => {
  const location = { sqlite: join(mkdtempSync(join(tmpdir(), 'palisade-untold-')), 'palisade.sqlite') };
  const place = { source: '198.51.100.1', client: CHROME };
  const before = await start({ surroundings: { database: location } });
  const { email, password } = await before.member('maria');
  // From here on no alert can be raised.
  await before.app.database.schema.alterTable('alerts').renameTo('alerts_away').execute();
  await guess(before, repeat(5, email), place);
  await entered(before, { email, password }, { source: '192.0.2.9', client: SAFARI });
  const untold = () => before.app.database.selectFrom('detection_findings').select('id').execute();
  await soon(async () => expect(await untold()).toHaveLength(2));
  await before.app.database.schema.alterTable('alerts_away').renameTo('alerts').execute();
  expect(await before.app.database.selectFrom('alerts').select('id').execute()).toEqual([]);
  await before.app.close();

  const after = await startScanningApp({
    environment: { TRUSTED_PROXIES: '127.0.0.1' },
    surroundings: { database: location, now: () => before.clock.now + 600 * SECOND, every_ms: { detection: 20 } },
  });
  const { token } = await entered(after, { email, password }, HOME);
  const told = async () =>
    (await alertsOf(after, token)).map(({ rule, outcome, count }) => `${rule} ${outcome} x${count}`).sort();
  // It was refused when it happened, though it is not any more.
  const owed = ['brute_force.pair blocked x1', 'suspicious_login.new_browser allowed x1'];
  await soon(async () => expect(await told()).toEqual(owed));
  await soon(async () => expect(await after.app.database.selectFrom('detection_findings').select('id').execute()).toEqual([]));
  expect(await told()).toEqual(owed);
});

test('a flood of requests from one source is reported to the administrators', async () => {
  const place = { source: '192.0.2.200', client: CHROME };
  for (let index = 0; index < 550; index++) {
    const { statusCode } = await app.app.fastify.inject({ url: '/api/config', headers: headersOf(place) });
    expect(statusCode).toBe(200);
  }
  await soon(async () => expect(kinds(await alertsOf(app, app.boss.token))).toContain('ddos_attempt high'));
});

describe('a stream of events', async () => {
  // The application's own detection looks at nothing meanwhile: it would tell what these are to tell.
  const own = await startScanningApp({ surroundings: { every_ms: { detection: HOUR }, volumes_fold_ms: HOUR } });
  const { email } = await own.signIn('stream');
  const user = await own.app.database.selectFrom('users').select('id').where('email', '=', email).executeTakeFirstOrThrow();
  const database = own.app.database.$pickTables<keyof DetectionTables>();

  /** A server's detection on the one database. */
  function server(parts: { refused?: string[]; administrators?: string[]; clock?: { now: number }; fails?: string[] } = {}) {
    const { clock = { now: Date.parse('2026-11-16T08:00:00.000Z') }, refused = [], fails = [] } = parts;
    const now = () => clock.now;
    const logger = pino({ level: 'silent' });
    const wasRefused = ({ account }: { account: string }) => Promise.resolve(refused.includes(account));
    const raised: Incident[] = [];
    const browsers = createKnownBrowsers({ database, now });
    const notifier = createFindingNotifier({
      database: database.$pickTables<'detection_findings'>(),
      raise: async (incident, claim) => {
        await inTransaction(database, async (transaction) => {
          if (!(await claim(transaction.$pickTables<'detection_findings'>()))) return;
          if (fails.includes(incident.user_id)) throw new Error('no');
          raised.push(incident);
        });
      },
      wasRefused,
      administrators: () => Promise.resolve(parts.administrators ?? ['boss']),
      now,
      logger,
    });
    const detection = createDetection({ database, browsers, notifier, wasRefused, jobs: { handle() {} }, now, logger });
    onTestFinished(() => detection.close());
    return { detection, browsers, raised, clock };
  }
  const learned = (browsers: KnownBrowsers, event: Parameters<KnownBrowsers['learn']>[1]) =>
    inTransaction(database, (transaction) => browsers.learn(transaction, event));
  const failed = (account: string, change: Partial<SecurityEvent> = {}): SecurityEvent => ({
    ...{ at: '2026-11-16T08:00:00.000Z', user_id: 'maria', source: '203.0.113.5', address: '203.0.113.5', client: 'curl' },
    ...change,
    kind: 'login_failed',
    data: { account, step: 'password' },
  });
  const limited = (user_id: string | null): SecurityEvent => ({
    ...{ at: '2026-11-16T08:00:00.000Z', user_id, source: '203.0.113.6', address: '203.0.113.6', client: 'curl' },
    kind: 'rate_limited',
    data: { group: 'read' },
  });

  test('is counted together by several servers at once', async () => {
    const [one, two] = [server(), server()];
    await Promise.all(
      Array.from({ length: 25 }, (_, index) => (index % 2 === 0 ? one : two).detection.observe(failed('together'))),
    );
    await soon(() => expect([...one.raised, ...two.raised].map(({ rule }) => rule)).toEqual(repeat(5, 'brute_force.pair')));
  });

  test.each([
    ['refused', 'blocked', '203.0.113.8'],
    ['not refused', 'allowed', '203.0.113.9'],
  ])('of failed sign-ins is blocked only when they are being refused: %s', async (account, outcome, source) => {
    const { detection, raised } = server({ refused: ['refused'] });
    for (let index = 0; index < 5; index++) await detection.observe(failed(account, { source }));
    const evidence = { events: repeat(5, { what: { code: 'event.wrong_password', params: {} } }) };
    await soon(() => expect(raised).toMatchObject([{ outcome, user_id: 'maria', evidence }]));
  });

  test('findings about one unknown account are not reported, those about several are reported to the administrators', async () => {
    const { detection, raised } = server({ administrators: ['boss', 'chief'] });
    const nobody = { user_id: null, source: '203.0.113.7' };
    for (let index = 0; index < 5; index++) await detection.observe(failed('nobody', nobody));
    for (let index = 0; index < 4; index++) await detection.observe(failed(`nobody ${index}`, nobody));
    const told = ['brute_force.spray boss', 'brute_force.spray chief'];
    await soon(() => expect(raised.map(({ rule, user_id }) => `${rule} ${user_id}`)).toEqual(told));
  });

  test('refusals to a signed-in person are not reported to that person', async () => {
    const { detection, raised } = server({ administrators: ['boss', 'chief'] });
    for (let index = 0; index < 6; index++) await detection.observe(limited('boss'));
    expect(raised.map(({ rule, user_id }) => `${rule} ${user_id}`)).toEqual(['ddos_attempt.rate chief']);
  });

  test('of refused requests is found however many come at once', async () => {
    const { detection, raised } = server();
    const probes = Array.from(
      { length: 3_000 },
      (_, index): SecurityEvent => ({
        ...limited(null),
        source: '203.0.113.10',
        kind: 'request_refused',
        data: { reason: 'unknown_path', path: `/old/${index}`, pattern: null, was_refused: true },
      }),
    );
    await Promise.all(probes.map((probe) => detection.observe(probe)));
    expect(raised[0]).toMatchObject({ rule: 'intrusion_attempt.probing', user_id: 'boss', outcome: 'blocked' });
    // Some five hundred wait, the others are let go: eleven are enough.
    expect(raised.length).toBeLessThanOrEqual(50);
  });

  test('findings about several accounts are reported to administrators alone, as blocked when all are refused', async () => {
    const tell = async (refused: string[]) => {
      const { detection, raised } = server({ refused });
      for (const name of ['ann', 'bob', 'cid', 'dan', 'eve'])
        await detection.observe(failed(name, { user_id: name, source: `203.0.113.${20 + refused.length}` }));
      await soon(() => expect(raised).toHaveLength(1));
      return Object.fromEntries(raised.map(({ user_id, outcome }) => [user_id, outcome]));
    };
    expect(await tell(['ann', 'eve'])).toEqual({ boss: 'allowed' });
    expect(await tell(['ann', 'bob', 'cid', 'dan', 'eve'])).toEqual({ boss: 'blocked' });
  });

  test('of one account from many sources is not blocked by refusing one of them', async () => {
    const { detection, raised } = server({ refused: ['everywhere'] });
    for (let index = 0; index < 20; index++) await detection.observe(failed('everywhere', { source: `198.51.100.${index % 6}` }));
    await soon(() => expect(raised).toMatchObject([{ rule: 'brute_force.distributed', outcome: 'allowed' }]));
  });

  describe('findings that were counted and could not be reported', () => {
    test('findings are reported to the others at once, and to the remaining one as soon as possible: to each once', async () => {
      const administrators = ['boss', 'chief', 'third'];
      const source = '203.0.113.60';
      const first = server({ administrators, fails: ['chief'] });
      for (let index = 0; index < 6; index++) await first.detection.observe({ ...limited(null), source });
      expect(first.raised.map(({ user_id }) => user_id)).toEqual(['boss', 'third']);
      const [one, two] = [server({ administrators }), server({ administrators })];
      await Promise.all([one.detection.look(), two.detection.look()]);
      const later = [...one.raised, ...two.raised].filter(({ ip_address }) => ip_address === '203.0.113.6');
      expect(later).toEqual([{ ...first.raised[0], user_id: 'chief' }]);
      await one.detection.look();
      expect(one.raised.length + two.raised.length).toBe(1);
    });

    test('does not keep the rest when another version has written it', async () => {
      const { detection, raised } = server();
      const unknown = { id: newId(), created_at: '2026-11-16T08:00:00.000Z', found: '{"rule":"of.tomorrow"}', told: '[]' };
      await database.insertInto('detection_findings').values(unknown).execute();
      const failing = server({ fails: ['boss'] });
      for (let index = 0; index < 6; index++) await failing.detection.observe({ ...limited(null), source: '203.0.113.62' });
      await detection.look();
      expect(raised).toMatchObject([{ rule: 'ddos_attempt.rate', user_id: 'boss' }]);
      await database.deleteFrom('detection_findings').execute();
    });

    test('is given up after a day', async () => {
      const { detection, clock } = server({ fails: ['boss'] });
      for (let index = 0; index < 6; index++) await detection.observe({ ...limited(null), source: '203.0.113.61' });
      const left = () => database.selectFrom('detection_findings').select('id').execute();
      clock.now += 24 * HOUR;
      await detection.look();
      expect(await left()).toHaveLength(1);
      clock.now += 1;
      await detection.look();
      expect(await left()).toEqual([]);
    });
  });

  test('leaves nothing behind when its time is over', async () => {
    const { detection, clock } = server();
    await detection.observe(failed('left behind'));
    const left = async () =>
      (await database.selectFrom('detection_windows').selectAll().where('key', 'like', '%left behind').execute()).length;
    expect(await left()).toBeGreaterThan(0);
    clock.now += 2 * HOUR;
    await detection.look();
    expect(await left()).toBe(0);
  });

  const signedIn = (change: {
    browser_id?: string;
    source: string;
    client: string;
  }): Extract<SecurityEvent, { kind: 'login_succeeded' }> => ({
    ...{ at: '2026-11-16T08:00:00.000Z', user_id: user.id, source: change.source, address: change.source, client: change.client },
    kind: 'login_succeeded',
    data: {
      account: 'maria',
      session_id: 's',
      role: 'customer',
      browser_id: change.browser_id ?? null,
      has_second_factor: false,
      with_password: true,
    },
  });

  test('a new browser is unreviewed until somebody says whose it is, and new again when it was not theirs', async () => {
    const { browsers } = server();
    const stranger = signedIn({ source: '192.0.2.1', client: 'Opera on Linux' });
    const found = await learned(browsers, stranger);
    expect(found).toMatchObject({ is_new: true });
    const id = found?.id ?? '';
    expect(await browsers.unreviewedBrowsers(user.id)).toMatchObject([{ id, client: 'Opera on Linux', source: '192.0.2.1' }]);
    await browsers.trustBrowser('somebody else', id);
    expect(await browsers.unreviewedBrowsers(user.id)).toHaveLength(1);
    await browsers.trustBrowser(user.id, id);
    expect(await browsers.unreviewedBrowsers(user.id)).toEqual([]);
    await browsers.forgetBrowser(user.id, id);
    const again = await learned(browsers, stranger);
    expect(again).toMatchObject({ is_new: true });
    await browsers.reviewBrowser(user.id, again?.id ?? '');
    expect(await browsers.unreviewedBrowsers(user.id)).toEqual([]);
    expect(await browsers.recognise(stranger)).toEqual({ id: again?.id, is_new: false, knows_source: true });
  });

  test('a browser is forgotten after half a year', async () => {
    const { browsers, clock } = server();
    await learned(browsers, signedIn({ source: '192.0.2.77', client: 'Vivaldi on Windows' }));
    const known = () => database.selectFrom('known_browsers').select('id').where('source', '=', '192.0.2.77').execute();
    clock.now += 179 * 24 * HOUR;
    await browsers.sweep();
    expect(await known()).toHaveLength(1);
    clock.now += 2 * 24 * HOUR;
    await browsers.sweep();
    expect(await known()).toEqual([]);
  });
});

test('an ordinary week raises nothing above low', async () => {
  const { clock } = app;
  clock.now += 24 * HOUR;
  const begin = new Date(clock.now).toISOString();
  const nora = await app.member('nora');
  const laptop = { browser_id: '01890a5d-ac96-774b-bcce-b302099a8001', client: FIREFOX };
  const phone = { browser_id: '01890a5d-ac96-774b-bcce-b302099a8002', client: SAFARI };
  let { password } = nora;
  const from = async (browser: typeof laptop, source: string, typed = password) => {
    const { browser_id, client } = browser;
    return await enter(app, { email: nora.email, password: typed, browser_id }, { client, source });
  };
  replyOf(await from(phone, HOME.source));
  const tab = await entered(app, { ...nora, browser_id: laptop.browser_id }, HOME);
  let token = tab.token;

  for (let day = 0; day < 7; day++) {
    clock.now += 8 * HOUR;
    if (day % 2 === 0) expect((await from(laptop, HOME.source, 'mistyped')).ok).toBe(false);
    ({ access_token: token } = replyOf(await from(laptop, HOME.source)));
    clock.now += 10 * SECOND;
    // On the way, from the network of the telephone, which is another one each day.
    if (day === 3)
      for (const typed of ['caps', 'CAPS', 'Caps']) expect((await from(phone, '198.51.100.3', typed)).ok).toBe(false);
    replyOf(await from(phone, `198.51.100.${day}`));
    for (let batch = 0; batch < 5; batch++) {
      clock.now += HOUR;
      const names = Array.from({ length: 6 }, (_, index) => `note-${day}-${batch}-${index}.txt`);
      await Promise.all(names.map((name) => scanned(app, token, name, Buffer.from('An ordinary note.'))));
    }
    if (day === 2) {
      const body = { current_password: password, new_password: 'another good and long password' };
      replyOf(await app.call(changePassword, { token, body }));
      password = body.new_password;
    }
    // The tab of the first day, which the new password has signed out, keeps asking.
    for (let poll = 0; poll < 30; poll++) {
      clock.now += 5 * SECOND;
      const headers = { ...headersOf(HOME), authorization: `Bearer ${tab.token}` };
      expect((await fetch(`${app.url}/api/auth/me`, { headers })).status).toBe(day < 2 ? 200 : 401);
    }
    clock.now += 10 * HOUR;
  }
  const alerts = await app.app.database
    .selectFrom('alerts')
    .select(['threat_type', 'severity', 'description'])
    .where('created_at', '>=', begin)
    .execute();
  expect(alerts.filter(({ severity }) => severity !== 'low')).toEqual([]);
});
