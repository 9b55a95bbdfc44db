import type { AckState, DeviceScanState, ScanJob, ScanKind } from '@palisade/contract/agent';
import type { DeviceFinding, WishedSystem } from '@palisade/contract/devices';
import type { Action, Direction } from '@palisade/contract/firewall';
import type { PersonalTable } from '#platform/personal-data.ts';

export interface DeviceTables {
  /** Requests for agents of unsupported systems. */
  device_wishes: { user_id: string; system: WishedSystem; note: string; created_at: string };
  devices: {
    device_name: string;
    id: string;
    user_id: string;
    hostname: string;
    /** JSON, as the agent says it. */
    os: string;
    public_key: string;
    /** SHA-256 in hex of the token. */
    token_hash: string;
    agent_version: string;
    enrolled_at: string;
    /** When its person confirmed it as theirs; null until then. */
    confirmed_at: string | null;
    revoked_at: string | null;
    last_seen_at: string | null;
    /** The holder of its single connection, and the end of the lease, by the database's clock. */
    instance: string | null;
    connection_id: string | null;
    connected_until: string | null;
    /** JSON. */
    capabilities: string | null;
    skew_ms: number | null;
    default_inbound: Action;
    default_outbound: Action;
    /** Number of its own changes, added to its person's rule changes for the revision. */
    own_rev: number;
    /** Changes of any other part of its desired state. */
    told_rev: number;
    /** Its last answer to a revision. */
    ack_rev: number;
    ack_state: AckState | null;
    /** JSON. */
    ack_errors: string;
    applied_rev: number;
    applied_at: string | null;
    pending_since: string | null;
    /** Since when it has been trying out the revision of `ack_rev`; null if it is not. */
    trial_at: string | null;
    /** The agent run whose report was counted last, and its number. */
    report_instance: string | null;
    report_seq: number;
    blocked_total: number;
    /** The last counted position of its log of dropped packets. */
    blocked_log: string | null;
    blocked_number: number;
    /** JSON, with `posture`, `foreign_tables`, `watched` and `exclusions`. */
    telemetry: string | null;
    telemetry_at: string | null;
    posture: string;
    foreign_tables: string;
    /** 0 or 1. */
    is_watching: number;
    watching: string | null;
    /** When the agent last reported, or a new start of it said hello; and its health (JSON). */
    reported_at: string | null;
    health: string | null;
    /** JSON: what its agent said of web protection. */
    web_protection: string | null;
    watched: string;
    exclusions: string;
    last_full_scan_at: string | null;
    /** When its person was notified of a long silence; null once it is heard again. */
    silence_told_at: string | null;
  };
  /** Devices of a person that are not revoked. */
  device_counts: { user_id: string; devices: number };
  enrolment_codes: { code_hash: string; user_id: string; expires_at: string };
  device_counters: {
    device_id: string;
    /** A rule's id, or the direction whose default decided. */
    of: string;
    /** When the counter last started at 0: `packets` and `bytes` count from then; earlier totals are kept separately. */
    epoch: string;
    packets: number;
    bytes: number;
    packets_before: number;
    bytes_before: number;
    last_at: string | null;
  };
  /** Recently dropped packets, in parts of five minutes. */
  device_blocked: {
    device_id: string;
    part: string;
    direction: Direction;
    protocol: 'tcp' | 'udp' | 'icmp' | 'other';
    /** Empty for the sum of further sources. */
    address: string;
    /** -1 if there is none. */
    port: number;
    packets: number;
    first_at: string;
    last_at: string;
  };
  /** Sets of signatures that devices were offered. */
  signature_editions: { number: number; sha256: string; issued_at: string };
  /** Remote sessions of a person during which a device was connected, and what changed on it meanwhile. */
  device_sessions: {
    id: string;
    user_id: string;
    device_id: string;
    session_id: string;
    state: 'measuring' | 'awaited' | 'measured';
    asked_at: string;
    /** When the session was over. */
    ended_at: string | null;
    /** JSON, as the agent says it. */
    measured: string | null;
  };
  device_events: { device_id: string; id: string; heard_at: string };
  device_scans: {
    id: string;
    user_id: string;
    device_id: string;
    scan: ScanKind;
    path: string | null;
    wanted: ScanJob['wanted'];
    state: DeviceScanState;
    reason: string | null;
    requested_at: string;
    started_at: string | null;
    ended_at: string | null;
    signatures_version: string | null;
    /** JSON. */
    progress: string | null;
    files_found: number;
  };
  device_findings: {
    id: string;
    user_id: string;
    device_id: string;
    /** The device's own id for it. */
    finding_id: string;
    scan_id: string | null;
    path: string;
    file_hash: string;
    size: number;
    threat: string;
    member: string | null;
    found_at: string;
    /** The user id on the device's system; null if the agent did not report it. */
    owner: number | null;
    state: DeviceFinding['state'];
    reason: string | null;
    /** The person's order that the device has not carried out. */
    order_id: string | null;
    order_action: 'restore' | 'delete' | null;
    /** The state of a second look by this server's scanner; null when none was asked for. */
    look_state: 'asked' | 'scanning' | 'answered' | 'failed' | null;
    /** The id that the device names when it sends the file; null once no file is asked for. */
    look_order_id: string | null;
    look_asked_at: string | null;
    look_received_at: string | null;
    /** The scan that answers. */
    look_scan_id: string | null;
    look_reason: string | null;
  };
}

export const DEVICE_PERSONAL: readonly PersonalTable[] = [
  {
    table: 'devices',
    withheld: [
      ...['token_hash', 'public_key', 'instance', 'connection_id', 'connected_until', 'report_instance', 'report_seq'],
      ...['blocked_log', 'blocked_number'],
    ],
    json: [
      'os',
      'capabilities',
      'ack_errors',
      'telemetry',
      'posture',
      'foreign_tables',
      'watching',
      'health',
      'web_protection',
      'watched',
      'exclusions',
    ],
  },
  { table: 'device_wishes', key: 'system' },
  { table: 'device_counts', key: 'user_id' },
  { table: 'enrolment_codes', key: 'code_hash', withheld: ['code_hash'] },
  { table: 'device_scans', json: ['progress'] },
  { table: 'device_findings' },
  { table: 'device_sessions', json: ['measured'] },
];

declare module '#platform/tables.ts' {
  interface Tables extends DeviceTables {}
}
