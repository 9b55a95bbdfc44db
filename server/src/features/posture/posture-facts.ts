import type { Named } from './named.ts';
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
  /** Devices of web protection: time since one of them last asked for a name, in ms, and the silent ones; undefined without a device. */
  web: { question_age_ms: number | undefined; silent: readonly Named[] } | undefined;
  /** Devices of people of the home that are silent, profiles without a plan, and the number of asks that wait; undefined without a profile. */
  home: { silent: readonly Named[]; without_plan: readonly Named[]; asks: number } | undefined;
  scans: {
    clean: number;
    infected: number;
    pending: number;
    overdue: number;
    /** Infections that their person has to end; the newest ones by name. */
    open: { count: number; newest: readonly { id: string; filename: string }[] };
    /** ISO time; null before the first. */
    last_finished_at: string | null;
  };
  /** Infected uploads that could be neither sealed nor removed. The industry's harmless test files among them are told, and cost nothing. */
  outside_quarantine: { all: number; test_files: number };
  /** Alerts that wait for their person, and the newest of each kind; and the newest about a browser that was not reviewed. */
  alerts: Record<'critical' | 'high' | 'lesser' | 'guessing', OpenAlerts> & { browser: string | undefined };
  rules: OpenRules;
  /** Enabled or not. */
  rule_count: number;
  /** When the plan ends, in ms from now, and whether another one was asked for; undefined for a plan without an end, and without a plan. */
  plan: { ends_in_ms: number; is_asked: boolean } | undefined;
  /** Time since the signatures were known to be the newest, in ms; undefined if unknown. */
  signatures_age_ms: number | undefined;
}

interface OpenAlerts {
  count: number;
  newest: string | undefined;
}

/** Facts of devices. */
export interface DeviceFacts {
  count: number;
  /** The number that the plan allows. */
  plan_holds: number;
  /** Those that do not have the rules that they should have, or whose kernel refused them. */
  unapplied: readonly Named[];
  /** Not heard of for a week. */
  silent: readonly Named[];
  outdated: readonly Named[];
  /** Devices without any enforced rule. */
  unprotected: readonly Named[];
  /** Devices with waiting security updates; undefined where no device could say. */
  updates_waiting: readonly Named[] | undefined;
}
