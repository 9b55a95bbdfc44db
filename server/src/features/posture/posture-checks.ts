import type { Severity } from '@palisade/contract/severity';
import type { Sentence } from '#platform/sentence.ts';
import type { Check, Fix, Outcome } from './check.ts';
import { HOUSEHOLD_CHECKS } from './household-checks.ts';
import { isFew, linesOf, type Named, namedDevices } from './named.ts';
import { type CheckId, RECOVERY_CODES_LEAST, sentence } from './posture.phrases.ts';
import type { DeviceFacts } from './posture-facts.ts';

const HOUR_MS = 3_600_000;

/** Deduction for an administrator's missing second factor: a weight of this project. */
const ADMIN_WITHOUT_SECOND_FACTOR = 20;

/** Age of an account, in ms, below which a missing second factor is advised but costs no points: a new account has 100. */
const NEW_FOR_MS = 24 * HOUR_MS;
const DAY_MS = 24 * HOUR_MS;

/** Number of days before its end from which a plan becomes a step, until another one is requested. */
const PLAN_ENDS_SOON_DAYS = 14;

/** The check whose failure caps the score. */
export const CRITICAL_CHECK = 'open_alert_critical';

const TWO_FACTOR_ROUTE = '/dashboard?open=security&tab=two-factor';
const PASSWORD_ROUTE = '/dashboard?open=security&tab=password';
const SESSIONS_ROUTE = '/dashboard?open=security&tab=sessions';

/** The ports that the checks ask about: SSH, Telnet, file sharing of Windows, Remote Desktop, VNC. */
const PORTS = [22, 23, 445, 3389, 5900] as const;

/** The place of alerts. */
const ALERTS = { fix_route: '/anti-hacking', action: sentence('action.alert') } as const;

/** Links to an alert, opened over the list of alerts. */
function openAlert(advice: Sentence, id: string | undefined): Pick<Outcome, 'fix'> {
  return id === undefined ? {} : { fix: { ...ALERTS, advice, fix_route: `/anti-hacking?alert=${id}` } };
}

/** Counts open alerts of one kind. */
function alertCheck(
  id: 'open_alert_high' | 'open_alert_critical' | 'open_alert_lesser' | 'password_guessing',
  { kind, ...rest }: Pick<Check, 'severity' | 'deduction' | 'is_danger'> & { kind: 'critical' | 'high' | 'lesser' | 'guessing' },
): Check {
  const advice = sentence(`${id}.advice`);
  return {
    ...{ id, group: 'account', advice, ...ALERTS, ...rest },
    run: ({ alerts }) => ({
      ...openAlert(advice, alerts[kind].newest),
      times: alerts[kind].count,
      evidence: sentence(`${id}.count`, { count: alerts[kind].count }),
    }),
  };
}

export const CHECKED_PORTS: readonly number[] = PORTS;

const WEB_DEVICES = {
  fix_route: '/web-protection',
  action: sentence('action.web_device'),
  advice: sentence('web_device_silent.advice'),
} as const;

const RULES = { fix_route: '/firewall', action: sentence('action.rules') } as const;

/** Links to the rule or device with a fault; to their list if there are several. */
function openOne(
  fix: { advice: Sentence; action: Sentence; place: '/firewall?rule' | '/devices?device' | '/web-protection?device' },
  [one, ...others]: readonly Named[],
): Pick<Outcome, 'fix'> {
  const { place, advice, action } = fix;
  return one === undefined || others.length > 0 ? {} : { fix: { advice, action, fix_route: `${place}=${one.id}` } };
}

const openRule = (advice: Sentence, rules: readonly Named[]) =>
  openOne({ advice, action: sentence('action.rule'), place: '/firewall?rule' }, rules);

function portCheck(port: (typeof PORTS)[number]): Check {
  return {
    id: `port_${port}_open`,
    group: 'rules',
    severity: 'high',
    advice: sentence(`port_${port}_open.advice`),
    ...RULES,
    deduction: 8,
    run: (facts) => {
      const rules = facts.rules.ports.get(port) ?? [];
      if (rules.length === 0) return { reason: sentence('port_open.unknown') };
      const evidence = isFew(rules)
        ? sentence('port_open.named', { rules: linesOf(rules) })
        : sentence('port_open.many', { count: rules.length });
      return { times: 1, evidence, ...openRule(sentence(`port_${port}_open.advice`), rules) };
    },
  };
}

const SUPPORT = { fix_route: '/chat', action: sentence('action.support') } as const;

const SIGNATURE_SOURCES: Fix = {
  advice: sentence('signatures.advice_for_admin'),
  fix_route: '/antivirus',
  action: sentence('action.definitions'),
};

/** Fails for signatures older than `after_h` hours, up to the age at which the next check takes over. */
function signaturesOlder(after_h: number, before_h: number): Pick<Check, 'advice' | 'fix_route' | 'action' | 'run'> {
  return {
    advice: sentence('signatures.advice'),
    ...SUPPORT,
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

const OPEN_INFECTION = {
  advice: sentence('infection_open.advice'),
  fix_route: '/antivirus?status=infected',
  action: sentence('action.infections'),
} as const;

/** The devices with a fault; undefined if unknown. */
type OddDevices = (devices: DeviceFacts) => readonly Named[] | undefined;

const DEVICES = { fix_route: '/devices', action: sentence('action.devices') } as const;

/** A check on facts of devices, unknown without a device. */
function deviceCheck({
  odd,
  fine,
  ...check
}: Omit<Check, 'run' | 'fix_route' | 'action'> & { odd: OddDevices; fine: Sentence }): Check {
  return {
    ...check,
    ...DEVICES,
    run({ devices }) {
      const some = devices && odd(devices);
      if (some === undefined || some.length === 0) return some && { times: 0, evidence: fine };
      const open = { advice: check.advice, action: sentence('action.device'), place: '/devices?device' } as const;
      return { times: 1, evidence: namedDevices(some), ...openOne(open, some) };
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
    action: sentence('action.password'),
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
    action: sentence('action.two_factor'),
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
    action: sentence('action.recovery_codes'),
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
    action: sentence('action.sessions'),
    deduction: 3,
    // Always passes: platform/session.ts rejects older sessions.
    run: () => ({ times: 0, evidence: sentence('idle_session.end') }),
  },
  {
    id: 'unreviewed_browser',
    group: 'account',
    severity: 'medium',
    advice: sentence('unreviewed_browser.advice'),
    ...ALERTS,
    deduction: 5,
    run: ({ account: { unreviewed_browsers }, alerts }) => ({
      ...openAlert(sentence('unreviewed_browser.advice'), alerts.browser),
      times: unreviewed_browsers.length > 0 ? 1 : 0,
      evidence:
        unreviewed_browsers.length > 0
          ? sentence('unreviewed_browser.waiting', { count: unreviewed_browsers.length })
          : sentence('unreviewed_browser.none'),
    }),
  },
  alertCheck('open_alert_high', { kind: 'high', severity: 'high', deduction: 6, is_danger: true }),
  alertCheck(CRITICAL_CHECK, { kind: 'critical', severity: 'critical', deduction: 12, is_danger: true }),
  alertCheck('open_alert_lesser', { kind: 'lesser', severity: 'medium', deduction: 0 }),
  // Refused attempts cost no points, but the person wants to know about them.
  alertCheck('password_guessing', { kind: 'guessing', severity: 'medium', deduction: 0 }),
  {
    id: 'allow_any_inbound',
    group: 'rules',
    severity: 'critical',
    advice: sentence('allow_any_inbound.advice'),
    ...RULES,
    deduction: 15,
    run: ({ rules: { everything } }) => ({
      ...openRule(sentence('allow_any_inbound.advice'), everything),
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
    ...RULES,
    deduction: 2,
    run: ({ rules: { clashing } }) => ({
      // The row of one rule names the other.
      ...openRule(sentence('clashing_rules.advice'), clashing.slice(0, 1)),
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
    id: 'web_device_silent',
    group: 'devices',
    severity: 'low',
    ...WEB_DEVICES,
    deduction: 0,
    run: ({ web }) =>
      web && {
        ...openOne({ ...WEB_DEVICES, place: '/web-protection?device' }, web.silent),
        times: web.silent.length > 0 ? 1 : 0,
        evidence: web.silent.length > 0 ? namedDevices(web.silent) : sentence('web_device_silent.none'),
      },
  },
  ...HOUSEHOLD_CHECKS,
  {
    id: 'too_many_devices',
    group: 'devices',
    severity: 'low',
    advice: sentence('too_many_devices.advice'),
    ...DEVICES,
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
    action: sentence('action.remote'),
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
    id: 'infection_open',
    group: 'files',
    severity: 'critical',
    is_danger: true,
    ...OPEN_INFECTION,
    deduction: 20,
    run: ({ scans: { open } }) => {
      const [newest] = open.newest;
      if (newest === undefined) return { times: 0, evidence: sentence('infection_open.none') };
      const files = open.newest.map(({ filename }) => ({ name: filename }));
      const unnamed = open.count - files.length;
      return {
        times: 1,
        title: sentence('infection_open.files', { count: open.count }),
        evidence:
          unnamed === 0
            ? sentence('infection_open.named', { count: files.length, files: linesOf(files) })
            : sentence('infection_open.more', { count: unnamed, files: linesOf(files) }),
        ...(open.count === 1 && {
          fix: { ...OPEN_INFECTION, fix_route: `/antivirus?scan=${newest.id}`, action: sentence('action.infection') },
        }),
      };
    },
  },
  {
    id: 'infected_not_removed',
    group: 'files',
    severity: 'critical',
    is_danger: true,
    advice: sentence('infected_not_removed.advice'),
    ...SUPPORT,
    deduction: 20,
    run: ({ scans, outside_quarantine: { all, test_files } }) => ({
      times: all > test_files ? 1 : 0,
      evidence:
        all > test_files
          ? sentence('infected_not_removed.outside', { count: all - test_files })
          : sentence('infected_not_removed.none', { count: scans.infected }),
    }),
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
    action: sentence('action.files'),
    deduction: 2,
    run: ({ scans }) => ({
      times: scans.overdue > 0 ? 1 : 0,
      evidence: sentence('files_overdue.count', { count: scans.overdue }),
    }),
  },
  {
    id: 'plan_ending',
    group: 'account',
    severity: 'medium',
    advice: sentence('plan_ending.advice'),
    fix_route: '/subscription-manager',
    action: sentence('action.plan'),
    deduction: 0,
    run({ plan }) {
      if (plan === undefined) return { times: 0, evidence: sentence('plan_ending.none') };
      const days = Math.max(0, Math.floor(plan.ends_in_ms / DAY_MS));
      const is_near = days < PLAN_ENDS_SOON_DAYS && !plan.is_asked;
      return { times: is_near ? 1 : 0, evidence: sentence('plan_ending.days', { days }) };
    },
  },
];
