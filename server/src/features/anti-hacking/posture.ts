import type { Finding, Severity } from '@palisade/contract/anti-hacking';
import { type ScoreReason, SECURITY_SCORE_MAXIMUM } from '@palisade/contract/dashboard';
import type { OpenRules } from './open-rules.ts';

/** What the posture checks look at. Everything in it was counted or read a moment ago. */
export interface PostureFacts {
  /** Undefined: not known yet. */
  account: { common_password: boolean | undefined };
  scans: { infected: number; overdue: number; repeated_threats: readonly string[] };
  /** Real alerts that nothing has blocked. */
  unblocked: { malware: number; high: number; critical: number };
  rules: OpenRules;
}

type Group = 'account' | 'rules' | 'devices' | 'files';

/** No group takes more than this off the score [H]. */
const GROUP_CAPS: Record<Group, number> = { account: 40, rules: 30, devices: 30, files: 40 };
/** A score with an open critical alert is at most this [H]. */
const SCORE_WITH_CRITICAL = 49;

/** What a check found: nothing wrong (`times` 0), or how often its deduction counts; undefined when it cannot run here. */
interface Outcome {
  times: number;
  evidence: string;
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
  /** Absent: nothing on this server can tell yet. */
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
    fix_route: '/dashboard',
    deduction: 15,
    run: ({ account: { common_password } }) =>
      common_password === undefined
        ? undefined
        : {
            times: common_password ? 1 : 0,
            evidence: common_password
              ? 'It is on the lists that attackers try first.'
              : 'It is not on the lists that attackers try first.',
          },
  },
  waiting({
    id: 'no_two_factor',
    group: 'account',
    severity: 'medium',
    title: 'The password is the only factor of sign-in',
    goal: 'Sign-in takes a second factor',
    advice: 'Turn on two-factor sign-in.',
    fix_route: '/dashboard',
    deduction: 10,
  }),
  waiting({
    id: 'few_recovery_codes',
    group: 'account',
    severity: 'low',
    title: 'Fewer than 3 recovery codes are left',
    goal: 'At least 3 recovery codes are left',
    advice: 'Make new recovery codes.',
    fix_route: '/dashboard',
    deduction: 3,
  }),
  waiting({
    id: 'idle_session',
    group: 'account',
    severity: 'low',
    title: 'A session has not been used for 30 days',
    goal: 'Every session was used within 30 days',
    advice: 'End sessions that you no longer use.',
    fix_route: '/dashboard',
    deduction: 3,
  }),
  waiting({
    id: 'unreviewed_device',
    group: 'account',
    severity: 'medium',
    title: 'A new device signed in and was not reviewed',
    goal: 'Every new device was reviewed',
    advice: 'Say whether it was you.',
    fix_route: '/anti-hacking',
    deduction: 5,
  }),
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
      [
        'long_remote_session',
        'high',
        'A remote session has been open for more than 8 hours',
        'No remote session stays open for more than 8 hours',
        8,
      ],
      ['too_many_devices', 'low', 'There are more devices than the plan covers', 'The plan covers every device', 2],
    ] as const
  ).map(([id, severity, title, goal, deduction]) =>
    waiting({ id, group: 'devices', severity, title, goal, advice: 'Look at the device.', fix_route: '/dashboard', deduction }),
  ),
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
  waiting({
    id: 'signatures_old',
    group: 'files',
    severity: 'medium',
    title: 'The signatures are older than 48 hours',
    goal: 'The signatures are younger than 48 hours',
    advice: 'Update the signatures.',
    fix_route: '/antivirus',
    deduction: 5,
  }),
  waiting({
    id: 'signatures_very_old',
    group: 'files',
    severity: 'high',
    title: 'The signatures are older than 7 days',
    goal: 'The signatures are younger than 7 days',
    advice: 'Update the signatures.',
    fix_route: '/antivirus',
    deduction: 10,
  }),
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

/**
 * Runs every check that can run. The score is 100 minus what failed, each group up to its cap, at least 0; a critical alert that nothing blocked caps it.
 * What a cap swallows is taken off the group's last reasons, so that the reasons add up to the score.
 */
export function judge(facts: PostureFacts): Posture {
  const left = { ...GROUP_CAPS };
  const findings: Finding[] = [];
  const recommendations: string[] = [];
  for (const { id, group, severity, title, goal, advice, fix_route, deduction, run } of CHECKS) {
    const shown = { id, title: goal, severity, fix_route };
    const outcome = run?.(facts);
    if (outcome === undefined) {
      findings.push({ ...shown, state: 'unknown', deduction: 0, evidence: 'Nothing here can tell yet.' });
      continue;
    }
    const taken = Math.min(left[group], deduction * outcome.times);
    left[group] -= taken;
    const judged = outcome.times > 0 ? ({ title, state: 'fail' } as const) : ({ state: 'pass' } as const);
    findings.push({ ...shown, ...judged, deduction: taken, evidence: outcome.evidence });
    if (outcome.times > 0) recommendations.push(advice);
  }
  if (facts.scans.infected > 0) {
    recommendations.push(
      'Delete the originals of infected files where they came from: only the uploaded copies were put out of reach.',
    );
  }
  const failed = findings.filter((finding) => finding.state === 'fail');
  const known = findings.filter((finding) => finding.state !== 'unknown').length;
  const deducted = failed.reduce((sum, finding) => sum + finding.deduction, 0);
  const ceiling = facts.unblocked.critical > 0 ? SCORE_WITH_CRITICAL : SECURITY_SCORE_MAXIMUM;
  return {
    findings,
    security_score: Math.max(0, Math.min(ceiling, SECURITY_SCORE_MAXIMUM - deducted)),
    score_breakdown: failed.map(({ id, title, deduction, fix_route }) => ({ id, title, deduction, fix_route })),
    vulnerabilities_found: failed.map((finding) => `${finding.title}. ${finding.evidence}`),
    recommendations,
    coverage: `${known} of ${findings.length} checks could run. The others need a connected device, two-factor sign-in or dated signatures, and are unknown, not passed.`,
  };
}
