import { ruleName } from '@palisade/contract/alert-advice';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { SecurityEvent } from '#platform/security-event.ts';
import { detect, type Finding, type Kept, nameOf, placesOf, WINDOWS_MAXIMUM, type Windows } from './detect.ts';
import { AFTER_FAILURES, RULES, type Sighting } from './rules.ts';
import { EMPTY, pour } from './windows.ts';

const START = Date.parse('2026-11-20T10:00:00.000Z');
const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** An event so many ms after the start. */
type At = (ms: number) => Sighting;

const around = (ms: number, source: string | null = '203.0.113.5') => ({
  at: new Date(START + ms).toISOString(),
  user_id: 'maria',
  source,
  address: source,
  client: 'Firefox on Windows',
  browser: null,
  is_refused: false,
});
const failed =
  (change: { account?: string; source?: string; user_id?: string | null; step?: 'password' | 'second_factor' } = {}): At =>
  (ms) => {
    const { account = 'maria', source, user_id = account, step = 'password' } = change;
    return { ...around(ms, source), user_id, kind: 'login_failed', data: { account, step } };
  };
const succeeded =
  (
    change: Partial<Extract<SecurityEvent, { kind: 'login_succeeded' }>['data']> &
      Partial<Pick<Sighting, 'browser' | 'is_refused' | 'source'>> = {},
  ): At =>
  (ms) => {
    const {
      browser = { id: 'd1', is_new: false, knows_source: true },
      is_refused = false,
      source = '203.0.113.5',
      ...data
    } = change;
    return {
      ...around(ms, source),
      browser,
      is_refused,
      kind: 'login_succeeded',
      data: {
        account: 'maria',
        session_id: 's1',
        role: 'customer',
        browser_id: null,
        has_second_factor: false,
        with_password: true,
        ...data,
      },
    };
  };
/** A browser like others that the account was signed in with, from where it never was. */
const STRANGE = { id: 'd9', is_new: false, knows_source: false };
const infected =
  (change: Partial<Extract<SecurityEvent, { kind: 'scan_finished' }>['data']> = {}): At =>
  (ms) => ({
    ...around(ms, null),
    kind: 'scan_finished',
    data: {
      scan_id: `scan-${ms}`,
      filename: 'invoice.exe',
      member: null,
      verdict: 'infected',
      threat: 'Trojan.Test',
      sha256: 'one',
      is_test_file: false,
      is_phishing: false,
      copy: 'sealed',
      told_again: false,
      ...change,
    },
  });
const refused =
  (reason: 'unknown_path' | 'exploit_string' | 'admin_endpoint', path: string, was_refused = true): At =>
  (ms) => ({ ...around(ms), kind: 'request_refused', data: { reason, path, pattern: null, was_refused } });
const limited: At = (ms) => ({ ...around(ms), user_id: null, kind: 'rate_limited', data: { group: 'read' } });
const moved: At = (ms) => ({
  ...around(ms),
  kind: 'token_moved',
  data: { session_id: 's1', signed_in_source: '198.51.100.7', signed_in_client: 'Chrome on macOS' },
});

/** Events one after the other with so many ms between them. */
const every = (ms: number, events: readonly At[]): Sighting[] => events.map((event, index) => event(index * ms));
const times = (count: number, event: (index: number) => At): At[] => Array.from({ length: count }, (_, index) => event(index));

/** Through one store, as the server's: each event sees only what `placesOf` names. */
function run(events: readonly Sighting[]): { findings: Finding[]; store: Windows } {
  const store = new Map<string, Kept>();
  const findings = events.flatMap((event) => {
    const names = placesOf([event]).map(nameOf);
    const seen = new Map(names.flatMap((name) => [...store].filter(([kept]) => kept === name)));
    const found = detect(seen, event);
    for (const name of names) store.delete(name);
    for (const [name, kept] of found.windows) store.set(name, kept);
    return found.findings;
  });
  return { findings, store };
}
const rulesOf = (events: readonly Sighting[]) => run(events).findings.map(({ rule, severity }) => `${rule} ${severity}`);

const repeated = (count: number, text: string) => Array.from({ length: count }, () => text);
const accounts = (count: number) => times(count, (index) => failed({ account: `account-${index}` }));
const same = (count: number, event: At) => times(count, () => event);
const guesses = (count: number) => same(count, failed());
const turns = (count: number, ofAccounts: number) =>
  times(count, (index) => failed({ account: `account-${index % ofAccounts}` }));
/** One account twice, then so many together. */
const burst = (ofAccounts: number) => [failed({ account: 'account-0' }), ...turns(ofAccounts, ofAccounts)];
const from = (count: number, sources: number) => times(count, (index) => failed({ source: `203.0.113.${index % sources}` }));
const paths = (count: number) => times(count, (index) => refused('unknown_path', `/old/${index}`));
const attacks = (count: number) => times(count, (index) => refused('exploit_string', `/api/${index}?q=' or 1=1`));
const commands = (count: number) => times(count, (index) => refused('admin_endpoint', `/api/admin/${index}`));
const infections = (count: number, sha256: (index: number) => string, change: Parameters<typeof infected>[0] = {}) =>
  times(count, (index) => infected({ ...change, sha256: sha256(index), scan_id: `scan-${index}` }));

const alike = () => 'same';
const soon = (events: readonly At[]) => every(SECOND, events);
const OTHER = { account: 'another' };
const [PAIR, SPRAY, DISTRIBUTED] = ['brute_force.pair medium', 'brute_force.spray high', 'brute_force.distributed high'];
const AFTER_HIGH = 'suspicious_login.after_failures high';
const [INFECTED, OUTBREAK] = ['malware_detected.infected high', 'malware_detected.outbreak critical'];

type Row = [name: string, fires: Sighting[], says: string[], below: Sighting[], saysBelow?: string[]];

const SPRAYED = soon(accounts(5));
const GUESSED = soon(guesses(6));
const SPREAD = soon(from(20, 5));
const AGAIN = [...SPREAD, failed({ source: '198.51.100.9' })(100 * SECOND)];
/** A sign-in by a strange browser, at one of the sources that guessed. */
const strange = (source = '203.0.113.4') => succeeded({ source, browser: STRANGE });
const passkey = { has_second_factor: true, with_password: false };
const [LATER, LATEST] = [6 * SECOND, 7 * SECOND];

/** Failed sign-ins with their finding, a suspicious sign-in after them, and an ordinary one. */
const AFTER: [name: string, before: Sighting[], rule: string, suspicious: Sighting, ordinary: Sighting][] = [
  ['same source', SPRAYED, SPRAY, succeeded(OTHER)(LATER), succeeded({ ...OTHER, source: '198.51.100.9' })(LATER)],
  ['at one of many sources, in time', SPREAD, DISTRIBUTED, strange()(258 * SECOND), strange()(259 * SECOND)],
  ['where guessing goes on', AGAIN, DISTRIBUTED, strange('198.51.100.9')(339 * SECOND), strange()(339 * SECOND)],
  ['where the owner never was', SPREAD, DISTRIBUTED, strange()(20 * SECOND), succeeded({ source: '203.0.113.4' })(20 * SECOND)],
  ['with a password', soon(guesses(5)), PAIR, succeeded({ has_second_factor: true })(LATER), succeeded(passkey)(LATER)],
  ['the guessed account', GUESSED, PAIR, succeeded()(LATER), succeeded(OTHER)(LATER)],
  [
    'also when a passkey came between',
    [...SPRAYED, succeeded({ account: 'third', with_password: false })(LATER)],
    SPRAY,
    succeeded(OTHER)(LATEST),
    succeeded({ account: 'third', with_password: false })(LATEST),
  ],
];

/** Each rule's own events, its findings, and the same events one step below its threshold. */
const TABLE: Row[] = [
  ['pair', every(2 * MINUTE, guesses(5)), [PAIR], every(2 * MINUTE, guesses(4))],
  [
    'pair, at the second step',
    every(0, same(5, failed({ step: 'second_factor' }))),
    [PAIR],
    every(0, same(4, failed({ step: 'second_factor' }))),
  ],
  // The fifth account is what tells guessing from a household; in an order that is no spray.
  ['burst', every(SECOND, burst(6)), ['brute_force.burst medium', SPRAY], every(SECOND, turns(8, 4))],
  ['slow', every(15 * SECOND, accounts(14)), ['brute_force.slow medium'], every(15 * SECOND, accounts(13))],
  ['slow, of enough accounts', every(15 * SECOND, accounts(14)), ['brute_force.slow medium'], every(15 * SECOND, turns(36, 9))],
  ['spray', every(SECOND, accounts(5)), [SPRAY], every(SECOND, accounts(4))],
  ['distributed', every(2 * MINUTE, from(20, 5)), [DISTRIBUTED], every(2 * MINUTE, from(19, 5))],
  ['distributed, from enough', every(2 * MINUTE, from(20, 6)), [DISTRIBUTED], every(2 * MINUTE, from(20, 4))],
  ...AFTER.map(([name, before, rule, suspicious, ordinary]): Row => {
    const first = [...before, suspicious];
    return [`after failures, ${name}`, first, [rule, AFTER_HIGH], [...before, ordinary], [rule]];
  }),
  ['after failures, one step below', soon([...guesses(5), succeeded()]), [PAIR, AFTER_HIGH], soon([...guesses(4), succeeded()])],
  [
    'after failures, of an administrator, in time',
    [...every(0, guesses(5)), succeeded({ role: 'admin' })(239 * SECOND)],
    [PAIR, 'suspicious_login.after_failures critical'],
    [...every(0, guesses(5)), succeeded({ role: 'admin' })(240 * SECOND)],
    [PAIR],
  ],
  [
    'after failures, to one account after the other',
    soon([...accounts(5), succeeded({ account: 'own' }), succeeded(OTHER)]),
    [SPRAY, AFTER_HIGH, AFTER_HIGH],
    soon([...accounts(5), succeeded({ account: 'own' })]),
    [SPRAY, AFTER_HIGH],
  ],
  [
    'new browser',
    [succeeded({ browser: { id: 'd2', is_new: true, knows_source: false } })(0)],
    ['suspicious_login.new_browser medium'],
    [succeeded()(0)],
  ],
  [
    'new browser, with a second factor',
    [succeeded({ browser: { id: 'd2', is_new: true, knows_source: false }, has_second_factor: true })(0)],
    ['suspicious_login.new_browser low'],
    [succeeded({ has_second_factor: true })(0)],
  ],
  ['token moved', [moved(0)], ['suspicious_login.token_moved high'], []],
  ['block not effective', [succeeded({ is_refused: true })(0)], ['suspicious_login.block_not_effective high'], [succeeded()(0)]],
  ['infected', [infected()(0)], [INFECTED], []],
  ['a test file', [infected({ is_test_file: true })(0)], ['malware_detected.infected low'], []],
  [
    'outbreak',
    every(51 * SECOND, infections(8, alike)),
    [...repeated(8, INFECTED), OUTBREAK],
    every(52 * SECOND, infections(8, alike)),
    repeated(8, INFECTED),
  ],
  [
    'outbreak of different files',
    every(29 * MINUTE, infections(3, String)),
    [...repeated(3, INFECTED), OUTBREAK],
    every(30 * MINUTE, infections(3, String)),
    repeated(3, INFECTED),
  ],
  [
    'outbreak of test files',
    every(SECOND, infections(8, alike, { is_test_file: true })),
    [...repeated(8, 'malware_detected.infected low'), 'malware_detected.outbreak low'],
    every(SECOND, infections(7, alike, { is_test_file: true })),
    repeated(7, 'malware_detected.infected low'),
  ],
  [
    'outbreak, but told again',
    every(SECOND, infections(3, String)),
    [...repeated(3, INFECTED), OUTBREAK],
    every(SECOND, infections(3, String, { told_again: true })),
    repeated(3, INFECTED),
  ],
  ['phishing', [infected({ is_phishing: true })(0)], ['phishing_attempt.verdict medium'], []],
  ['probing', every(SECOND, paths(11)), ['intrusion_attempt.probing medium'], every(SECOND, paths(10))],
  [
    'probing, different',
    every(SECOND, paths(11)),
    ['intrusion_attempt.probing medium'],
    every(SECOND, same(30, refused('unknown_path', '/old'))),
  ],
  ['exploit strings', every(4 * SECOND, attacks(3)), ['intrusion_attempt.exploit_strings high'], every(5 * SECOND, attacks(3))],
  [
    'exploit strings, slow',
    every(17 * SECOND, attacks(8)),
    ['intrusion_attempt.exploit_strings high'],
    every(17 * SECOND, attacks(7)),
  ],
  ['privilege', every(4 * MINUTE, commands(3)), ['intrusion_attempt.privilege high'], every(5 * MINUTE, commands(3))],
  [
    'privilege, different',
    every(SECOND, commands(3)),
    ['intrusion_attempt.privilege high'],
    every(SECOND, same(9, refused('admin_endpoint', '/api/admin/one'))),
  ],
  ['rate', every(SECOND, same(6, limited)), ['ddos_attempt.rate low'], every(SECOND, same(5, limited))],
];

describe('a rule fires on its own events, and is silent one step below', () => {
  test.each(TABLE)('%s', (_, fires, says, below, saysBelow = []) => {
    expect(rulesOf(fires).sort()).toEqual([...says].sort());
    expect(rulesOf(below).sort()).toEqual([...saysBelow].sort());
  });

  test('every rule of the table is among them', () => {
    const told = new Set(TABLE.flatMap(([, fires]) => run(fires).findings.map(({ rule }) => rule)));
    expect([...told].sort()).toEqual([...new Set([...RULES.map(({ id, told_as = id }) => told_as), AFTER_FAILURES.id])].sort());
  });
});

/** An event of each rule that counts, the `index`th of different ones. */
const EVENTS: Record<string, (index: number) => At> = {
  'brute_force.pair': () => failed(),
  'brute_force.burst': (index) => failed({ account: `account-${index % 6}` }),
  'brute_force.slow': (index) => failed({ account: `account-${index}` }),
  'brute_force.spray': (index) => failed({ account: `account-${index}` }),
  'brute_force.distributed': (index) => failed({ source: `203.0.113.${index}` }),
  'malware_detected.outbreak': (index) => infected({ scan_id: `scan-${index}` }),
  'malware_detected.outbreak_different': (index) => infected({ scan_id: `scan-${index}`, sha256: `file-${index}` }),
  'intrusion_attempt.probing': (index) => refused('unknown_path', `/old/${index}`),
  'intrusion_attempt.exploit_strings': (index) => refused('exploit_string', `/api/${index}`),
  'intrusion_attempt.exploit_strings_slow': (index) => refused('exploit_string', `/api/${index}`),
  'intrusion_attempt.privilege': (index) => refused('admin_endpoint', `/api/admin/${index}`),
  'ddos_attempt.rate': () => limited,
};
const counting = RULES.flatMap(({ measure, ...rule }) => (measure.kind === 'each' ? [] : [{ ...rule, measure }]));

describe('to the millisecond, a rule', () => {
  test.each(counting.map((rule) => [rule.id, rule] as const))('%s', (id, { measure, read }) => {
    const event = EVENTS[id];
    if (event === undefined) throw new Error(`there is no event of ${id}`);
    /** The rule's window alone: others fire on the same events. */
    const fires = (times_ms: readonly number[]) => {
      let window = EMPTY;
      return times_ms.some((ms, index) => {
        const sighting = event(index)(ms);
        const reading = read(sighting);
        if (reading === undefined) throw new Error(`${id} reads nothing in its own event`);
        const drop = { at: START + ms, value: reading.value, user_id: null, is_blocked: true };
        const poured = pour(window, measure, { ...drop, sample: { at: sighting.at, what: '', phrase: null, source: null } });
        window = poured.window;
        return poured.is_full;
      });
    };
    const at_once = (count: number) => Array.from({ length: count }, () => 0);
    const [count, end_ms] =
      measure.kind === 'sliding' ? [measure.count, measure.window_ms] : [measure.capacity + 1, measure.leak_ms];
    expect(fires(at_once(count))).toBe(true);
    expect(fires(at_once(count - 1))).toBe(false);
    expect(fires([...at_once(count - 1), end_ms - 1])).toBe(true);
    expect(fires([...at_once(count - 1), end_ms])).toBe(false);
  });
});

describe('a finding', () => {
  test('shows five events', () => {
    const [spray] = run(
      every(
        SECOND,
        times(5, (index) => failed({ account: `a${index}`, user_id: index < 2 ? `user-${index}` : null })),
      ),
    ).findings;
    expect(spray).toMatchObject({ key: '203.0.113.5' });
    expect(spray?.samples).toHaveLength(5);
    expect(spray?.samples[0]).toEqual({
      at: '2026-11-20T10:00:00.000Z',
      what: 'A wrong password',
      phrase: { code: 'event.wrong_password', params: {} },
      source: '203.0.113.5',
    });
  });

  test('begins anew: the next one takes as many events again', () => {
    expect(rulesOf(every(SECOND, guesses(9)))).toEqual(['brute_force.pair medium']);
    expect(rulesOf(every(SECOND, guesses(10)))).toEqual(['brute_force.pair medium', 'brute_force.pair medium']);
  });

  test('is open as long as one of its files is not out of reach', () => {
    const files = (copy: 'sealed' | 'left') =>
      run([...every(SECOND, [infected({ sha256: 'a', copy }), infected({ sha256: 'b' }), infected({ sha256: 'c' })])]);
    const outbreak = (copy: 'sealed' | 'left') => files(copy).findings.find(({ rule }) => rule === 'malware_detected.outbreak');
    expect(outbreak('sealed')).toMatchObject({ is_open: false });
    expect(outbreak('left')).toMatchObject({ is_open: true });
  });

  test('after guessing for longer than a sign-in stays suspicious, it is remembered from its last try on', () => {
    const slow = [...every(0, guesses(5)), failed()(200 * SECOND), succeeded()(400 * SECOND)];
    expect(rulesOf(slow)).toEqual(['brute_force.pair medium', 'suspicious_login.after_failures high']);
  });
});

test('a person who signs in mistyped the password before', () => {
  expect(rulesOf(every(SECOND, [...guesses(4), succeeded(), ...guesses(4)]))).toEqual([]);
});

const few = fc.integer({ min: 0, max: 3 });
const anyEvent: fc.Arbitrary<At> = fc.oneof(
  fc.tuple(few, few).map(([account, source]) => failed({ account: `a${account}`, source: `203.0.113.${source}` })),
  few.map((path) => refused('unknown_path', `/p${path}`)),
  few.map((path) => refused('exploit_string', `/p${path}`)),
  few.map((path) => refused('admin_endpoint', `/p${path}`)),
  few.map((file) => infected({ sha256: `f${file}`, scan_id: `s${file}` })),
  fc.constant(limited),
);
/** Events with gaps from nothing up to some minutes. */
const anyStream = fc
  .array(
    fc.tuple(
      anyEvent,
      fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 30 * SECOND }), fc.integer({ min: 1, max: 5 * MINUTE })),
    ),
    {
      maxLength: 120,
    },
  )
  .map((steps) => {
    let ms = 0;
    return steps.map(([event, gap]) => {
      ms += gap;
      return event(ms);
    });
  });

describe('all sequences of events', () => {
  test('the order of events of the same time does not change the findings, nor their time', () => {
    const firstFindings = (events: readonly Sighting[]) => {
      const first = new Map<string, string>();
      let store: Windows = new Map();
      for (const event of events) {
        const { windows, findings } = detect(store, event);
        store = windows;
        for (const { rule, key } of findings) first.set(`${rule} ${key}`, first.get(`${rule} ${key}`) ?? event.at);
      }
      return [...first].sort();
    };
    fc.assert(
      fc.property(anyStream, fc.array(fc.nat(), { minLength: 120, maxLength: 120 }), (events, order) => {
        const shuffled = events
          .map((event, index) => ({ event, place: order[index] ?? 0 }))
          .sort((a, b) => a.event.at.localeCompare(b.event.at) || a.place - b.place)
          .map(({ event }) => event);
        expect(firstFindings(shuffled)).toEqual(firstFindings(events));
      }),
    );
  });

  test('less than a threshold is never found', () => {
    // Every rule that counts needs three events with one key at least; failed sign-ins need five.
    const fewer = fc.uniqueArray(fc.tuple(few, fc.integer({ min: 0, max: HOUR })), { maxLength: 4, selector: ([, ms]) => ms });
    fc.assert(
      fc.property(fewer, (steps) => {
        const events = [...steps].sort(([, a], [, b]) => a - b).map(([account, ms]) => failed({ account: `a${account}` })(ms));
        expect(rulesOf(events)).toEqual([]);
      }),
    );
    fc.assert(
      fc.property(fc.array(anyEvent, { maxLength: 2 }), (events) => {
        expect(rulesOf(every(0, events)).filter((rule) => !rule.startsWith('malware_detected.infected'))).toEqual([]);
      }),
    );
  });

  test('after silence it is as if nothing had happened', () => {
    fc.assert(
      fc.property(anyStream, anyEvent, (events, event) => {
        const { store } = run(events);
        const last = Date.parse(events.at(-1)?.at ?? around(0).at) - START;
        const late = event(last + HOUR + 11 * MINUTE);
        const fresh = detect(new Map(), late);
        const after = detect(store, late);
        expect(after.findings).toEqual(fresh.findings);
        for (const [name, kept] of fresh.windows) expect(after.windows.get(name)).toEqual(kept);
        for (const { expires_at } of store.values()) expect(expires_at).toBeLessThanOrEqual(START + last + HOUR);
      }),
    );
  });

  test('a window stays small', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(anyEvent, fc.string({ maxLength: 3000 })), { maxLength: 200 }), (steps) => {
        const events = steps.map(([event, text], index) => {
          const sighting = event(index);
          return sighting.kind === 'request_refused' ? { ...sighting, data: { ...sighting.data, path: text } } : sighting;
        });
        for (const kept of run(events).store.values()) expect(JSON.stringify(kept).length).toBeLessThan(8_000);
      }),
      { numRuns: 30 },
    );
  });

  test('a spray of keys drops those that would expire first', () => {
    const place = (index: number) => ({ rule: 'brute_force.pair', key: `key ${index}` });
    const [kept] = [...run(every(0, guesses(1))).store.values()];
    if (kept === undefined) throw new Error('nothing was kept');
    const many = new Map(
      Array.from({ length: WINDOWS_MAXIMUM + 10 }, (_, index) => [
        nameOf(place(index)),
        { ...kept, ...place(index), expires_at: START + HOUR + index },
      ]),
    );
    const { windows } = detect(many, failed()(0));
    expect(windows.size).toBe(WINDOWS_MAXIMUM);
    expect(windows.has(nameOf(place(WINDOWS_MAXIMUM + 9)))).toBe(true);
    expect(windows.has(nameOf(place(0)))).toBe(false);
  });
});

test('gives every rule a name in words', () => {
  expect(RULES.filter(({ id }) => !/^[A-Z]/u.test(ruleName(id)))).toEqual([]);
});
