import type { Severity, ThreatType } from '@palisade/contract/anti-hacking';
import { may } from '@palisade/contract/may';
import type { SecurityEvent } from '#platform/security-event.ts';
import { describeInfectedFile } from './infected-file.ts';
import type { Counting, Measure } from './windows.ts';

/** Facts about an event that are not in it. */
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
  /** What happened, in a person's words. */
  description: string;
}

/**
 * The recipients. `targets` are the existing accounts among the events, or the administrators if there are none. `administrators` are those whom
 * the event is not about, `every_administrator` all of them.
 */
export const AUDIENCES = ['person', 'targets', 'administrators', 'targets_and_administrators', 'every_administrator'] as const;

export interface Rule {
  /** Names the rule in the database, so it never changes its meaning. */
  id: string;
  /** The id that alerts carry, where several measures are one rule to people. */
  told_as?: string;
  threat_type: ThreatType;
  measure: Measure;
  /** The measure in words. */
  threshold: string;
  audience: (typeof AUDIENCES)[number];
  /**
   * The refusal that makes it blocked: of sign-in to the account of its latest event, or to every account that it counted, from there. Absent where that would
   * prove nothing.
   */
  refusal?: 'account' | 'accounts';
  /**
   * After a finding of it, a sign-in from the same source to the same account (`pair`) or to any (`source`) is suspicious; or one to the same account from any
   * of its sources (`account`), unless the owner has signed in from there before. Of a source, a sign-in to an account forgives the failures of that account.
   */
  arms?: 'pair' | 'source' | 'account';
  /** Reads an event; undefined for an event that does not concern the rule. */
  read(sighting: Sighting): Reading | undefined;
}

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** Different accounts of one source within a minute that are guessing rather than people who mistype. */
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
  describe: (sighting: SightingOf<K>) => string;
}

function isOf<K extends Kind>(sighting: Sighting, kind: K): sighting is SightingOf<K> {
  return sighting.kind === kind;
}

/** A row of the table: its functions only get events of its kind. */
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
        description: describe(sighting),
      };
    },
  };
}

type Login = SightingOf<'login_failed' | 'login_succeeded'>;

/** One account from one source. */
export const pairKey = ({ source, data }: Login) => `${source} ${data.account}`;
/** Only the server's own events have no source, and a sign-in is never one. */
const sourceKey = ({ source }: Sighting) => source;
const from = ({ address }: Sighting) => (address === null ? '' : `, from ${address}`);

/** Volume by 15 minutes, beyond that of the hours before. */
export const FLOOD = {
  id: 'ddos_attempt.flood',
  threat_type: 'ddos_attempt',
  severity: 'high',
  bin_ms: 15 * MINUTE,
  bins_before: 16,
  /** Interquartile ranges above the upper quartile. */
  spreads: 4,
  /**
   * Requests in 15 minutes that are never a flood: of a source without an account, and of an account, whose pages send requests on their
   * own.
   */
  floor: { source: 500, account: 20_000 },
} as const;

/**
 * The table. Thresholds are the defaults of fail2ban, CrowdSec and Wazuh where one is named; [H] marks our own heuristic. A refusal to a signed-in
 * person (an expired token, 403, 429) feeds no rule that notifies that person.
 */
export const RULES: readonly Rule[] = [
  rule({
    id: 'brute_force.pair',
    threat_type: 'brute_force',
    on: 'login_failed',
    // fail2ban: maxretry 5, findtime 10m.
    measure: sliding(5, 10 * MINUTE),
    threshold: '5 failed sign-ins to one account from one source in 10 minutes',
    audience: 'person',
    refusal: 'account',
    arms: 'pair',
    key: pairKey,
    severity: 'medium',
    describe: (sighting) => `Five sign-ins to your account failed in 10 minutes${from(sighting)}.`,
  }),
  // The pair covers one account, and a household has up to four who mistype at the same time.
  rule({
    id: 'brute_force.burst',
    threat_type: 'brute_force',
    on: 'login_failed',
    // CrowdSec, ssh-bf.
    measure: bucket(5, 10 * SECOND, { different: SEVERAL_ACCOUNTS }),
    threshold: 'more than 5 failed sign-ins to 6 or more accounts from one source, minus one every 10 seconds',
    audience: 'every_administrator',
    refusal: 'accounts',
    arms: 'source',
    key: sourceKey,
    value: ({ data }) => data.account,
    severity: 'medium',
    describe: (sighting) => `Sign-ins to several accounts failed in quick succession${from(sighting)}.`,
  }),
  rule({
    id: 'brute_force.slow',
    threat_type: 'brute_force',
    on: 'login_failed',
    // CrowdSec, ssh-slow-bf; each account once [H], since a person who gives up has typed four times (`ordinary-week.test.ts`).
    measure: bucket(10, 60 * SECOND, { once: true }),
    threshold: 'failed sign-ins to more than 10 different accounts from one source, minus one every minute',
    audience: 'every_administrator',
    refusal: 'accounts',
    arms: 'source',
    key: sourceKey,
    value: ({ data }) => data.account,
    severity: 'medium',
    describe: (sighting) => `Sign-ins to several accounts failed repeatedly${from(sighting)}.`,
  }),
  rule({
    id: 'brute_force.spray',
    threat_type: 'brute_force',
    on: 'login_failed',
    // CrowdSec, ssh-bf_user-enum.
    measure: bucket(4, 10 * SECOND, { once: true }),
    threshold: '5 different accounts from one source, minus one every 10 seconds',
    audience: 'every_administrator',
    refusal: 'accounts',
    arms: 'source',
    key: sourceKey,
    value: ({ data }) => data.account,
    severity: 'high',
    describe: (sighting) => `Sign-ins to five different accounts failed in quick succession${from(sighting)}.`,
  }),
  rule({
    id: 'brute_force.distributed',
    threat_type: 'brute_force',
    on: 'login_failed',
    // [H]. An attacker who is refused at one of the sources continues at the others.
    measure: sliding(20, HOUR, 5),
    threshold: '20 failed sign-ins to one account from 5 or more sources within an hour',
    audience: 'person',
    arms: 'account',
    key: ({ data }) => data.account,
    value: ({ source }) => source ?? '',
    severity: 'high',
    describe: () =>
      'Twenty sign-ins to your account failed in an hour, from five or more addresses. We slow down further attempts. You can still sign in.',
  }),
  rule({
    id: 'suspicious_login.new_browser',
    threat_type: 'suspicious_login',
    on: 'login_succeeded',
    measure: EACH,
    threshold: 'a sign-in with a new browser, a new kind of browser, and a new source',
    audience: 'person',
    key: ({ browser }) => (browser?.is_new ? browser.id : null),
    severity: ({ data }) => (data.has_second_factor ? 'low' : 'medium'),
    describe: (sighting) => `Someone signed in to your account with a new browser: ${sighting.client}${from(sighting)}.`,
  }),
  rule({
    id: 'suspicious_login.token_moved',
    threat_type: 'suspicious_login',
    on: 'token_moved',
    // [H]
    measure: EACH,
    threshold: 'a session used from a different kind of browser and source than at sign-in',
    audience: 'person',
    key: ({ data }) => data.session_id,
    severity: 'high',
    describe: (sighting) =>
      `Your session in ${sighting.data.signed_in_client} was used by ${sighting.client}${from(sighting)}. Someone may have copied it.`,
  }),
  rule({
    id: 'suspicious_login.block_not_effective',
    threat_type: 'suspicious_login',
    on: 'login_succeeded',
    measure: EACH,
    threshold: 'a sign-in that succeeded from a blocked source',
    audience: 'person',
    key: (sighting) => (sighting.is_refused ? pairKey(sighting) : null),
    severity: ({ data }) => (may.administrate(data) ? 'critical' : 'high'),
    describe: (sighting) => `Someone signed in to your account${from(sighting)}, although we block sign-ins from there.`,
  }),
  rule({
    id: 'malware_detected.infected',
    threat_type: 'malware_detected',
    on: 'scan_finished',
    measure: EACH,
    threshold: 'an infected file',
    audience: 'person',
    key: ({ data }) => (data.is_phishing ? null : `scan:${data.scan_id}`),
    severity: ({ data }) => (data.is_test_file ? 'low' : 'high'),
    describe: ({ data }) => describeInfectedFile(data),
  }),
  outbreak({
    id: 'malware_detected.outbreak',
    // Wazuh 40113.
    measure: sliding(8, 6 * MINUTE, 8),
    threshold: '8 infected files within 6 minutes',
    value: ({ data }) => data.scan_id,
    describe: ({ data }) =>
      data.is_test_file
        ? 'Eight harmless test files arrived in 6 minutes.'
        : 'Eight infected files arrived in 6 minutes. A threat may be spreading. Check where they come from.',
  }),
  outbreak({
    id: 'malware_detected.outbreak_different',
    // [H]
    measure: sliding(3, HOUR, 3),
    threshold: '3 different infected files within an hour',
    value: ({ data }) => data.sha256,
    describe: ({ data }) =>
      data.is_test_file
        ? 'Three different harmless test files arrived in an hour.'
        : 'Three different infected files arrived in an hour. A threat may be spreading. Check where they come from.',
  }),
  rule({
    id: 'phishing_attempt.verdict',
    threat_type: 'phishing_attempt',
    on: 'scan_finished',
    measure: EACH,
    threshold: 'a file that looks like phishing',
    audience: 'person',
    key: ({ data }) => (data.is_phishing ? `scan:${data.scan_id}` : null),
    severity: ({ data }) => (data.is_test_file ? 'low' : 'medium'),
    describe: ({ data }) => describeInfectedFile(data),
  }),
  rule({
    id: 'intrusion_attempt.probing',
    threat_type: 'intrusion_attempt',
    on: 'request_refused',
    // CrowdSec, http-probing.
    measure: bucket(10, 10 * SECOND, { once: true }),
    threshold: 'more than 10 different unknown paths from one source, minus one every 10 seconds',
    audience: 'administrators',
    key: (sighting) => (sighting.data.reason === 'unknown_path' ? sighting.source : null),
    value: ({ data }) => data.path,
    severity: 'medium',
    describe: (sighting) => `Someone tried many nonexistent addresses in quick succession${from(sighting)}.`,
  }),
  exploitStrings({
    id: 'intrusion_attempt.exploit_strings',
    // CrowdSec, http-sqli-probing and http-path-traversal-probing.
    measure: sliding(3, 10 * SECOND),
    threshold: '3 requests with an attack from one source within 10 seconds',
  }),
  exploitStrings({
    id: 'intrusion_attempt.exploit_strings_slow',
    // Wazuh 31152.
    measure: sliding(8, 120 * SECOND),
    threshold: '8 requests with an attack from one source within 2 minutes',
  }),
  rule({
    id: 'intrusion_attempt.privilege',
    threat_type: 'intrusion_attempt',
    on: 'request_refused',
    // [H]
    measure: sliding(3, 10 * MINUTE, 3),
    threshold: '3 different administrator calls without administrator access within 10 minutes',
    audience: 'administrators',
    key: (sighting) => (sighting.data.reason === 'admin_endpoint' ? sighting.user_id : null),
    value: ({ data }) => data.path,
    severity: 'high',
    describe: (sighting) => `Someone without administrator access tried administrator actions${from(sighting)}.`,
  }),
  rule({
    id: 'ddos_attempt.rate',
    threat_type: 'ddos_attempt',
    on: 'rate_limited',
    // CrowdSec, http-crawl and its like: capacity 5, a minute's leak.
    measure: bucket(5, 60 * SECOND),
    threshold: 'more than 5 requests over a limit, minus one every minute',
    audience: 'administrators',
    key: ({ user_id, source }) => user_id ?? source,
    severity: 'low',
    describe: (sighting) => `Someone repeatedly sent more requests than allowed${from(sighting)}.`,
  }),
];

/** The harmless test files count apart, and low. Events that a start of the server repeats have been counted. */
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

const PATTERNS: Readonly<Record<string, string>> = {
  sql_injection: 'SQL injection',
  path_traversal: 'path traversal',
  script_injection: 'script injection',
  command_injection: 'command injection',
};

function exploitStrings(row: Pick<Row<'request_refused'>, 'id' | 'measure' | 'threshold'>): Rule {
  return rule({
    ...row,
    told_as: 'intrusion_attempt.exploit_strings',
    threat_type: 'intrusion_attempt',
    on: 'request_refused',
    audience: 'administrators',
    key: (sighting) => (sighting.data.reason === 'exploit_string' ? sighting.source : null),
    severity: 'high',
    describe: (sighting) =>
      `Someone sent requests with attacks (${PATTERNS[sighting.data.pattern ?? ''] ?? 'of an unknown kind'})${from(sighting)}.`,
  });
}

/** A sign-in right after guessing from the same source. Armed by the findings of other rules, so it stands apart from the table. */
export const AFTER_FAILURES: Pick<Rule, 'id' | 'threat_type' | 'threshold' | 'audience'> & { within_ms: number } = {
  id: 'suspicious_login.after_failures',
  threat_type: 'suspicious_login',
  threshold: 'a sign-in within 4 minutes of password guessing from the same source',
  audience: 'person',
  within_ms: 240 * SECOND,
};
/** The same after guessing at many accounts: the neighbours of who guesses are no intruders, so that one alert tells the administrators. */
export const AFTER_SPRAY: Pick<Rule, 'threshold' | 'audience'> = {
  threshold: 'a sign-in within 4 minutes of guessing at five or more accounts from the same source',
  audience: 'every_administrator',
};

/** An event in words, for evidence. */
export function inWords(sighting: Sighting): string {
  switch (sighting.kind) {
    case 'login_failed':
      return sighting.data.step === 'password' ? 'A wrong password' : 'A wrong two-factor code';
    case 'login_succeeded':
      return `A sign-in with ${sighting.client ?? 'an unknown client'}`;
    case 'token_moved':
      return `Signed in with ${sighting.data.signed_in_client} from ${sighting.data.signed_in_source}, used with ${sighting.client ?? 'an unknown client'}`;
    case 'scan_finished':
      return `${sighting.data.threat} in ${sighting.data.filename}`;
    case 'rate_limited':
      return `Over the limit for ${sighting.data.group}`;
    case 'request_refused':
      return sighting.data.path;
  }
}
