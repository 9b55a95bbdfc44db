import type { Scan } from '@palisade/contract/antivirus';
import { pino } from 'pino';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { newId } from '#platform/id.ts';
import { inTransaction } from '#platform/in-transaction.ts';
import type { Incident } from '#platform/incident.ts';
import type { SecurityEvent } from '#platform/security-event.ts';
import { scanFinished } from '#server/app/monitor.ts';
import { addPerson, featureDatabase, heldJobs } from '#test/feature-database.ts';
import { createDetection } from './detection.ts';
import { createFindingNotifier } from './finding-notifier.ts';
import { createKnownBrowsers } from './known-browsers.ts';
import { createMovedTokens } from './moved-tokens.ts';

const HOUR = 3_600_000;
const START = Date.parse('2026-11-16T08:00:00.000Z');

const database = await featureDatabase();
const user_id = await addPerson(database);

interface Parts {
  refused?: string[];
  administrators?: string[];
  /** Ids of people to whom no alert can be raised. */
  fails?: string[];
}

/** A server's detection on the one database, with a clock that the test turns. */
function server({ refused = [], administrators = ['boss'], fails = [] }: Parts = {}) {
  const clock = { now: START };
  const now = () => clock.now;
  const logger = pino({ level: 'silent' });
  const wasRefused = ({ account }: { account: string }) => Promise.resolve(refused.includes(account));
  const raised: Incident[] = [];
  const browsers = createKnownBrowsers({ database, now });
  const notifier = createFindingNotifier({
    ...{ database, wasRefused, now, logger, administrators: () => Promise.resolve(administrators) },
    raise: async (incident, claim) => {
      await inTransaction(database, async (transaction) => {
        if (!(await claim(transaction.$pickTables<'detection_findings'>()))) return;
        if (fails.includes(incident.user_id)) throw new Error('no');
        raised.push(incident);
      });
    },
  });
  const detection = createDetection({ database, browsers, notifier, wasRefused, jobs: heldJobs(), now, logger, fold_ms: HOUR });
  onTestFinished(() => detection.close());
  /** The incidents of all events so far, as `rule recipient`. */
  const told = async () => {
    await detection.close();
    return raised.map((incident) => `${incident.rule} ${incident.user_id}`);
  };
  const observe = async (events: readonly SecurityEvent[]) => {
    for (const event of events) await detection.observe(event);
  };
  return { detection, browsers, raised, clock, told, observe };
}

const around = { at: new Date(START).toISOString(), user_id, source: '203.0.113.5', address: '203.0.113.5', client: 'curl' };
type Around = Partial<typeof around>;
const failed = (account: string, change: { user_id?: string | null } & Omit<Around, 'user_id'> = {}): SecurityEvent => ({
  ...around,
  ...change,
  kind: 'login_failed',
  data: { account, step: 'password' },
});
const limited = (who: string | null, source = '203.0.113.6'): SecurityEvent => ({
  ...{ ...around, source, user_id: who, kind: 'rate_limited', data: { group: 'read' } },
});
const signedIn = (
  change: Around & { browser_id?: string | null; account?: string } = {},
): Extract<SecurityEvent, { kind: 'login_succeeded' }> => {
  const { browser_id = null, account = 'maria', ...rest } = change;
  const data = { account, session_id: 's', role: 'customer', browser_id, has_second_factor: false, with_password: true } as const;
  return { ...around, ...rest, kind: 'login_succeeded', data };
};
const times = <T>(count: number, event: (index: number) => T): T[] => Array.from({ length: count }, (_, index) => event(index));

describe('failed sign-ins', () => {
  test('are counted together by several servers at once, and stay counted when one ends', async () => {
    const [one, two] = [server(), server()];
    await Promise.all(times(24, (index) => (index % 2 === 0 ? one : two).detection.observe(failed('together'))));
    const before = [...(await one.told()), ...(await two.told())];
    expect(before).toEqual(times(4, () => `brute_force.pair ${user_id}`));
    const next = server();
    await next.observe([failed('together')]);
    expect(await next.told()).toEqual([`brute_force.pair ${user_id}`]);
  });

  test.each([
    ['refused', 'blocked', '203.0.113.8'],
    ['not refused', 'allowed', '203.0.113.9'],
  ])('are blocked only when they are being refused: %s', async (account, outcome, source) => {
    const { observe, raised, told } = server({ refused: ['refused'] });
    await observe(times(4, () => failed(account, { source })));
    expect(await told()).toEqual([]);
    await observe([failed(account, { source })]);
    await told();
    const evidence = { events: times(5, () => ({ what: { code: 'event.wrong_password', params: {} } })) };
    expect(raised).toMatchObject([{ outcome, user_id, evidence }]);
  });

  test('for one unknown account are not reported, those for several are reported to the administrators', async () => {
    const { observe, told } = server({ administrators: ['boss', 'chief'] });
    const unknown = { user_id: null, source: '203.0.113.7' };
    await observe([...times(5, () => failed('nobody', unknown)), ...times(4, (index) => failed(`nobody ${index}`, unknown))]);
    expect(await told()).toEqual(['brute_force.spray boss', 'brute_force.spray chief']);
  });

  test.each([
    [['ann', 'eve'], 'allowed'],
    [['ann', 'bob', 'cid', 'dan', 'eve'], 'blocked'],
  ])('for several accounts, of which %j are refused, are %s to administrators alone', async (refused, outcome) => {
    const { observe, raised, told } = server({ refused });
    const source = `203.0.113.${20 + refused.length}`;
    await observe(['ann', 'bob', 'cid', 'dan', 'eve'].map((name) => failed(name, { user_id: name, source })));
    await told();
    expect(raised).toMatchObject([{ user_id: 'boss', outcome }]);
  });

  test('for one account from many sources are not blocked by refusing one of them', async () => {
    const { observe, raised, told } = server({ refused: ['everywhere'] });
    await observe(times(20, (index) => failed('everywhere', { source: `198.51.100.${index % 6}` })));
    await told();
    expect(raised).toMatchObject([{ rule: 'brute_force.distributed', outcome: 'allowed' }]);
  });

  test('leave nothing behind when their time is over', async () => {
    const { observe, detection, clock } = server();
    const left = async () =>
      (await database.selectFrom('detection_windows').select('key').where('key', 'like', '%left behind').execute()).length;
    await observe([failed('left behind')]);
    expect(await left()).toBeGreaterThan(0);
    clock.now += 2 * HOUR;
    await detection.look();
    expect(await left()).toBe(0);
  });

  test.each([
    [false, ['brute_force.pair', 'suspicious_login.after_failures']],
    [true, ['brute_force.pair']],
  ])('make a sign-in after them suspicious, unless their refusal was lifted: %s', async (is_lifted, rules) => {
    const person = await addPerson(database);
    const { observe, detection, told } = server();
    const at = { user_id: person, source: `203.0.113.${is_lifted ? 70 : 71}` };
    await observe(times(5, () => failed('guessed', at)));
    if (is_lifted) await detection.forgive({ source: at.source, account: 'guessed' });
    await observe([signedIn({ ...at, account: 'guessed' })]);
    expect((await told()).map((line) => line.split(' ')[0]).sort()).toEqual(rules);
  });
});

describe('refused requests', () => {
  test('of a signed-in administrator are reported to the others alone', async () => {
    const { observe, told } = server({ administrators: ['boss', 'chief'] });
    await observe(times(6, () => limited('boss')));
    expect(await told()).toEqual(['ddos_attempt.rate chief']);
  });

  test('are found however many come at once', async () => {
    const { detection, raised } = server();
    const probes = times(
      3_000,
      (index): SecurityEvent => ({
        ...{ ...around, user_id: null, source: '203.0.113.10', kind: 'request_refused' },
        data: { reason: 'unknown_path', path: `/old/${index}`, pattern: null, was_refused: true },
      }),
    );
    await Promise.all(probes.map((probe) => detection.observe(probe)));
    expect(raised[0]).toMatchObject({ rule: 'intrusion_attempt.probing', user_id: 'boss', outcome: 'blocked' });
    // Some five hundred wait, the others are let go: eleven are enough.
    expect(raised.length).toBeLessThanOrEqual(50);
  });

  test.each(['source', 'account'] as const)('of one %s in a flood are reported to the administrators', async (kind) => {
    const { detection, told, raised } = server();
    const asker = { kind, id: kind === 'source' ? '192.0.2.200' : user_id };
    const most = kind === 'source' ? 500 : 20_000;
    for (let index = 0; index < most; index += 1) detection.countRequest(asker);
    await detection.look();
    expect(raised).toEqual([]);
    detection.countRequest(asker);
    for (let index = 0; index < 200; index += 1) detection.countRequest(asker);
    await detection.look();
    expect(await told()).toEqual(['ddos_attempt.flood boss']);
    expect(raised[0]?.ip_address).toBe(kind === 'source' ? '192.0.2.200' : null);
  });
});

describe('findings that were counted and could not be reported', () => {
  test('are reported to the others at once, and to the remaining one by the next look: to each once', async () => {
    const administrators = ['boss', 'chief', 'third'];
    const first = server({ administrators, fails: ['chief'] });
    await first.observe(times(6, () => limited(null, '203.0.113.60')));
    expect(first.raised.map((incident) => incident.user_id)).toEqual(['boss', 'third']);
    const [one, two] = [server({ administrators }), server({ administrators })];
    await Promise.all([one.detection.look(), two.detection.look()]);
    await one.detection.look();
    expect([...one.raised, ...two.raised]).toEqual([{ ...first.raised[0], user_id: 'chief' }]);
  });

  test('are reported as what was true when they happened, though the server was killed', async () => {
    const killed = server({ refused: ['killed'], fails: [user_id] });
    await killed.observe(times(5, () => failed('killed', { source: '203.0.113.63' })));
    expect(await killed.told()).toEqual([]);
    const next = server({ refused: ['killed'] });
    await next.detection.look();
    expect(next.raised).toMatchObject([{ rule: 'brute_force.pair', outcome: 'blocked', at: around.at }]);
    expect(await database.selectFrom('detection_findings').select('id').execute()).toEqual([]);
  });

  test('do not keep the rest when another version has written them', async () => {
    const { detection, told } = server();
    const unknown = { id: newId(), created_at: around.at, found: '{"rule":"of.tomorrow"}', told: '[]' };
    await database.insertInto('detection_findings').values(unknown).execute();
    await server({ fails: ['boss'] }).observe(times(6, () => limited(null, '203.0.113.62')));
    await detection.look();
    expect(await told()).toEqual(['ddos_attempt.rate boss']);
    await database.deleteFrom('detection_findings').execute();
  });

  test('are given up after a day', async () => {
    const { observe, detection, clock } = server({ fails: ['boss'] });
    await observe(times(6, () => limited(null, '203.0.113.61')));
    const left = () => database.selectFrom('detection_findings').select('id').execute();
    clock.now += 24 * HOUR;
    await detection.look();
    expect(await left()).toHaveLength(1);
    clock.now += 1;
    await detection.look();
    expect(await left()).toEqual([]);
  });
});

// proves: security-14
describe('a browser', () => {
  test('is reported once when it is new; one that keeps its id, is of a known kind or comes from a known source is not', async () => {
    const person = await addPerson(database);
    const { observe, told, raised } = server();
    const browser_id = '01890a5d-ac96-774b-bcce-b302099a8057';
    const home = { user_id: person, source: '127.0.0.1', client: 'Firefox on Linux' };
    await observe([
      signedIn(home),
      signedIn({ ...home, source: '198.51.100.3' }),
      signedIn({ ...home, client: 'Safari on macOS', browser_id }),
      signedIn({ ...home, client: 'Chrome on Windows', browser_id, source: '198.51.100.4' }),
    ]);
    expect(await told()).toEqual([]);
    const stranger = signedIn({ user_id: person, source: '192.0.2.9', address: '192.0.2.9', client: 'curl' });
    await observe([stranger, stranger]);
    expect(await told()).toEqual([`suspicious_login.new_browser ${person}`]);
    expect(raised).toMatchObject([{ severity: 'medium', outcome: 'allowed', ip_address: '192.0.2.9', session_id: 's' }]);
  });

  test('is unreviewed until somebody says whose it is, and new again when it was not theirs', async () => {
    const person = await addPerson(database);
    const { observe, browsers } = server();
    const stranger = signedIn({ user_id: person, source: '192.0.2.1', client: 'Opera on Linux' });
    await observe([signedIn({ user_id: person }), stranger]);
    const unreviewed = () => browsers.unreviewedBrowsers(person);
    const [{ id } = { id: '' }] = await unreviewed();
    expect(await unreviewed()).toMatchObject([{ id, client: 'Opera on Linux', source: '192.0.2.1' }]);
    await browsers.trustBrowser('somebody else', id);
    expect(await unreviewed()).toHaveLength(1);
    await browsers.trustBrowser(person, id);
    expect(await unreviewed()).toEqual([]);
    await browsers.forgetBrowser(person, id);
    await observe([stranger]);
    const [again] = await unreviewed();
    await browsers.reviewBrowser(person, again?.id ?? '');
    expect(await unreviewed()).toEqual([]);
    expect(await browsers.recognise(stranger)).toEqual({ id: again?.id, is_new: false, knows_source: true });
  });

  test('is forgotten half a year after it was last seen', async () => {
    const { observe, browsers, clock } = server();
    await observe([signedIn({ source: '192.0.2.77', client: 'Vivaldi on Windows' })]);
    const known = () => database.selectFrom('known_browsers').select('id').where('source', '=', '192.0.2.77').execute();
    clock.now += 179 * 24 * HOUR;
    await browsers.sweep();
    expect(await known()).toHaveLength(1);
    clock.now += 2 * 24 * HOUR;
    await browsers.sweep();
    expect(await known()).toEqual([]);
  });
});

// proves: security-15
test('a session that is used elsewhere by another kind of browser is reported once; in another place alone it is not', () => {
  const observe = vi.fn(() => Promise.resolve());
  const look = createMovedTokens({ observe, now: () => START });
  const firefox = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';
  const began = { address: '127.0.0.1', source: '127.0.0.1', client: 'Firefox on Linux' };
  const user = { id: user_id, email: 'tim@example.com', username: 'tim', role: 'customer' } as const;
  const session = { id: 's1', user, began, is_held: false, is_unproven: false, registered_at: around.at };
  const use = (ip: string, agent: string) => look(session, { ip, headers: { 'user-agent': agent } });
  use('127.0.0.1', firefox);
  use('198.51.100.5', firefox);
  use('127.0.0.1', 'curl/8.9');
  expect(observe).not.toHaveBeenCalled();
  for (const _ of [1, 2]) use('192.0.2.5', 'curl/8.9');
  look({ ...session, began: null }, { ip: '192.0.2.5', headers: {} });
  expect(observe).toHaveBeenCalledExactlyOnceWith({
    ...{ at: around.at, user_id, source: '192.0.2.5', address: '192.0.2.5', client: 'curl', kind: 'token_moved' },
    data: { session_id: 's1', signed_in_source: '127.0.0.1', signed_in_client: 'Firefox on Linux' },
  });
});

test.each([
  ['Phish_Page_Telegram_Exfil', true],
  ['Heuristics.Phishing.Email', true],
  ['EICAR-Test-File', false],
  [null, false],
])('a scan that finds %s is an event of phishing: %s', (threat_detected, is_phishing) => {
  const scan: Scan = {
    ...{ id: 'scan', filename: 'page.html', scan_status: 'infected', status_detail: null, scanned_at: around.at },
    ...{ threat_detected, threat_member: null, is_test_file: false, file_hash: 'aa', size: 1, media_type: null },
    ...{ first_seen_at: around.at, notes: [], note_phrases: [], engines: [], coverage: null },
  };
  const event = scanFinished({ user_id, scan, is_test_file: false, copy: 'sealed', told_again: false });
  expect(event).toMatchObject({ user_id, kind: 'scan_finished', data: { scan_id: 'scan', is_phishing, sha256: 'aa' } });
});
