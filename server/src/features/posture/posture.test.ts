import { FIX_PLACES } from '@palisade/contract/anti-hacking';
import type { Rule } from '@palisade/contract/firewall';
import { englishOf, type Phrase, type Template } from '@palisade/contract/phrase';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { judge } from './judge.ts';
import { readOpenRules } from './open-rules.ts';
import { POSTURE_PHRASES } from './posture.phrases.ts';
import { CHECKED_PORTS, CHECKS } from './posture-checks.ts';
import type { DeviceFacts, PostureFacts } from './posture-facts.ts';
import { statusOf } from './status.ts';

const DAY_MS = 86_400_000;
const NO_ALERTS = { count: 0, newest: undefined };
const nothing: PostureFacts = {
  account: { common_password: undefined, second_factor: undefined, is_admin: false, age_ms: DAY_MS, unreviewed_browsers: [] },
  remote: { long_sessions: 0 },
  devices: undefined,
  ...{ web: undefined, home: undefined },
  scans: { clean: 0, infected: 0, pending: 0, overdue: 0, open: { count: 0, newest: [] }, last_finished_at: null },
  outside_quarantine: { all: 0, test_files: 0 },
  alerts: { critical: NO_ALERTS, high: NO_ALERTS, lesser: NO_ALERTS, guessing: NO_ALERTS, browser: undefined },
  rules: readOpenRules([], CHECKED_PORTS),
  rule_count: 0,
  plan: undefined,
  signatures_age_ms: undefined,
};
const withOpen = (...filenames: string[]): Partial<PostureFacts> => ({
  scans: {
    ...nothing.scans,
    open: { count: filenames.length, newest: filenames.map((filename) => ({ id: `${filename}-id`, filename })) },
  },
});
const withAlerts = (kind: 'critical' | 'high' | 'lesser' | 'guessing', count = 1): Partial<PostureFacts> => ({
  alerts: { ...nothing.alerts, [kind]: { count, newest: `${kind}-one` } },
});
const ending = (days: number, is_asked = false): Partial<PostureFacts> => ({ plan: { ends_in_ms: days * DAY_MS, is_asked } });
const LAPTOP = { id: 'laptop', name: 'Laptop' };
let last = 0;
const rule = (parts: Partial<Rule>): Rule => ({
  id: `01930000-0000-7000-8000-${String(++last).padStart(12, '0')}`,
  created_at: '2026-11-20T10:00:00.000Z',
  expires_at: null,
  device_ids: [],
  rule_name: 'a rule',
  direction: 'inbound',
  action: 'allow',
  protocol: 'tcp',
  source_ip: '*',
  destination_ip: '*',
  port: '443',
  enabled: true,
  ...parts,
});

describe('the score', () => {
  // proves: product-1.3-3
  test('of a new account is 100, without a reason', () => {
    expect(judge(nothing)).toMatchObject({ security_score: 100, score_breakdown: [], vulnerabilities_found: [] });
  });

  test.each([
    [true, 85, 'fail'],
    [false, 100, 'pass'],
    [undefined, 100, 'unknown'],
  ])('with a common password %s is %i, and the check says %s', (common_password, security_score, state) => {
    const judged = judge({ ...nothing, account: { ...nothing.account, common_password } });
    expect(judged.security_score).toBe(security_score);
    expect(judged.findings.find(({ id }) => id === 'common_password')).toMatchObject({ state });
  });

  test.each<[string, Partial<PostureFacts['account']>, [string, number][]]>([
    ['no second factor', { second_factor: { enabled: false, recovery_codes_left: 0 } }, [['no_two_factor', 10]]],
    [
      'no second factor of an administrator',
      { second_factor: { enabled: false, recovery_codes_left: 0 }, is_admin: true },
      [['no_two_factor', 20]],
    ],
    [
      'no second factor on the first day',
      { second_factor: { enabled: false, recovery_codes_left: 0 }, age_ms: DAY_MS - 1 },
      [['no_two_factor', 0]],
    ],
    ['a second factor', { second_factor: { enabled: true, recovery_codes_left: 3 } }, []],
    ['two recovery codes', { second_factor: { enabled: true, recovery_codes_left: 2 } }, [['few_recovery_codes', 3]]],
    ['a browser to be reviewed', { unreviewed_browsers: ['d1', 'd2'] }, [['unreviewed_browser', 5]]],
  ])('with %s', (_, account, reasons) => {
    const { security_score, score_breakdown } = judge({ ...nothing, account: { ...nothing.account, ...account } });
    expect(score_breakdown.map(({ id, deduction }) => [id, deduction])).toEqual(reasons);
    expect(security_score).toBe(100 - reasons.reduce((sum, [, deduction]) => sum + deduction, 0));
  });

  test('asks for a second factor from the first day on, before it counts', () => {
    const account = { ...nothing.account, second_factor: { enabled: false, recovery_codes_left: 0 }, age_ms: 0 };
    const { findings, vulnerabilities_found } = judge({ ...nothing, account });
    expect(findings.find(({ id }) => id === 'no_two_factor')).toMatchObject({ state: 'fail', deduction: 0, gain: 0 });
    expect(vulnerabilities_found[0]).toMatch(/This lowers your score from tomorrow\.$/);
  });

  test('says what mending one thing alone would give back', () => {
    const everything = judge({ ...nothing, rules: readOpenRules([rule({ port: '*', protocol: 'all' })], CHECKED_PORTS) });
    // 15 and five times 8 are 55, of which the cap takes 30: without any one of them it is still 30.
    expect(everything.score_breakdown.map(({ gain }) => gain)).toEqual([0, 0, 0, 0, 0, 0]);
    const two = judge({ ...nothing, account: { ...nothing.account, common_password: true, unreviewed_browsers: ['d1'] } });
    expect(two.score_breakdown.map(({ id, gain }) => [id, gain])).toEqual([
      ['common_password', 15],
      ['unreviewed_browser', 5],
    ]);
    const critical = judge({ ...nothing, ...withAlerts('critical') });
    expect(critical.score_breakdown).toMatchObject([{ id: 'open_alert_critical', deduction: 12, gain: 51 }]);
  });

  // proves: product-1.3-2
  test('counts only checks that could run, and says how many', () => {
    const { findings, coverage, checks } = judge(nothing);
    expect(findings).toHaveLength(33);
    expect(checks).toEqual({ ran: 13, unknown: 20 });
    expect(coverage).toMatch(/^13 of 33 checks could run\./);
    for (const finding of findings.filter((one) => one.state === 'unknown')) expect(finding.deduction).toBe(0);
  });

  test('names three rules at most, and counts more of them', () => {
    const evidenceOf = (count: number) =>
      judge({
        ...nothing,
        rules: readOpenRules(
          Array.from({ length: count }, (_, index) => rule({ rule_name: `Web ${index}`, port: '8080' })),
          CHECKED_PORTS,
        ),
      }).findings.find(({ id }) => id === 'clashing_rules')?.evidence;
    expect(evidenceOf(2)).toMatch(/^"Web \d"( and "Web \d")? repeats? or contradicts? another rule\.$/u);
    expect(evidenceOf(22)).toMatch(/^\d\d rules repeat or contradict another rule\.$/u);
  });

  // proves: product-1.4-1
  test('never calls a port closed while nothing applies the rules', () => {
    const block = rule({ port: '3389', action: 'block' });
    const { findings } = judge({ ...nothing, rules: readOpenRules([block], CHECKED_PORTS) });
    expect(findings.find(({ id }) => id === 'port_3389_open')).toMatchObject({
      state: 'unknown',
      evidence: 'None of your rules opens it. Without a connected device, we can’t tell whether it is closed.',
    });
  });

  test.each<[string, Rule[], string[], number]>([
    ['an open SSH port', [rule({ port: '20-25' })], ['port_22_open', 'port_23_open'], 84],
    ['a disabled rule', [rule({ port: '22', enabled: false })], [], 100],
    ['a port open to one network', [rule({ port: '22', source_ip: '10.0.0.0/8' })], [], 100],
    ['a port over UDP', [rule({ port: '22', protocol: 'udp' })], [], 100],
    ['an outbound rule', [rule({ port: '22', direction: 'outbound' })], [], 100],
    ['a list of ports', [rule({ port: '80, 445 , 8000-8100' })], ['port_445_open'], 92],
    [
      'an open port that a block closes',
      [rule({ port: '3389' }), rule({ port: '3389', action: 'block' })],
      ['clashing_rules'],
      98,
    ],
    ['one that a wider block closes', [rule({ port: '3389' }), rule({ port: '*', action: 'block' })], [], 100],
    [
      'a block of one destination alone',
      [rule({ port: '22' }), rule({ port: '22', action: 'block', destination_ip: '192.0.2.1' })],
      ['port_22_open'],
      92,
    ],
    [
      'a block of IPv4 alone',
      [rule({ port: '22' }), rule({ port: '22', action: 'block', source_ip: '0.0.0.0/0' })],
      ['port_22_open'],
      92,
    ],
    ['the world by its other name', [rule({ port: '5900', source_ip: '::/0' })], ['port_5900_open'], 92],
    ['the world in two halves', [rule({ port: '23', source_ip: '0.0.0.0/1, 128.0.0.0/1' })], ['port_23_open'], 92],
    ['the same rule twice', [rule({}), rule({ source_ip: 'any', port: ' 443' })], ['clashing_rules'], 98],
    [
      'everything allowed, up to the cap of 30',
      [rule({ port: '*', protocol: 'all' })],
      ['allow_any_inbound', 'port_22_open', 'port_23_open', 'port_445_open', 'port_3389_open', 'port_5900_open'],
      70,
    ],
  ])('with %s', (_, rules, failed, score) => {
    const { score_breakdown, security_score } = judge({ ...nothing, rules: readOpenRules(rules, CHECKED_PORTS) });
    expect(score_breakdown.map(({ id }) => id)).toEqual(failed);
    expect(security_score).toBe(score);
  });

  test.each<[string, Partial<PostureFacts>, string[], number]>([
    ['signatures of two days', { signatures_age_ms: 48 * 3_600_000 }, [], 100],
    ['signatures of three days', { signatures_age_ms: 72 * 3_600_000 }, ['signatures_old'], 95],
    ['signatures of eight days', { signatures_age_ms: 192 * 3_600_000 }, ['signatures_very_old'], 90],
    ['files that wait', { scans: { ...nothing.scans, overdue: 3 } }, ['files_overdue'], 98],
    ['an infected file of long ago', { scans: { ...nothing.scans, infected: 1 } }, [], 100],
    ['an infected file that is not deleted', withOpen('a.exe'), ['infection_open'], 80],
    ['several of them', withOpen('a.exe', 'b.exe', 'c.exe'), ['infection_open'], 80],
    ['files that nobody could read', { scans: { ...nothing.scans, pending: 9 } }, [], 100],
    ['an upload outside quarantine', { outside_quarantine: { all: 1, test_files: 0 } }, ['infected_not_removed'], 80],
    ['a test file outside quarantine', { outside_quarantine: { all: 1, test_files: 1 } }, [], 100],
    ['a lesser alert', withAlerts('lesser'), ['open_alert_lesser'], 100],
    ['refused password guessing', withAlerts('guessing', 5), ['password_guessing'], 100],
    ['a plan that ends in two weeks', ending(14), [], 100],
    ['a plan that ends sooner', ending(13.9), ['plan_ending'], 100],
    ['a plan that ends now, when another is asked for', ending(0.1, true), [], 100],
    ['a forgotten remote session', { remote: { long_sessions: 1 } }, ['long_remote_session'], 92],
    ['two high alerts that nothing blocked', withAlerts('high', 2), ['open_alert_high'], 88],
    ['a critical alert that nothing blocked', withAlerts('critical'), ['open_alert_critical'], 49],
  ])('with %s', (_, facts, failed, score) => {
    const { score_breakdown, security_score } = judge({ ...nothing, ...facts });
    expect(score_breakdown.map(({ id }) => id)).toEqual(failed);
    expect(security_score).toBe(score);
  });

  const well: DeviceFacts = {
    ...{ count: 1, plan_holds: 1, unapplied: [], silent: [], outdated: [], unprotected: [], updates_waiting: [] },
  };
  test.each<[string, DeviceFacts, string[], number]>([
    ['that is as it should be', well, [], 100],
    ['without its rules', { ...well, unapplied: [LAPTOP] }, ['rule_not_applied'], 92],
    ['that is silent', { ...well, silent: [LAPTOP] }, ['device_silent'], 92],
    ['of an earlier version', { ...well, outdated: [LAPTOP] }, ['agent_outdated'], 96],
    ['that waits for updates', { ...well, updates_waiting: [LAPTOP] }, ['updates_waiting'], 92],
    ['that cannot enforce a rule', { ...well, unprotected: [LAPTOP] }, ['host_firewall_off'], 85],
    ['beyond the plan', { ...well, count: 2 }, ['too_many_devices'], 98],
  ])('with a device %s', (_, devices, failed, score) => {
    const { score_breakdown, security_score } = judge({ ...nothing, devices });
    expect(score_breakdown.map(({ id }) => id)).toEqual(failed);
    expect(security_score).toBe(score);
  });

  test('says of a device’s check that it passed only when a device could say', () => {
    const stateOf = (devices: DeviceFacts | undefined, id: string) =>
      judge({ ...nothing, devices }).findings.find((finding) => finding.id === id);
    const ids = [
      'rule_not_applied',
      'device_silent',
      'agent_outdated',
      'updates_waiting',
      'host_firewall_off',
      'too_many_devices',
    ];
    for (const id of ids) {
      expect(stateOf(undefined, id)?.state).toBe('unknown');
      expect(stateOf(well, id)?.state).toBe('pass');
    }
    expect(stateOf({ ...well, updates_waiting: undefined }, 'updates_waiting')?.state).toBe('unknown');
    const several = stateOf({ ...well, silent: [LAPTOP, { id: 'tower', name: 'Tower' }] }, 'device_silent');
    expect(several?.evidence).toContain('Laptop');
    expect(several?.fix_route).toBe('/devices');
  });

  test('is 100 less its reasons, unless a critical alert caps it, and never below 0', () => {
    const few = fc.nat(9);
    const names = fc.array(fc.record({ id: fc.uuid(), name: fc.string() }));
    fc.assert(
      fc.property(names, names, names, few, few, few, few, (everything, ssh, clashing, overdue, malware, high, critical) => {
        const { security_score, score_breakdown, findings } = judge({
          ...nothing,
          scans: { ...nothing.scans, infected: malware, overdue },
          outside_quarantine: { all: malware, test_files: 0 },
          alerts: { ...nothing.alerts, high: { count: high, newest: 'h' }, critical: { count: critical, newest: 'c' } },
          rules: { everything, clashing, ports: new Map([[22, ssh]]) },
        });
        const deducted = score_breakdown.reduce((sum, reason) => sum + reason.deduction, 0);
        expect(security_score).toBe(Math.max(0, Math.min(critical > 0 ? 49 : 100, 100 - deducted)));
        expect(findings.map(({ id }) => id)).toEqual(CHECKS.map(({ id }) => id));
      }),
    );
  });
});

describe('a finding leads to where it can be mended:', () => {
  /** Everything that can fail, for a person who is no administrator. */
  const account = {
    ...{ common_password: true, is_admin: false, age_ms: DAY_MS, unreviewed_browsers: ['d1'] },
    second_factor: { enabled: false, recovery_codes_left: 0 },
  };
  const open = rule({ port: '*', protocol: 'all' });
  const failing: PostureFacts = {
    account,
    remote: { long_sessions: 1 },
    web: { question_age_ms: undefined, silent: [LAPTOP] },
    home: { silent: [LAPTOP], without_plan: [{ id: 'one', name: 'Mia' }], asks: 1 },
    devices: {
      ...{ count: 3, plan_holds: 1, unapplied: [LAPTOP], silent: [LAPTOP], outdated: [LAPTOP], unprotected: [LAPTOP] },
      updates_waiting: [LAPTOP],
    },
    scans: { ...nothing.scans, infected: 1, overdue: 1, open: { count: 1, newest: [{ id: 'scan-one', filename: 'a.exe' }] } },
    outside_quarantine: { all: 1, test_files: 0 },
    alerts: {
      ...{ critical: { count: 1, newest: 'critical-one' }, high: { count: 1, newest: 'high-one' } },
      ...{ lesser: { count: 1, newest: 'lesser-one' }, guessing: { count: 1, newest: 'guessing-one' }, browser: 'browser-one' },
    },
    plan: { ends_in_ms: DAY_MS, is_asked: false },
    rule_count: 2,
    rules: readOpenRules([open, { ...open, id: 'again' }], CHECKED_PORTS),
    signatures_age_ms: 3 * DAY_MS,
  };
  const without_codes = { enabled: true, recovery_codes_left: 0 };
  const security = (tab: string) => `/dashboard?open=security&tab=${tab}`;
  const routesOf = (facts: PostureFacts) =>
    new Map(judge(facts).findings.flatMap(({ id, state, fix_route }) => (state === 'fail' ? [[id, fix_route] as const] : [])));
  const routes = new Map([
    ...routesOf(failing),
    ...routesOf({ ...failing, account: { ...account, second_factor: without_codes }, signatures_age_ms: 8 * DAY_MS }),
  ]);
  const PLACES: [string, string][] = [
    ['common_password', security('password')],
    ['no_two_factor', security('two-factor')],
    ['few_recovery_codes', security('two-factor')],
    ['unreviewed_browser', '/anti-hacking?alert=browser-one'],
    ['open_alert_high', '/anti-hacking?alert=high-one'],
    ['open_alert_critical', '/anti-hacking?alert=critical-one'],
    ['open_alert_lesser', '/anti-hacking?alert=lesser-one'],
    ['password_guessing', '/anti-hacking?alert=guessing-one'],
    ['allow_any_inbound', '/firewall'],
    ...CHECKED_PORTS.map((port): [string, string] => [`port_${port}_open`, '/firewall']),
    ['clashing_rules', '/firewall?rule=again'],
    ...['rule_not_applied', 'device_silent', 'agent_outdated', 'updates_waiting', 'host_firewall_off'].map(
      (id): [string, string] => [id, '/devices?device=laptop'],
    ),
    ['web_device_silent', '/web-protection?device=laptop'],
    ...['ask_waiting', 'profile_device_silent', 'profile_no_plan'].map((id): [string, string] => [id, '/household']),
    ['too_many_devices', '/devices'],
    ['long_remote_session', '/remote'],
    ['infected_not_removed', '/chat'],
    ['infection_open', '/antivirus?scan=scan-one'],
    ['plan_ending', '/subscription-manager'],
    ['signatures_old', '/chat'],
    ['signatures_very_old', '/chat'],
    ['files_overdue', '/antivirus'],
  ];

  test.each(PLACES)('%s to %s', (id, place) => {
    expect(routes.get(id)).toBe(place);
  });

  test('one open rule leads to it', () => {
    const one = routesOf({ ...failing, rules: readOpenRules([open], CHECKED_PORTS) });
    for (const id of ['allow_any_inbound', 'port_22_open']) expect(one.get(id)).toBe(`/firewall?rule=${open.id}`);
  });

  test('a contradiction leads to the rule without an effect', () => {
    const rules = readOpenRules(
      [
        { ...open, action: 'block' },
        { ...open, id: 'again' },
      ],
      CHECKED_PORTS,
    );
    expect(routesOf({ ...failing, rules }).get('clashing_rules')).toBe('/firewall?rule=again');
  });

  test('these are all that can fail, and the others are places of the application too', () => {
    expect([...routes.keys()].sort()).toEqual(PLACES.map(([id]) => id).sort());
    for (const { fix_route } of CHECKS) expect(FIX_PLACES).toContain(fix_route);
  });

  test('old signatures lead an administrator to their sources', () => {
    const { findings, recommendations } = judge({ ...failing, account: { ...account, is_admin: true } });
    expect(findings.find(({ id }) => id === 'signatures_old')?.fix_route).toBe('/antivirus');
    expect(recommendations.join(' ')).toContain('fix the failing source of threat definitions');
  });

  test('every sentence can be said by its phrase, and a reason of the score by the id of its check', () => {
    const catalog: Readonly<Record<string, Template>> = POSTURE_PHRASES;
    const say = (phrase: Phrase | undefined) => {
      const template = phrase && catalog[phrase.code];
      return template && englishOf(template, phrase.params);
    };
    const many = rule({ port: '*', protocol: 'all' });
    const rules = readOpenRules([many, { ...many, id: '2' }, { ...many, id: '3' }, { ...many, id: '4' }], CHECKED_PORTS);
    for (const facts of [nothing, failing, { ...failing, rules, devices: undefined }]) {
      const judged = judge(facts);
      const { findings, recommendations, recommendation_phrases, coverage, coverage_phrase, score_breakdown, steps } = judged;
      const status = statusOf(facts, judged, 0);
      expect([say(status.sentence_phrase), say(status.detail_phrase)]).toEqual([status.sentence, status.detail]);
      for (const { title, title_phrase, evidence, evidence_phrase, action, action_phrase } of steps)
        expect([title_phrase, evidence_phrase, action_phrase].map(say)).toEqual([title, evidence, action]);
      expect(findings.map(({ title_phrase }) => say(title_phrase))).toEqual(findings.map(({ title }) => title));
      expect(findings.map(({ evidence_phrase }) => say(evidence_phrase))).toEqual(findings.map(({ evidence }) => evidence));
      expect(recommendation_phrases?.map(say)).toEqual(recommendations);
      expect(say(coverage_phrase)).toBe(coverage);
      expect(score_breakdown.map(({ title }) => title).sort()).toEqual(steps.map(({ title }) => title).sort());
    }
  });
});
