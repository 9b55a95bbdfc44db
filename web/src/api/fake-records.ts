import type { AlertDetail, Monitor } from '@palisade/contract/alerts';
import type { Alert, Stats } from '@palisade/contract/anti-hacking';
import type { Scan } from '@palisade/contract/antivirus';
import type { Account, UserInfo } from '@palisade/contract/auth';
import type { CurrentSubscription } from '@palisade/contract/current-subscription';
import type { DashboardStatus } from '@palisade/contract/dashboard';
import type { ScanDetail } from '@palisade/contract/quarantine';
import { type Status, type StatusStep, UNKNOWN_STATUS } from '@palisade/contract/status';
import type { Subscription, Template, UserPlanRequest } from '@palisade/contract/subscription';
import type { TwoFactor } from '@palisade/contract/two-factor';
import type { Config } from './config.ts';

/** Records for tests. A test sets the fields that it is about. */

let lastId = 0;

function nextId(): string {
  lastId += 1;
  return `01930000-0000-7000-8000-${String(lastId).padStart(12, '0')}`;
}

export const MARIA: UserInfo = { id: nextId(), username: 'maria', email: 'maria@example.com', role: 'customer' };

export const MARIA_ACCOUNT: Account = { ...MARIA, created_at: '2026-03-02T09:00:00.000Z' };

export const TWO_FACTOR_OFF: TwoFactor = {
  enabled: false,
  required: false,
  totp_since: null,
  passkeys: [],
  recovery_codes_left: 0,
  passkey_origin: 'http://localhost:3000',
};

export const CONFIG: Config = {
  version: '3.7.9',
  exposure: 'local',
  open_local: false,
  demo: true,
  reset_delivery: 'response',
  administrator: 'there',
  provider_name: 'Palisade',
  support: { phone: '', email: '', promise: '' },
  links: { live_chat: null, remote_portal: null },
};

export function scanOf(parts: Partial<Scan> = {}): Scan {
  const scan_status = parts.scan_status ?? 'clean';
  return {
    id: nextId(),
    filename: 'report.pdf',
    scan_status,
    status_detail: null,
    scanned_at: '2026-11-20T10:00:00.000Z',
    threat_detected: null,
    threat_member: null,
    is_test_file: false,
    file_hash: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
    size: 1_258_291,
    media_type: 'application/pdf',
    first_seen_at: '2026-11-20T10:00:00.000Z',
    notes: [],
    note_phrases: [],
    engines: [{ name: 'YARA-X', version: '1.9.0', signatures_version: '1', verdict: scan_status, threat: null, duration_ms: 4 }],
    coverage: {
      members_total: 0,
      members_scanned: 0,
      bytes_scanned: 1_258_291,
      encrypted: 0,
      bytes_raw: 0,
      whole_file_conditions: true,
    },
    ...parts,
  };
}

export function scanDetailOf(parts: Partial<ScanDetail> = {}): ScanDetail {
  return {
    ...scanOf(parts),
    threat_facts: null,
    kept: 'no',
    kept_until: null,
    answered_from: null,
    report: null,
    ...parts,
  };
}

export const NO_PLAN: CurrentSubscription = {
  has_subscription: false,
  plan_name: null,
  is_premium: false,
  expires_at: null,
  price: null,
  currency: null,
  features: [],
  max_devices: null,
  max_web_devices: null,
  max_profiles: null,
  duration_months: null,
};

export const PREMIUM_PLAN: CurrentSubscription = {
  has_subscription: true,
  plan_name: 'Family Shield',
  is_premium: true,
  expires_at: '2027-11-20T10:00:00.000Z',
  price: 19.99,
  currency: 'USD',
  features: ['Anti-hacking monitor', 'Five devices', 'Remote support', 'Two scanning engines', 'Priority support', 'Family view'],
  max_devices: 5,
  max_web_devices: 10,
  max_profiles: 5,
  duration_months: 12,
};

/** A status; with steps, the first one is the next. */
export function statusOf(...steps: readonly Partial<StatusStep>[]): Status {
  const [next = null, ...others] = steps.map(stepOf);
  const isDanger = next?.is_danger === true;
  return {
    ...UNKNOWN_STATUS,
    state: next === null ? 'good' : isDanger ? 'danger' : 'attention',
    sentence: next?.title ?? 'Nothing needs you right now',
    detail: next?.evidence ?? '12 checks ran and found nothing to fix.',
    ...{ next, others, is_scored: true },
  };
}

function stepOf(parts: Partial<StatusStep>): StatusStep {
  const phrase = { code: 'as_written', params: {} };
  return {
    ...{ id: 'port_22_open', severity: 'high', is_danger: false, title: 'Port 22 (SSH) is open', title_phrase: phrase },
    ...{ evidence: 'Opened by a rule.', evidence_phrase: phrase, action: 'Open your rules', action_phrase: phrase },
    ...{ fix_route: '/firewall', deduction: 8, gain: 8 },
    ...parts,
  };
}

export function dashboardOf(parts: Partial<DashboardStatus> = {}): DashboardStatus {
  const recent_scans = parts.recent_scans ?? [];
  const countOf = (status: Scan['scan_status']) => recent_scans.filter((scan) => scan.scan_status === status).length;
  return {
    security_score: 100,
    score_breakdown: [],
    score_checks: { ran: 12, unknown: 16 },
    status: recent_scans.length === 0 ? UNKNOWN_STATUS : statusOf(),
    last_scan: recent_scans[0]?.scanned_at ?? 'Never',
    subscription: NO_PLAN,
    recent_scans,
    devices: null,
    measured: {
      threats_neutralized: countOf('infected'),
      test_files_neutralized: 0,
      firewall_rules: 0,
      files_scanned: recent_scans.length,
      files_infected: countOf('infected'),
      test_files_found: 0,
      files_pending: countOf('pending'),
      last_finished_at: recent_scans.find((scan) => scan.scan_status !== 'pending')?.scanned_at ?? null,
    },
    ...parts,
  };
}

export function alertOf(parts: Partial<Alert> = {}): Alert {
  const created_at = parts.created_at ?? '2026-11-20T10:00:00.000Z';
  return {
    id: nextId(),
    threat_type: 'brute_force',
    severity: 'medium',
    description: 'Someone entered five wrong passwords in ten minutes from one address.',
    phrase: { code: 'drill.brute_force', params: {} },
    created_at,
    blocked: true,
    ip_address: '192.0.2.1',
    simulated: false,
    rule: 'brute_force.pair',
    outcome: (parts.blocked ?? true) ? 'blocked' : 'unknown',
    evidence: {
      threshold: 'Five failures within 10 minutes.',
      threshold_phrase: null,
      events: [{ at: created_at, what: 'A wrong password.', source: '192.0.2.1', phrase: null }],
    },
    count: 1,
    first_seen: created_at,
    last_seen: created_at,
    status: 'open',
    resolution: null,
    hidden: false,
    scan_id: null,
    ...parts,
  };
}

export function alertDetailOf(parts: Partial<AlertDetail> = {}): AlertDetail {
  return { ...alertOf(parts), about_sign_in: false, suppressible: true, decisions: [], ...parts };
}

export function alertCountsOf(parts: Partial<Monitor['alerts']> = {}): Monitor['alerts'] {
  return { active: 0, resolved: 0, hidden: 0, real: 0, test_files: 0, unstopped: 0, gravest: null, ...parts };
}

export function monitorOf(parts: Partial<Monitor> = {}): Monitor {
  return {
    watching_since: '2026-11-01T08:00:00.000Z',
    watches: [
      { id: 'files', is_watched: true, reason: null },
      { id: 'sign_ins', is_watched: true, reason: null },
      { id: 'requests', is_watched: true, reason: null },
    ],
    alerts: alertCountsOf(),
    ...parts,
  };
}

export function statsOf(parts: Partial<Stats> = {}): Stats {
  return {
    threats_blocked_today: 0,
    intrusion_attempts_stopped: 0,
    brute_force_attempts_blocked: 0,
    threats_blocked_total: 0,
    simulated_threats_blocked_today: 0,
    simulated_intrusion_attempts_stopped: 0,
    simulated_brute_force_attempts_blocked: 0,
    simulated_threats_blocked_total: 0,
    test_files_blocked_today: 0,
    test_files_blocked_total: 0,
    ...parts,
  };
}

export function templateOf(parts: Partial<Template> = {}): Template {
  return {
    id: nextId(),
    template_name: 'Family Shield',
    base_price: 19.99,
    currency: 'USD',
    duration_months: 12,
    max_devices: 5,
    max_web_devices: 10,
    max_profiles: 5,
    is_premium: true,
    features: ['Anti-hacking monitor', 'Five devices'],
    ...parts,
  };
}

export function subscriptionOf(parts: Partial<Subscription> = {}): Subscription {
  return {
    id: nextId(),
    user_email: 'maria@example.com',
    user_username: 'maria',
    plan_name: 'Family Shield',
    price: 19.99,
    currency: 'USD',
    duration_months: 12,
    max_devices: 5,
    max_web_devices: 10,
    max_profiles: 5,
    is_premium: true,
    features: [],
    status: 'active',
    starts_at: '2026-11-20T10:00:00.000Z',
    expires_at: '2027-11-20T10:00:00.000Z',
    ...parts,
  };
}

export function userPlanRequestOf(parts: Partial<UserPlanRequest> = {}): UserPlanRequest {
  return {
    id: nextId(),
    template: templateOf(),
    status: 'open',
    requested_at: '2026-11-20T10:00:00.000Z',
    decided_at: null,
    user_email: 'maria@example.com',
    user_username: 'maria',
    ...parts,
  };
}

/** Administrator counts that are all zero. */
export const NOTHING_WAITS = {
  conversations: 0,
  remote_requests: 0,
  plan_requests: 0,
  plans_ending: 0,
  jobs: 0,
  false_alarms: 0,
  mails: 0,
  unproven: 0,
} as const;
