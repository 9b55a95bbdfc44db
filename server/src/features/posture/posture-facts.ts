import type { Named } from './named.ts';
import type { OpenRules } from './open-rules.ts';

/** The facts for the posture checks, counted or read a moment ago. */
export interface PostureFacts {
  account: {
    /** Undefined: not known yet. */
    common_password: boolean | undefined;
    /** The second factor of the account; undefined where it can have none. */
    second_factor: { enabled: boolean; recovery_codes_left: number } | undefined;
    is_admin: boolean;
    /** Its age, in ms. */
    age_ms: number;
    /** Ids of browsers that signed in and were not reviewed by their person. */
    unreviewed_browsers: readonly string[];
  };
  remote: { long_sessions: number };
  /** Undefined without a device, or before any has reported. */
  devices: DeviceFacts | undefined;
  /** Devices with web protection: ms since the last DNS query of any of them, and the silent ones; undefined without a device. */
  web: { question_age_ms: number | undefined; silent: readonly Named[] } | undefined;
  /** Silent devices of people of the home, profiles without a plan, and the number of waiting requests; undefined without a profile. */
  home: { silent: readonly Named[]; without_plan: readonly Named[]; asks: number } | undefined;
  scans: {
    clean: number;
    infected: number;
    pending: number;
    overdue: number;
    /** Infections that the person must resolve; the newest ones by name. */
    open: { count: number; newest: readonly { id: string; filename: string }[] };
    /** ISO time; null before the first. */
    last_finished_at: string | null;
  };
  /** Infected uploads that could be neither sealed nor removed. Harmless test files among them are reported, but cost no points. */
  outside_quarantine: { all: number; test_files: number };
  /** Alerts that need the person's attention, with the newest of each kind; and the newest about an unreviewed browser. */
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
  /** Devices without the current rules, or whose kernel refused them. */
  unapplied: readonly Named[];
  /** Not heard of for a week. */
  silent: readonly Named[];
  outdated: readonly Named[];
  /** Devices without any enforced rule. */
  unprotected: readonly Named[];
  /** Devices with waiting security updates; undefined where no device could say. */
  updates_waiting: readonly Named[] | undefined;
}
