import type { Finding, Severity } from '@palisade/contract/anti-hacking';
import { type ScoreReason, SECURITY_SCORE_MAXIMUM } from '@palisade/contract/dashboard';
import type { OpenRules } from './open-rules.ts';

/** What the posture checks look at. Everything in it was counted or read a moment ago. */
export interface PostureFacts {
  account: {
    /** Undefined: not known yet. */
    common_password: boolean | undefined;
    /** What stands behind the password; undefined where nothing can. */
    second_factor: { enabled: boolean; recovery_codes_left: number } | undefined;
    is_admin: boolean;
    /** How long ago it was made, in ms. */
    age_ms: number;
    /** Devices that signed in and that nobody has said anything about. */
    unreviewed_devices: number;
  };
  remote: { long_sessions: number };
  scans: { infected: number; overdue: number; repeated_threats: readonly string[] };
  /** Real alerts that nothing has blocked. */
  unblocked: { malware: number; high: number; critical: number };
  rules: OpenRules;
  /** How long ago the signatures were known to be the newest, in ms; undefined where nobody could say. */
  signatures_age_ms: number | undefined;
}

type Group = 'account' | 'rules' | 'devices' | 'files';

/** No group takes more than this off the score [H]. */
const GROUP_CAPS: Record<Group, number> = { account: 40, rules: 30, devices: 30, files: 40 };
const HOUR_MS = 3_600_000;
/** What a missing second factor costs whoever can change everybody's account [H]. */
const ADMIN_WITHOUT_SECOND_FACTOR = 20;
/** A new account has 100: a second factor is asked for at once, and missed in the score from the second day on [H]. In ms. */
const NEW_FOR_MS = 24 * HOUR_MS;
const RECOVERY_CODES_LEAST = 3;
const SECURITY_ROUTE = '/dashboard?open=security';
/** A score with an open critical alert is at most this [H]. */
const SCORE_WITH_CRITICAL = 49;

/** What a check found: nothing wrong (`times` 0), or how often its deduction counts; undefined when it cannot run here. */
interface Outcome {
  times: number;
  evidence: string;
  /** In place of the check's own. */
  deduction?: number;
}

interface Check {
  id: string;
  group: Group;
  severity: Severity;
  /** What is wrong when it fails, and what it looks for. */
  title: string;
  goal: string;
  /** What to do about it. */
  advice: string;
  fix_route: string;
  deduction: number;
  /** Absent, or undefined: nothing on this server can tell. */
  run?: (facts: PostureFacts) => Outcome | undefined;
}

const names = (rules: readonly string[]) => rules.map((name) => `"${name}"`).join(', ');
const plural = (count: number, one: string, many: string) => `${count} ${count === 1 ? one : many}`;

const PORTS = [
  { port: 22, service: 'SSH' },
  { port: 23, service: 'Telnet' },
  { port: 445, service: 'Windows file sharing' },
  { port: 3389, service: 'Remote Desktop' },
  { port: 5900, service: 'VNC' },
] as const;

const CRITICAL_CHECK = 'open_alert_critical';

function alertCheck(level: 'high' | 'critical', deduction: number): Check {
  return {
    id: `open_alert_${level}`,
    group: 'account',
    severity: level,
    title: `A threat of ${level} severity was not blocked`,
    goal: `Every threat of ${level} severity was blocked`,
    advice: 'Open the alerts and act on those that are not marked as neutralized.',
    fix_route: '/anti-hacking',
    deduction,
    run: ({ unblocked }) => ({
      times: unblocked[level],
      evidence: `${plural(unblocked[level], 'alert', 'alerts')} of ${level} severity not blocked.`,
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
    title: `Port ${port} (${service}) is open to the whole world`,
    goal: `Port ${port} (${service}) is closed to the world`,
    advice: `Limit who may reach port ${port} to the addresses that need it, or disable the rule.`,
    fix_route: '/firewall',
    deduction: 8,
    run: (facts) => {
      const rules = facts.rules.ports.get(port) ?? [];
      return {
        times: rules.length > 0 ? 1 : 0,
        evidence: rules.length > 0 ? `Opened by ${names(rules)}.` : `No enabled rule opens port ${port} to everyone.`,
      };
    },
  };
}

/** Fails from `after_h` on, up to where the next check takes over. Hours. */
function signaturesOlder(after_h: number, before_h: number): Pick<Check, 'run'> {
  return {
    run({ signatures_age_ms }) {
      if (signatures_age_ms === undefined) return undefined;
      const hours = Math.floor(signatures_age_ms / HOUR_MS);
      const is_old = signatures_age_ms > after_h * HOUR_MS && signatures_age_ms <= before_h * HOUR_MS;
      return { times: is_old ? 1 : 0, evidence: `They were last known to be the newest ${plural(hours, 'hour', 'hours')} ago.` };
    },
  };
}

function waiting(check: Omit<Check, 'run'>): Check {
  return check;
}

/** Every check with its deduction ([H]: our own weights). Those without `run` need what this version does not have, and stay unknown. */
export const CHECKS: readonly Check[] = [
  {
    id: 'common_password',
    group: 'account',
    severity: 'high',
    title: 'The password is one of the common ones',
    goal: 'The password is not a common one',
    advice: 'Choose another password, in Security Preferences.',
    fix_route: SECURITY_ROUTE,
    deduction: 15,
    run: ({ account: { common_password } }) =>
      common_password === undefined
        ? undefined
        : {
            times: common_password ? 1 : 0,
            evidence: common_password
              ? 'It leaked before, or is nothing but a name: attackers try it first.'
              : 'It is neither one that leaked nor a mere name.',
          },
  },
  {
    id: 'no_two_factor',
    group: 'account',
    severity: 'medium',
    title: 'The password is the only factor of sign-in',
    goal: 'Sign-in takes a second factor',
    advice: 'Turn on two-factor sign-in, in Security Preferences.',
    fix_route: SECURITY_ROUTE,
    deduction: 10,
    run({ account: { second_factor, is_admin, age_ms } }) {
      if (second_factor === undefined) return undefined;
      if (second_factor.enabled) return { times: 0, evidence: 'Signing in takes more than the password.' };
      const who = is_admin ? ', as an administrator' : '';
      if (age_ms < NEW_FOR_MS)
        return { times: 1, evidence: `Whoever knows the password is in${who}. It counts from tomorrow on.`, deduction: 0 };
      const deduction = is_admin ? { deduction: ADMIN_WITHOUT_SECOND_FACTOR } : {};
      return { times: 1, evidence: `Whoever knows the password is in${who}.`, ...deduction };
    },
  },
  {
    id: 'few_recovery_codes',
    group: 'account',
    severity: 'low',
    title: `Fewer than ${RECOVERY_CODES_LEAST} recovery codes are left`,
    goal: `At least ${RECOVERY_CODES_LEAST} recovery codes are left`,
    advice: 'Make new recovery codes, in Security Preferences.',
    fix_route: SECURITY_ROUTE,
    deduction: 3,
    run: ({ account: { second_factor } }) => {
      if (second_factor === undefined) return undefined;
      if (!second_factor.enabled) return { times: 0, evidence: 'Without a second factor none are needed.' };
      const { recovery_codes_left } = second_factor;
      return {
        times: recovery_codes_left < RECOVERY_CODES_LEAST ? 1 : 0,
        evidence: `${plural(recovery_codes_left, 'code is', 'codes are')} left.`,
      };
    },
  },
  {
    id: 'idle_session',
    group: 'account',
    severity: 'low',
    title: 'A session has not been used for 30 days',
    goal: 'Every session was used within 30 days',
    advice: 'End sessions that you no longer use.',
    fix_route: SECURITY_ROUTE,
    deduction: 3,
    // Enforced, not counted: platform/session.ts answers none that is older.
    run: () => ({ times: 0, evidence: 'A session ends by itself after 7 days without use.' }),
  },
  {
    id: 'unreviewed_device',
    group: 'account',
    severity: 'medium',
    title: 'A new device signed in and was not reviewed',
    goal: 'Every new device was reviewed',
    advice: 'Say whether it was you, in its alert.',
    fix_route: '/anti-hacking',
    deduction: 5,
    run: ({ account: { unreviewed_devices } }) => ({
      times: unreviewed_devices > 0 ? 1 : 0,
      evidence:
        unreviewed_devices > 0
          ? `${plural(unreviewed_devices, 'device is', 'devices are')} waiting for your word.`
          : 'No device is waiting for your word.',
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
      evidence: everything.length > 0 ? `Allowed by ${names(everything)}.` : 'No enabled rule allows every inbound connection.',
    }),
  },
  ...PORTS.map(portCheck),
  {
    id: 'clashing_rules',
    group: 'rules',
    severity: 'low',
    title: 'Firewall rules repeat or contradict each other',
    goal: 'Firewall rules do not clash',
    advice: 'Delete or disable the rules that repeat or contradict another one.',
    fix_route: '/firewall',
    deduction: 2,
    run: ({ rules: { clashing } }) => ({
      times: clashing.length > 0 ? 1 : 0,
      evidence:
        clashing.length > 0
          ? `Another rule is about the same traffic as ${names(clashing)}.`
          : 'No two enabled rules are about the same traffic.',
    }),
  },
  waiting({
    id: 'rule_not_applied',
    group: 'rules',
    severity: 'high',
    title: 'A rule is not applied on a device',
    goal: 'Every rule is applied on every device',
    advice: 'Look at the device, and connect it again.',
    fix_route: '/firewall',
    deduction: 8,
  }),
  ...(
    [
      [
        'device_silent',
        'high',
        'A device has been silent for more than 24 hours',
        'Every device was heard of within 24 hours',
        8,
      ],
      ['agent_outdated', 'medium', 'A device runs an outdated agent', 'Every device runs the current agent', 4],
      [
        'updates_waiting',
        'high',
        'Security updates have waited for more than 14 days',
        'Security updates are installed within 14 days',
        8,
      ],
      ['host_firewall_off', 'critical', 'The firewall of a device is off', 'The firewall of every device is on', 15],
      ['too_many_devices', 'low', 'There are more devices than the plan covers', 'The plan covers every device', 2],
    ] as const
  ).map(([id, severity, title, goal, deduction]) =>
    waiting({ id, group: 'devices', severity, title, goal, advice: 'Look at the device.', fix_route: '/dashboard', deduction }),
  ),
  {
    id: 'long_remote_session',
    group: 'devices',
    severity: 'high',
    title: 'A remote session has been open for more than 8 hours',
    goal: 'No remote session stays open for more than 8 hours',
    advice: 'End the remote session, if nobody works in it any more.',
    fix_route: '/remote',
    deduction: 8,
    run: ({ remote: { long_sessions } }) => ({
      times: long_sessions > 0 ? 1 : 0,
      evidence:
        long_sessions > 0
          ? `${plural(long_sessions, 'session has', 'sessions have')} been open for more than 8 hours.`
          : 'None has been open for that long.',
    }),
  },
  {
    id: 'infected_not_removed',
    group: 'files',
    severity: 'critical',
    title: 'An infected file lies open on the server',
    goal: 'No infected file lies open on the server',
    advice: 'Tell support: an infected upload could be neither sealed nor removed.',
    fix_route: '/antivirus',
    deduction: 20,
    run: ({ scans, unblocked }) => ({
      times: unblocked.malware > 0 ? 1 : 0,
      evidence:
        unblocked.malware > 0
          ? `${plural(unblocked.malware, 'infected upload is', 'infected uploads are')} still in the open on the server.`
          : `${plural(scans.infected, 'infected upload was', 'infected uploads were')} found, each is sealed or gone.`,
    }),
  },
  {
    id: 'signatures_old',
    group: 'files',
    severity: 'medium',
    title: 'The signatures are older than 48 hours',
    goal: 'The signatures are younger than 48 hours',
    advice: 'Update the signatures.',
    fix_route: '/antivirus',
    deduction: 5,
    ...signaturesOlder(48, 168),
  },
  {
    id: 'signatures_very_old',
    group: 'files',
    severity: 'high',
    title: 'The signatures are older than 7 days',
    goal: 'The signatures are younger than 7 days',
    advice: 'Update the signatures.',
    fix_route: '/antivirus',
    deduction: 10,
    ...signaturesOlder(168, Number.POSITIVE_INFINITY),
  },
  {
    id: 'files_overdue',
    group: 'files',
    severity: 'low',
    title: 'Files have waited for the scanning engine for more than an hour',
    goal: 'No file waits for the scanning engine for long',
    advice: 'Treat the waiting files as unknown until they are read, or scan them again.',
    fix_route: '/antivirus',
    deduction: 2,
    run: ({ scans }) => ({
      times: scans.overdue > 0 ? 1 : 0,
      evidence: `${plural(scans.overdue, 'file has', 'files have')} waited for more than an hour.`,
    }),
  },
  {
    id: 'repeated_threat',
    group: 'files',
    severity: 'high',
    title: 'The same threat was found in several uploads',
    goal: 'No threat comes back',
    advice: 'Something may be bringing the file back: scan the folder or the computer that it comes from.',
    fix_route: '/antivirus',
    deduction: 8,
    run: ({ scans }) => ({
      times: scans.repeated_threats.length > 0 ? 1 : 0,
      evidence:
        scans.repeated_threats.length > 0
          ? `Within 7 days, more than once: ${scans.repeated_threats.join(', ')}.`
          : 'No threat was found twice within 7 days.',
    }),
  },
];

export interface Posture {
  findings: Finding[];
  security_score: number;
  score_breakdown: ScoreReason[];
  vulnerabilities_found: string[];
  recommendations: string[];
  coverage: string;
}

/** The outcome of every check that can run; a check that fails with what it takes off by itself. */
type Judged = Check & { outcome: Outcome | undefined };

/** What each failed check takes off, in order, each group up to its cap; and the score that is left. */
function deduct(checks: readonly Judged[], ceiling: number): { taken: Map<string, number>; score: number } {
  const left = { ...GROUP_CAPS };
  const taken = new Map<string, number>();
  let sum = 0;
  for (const { id, group, deduction, outcome } of checks) {
    if (outcome === undefined || outcome.times === 0) continue;
    const part = Math.min(left[group], (outcome.deduction ?? deduction) * outcome.times);
    left[group] -= part;
    sum += part;
    taken.set(id, part);
  }
  return { taken, score: Math.max(0, Math.min(ceiling, SECURITY_SCORE_MAXIMUM - sum)) };
}

/**
 * Runs every check that can run. The score is 100 minus what failed, each group up to its cap, at least 0; a critical alert that nothing blocked caps it.
 * What a cap swallows is taken off the group's last reasons, so that the reasons add up to the score; `gain` is what the score would rise by if that one
 * thing were mended and nothing else.
 */
export function judge(facts: PostureFacts): Posture {
  const checks = CHECKS.map((check) => ({ ...check, outcome: check.run?.(facts) }));
  const ceilingOf = (critical: number) => (critical > 0 ? SCORE_WITH_CRITICAL : SECURITY_SCORE_MAXIMUM);
  const { taken, score } = deduct(checks, ceilingOf(facts.unblocked.critical));
  const without = (id: string) =>
    deduct(
      checks.filter((check) => check.id !== id),
      ceilingOf(id === CRITICAL_CHECK ? 0 : facts.unblocked.critical),
    ).score - score;

  const findings = checks.map(({ id, title, goal, severity, fix_route, outcome }): Finding => {
    const shown = { id, title: goal, severity, fix_route, deduction: 0, gain: 0 };
    if (outcome === undefined) return { ...shown, state: 'unknown', evidence: 'Nothing here can tell yet.' };
    if (outcome.times === 0) return { ...shown, state: 'pass', evidence: outcome.evidence };
    return { ...shown, title, state: 'fail', evidence: outcome.evidence, deduction: taken.get(id) ?? 0, gain: without(id) };
  });
  const failed = findings.filter((finding) => finding.state === 'fail');
  const spared = new Set(checks.filter(({ outcome }) => outcome?.deduction === 0).map(({ id }) => id));
  const known = findings.filter((finding) => finding.state !== 'unknown').length;
  const recommendations = checks.filter(({ outcome }) => outcome !== undefined && outcome.times > 0).map(({ advice }) => advice);
  if (facts.scans.infected > 0) {
    recommendations.push(
      'Delete the originals of infected files where they came from: only the uploaded copies were put out of reach.',
    );
  }
  return {
    findings,
    security_score: score,
    score_breakdown: failed
      .filter(({ id }) => !spared.has(id))
      .map(({ id, title, deduction, gain, fix_route }) => ({ id, title, deduction, gain, fix_route })),
    vulnerabilities_found: failed.map((finding) => `${finding.title}. ${finding.evidence}`),
    recommendations,
    coverage: `${known} of ${findings.length} checks could run. The others need a connected device or signature feeds, and are unknown, not passed.`,
  };
}
