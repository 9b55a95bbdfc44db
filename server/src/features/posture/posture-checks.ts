import type { FixPlace, Severity } from '@palisade/contract/anti-hacking';
import type { Sentence } from '#platform/sentence.ts';
import { type CheckId, RECOVERY_CODES_LEAST, sentence } from './posture.phrases.ts';
import type { DeviceFacts, PostureFacts } from './posture-facts.ts';

export type Group = 'account' | 'rules' | 'devices' | 'files';

const HOUR_MS = 3_600_000;

/** Deduction for an administrator's missing second factor: a weight of this project. */
const ADMIN_WITHOUT_SECOND_FACTOR = 20;

/** A new account has 100: a second factor is asked for at once, and missed in the score from the second day on. In ms. */
const NEW_FOR_MS = 24 * HOUR_MS;

const TWO_FACTOR_ROUTE = '/dashboard?open=security&tab=two-factor';

const PASSWORD_ROUTE = '/dashboard?open=security&tab=password';

const SESSIONS_ROUTE = '/dashboard?open=security&tab=sessions';

/** Why a check that ran cannot tell, in a sentence. */
interface Undecided {
  reason: Sentence;
}

/** The outcome of a check: no fault (`times` 0), or the number of deductions. */
export interface Outcome {
  times: number;
  evidence: Sentence;
  /** In place of the check's own. */
  deduction?: number;
  fix?: Fix;
}

/** The advice, and the page for it. */
interface Fix {
  advice: Sentence;
  fix_route: FixPlace | `/anti-hacking?alert=${string}`;
}

export interface Check extends Fix {
  /** Its titles are the sentences `fault`, when it fails, and `goal`. */
  id: CheckId;
  group: Group;
  severity: Severity;
  deduction: number;
  /** Absent, or undefined: nothing on this server can tell. */
  run?: (facts: PostureFacts) => Outcome | Undecided | undefined;
}

/** A sentence names at most so many things; of more it gives the number. */
const NAMED_MAXIMUM = 3;

const isFew = (names: readonly string[]) => names.length <= NAMED_MAXIMUM;

/** Names as a parameter has them. */
const linesOf = (names: readonly string[]) => names.join('\n');

/** The ports that the checks ask about: SSH, Telnet, file sharing of Windows, Remote Desktop, VNC. */
const PORTS = [22, 23, 445, 3389, 5900] as const;

/** The check whose failure caps the score. */
export const CRITICAL_CHECK = 'open_alert_critical';

/** Leads to an alert, over the page that lists them all. */
function openAlert(advice: Sentence, id: string | undefined): Pick<Outcome, 'fix'> {
  return id === undefined ? {} : { fix: { advice, fix_route: `/anti-hacking?alert=${id}` } };
}

function alertCheck(level: 'high' | 'critical', deduction: number): Check {
  const id = `open_alert_${level}` as const;
  const advice = sentence(`${id}.advice`);
  return {
    id,
    group: 'account',
    severity: level,
    advice,
    fix_route: '/anti-hacking',
    deduction,
    run: ({ unblocked, newest }) => ({
      ...openAlert(advice, newest[level]),
      times: unblocked[level],
      evidence: sentence(`${id}.count`, { count: unblocked[level] }),
    }),
  };
}

export const CHECKED_PORTS: readonly number[] = PORTS;

function portCheck(port: (typeof PORTS)[number]): Check {
  return {
    id: `port_${port}_open`,
    group: 'rules',
    severity: 'high',
    advice: sentence(`port_${port}_open.advice`),
    fix_route: '/firewall',
    deduction: 8,
    run: (facts) => {
      const rules = facts.rules.ports.get(port) ?? [];
      if (rules.length === 0) return { reason: sentence('port_open.unknown') };
      const evidence = isFew(rules)
        ? sentence('port_open.named', { rules: linesOf(rules) })
        : sentence('port_open.many', { count: rules.length });
      return { times: 1, evidence };
    },
  };
}

const SIGNATURE_SOURCES: Fix = {
  advice: sentence('signatures.advice_for_admin'),
  fix_route: '/antivirus',
};

/** Fails from `after_h` on, up to where the next check takes over. Hours. */
function signaturesOlder(after_h: number, before_h: number): Pick<Check, 'advice' | 'fix_route' | 'run'> {
  return {
    advice: sentence('signatures.advice'),
    fix_route: '/chat',
    run({ signatures_age_ms, account: { is_admin } }) {
      if (signatures_age_ms === undefined) return undefined;
      const hours = Math.floor(signatures_age_ms / HOUR_MS);
      const is_old = signatures_age_ms > after_h * HOUR_MS && signatures_age_ms <= before_h * HOUR_MS;
      return {
        times: is_old ? 1 : 0,
        evidence: sentence('signatures.confirmed', { hours }),
        ...(is_admin ? { fix: SIGNATURE_SOURCES } : {}),
      };
    },
  };
}

/** Deductions for infected and unread files at most 7 days old, and at most 30: sealed ones do no harm, yet something brought them. */
const LATELY = { infected: { week: 3, month: 1 }, unread: { week: 2, month: 1 } } as const;

function lately(kind: 'infected' | 'unread', { week, month }: { week: number; month: number }): Outcome {
  const cost = LATELY[kind];
  if (month === 0) return { times: 0, deduction: cost.month, evidence: sentence(`${kind}_lately.none`) };
  return week > 0
    ? { times: 1, deduction: cost.week, evidence: sentence(`${kind}_lately.week`, { month, week }) }
    : { times: 1, deduction: cost.month, evidence: sentence(`${kind}_lately.month`, { month }) };
}

/** The names of devices with a fault; undefined if unknown. */
type OddDevices = (devices: DeviceFacts) => readonly string[] | undefined;

function namedDevices(names: readonly string[]): Sentence {
  return isFew(names)
    ? sentence('devices.named', { devices: linesOf(names) })
    : sentence('devices.many', { count: names.length });
}

/** A check that devices answer. Without one it stays unknown. */
function deviceCheck({ odd, fine, ...check }: Omit<Check, 'run' | 'fix_route'> & { odd: OddDevices; fine: Sentence }): Check {
  return {
    ...check,
    fix_route: '/devices',
    run({ devices }) {
      const some = devices && odd(devices);
      return some && { times: some.length > 0 ? 1 : 0, evidence: some.length > 0 ? namedDevices(some) : fine };
    },
  };
}

/**
 * Every check with its deduction: weights of this project. Those without `run` need data that this version does not have, and stay
 * unknown.
 */
export const CHECKS: readonly Check[] = [
  {
    id: 'common_password',
    group: 'account',
    severity: 'high',
    advice: sentence('common_password.advice'),
    fix_route: PASSWORD_ROUTE,
    deduction: 15,
    run: ({ account: { common_password } }) =>
      common_password === undefined
        ? undefined
        : {
            times: common_password ? 1 : 0,
            evidence: sentence(common_password ? 'common_password.leaked' : 'common_password.not_leaked'),
          },
  },
  {
    id: 'no_two_factor',
    group: 'account',
    severity: 'medium',
    advice: sentence('no_two_factor.advice'),
    fix_route: TWO_FACTOR_ROUTE,
    deduction: 10,
    run({ account: { second_factor, is_admin, age_ms } }) {
      if (second_factor === undefined) return undefined;
      if (second_factor.enabled) return { times: 0, evidence: sentence('no_two_factor.protected') };
      const who = is_admin ? 'no_two_factor.anyone_as_admin' : 'no_two_factor.anyone';
      if (age_ms < NEW_FOR_MS) return { times: 1, evidence: sentence(`${who}_from_tomorrow`), deduction: 0 };
      const deduction = is_admin ? { deduction: ADMIN_WITHOUT_SECOND_FACTOR } : {};
      return { times: 1, evidence: sentence(who), ...deduction };
    },
  },
  {
    id: 'few_recovery_codes',
    group: 'account',
    severity: 'low',
    advice: sentence('few_recovery_codes.advice'),
    fix_route: TWO_FACTOR_ROUTE,
    deduction: 3,
    run: ({ account: { second_factor } }) => {
      if (second_factor === undefined) return undefined;
      if (!second_factor.enabled) return { times: 0, evidence: sentence('few_recovery_codes.none_needed') };
      const { recovery_codes_left } = second_factor;
      return {
        times: recovery_codes_left < RECOVERY_CODES_LEAST ? 1 : 0,
        evidence: sentence('few_recovery_codes.left', { count: recovery_codes_left }),
      };
    },
  },
  {
    id: 'idle_session',
    group: 'account',
    severity: 'low',
    advice: sentence('idle_session.advice'),
    fix_route: SESSIONS_ROUTE,
    deduction: 3,
    // Enforced, not counted: platform/session.ts answers none that is older.
    run: () => ({ times: 0, evidence: sentence('idle_session.end') }),
  },
  {
    id: 'unreviewed_browser',
    group: 'account',
    severity: 'medium',
    advice: sentence('unreviewed_browser.advice'),
    fix_route: '/anti-hacking',
    deduction: 5,
    run: ({ account: { unreviewed_browsers }, newest }) => ({
      ...openAlert(sentence('unreviewed_browser.advice'), newest.browser),
      times: unreviewed_browsers.length > 0 ? 1 : 0,
      evidence:
        unreviewed_browsers.length > 0
          ? sentence('unreviewed_browser.waiting', { count: unreviewed_browsers.length })
          : sentence('unreviewed_browser.none'),
    }),
  },
  alertCheck('high', 6),
  alertCheck('critical', 12),
  {
    id: 'allow_any_inbound',
    group: 'rules',
    severity: 'critical',
    advice: sentence('allow_any_inbound.advice'),
    fix_route: '/firewall',
    deduction: 15,
    run: ({ rules: { everything } }) => ({
      times: everything.length > 0 ? 1 : 0,
      evidence:
        everything.length === 0
          ? sentence('allow_any_inbound.none')
          : isFew(everything)
            ? sentence('allow_any_inbound.named', { rules: linesOf(everything) })
            : sentence('allow_any_inbound.many', { count: everything.length }),
    }),
  },
  ...PORTS.map(portCheck),
  {
    id: 'clashing_rules',
    group: 'rules',
    severity: 'low',
    advice: sentence('clashing_rules.advice'),
    fix_route: '/firewall',
    deduction: 2,
    run: ({ rules: { clashing } }) => ({
      times: clashing.length > 0 ? 1 : 0,
      evidence:
        clashing.length === 0
          ? sentence('clashing_rules.none')
          : isFew(clashing)
            ? sentence('clashing_rules.named', { count: clashing.length, rules: linesOf(clashing) })
            : sentence('clashing_rules.many', { count: clashing.length }),
    }),
  },
  deviceCheck({
    id: 'rule_not_applied',
    group: 'rules',
    severity: 'high',
    advice: sentence('rule_not_applied.advice'),
    deduction: 8,
    odd: ({ unapplied }) => unapplied,
    fine: sentence('rule_not_applied.none'),
  }),
  ...(
    [
      ['device_silent', 'high', 8, ({ silent }) => silent],
      ['agent_outdated', 'medium', 4, ({ outdated }) => outdated],
      ['updates_waiting', 'high', 8, ({ updates_waiting }) => updates_waiting],
      ['host_firewall_off', 'critical', 15, ({ unprotected }) => unprotected],
    ] as const satisfies readonly (readonly [CheckId, Severity, number, OddDevices])[]
  ).map(([id, severity, deduction, odd]) =>
    deviceCheck({
      ...{ id, group: 'devices', severity, deduction, odd },
      advice: sentence(`${id}.advice`),
      fine: sentence(`${id}.none`),
    }),
  ),
  {
    id: 'too_many_devices',
    group: 'devices',
    severity: 'low',
    advice: sentence('too_many_devices.advice'),
    fix_route: '/devices',
    deduction: 2,
    run: ({ devices }) =>
      devices && {
        times: devices.count > devices.plan_holds ? 1 : 0,
        evidence: sentence('too_many_devices.count', { count: devices.count, plan: devices.plan_holds }),
      },
  },
  {
    id: 'long_remote_session',
    group: 'devices',
    severity: 'high',
    advice: sentence('long_remote_session.advice'),
    fix_route: '/remote',
    deduction: 8,
    run: ({ remote: { long_sessions } }) => ({
      times: long_sessions > 0 ? 1 : 0,
      evidence:
        long_sessions > 0
          ? sentence('long_remote_session.count', { count: long_sessions })
          : sentence('long_remote_session.none'),
    }),
  },
  {
    id: 'infected_not_removed',
    group: 'files',
    severity: 'critical',
    advice: sentence('infected_not_removed.advice'),
    fix_route: '/chat',
    deduction: 20,
    run: ({ scans, unblocked }) => ({
      times: unblocked.malware > 0 ? 1 : 0,
      ...(unblocked.malware <= (unblocked.test_files ?? 0) && { deduction: 0 }),
      evidence:
        unblocked.malware > 0
          ? sentence('infected_not_removed.outside', { count: unblocked.malware })
          : sentence('infected_not_removed.none', { count: scans.infected }),
    }),
  },
  {
    id: 'infected_lately',
    group: 'files',
    severity: 'low',
    advice: sentence('infected_lately.advice'),
    fix_route: '/antivirus',
    deduction: LATELY.infected.week,
    run: ({ scans }) => lately('infected', scans.lately.infected),
  },
  {
    id: 'unread_lately',
    group: 'files',
    severity: 'low',
    advice: sentence('unread_lately.advice'),
    fix_route: '/antivirus',
    deduction: LATELY.unread.week,
    run: ({ scans }) => lately('unread', scans.lately.unread),
  },
  {
    id: 'signatures_old',
    group: 'files',
    severity: 'medium',
    deduction: 5,
    ...signaturesOlder(48, 168),
  },
  {
    id: 'signatures_very_old',
    group: 'files',
    severity: 'high',
    deduction: 10,
    ...signaturesOlder(168, Number.POSITIVE_INFINITY),
  },
  {
    id: 'files_overdue',
    group: 'files',
    severity: 'low',
    advice: sentence('files_overdue.advice'),
    fix_route: '/antivirus',
    deduction: 2,
    run: ({ scans }) => ({
      times: scans.overdue > 0 ? 1 : 0,
      evidence: sentence('files_overdue.count', { count: scans.overdue }),
    }),
  },
];
