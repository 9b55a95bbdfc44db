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
  };
  /** Real alerts that nothing has blocked; of `malware` those that are about one file each. */
  unblocked: {
    malware: number;
    /** The industry's harmless test files within `malware`: they are told, and cost nothing. */
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
  /** Devices without any enforced rule. */
  unprotected: readonly string[];
  /** Devices with waiting security updates; undefined where no device could say. */
  updates_waiting: readonly string[] | undefined;
}
