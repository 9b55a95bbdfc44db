import type { FixPlace, Severity } from '@palisade/contract/anti-hacking';
import { formatList, formatNumber, formatSpan, plural } from '@palisade/contract/intl';
import type { OpenRules } from './open-rules.ts';

/** The facts for the posture checks. Everything in it was counted or read a moment ago. */
export interface PostureFacts {
  account: {
    /** Undefined: not known yet. */
    common_password: boolean | undefined;
    /** The second factor of the account; undefined where it can have none. */
    second_factor: { enabled: boolean; recovery_codes_left: number } | undefined;
    is_admin: boolean;
    /** Its age, in ms. */
    age_ms: number;
    /** The ids of browsers that signed in and that their person has not reviewed. */
    unreviewed_browsers: readonly string[];
  };
  remote: { long_sessions: number };
  /** Undefined where there is no device, or none has said anything yet. */
  devices: DeviceFacts | undefined;
  scans: {
    infected: number;
    overdue: number;
    /** Infected files and unread ones of the last 7 and the last 30 days. */
    lately: Record<'infected' | 'unread', { week: number; month: number }>;
    repeated_threats: readonly string[];
  };
  /** Real alerts that nothing has blocked; of `malware` those that are about one file each. */
  unblocked: {
    malware: number;
    /** Of `malware`, the industry's harmless test files: they are told, and cost nothing. */
    test_files?: number;
    high: number;
    critical: number;
  };
  /** The newest alert of each kind that has to be opened to act on it. */
  newest: { high?: string | undefined; critical?: string | undefined; browser?: string | undefined };
  rules: OpenRules;
  /** Time since the signatures were known to be the newest, in ms; undefined if unknown. */
  signatures_age_ms: number | undefined;
}

/** Facts of devices, by their names. */
export interface DeviceFacts {
  count: number;
  /** The number that the plan allows. */
  plan_holds: number;
  /** Those that do not have the rules that they should have, or whose kernel refused them. */
  unapplied: readonly string[];
  /** Not heard of for more than 24 hours. */
  silent: readonly string[];
  outdated: readonly string[];
  /** Where no rule is enforced at all. */
  unprotected: readonly string[];
  /** Where security updates wait; undefined where no device could say. */
  updates_waiting: readonly string[] | undefined;
}

export type Group = 'account' | 'rules' | 'devices' | 'files';

const HOUR_MS = 3_600_000;
/** Deduction for an administrator's missing second factor [H]. */
const ADMIN_WITHOUT_SECOND_FACTOR = 20;
/** A new account has 100: a second factor is asked for at once, and missed in the score from the second day on [H]. In ms. */
const NEW_FOR_MS = 24 * HOUR_MS;
const RECOVERY_CODES_LEAST = 3;
const TWO_FACTOR_ROUTE = '/dashboard?open=security&tab=two-factor';
const PASSWORD_ROUTE = '/dashboard?open=security&tab=password';
const SESSIONS_ROUTE = '/dashboard?open=security&tab=sessions';

/** Why a check that ran cannot tell, in a sentence. */
interface Untold {
  untold: string;
}

/** The outcome of a check: no fault (`times` 0), or the number of deductions. */
export interface Outcome {
  times: number;
  evidence: string;
  /** In place of the check's own. */
  deduction?: number;
  fix?: Fix;
}

/** The advice, and the page for it. */
interface Fix {
  advice: string;
  fix_route: FixPlace | `/anti-hacking?alert=${string}`;
}

export interface Check extends Fix {
  id: string;
  group: Group;
  severity: Severity;
  /** The fault when it fails, and the goal of the check. */
  title: string;
  goal: string;
  deduction: number;
  /** Absent, or undefined: nothing on this server can tell. */
  run?: (facts: PostureFacts) => Outcome | Untold | undefined;
}

const REVIEW = 'Open the alert and answer “Was this you?”.';

/** A sentence names at most so many things; of more it gives the number. */
const NAMED_MAXIMUM = 3;
const quoted = (names: readonly string[]) => formatList(names.map((name) => `"${name}"`));

function nameRules(names: readonly string[]): string {
  if (names.length <= NAMED_MAXIMUM) return quoted(names);
  return plural(names.length, { one: '1 rule', other: `${formatNumber(names.length)} rules` });
}

function nameDevices(names: readonly string[]): string {
  if (names.length <= NAMED_MAXIMUM) return quoted(names);
  return plural(names.length, { one: '1 device', other: `${formatNumber(names.length)} devices` });
}

const PORTS = [
  { port: 22, service: 'SSH' },
  { port: 23, service: 'Telnet' },
  { port: 445, service: 'Windows file sharing' },
  { port: 3389, service: 'Remote Desktop' },
  { port: 5900, service: 'VNC' },
] as const;

/** The check whose failure caps the score. */
export const CRITICAL_CHECK = 'open_alert_critical';

/** Leads to an alert, over the page that lists them all. */
function openAlert(advice: string, id: string | undefined): Pick<Outcome, 'fix'> {
  return id === undefined ? {} : { fix: { advice, fix_route: `/anti-hacking?alert=${id}` } };
}

function alertCheck(level: 'high' | 'critical', deduction: number): Check {
  const advice = 'Open the alert and follow its advice.';
  return {
    id: `open_alert_${level}`,
    group: 'account',
    severity: level,
    title: `A threat of ${level} severity was not blocked`,
    goal: `Every threat of ${level} severity was blocked`,
    advice,
    fix_route: '/anti-hacking',
    deduction,
    run: ({ unblocked, newest }) => ({
      ...openAlert(advice, newest[level]),
      times: unblocked[level],
      evidence: plural(unblocked[level], {
        one: `1 alert of ${level} severity not blocked.`,
        other: `${formatNumber(unblocked[level])} alerts of ${level} severity not blocked.`,
      }),
    }),
  };
}

/** The ports that the checks ask about. */
export const CHECKED_PORTS = PORTS.map(({ port }) => port);

function portCheck({ port, service }: (typeof PORTS)[number]): Check {
  return {
    id: `port_${port}_open`,
    group: 'rules',
    severity: 'high',
    title: `A rule opens port ${port} (${service}) to the whole world`,
    goal: `Port ${port} (${service}) is closed to the world`,
    advice: `Limit who may reach port ${port} to the addresses that need it, or disable the rule.`,
    fix_route: '/firewall',
    deduction: 8,
    run: (facts) => {
      const rules = facts.rules.ports.get(port) ?? [];
      return rules.length > 0
        ? { times: 1, evidence: `Opened by ${nameRules(rules)}.` }
        : { untold: 'None of your rules opens it. Without a connected device, we can’t tell whether it is closed.' };
    },
  };
}

const SIGNATURE_SOURCES: Fix = {
  advice: 'Open Details on the Antivirus screen and fix the failing source of threat definitions.',
  fix_route: '/antivirus',
};

/** Fails from `after_h` on, up to where the next check takes over. Hours. */
function signaturesOlder(after_h: number, before_h: number): Pick<Check, 'advice' | 'fix_route' | 'run'> {
  return {
    advice: 'Ask support to update the threat definitions.',
    fix_route: '/chat',
    run({ signatures_age_ms, account: { is_admin } }) {
      if (signatures_age_ms === undefined) return undefined;
      const hours = Math.floor(signatures_age_ms / HOUR_MS);
      const is_old = signatures_age_ms > after_h * HOUR_MS && signatures_age_ms <= before_h * HOUR_MS;
      return {
        times: is_old ? 1 : 0,
        evidence: `Threat definitions were last confirmed up to date ${formatSpan(hours, 'hour')} ago.`,
        ...(is_admin ? { fix: SIGNATURE_SOURCES } : {}),
      };
    },
  };
}

/** Deductions for infected and unread files at most 7 days old, and at most 30 [H]: sealed ones do no harm, yet something brought them. */
const LATELY = { infected: { week: 3, month: 1 }, unread: { week: 2, month: 1 } } as const;

/** Sentences about the files of a month, some of which are of the last week, or none. */
interface LatelyWords {
  some: (month: string, week: string) => { one: string; other: string };
  none: (month: string) => { one: string; other: string };
}

const INFECTED_LATELY: LatelyWords = {
  some: (month, week) => ({
    one: `1 infected file was found within 30 days, ${week} of them within the last 7.`,
    other: `${month} infected files were found within 30 days, ${week} of them within the last 7.`,
  }),
  none: (month) => ({
    one: '1 infected file was found within 30 days, none of them within the last 7.',
    other: `${month} infected files were found within 30 days, none of them within the last 7.`,
  }),
};

const UNREAD_LATELY: LatelyWords = {
  some: (month, week) => ({
    one: `1 file was not fully checked within 30 days, ${week} of them within the last 7.`,
    other: `${month} files were not fully checked within 30 days, ${week} of them within the last 7.`,
  }),
  none: (month) => ({
    one: '1 file was not fully checked within 30 days, none of them within the last 7.',
    other: `${month} files were not fully checked within 30 days, none of them within the last 7.`,
  }),
};

function lately(
  count: { week: number; month: number },
  cost: { week: number; month: number },
  { some, none }: LatelyWords,
): Outcome {
  const month = formatNumber(count.month);
  const forms = count.week > 0 ? some(month, formatNumber(count.week)) : none(month);
  return {
    times: count.month > 0 ? 1 : 0,
    deduction: count.week > 0 ? cost.week : cost.month,
    evidence: count.month > 0 ? plural(count.month, forms) : 'None within 30 days.',
  };
}

/** The names of devices with a fault; undefined if unknown. */
type OddDevices = (devices: DeviceFacts) => readonly string[] | undefined;

/** A check that devices answer. Without one it stays unknown. */
function deviceCheck({ odd, fine, ...check }: Omit<Check, 'run'> & { odd: OddDevices; fine: string }): Check {
  return {
    ...check,
    run({ devices }) {
      const some = devices && odd(devices);
      return some && { times: some.length > 0 ? 1 : 0, evidence: some.length > 0 ? `${nameDevices(some)}.` : fine };
    },
  };
}

/**
 * Every check with its deduction ([H]: our own weights). Those without `run` need data that this version does not have, and stay
 * unknown.
 */
export const CHECKS: readonly Check[] = [
  {
    id: 'common_password',
    group: 'account',
    severity: 'high',
    title: 'The password is one of the common ones',
    goal: 'The password is not a common one',
    advice: 'Choose another password, in Security Preferences.',
    fix_route: PASSWORD_ROUTE,
    deduction: 15,
    run: ({ account: { common_password } }) =>
      common_password === undefined
        ? undefined
        : {
            times: common_password ? 1 : 0,
            evidence: common_password
              ? 'This password appears in leaks or is just a name. Attackers try it first.'
              : 'It’s not in known leaks and isn’t just a name.',
          },
  },
  {
    id: 'no_two_factor',
    group: 'account',
    severity: 'medium',
    title: 'Only a password protects your sign-in',
    goal: 'Two-factor protects your sign-in',
    advice: 'Turn on two-factor sign-in, in Security Preferences.',
    fix_route: TWO_FACTOR_ROUTE,
    deduction: 10,
    run({ account: { second_factor, is_admin, age_ms } }) {
      if (second_factor === undefined) return undefined;
      if (second_factor.enabled) return { times: 0, evidence: 'Signing in takes more than your password.' };
      const evidence = is_admin
        ? 'Anyone with your password can sign in, as an administrator.'
        : 'Anyone with your password can sign in.';
      if (age_ms < NEW_FOR_MS)
        return {
          times: 1,
          evidence: `${evidence} This lowers your score from tomorrow.`,
          deduction: 0,
        };
      const deduction = is_admin ? { deduction: ADMIN_WITHOUT_SECOND_FACTOR } : {};
      return { times: 1, evidence, ...deduction };
    },
  },
  {
    id: 'few_recovery_codes',
    group: 'account',
    severity: 'low',
    title: `Fewer than ${RECOVERY_CODES_LEAST} recovery codes are left`,
    goal: `At least ${RECOVERY_CODES_LEAST} recovery codes are left`,
    advice: 'Make new recovery codes, in Security Preferences.',
    fix_route: TWO_FACTOR_ROUTE,
    deduction: 3,
    run: ({ account: { second_factor } }) => {
      if (second_factor === undefined) return undefined;
      if (!second_factor.enabled) return { times: 0, evidence: 'You need none until two-factor is on.' };
      const { recovery_codes_left } = second_factor;
      return {
        times: recovery_codes_left < RECOVERY_CODES_LEAST ? 1 : 0,
        evidence: plural(recovery_codes_left, {
          one: '1 code is left.',
          other: `${formatNumber(recovery_codes_left)} codes are left.`,
        }),
      };
    },
  },
  {
    id: 'idle_session',
    group: 'account',
    severity: 'low',
    title: 'A session has not been used for 30 days',
    goal: 'Every session was used within 30 days',
    advice: 'End sessions you no longer use.',
    fix_route: SESSIONS_ROUTE,
    deduction: 3,
    // Enforced, not counted: platform/session.ts answers none that is older.
    run: () => ({ times: 0, evidence: 'Sessions end after 7 days without use.' }),
  },
  {
    id: 'unreviewed_browser',
    group: 'account',
    severity: 'medium',
    title: 'A new browser signed in and was not reviewed',
    goal: 'Every new browser was reviewed',
    advice: REVIEW,
    fix_route: '/anti-hacking',
    deduction: 5,
    run: ({ account: { unreviewed_browsers }, newest }) => ({
      ...openAlert(REVIEW, newest.browser),
      times: unreviewed_browsers.length > 0 ? 1 : 0,
      evidence:
        unreviewed_browsers.length > 0
          ? plural(unreviewed_browsers.length, {
              one: '1 browser is waiting for your review.',
              other: `${formatNumber(unreviewed_browsers.length)} browsers are waiting for your review.`,
            })
          : 'No browser is waiting for your review.',
    }),
  },
  alertCheck('high', 6),
  alertCheck('critical', 12),
  {
    id: 'allow_any_inbound',
    group: 'rules',
    severity: 'critical',
    title: 'A rule lets anyone reach everything',
    goal: 'No rule lets anyone reach everything',
    advice: 'Disable the rule that allows every inbound connection, and allow only what is needed.',
    fix_route: '/firewall',
    deduction: 15,
    run: ({ rules: { everything } }) => ({
      times: everything.length > 0 ? 1 : 0,
      evidence:
        everything.length > 0 ? `Allowed by ${nameRules(everything)}.` : 'No enabled rule allows every inbound connection.',
    }),
  },
  ...PORTS.map(portCheck),
  {
    id: 'clashing_rules',
    group: 'rules',
    severity: 'low',
    title: 'Firewall rules repeat or contradict each other',
    goal: 'Firewall rules do not clash',
    advice: 'Delete or disable rules that repeat or contradict another rule.',
    fix_route: '/firewall',
    deduction: 2,
    run: ({ rules: { clashing } }) => ({
      times: clashing.length > 0 ? 1 : 0,
      evidence:
        clashing.length > 0
          ? plural(clashing.length, {
              one: `${nameRules(clashing)} repeats or contradicts another rule.`,
              other: `${nameRules(clashing)} repeat or contradict another rule.`,
            })
          : 'No enabled rules repeat or contradict each other.',
    }),
  },
  deviceCheck({
    id: 'rule_not_applied',
    group: 'rules',
    severity: 'high',
    title: 'A rule is not applied on a device',
    goal: 'Every rule is applied on every device',
    advice: 'Check the device and reconnect it.',
    fix_route: '/devices',
    deduction: 8,
    odd: ({ unapplied }) => unapplied,
    fine: 'Every device has its rules.',
  }),
  ...(
    [
      [
        'device_silent',
        'high',
        'A device has been silent for more than 24 hours',
        'Every device reported within 24 hours',
        8,
        ({ silent }) => silent,
        'Every device reported recently.',
      ],
      [
        'agent_outdated',
        'medium',
        'A device runs an outdated agent',
        'Every device runs the current agent',
        4,
        ({ outdated }) => outdated,
        'Every agent is up to date.',
      ],
      [
        'updates_waiting',
        'high',
        'A device needs security updates',
        'No device needs security updates',
        8,
        ({ updates_waiting }) => updates_waiting,
        'No device needs one.',
      ],
      [
        'host_firewall_off',
        'critical',
        'The firewall of a device is off',
        'The firewall of every device is on',
        15,
        ({ unprotected }) => unprotected,
        'Every device can enforce rules.',
      ],
    ] as const satisfies readonly (readonly [string, Severity, string, string, number, OddDevices, string])[]
  ).map(([id, severity, title, goal, deduction, odd, fine]) =>
    deviceCheck({
      ...{
        id,
        group: 'devices',
        severity,
        title,
        goal,
        advice: 'See Devices for details.',
        fix_route: '/devices',
        deduction,
        odd,
        fine,
      },
    }),
  ),
  {
    id: 'too_many_devices',
    group: 'devices',
    severity: 'low',
    title: 'There are more devices than the plan covers',
    goal: 'The plan covers every device',
    advice: 'Remove a device you don’t use, or request a larger plan.',
    fix_route: '/devices',
    deduction: 2,
    run: ({ devices }) =>
      devices && {
        times: devices.count > devices.plan_holds ? 1 : 0,
        evidence: plural(devices.count, {
          one: `1 device is connected; the plan holds ${formatNumber(devices.plan_holds)}.`,
          other: `${formatNumber(devices.count)} devices are connected; the plan holds ${formatNumber(devices.plan_holds)}.`,
        }),
      },
  },
  {
    id: 'long_remote_session',
    group: 'devices',
    severity: 'high',
    title: 'A remote session has been open for more than 8 hours',
    goal: 'No remote session stays open for more than 8 hours',
    advice: 'End the remote session if it’s no longer needed.',
    fix_route: '/remote',
    deduction: 8,
    run: ({ remote: { long_sessions } }) => ({
      times: long_sessions > 0 ? 1 : 0,
      evidence:
        long_sessions > 0
          ? plural(long_sessions, {
              one: '1 session has been open for more than 8 hours.',
              other: `${formatNumber(long_sessions)} sessions have been open for more than 8 hours.`,
            })
          : 'No session has been open that long.',
    }),
  },
  {
    id: 'infected_not_removed',
    group: 'files',
    severity: 'critical',
    title: 'An infected file on the server is not in quarantine',
    goal: 'Every infected file on the server is in quarantine',
    advice: 'Tell support that an infected file couldn’t be quarantined or deleted.',
    fix_route: '/chat',
    deduction: 20,
    run: ({ scans, unblocked }) => ({
      times: unblocked.malware > 0 ? 1 : 0,
      ...(unblocked.malware <= (unblocked.test_files ?? 0) && { deduction: 0 }),
      evidence:
        unblocked.malware > 0
          ? plural(unblocked.malware, {
              one: '1 infected upload is on the server outside quarantine.',
              other: `${formatNumber(unblocked.malware)} infected uploads are on the server outside quarantine.`,
            })
          : plural(scans.infected, {
              one: '1 infected upload was found and quarantined or deleted.',
              other: `${formatNumber(scans.infected)} infected uploads were found and quarantined or deleted.`,
            }),
    }),
  },
  {
    id: 'infected_lately',
    group: 'files',
    severity: 'low',
    title: 'Infected files were found within the last 30 days',
    goal: 'No infected file was found within the last 30 days',
    advice: 'Delete the original infected files. We quarantined only the uploaded copies.',
    fix_route: '/antivirus',
    deduction: LATELY.infected.week,
    run: ({ scans }) => lately(scans.lately.infected, LATELY.infected, INFECTED_LATELY),
  },
  {
    id: 'unread_lately',
    group: 'files',
    severity: 'low',
    title: 'We couldn’t fully check some files of the last 30 days',
    goal: 'Every file of the last 30 days was fully checked',
    advice: 'Don’t trust these files yet. Scan them with their password, or ask for another format.',
    fix_route: '/antivirus',
    deduction: LATELY.unread.week,
    run: ({ scans }) => lately(scans.lately.unread, LATELY.unread, UNREAD_LATELY),
  },
  {
    id: 'signatures_old',
    group: 'files',
    severity: 'medium',
    title: 'Threat definitions are older than 48 hours',
    goal: 'Threat definitions are newer than 48 hours',
    deduction: 5,
    ...signaturesOlder(48, 168),
  },
  {
    id: 'signatures_very_old',
    group: 'files',
    severity: 'high',
    title: 'Threat definitions are older than 7 days',
    goal: 'Threat definitions are newer than 7 days',
    deduction: 10,
    ...signaturesOlder(168, Number.POSITIVE_INFINITY),
  },
  {
    id: 'files_overdue',
    group: 'files',
    severity: 'low',
    title: 'Files have waited more than an hour for the scanner',
    goal: 'No file waits long for the scanner',
    advice: 'Don’t open the waiting files before they’re checked.',
    fix_route: '/antivirus',
    deduction: 2,
    run: ({ scans }) => ({
      times: scans.overdue > 0 ? 1 : 0,
      evidence: plural(scans.overdue, {
        one: '1 file has waited for more than an hour.',
        other: `${formatNumber(scans.overdue)} files have waited for more than an hour.`,
      }),
    }),
  },
  {
    id: 'repeated_threat',
    group: 'files',
    severity: 'high',
    title: 'The same threat was found in several uploads',
    goal: 'No threat comes back',
    advice: 'Something may be bringing the file back. Scan the folder or computer it comes from.',
    fix_route: '/antivirus',
    deduction: 8,
    run: ({ scans }) => ({
      times: scans.repeated_threats.length > 0 ? 1 : 0,
      evidence:
        scans.repeated_threats.length > 0
          ? `Within 7 days, more than once: ${formatList(scans.repeated_threats, 'plain')}.`
          : 'No threat was found twice within 7 days.',
    }),
  },
];
