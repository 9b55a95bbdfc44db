import { ALERT_PHRASES, type AlertPhrase, alertPhrase } from '@palisade/contract/alert-phrases';
import type { ThreatType } from '@palisade/contract/anti-hacking';
import { may } from '@palisade/contract/may';
import type { ParamsOf } from '@palisade/contract/phrase';
import type { Severity } from '@palisade/contract/severity';
import type { SecurityEvent } from '#platform/security-event.ts';
import { UNKNOWN_CLIENT } from '#platform/user-agent.ts';
import { infectedFilePhrase } from './infected-file.ts';
import type { Counting, Measure } from './windows.ts';

/** Facts about an event that the event does not contain. */
interface Circumstances {
  /** The browser that signed in, and whether the account had a sign-in from its source before; null for an event that is no sign-in. */
  browser: { id: string; is_new: boolean; knows_source: boolean } | null;
  /** Sign-in to this account from this source is being refused. */
  is_refused: boolean;
}
/** An event as rules read it. */
export type Sighting = SecurityEvent & Circumstances;
type Kind = Sighting['kind'];
type SightingOf<K extends Kind> = Extract<Sighting, { kind: K }>;

/** A rule's reading of an event. */
export interface Reading {
  /** Events with the same key are counted together. */
  key: string;
  /** The value that must differ, for rules that need different ones. */
  value: string;
  severity: Severity;
  /** The event. */
  phrase: AlertPhrase;
}

/** The recipients. `administrators` excludes the person whom the event is about, `every_administrator` does not. */
export const AUDIENCES = ['person', 'administrators', 'every_administrator'] as const;

export interface Rule {
  /** Names the rule in the database, so it never changes its meaning. */
  id: string;
  /** The id in alerts, if several measures are one rule to people. */
  told_as?: string;
  threat_type: ThreatType;
  measure: Measure;
  /** The measure in words. */
  threshold: AlertPhrase;
  audience: (typeof AUDIENCES)[number];
  /** The refusal that makes a finding blocked: of sign-in to the account of its latest event, or to every account that it counted, from that source. Absent if that would prove nothing. */
  refusal?: 'account' | 'accounts';
  /**
   * After a finding, a sign-in from the same source to the same account (`pair`) or to any account (`source`) is suspicious; or one to the same account from any of the
   * finding's sources (`account`), unless the owner has signed in from there before. For a source, a successful sign-in to an account forgives that account's failures.
   */
  arms?: 'pair' | 'source' | 'account';
  /** Reads an event; undefined for an event that does not concern the rule. */
  read(sighting: Sighting): Reading | undefined;
}

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** Number of accounts tried by one source within a minute that means guessing rather than mistyping. */
const SEVERAL_ACCOUNTS = 6;

const EACH: Measure = { kind: 'each' };
const sliding = (count: number, window_ms: number, different = 1): Counting => ({ kind: 'sliding', count, window_ms, different });
const bucket = (capacity: number, leak_ms: number, options: { different?: number; once?: boolean } = {}): Counting => ({
  kind: 'bucket',
  capacity,
  leak_ms,
  different: options.different ?? 1,
  once: options.once ?? false,
});

interface Row<K extends Kind> extends Omit<Rule, 'read'> {
  on: K;
  /** Null: the event does not concern the rule. */
  key: (sighting: SightingOf<K>) => string | null;
  value?: (sighting: SightingOf<K>) => string;
  severity: Severity | ((sighting: SightingOf<K>) => Severity);
  describe: (sighting: SightingOf<K>) => AlertPhrase;
}

function isOf<K extends Kind>(sighting: Sighting, kind: K): sighting is SightingOf<K> {
  return sighting.kind === kind;
}

/** A row of the table: its functions only receive events of its kind. */
function rule<K extends Kind>({ on, key, value, severity, describe, ...rest }: Row<K>): Rule {
  return {
    ...rest,
    read(sighting) {
      if (!isOf(sighting, on)) return undefined;
      const found = key(sighting);
      if (found === null) return undefined;
      return {
        key: found,
        value: value?.(sighting) ?? '',
        severity: typeof severity === 'string' ? severity : severity(sighting),
        phrase: describe(sighting),
      };
    },
  };
}

type Login = SightingOf<'login_failed' | 'login_succeeded'>;

/** One account from one source. */
export const pairKey = ({ source, data }: Login) => `${source} ${data.account}`;
/** Only the server's own events have no source, and they are never sign-ins. */
const sourceKey = ({ source }: Sighting) => source;

/** Codes with a variant that names the address and takes no other parameter. */
type Sourced =
  | 'brute_force.pair'
  | 'brute_force.burst'
  | 'brute_force.slow'
  | 'brute_force.spray'
  | 'suspicious_login.block_not_effective'
  | 'suspicious_login.after_failures'
  | 'suspicious_login.after_spray'
  | 'intrusion_attempt.probing'
  | 'intrusion_attempt.privilege'
  | 'ddos_attempt.rate';

/** A phrase that names the address of an event where it is known. */
export function fromAddress(code: Sourced, { address }: Pick<Sighting, 'address'>): AlertPhrase {
  return address === null ? alertPhrase(code, {}) : alertPhrase(`${code}.from`, { address });
}

/** Volume by 15 minutes, beyond that of the hours before. */
export const FLOOD = {
  id: 'ddos_attempt.flood',
  threat_type: 'ddos_attempt',
  severity: 'high',
  bin_ms: 15 * MINUTE,
  bins_before: 16,
  /** Interquartile ranges above the upper quartile. */
  spreads: 4,
  /** Requests in 15 minutes that are never a flood: of a source without an account, and of an account, whose pages send requests automatically. */
  floor: { source: 500, account: 20_000 },
} as const;

/**
 * The table. Thresholds are the defaults of fail2ban, CrowdSec and Wazuh where one is named; the others are heuristics of this project. A refusal to a signed-in
 * person (an expired token, 403, 429) feeds no rule that notifies that person.
 */
export const RULES: readonly Rule[] = [
  rule({
    id: 'brute_force.pair',
    threat_type: 'brute_force',
    on: 'login_failed',
    // fail2ban: maxretry 5, findtime 10m.
    measure: sliding(5, 10 * MINUTE),
    threshold: alertPhrase('threshold.brute_force.pair', {}),
    audience: 'person',
    refusal: 'account',
    arms: 'pair',
    key: pairKey,
    severity: 'medium',
    describe: (sighting) => fromAddress('brute_force.pair', sighting),
  }),
  // The pair covers one account, and a household has up to four who mistype at the same time.
  manyAccounts({
    id: 'brute_force.burst',
    // CrowdSec, ssh-bf.
    measure: bucket(5, 10 * SECOND, { different: SEVERAL_ACCOUNTS }),
    severity: 'medium',
  }),
  manyAccounts({
    id: 'brute_force.slow',
    // CrowdSec, ssh-slow-bf; each account once, since a person who gives up has typed four times (`ordinary-week.test.ts`).
    measure: bucket(10, 60 * SECOND, { once: true }),
    severity: 'medium',
  }),
  manyAccounts({
    id: 'brute_force.spray',
    // CrowdSec, ssh-bf_user-enum.
    measure: bucket(4, 10 * SECOND, { once: true }),
    severity: 'high',
  }),
  rule({
    id: 'brute_force.distributed',
    threat_type: 'brute_force',
    on: 'login_failed',
    // An attacker who is refused at one of the sources continues at the others.
    measure: sliding(20, HOUR, 5),
    threshold: alertPhrase('threshold.brute_force.distributed', {}),
    audience: 'person',
    arms: 'account',
    key: ({ data }) => data.account,
    value: ({ source }) => source ?? '',
    severity: 'high',
    describe: () => alertPhrase('brute_force.distributed', {}),
  }),
  rule({
    id: 'suspicious_login.new_browser',
    threat_type: 'suspicious_login',
    on: 'login_succeeded',
    measure: EACH,
    threshold: alertPhrase('threshold.suspicious_login.new_browser', {}),
    audience: 'person',
    key: ({ browser }) => (browser?.is_new ? browser.id : null),
    severity: ({ data }) => (data.has_second_factor ? 'low' : 'medium'),
    describe: ({ client, address }) => {
      const signedIn = { client: client ?? UNKNOWN_CLIENT };
      return address === null
        ? alertPhrase('suspicious_login.new_browser', signedIn)
        : alertPhrase('suspicious_login.new_browser.from', { ...signedIn, address });
    },
  }),
  rule({
    id: 'suspicious_login.token_moved',
    threat_type: 'suspicious_login',
    on: 'token_moved',
    measure: EACH,
    threshold: alertPhrase('threshold.suspicious_login.token_moved', {}),
    audience: 'person',
    key: ({ data }) => data.session_id,
    severity: 'high',
    describe: ({ data: { signed_in_client }, client, address }) => {
      const moved = { signed_in_client, client: client ?? UNKNOWN_CLIENT };
      return address === null
        ? alertPhrase('suspicious_login.token_moved', moved)
        : alertPhrase('suspicious_login.token_moved.from', { ...moved, address });
    },
  }),
  rule({
    id: 'suspicious_login.block_not_effective',
    threat_type: 'suspicious_login',
    on: 'login_succeeded',
    measure: EACH,
    threshold: alertPhrase('threshold.suspicious_login.block_not_effective', {}),
    audience: 'person',
    key: (sighting) => (sighting.is_refused ? pairKey(sighting) : null),
    severity: ({ data }) => (may.administrate(data) ? 'critical' : 'high'),
    describe: (sighting) => fromAddress('suspicious_login.block_not_effective', sighting),
  }),
  rule({
    id: 'malware_detected.infected',
    threat_type: 'malware_detected',
    on: 'scan_finished',
    measure: EACH,
    threshold: alertPhrase('threshold.malware_detected.infected', {}),
    audience: 'person',
    key: ({ data }) => (data.is_phishing ? null : `scan:${data.scan_id}`),
    severity: ({ data }) => (data.is_test_file ? 'low' : 'high'),
    describe: ({ data }) => infectedFilePhrase(data),
  }),
  outbreak({
    id: 'malware_detected.outbreak',
    // Wazuh 40113.
    measure: sliding(8, 6 * MINUTE, 8),
    threshold: alertPhrase('threshold.malware_detected.outbreak', {}),
    value: ({ data }) => data.scan_id,
    describe: ({ data }) =>
      alertPhrase(data.is_test_file ? 'malware_detected.outbreak.test_files' : 'malware_detected.outbreak', {}),
  }),
  outbreak({
    id: 'malware_detected.outbreak_different',
    measure: sliding(3, HOUR, 3),
    threshold: alertPhrase('threshold.malware_detected.outbreak_different', {}),
    value: ({ data }) => data.sha256,
    describe: ({ data }) =>
      alertPhrase(
        data.is_test_file ? 'malware_detected.outbreak_different.test_files' : 'malware_detected.outbreak_different',
        {},
      ),
  }),
  rule({
    id: 'phishing_attempt.verdict',
    threat_type: 'phishing_attempt',
    on: 'scan_finished',
    measure: EACH,
    threshold: alertPhrase('threshold.phishing_attempt.verdict', {}),
    audience: 'person',
    key: ({ data }) => (data.is_phishing ? `scan:${data.scan_id}` : null),
    severity: ({ data }) => (data.is_test_file ? 'low' : 'medium'),
    describe: ({ data }) => infectedFilePhrase(data),
  }),
  rule({
    id: 'intrusion_attempt.probing',
    threat_type: 'intrusion_attempt',
    on: 'request_refused',
    // CrowdSec, http-probing.
    measure: bucket(10, 10 * SECOND, { once: true }),
    threshold: alertPhrase('threshold.intrusion_attempt.probing', {}),
    audience: 'administrators',
    key: (sighting) => (sighting.data.reason === 'unknown_path' ? sighting.source : null),
    value: ({ data }) => data.path,
    severity: 'medium',
    describe: (sighting) => fromAddress('intrusion_attempt.probing', sighting),
  }),
  exploitStrings({
    id: 'intrusion_attempt.exploit_strings',
    // CrowdSec, http-sqli-probing and http-path-traversal-probing.
    measure: sliding(3, 10 * SECOND),
    threshold: alertPhrase('threshold.intrusion_attempt.exploit_strings', {}),
  }),
  exploitStrings({
    id: 'intrusion_attempt.exploit_strings_slow',
    // Wazuh 31152.
    measure: sliding(8, 120 * SECOND),
    threshold: alertPhrase('threshold.intrusion_attempt.exploit_strings_slow', {}),
  }),
  rule({
    id: 'intrusion_attempt.privilege',
    threat_type: 'intrusion_attempt',
    on: 'request_refused',
    measure: sliding(3, 10 * MINUTE, 3),
    threshold: alertPhrase('threshold.intrusion_attempt.privilege', {}),
    audience: 'administrators',
    key: (sighting) => (sighting.data.reason === 'admin_endpoint' ? sighting.user_id : null),
    value: ({ data }) => data.path,
    severity: 'high',
    describe: (sighting) => fromAddress('intrusion_attempt.privilege', sighting),
  }),
  rule({
    id: 'ddos_attempt.rate',
    threat_type: 'ddos_attempt',
    on: 'rate_limited',
    // CrowdSec, http-crawl and its like: capacity 5, a minute's leak.
    measure: bucket(5, 60 * SECOND),
    threshold: alertPhrase('threshold.ddos_attempt.rate', {}),
    audience: 'administrators',
    key: ({ user_id, source }) => user_id ?? source,
    severity: 'low',
    describe: (sighting) => fromAddress('ddos_attempt.rate', sighting),
  }),
];

/** Harmless test files count separately, with low severity. Events repeated after a restart were already counted. */
/** Guessing at several accounts from one source. */
function manyAccounts(
  row: Pick<Row<'login_failed'>, 'measure' | 'severity'> & { id: `brute_force.${'burst' | 'slow' | 'spray'}` },
): Rule {
  return rule({
    ...row,
    threat_type: 'brute_force',
    on: 'login_failed',
    threshold: alertPhrase(`threshold.${row.id}`, {}),
    audience: 'every_administrator',
    refusal: 'accounts',
    arms: 'source',
    key: sourceKey,
    value: ({ data }) => data.account,
    describe: (sighting) => fromAddress(row.id, sighting),
  });
}

function outbreak(row: Pick<Row<'scan_finished'>, 'id' | 'measure' | 'threshold' | 'value' | 'describe'>): Rule {
  return rule({
    ...row,
    told_as: 'malware_detected.outbreak',
    threat_type: 'malware_detected',
    on: 'scan_finished',
    audience: 'person',
    key: ({ user_id, data }) => {
      if (user_id === null || data.told_again || data.is_phishing) return null;
      return data.is_test_file ? `${user_id} test files` : user_id;
    },
    severity: ({ data }) => (data.is_test_file ? 'low' : 'critical'),
  });
}

type Pattern = ParamsOf<(typeof ALERT_PHRASES)['intrusion_attempt.exploit_strings']>['pattern'];
const { pattern: PATTERNS } = ALERT_PHRASES['intrusion_attempt.exploit_strings'].params;

function isPattern(pattern: string): pattern is Pattern {
  return Object.hasOwn(PATTERNS, pattern);
}

function exploitStrings(row: Pick<Row<'request_refused'>, 'id' | 'measure' | 'threshold'>): Rule {
  return rule({
    ...row,
    told_as: 'intrusion_attempt.exploit_strings',
    threat_type: 'intrusion_attempt',
    on: 'request_refused',
    audience: 'administrators',
    key: (sighting) => (sighting.data.reason === 'exploit_string' ? sighting.source : null),
    severity: 'high',
    describe: ({ data, address }) => {
      const named = data.pattern ?? '';
      const pattern = isPattern(named) ? named : 'unknown';
      return address === null
        ? alertPhrase('intrusion_attempt.exploit_strings', { pattern })
        : alertPhrase('intrusion_attempt.exploit_strings.from', { pattern, address });
    },
  });
}

/** A sign-in right after guessing from the same source. Findings of other rules arm it, so it is not in the table. */
export const AFTER_FAILURES: Pick<Rule, 'id' | 'threat_type' | 'threshold' | 'audience'> & { within_ms: number } = {
  id: 'suspicious_login.after_failures',
  threat_type: 'suspicious_login',
  threshold: alertPhrase('threshold.suspicious_login.after_failures', {}),
  audience: 'person',
  within_ms: 240 * SECOND,
};
/** `AFTER_FAILURES` after guessing at many accounts: others behind the same source are not intruders, so only administrators get one alert. */
export const AFTER_SPRAY: Pick<Rule, 'threshold' | 'audience'> = {
  threshold: alertPhrase('threshold.suspicious_login.after_spray', {}),
  audience: 'every_administrator',
};

/** An event in words, for evidence. */
export function inWords(sighting: Sighting): AlertPhrase {
  const { client } = sighting;
  switch (sighting.kind) {
    case 'login_failed':
      return alertPhrase(sighting.data.step === 'password' ? 'event.wrong_password' : 'event.wrong_second_factor', {});
    case 'login_succeeded':
      return client === null ? alertPhrase('event.sign_in.unknown', {}) : alertPhrase('event.sign_in', { client });
    case 'token_moved': {
      const { signed_in_client, signed_in_source } = sighting.data;
      const signedIn = { signed_in_client, signed_in_source };
      return client === null
        ? alertPhrase('event.token_moved.unknown', signedIn)
        : alertPhrase('event.token_moved', { ...signedIn, client });
    }
    case 'scan_finished':
      return alertPhrase('event.threat', { threat: sighting.data.threat, filename: sighting.data.filename });
    case 'rate_limited':
      return alertPhrase('event.over_limit', { limit: sighting.data.group });
    case 'request_refused':
      return alertPhrase('event.path', { path: sighting.data.path });
  }
}
