import type { Device, DeviceFinding, DeviceScan } from '@palisade/contract/devices';

let lastId = 0;
const nextId = () => {
  lastId += 1;
  return `01930000-0000-7000-b000-${String(lastId).padStart(12, '0')}`;
};

/** Builds a device for tests. A test sets the fields that it is about. */
export function deviceOf(parts: Partial<Device> = {}): Device {
  return {
    id: nextId(),
    device_name: 'Laptop',
    hostname: 'laptop',
    agent_version: '3.7.9',
    state: 'online',
    os: { platform: 'linux', name: 'Debian GNU/Linux 12 (bookworm)', arch: 'x64' },
    enrolled_at: '2026-11-20T10:00:00.000Z',
    fingerprint: '0123 4567 89AB CDEF 0123 4567 89AB CDEF',
    revoked_at: null,
    last_seen_at: '2026-11-20T10:05:00.000Z',
    skew_ms: 3,
    capabilities: {
      firewall: 'nftables',
      firewall_reason: null,
      conntrack: true,
      scanner: true,
      scanner_reason: null,
      watch: true,
      control: true,
      control_reason: null,
      second_look: true,
      second_look_reason: null,
      containers: false,
      parsed_rules: true,
    },
    defaults: { inbound: 'allow', outbound: 'allow' },
    enforcement: {
      state: 'applied',
      desired_rev: 4,
      applied_rev: 4,
      pending_since: null,
      seconds_left: null,
      errors: [],
      applied_at: '2026-11-20T10:01:00.000Z',
    },
    rules_count: 2,
    telemetry: null,
    telemetry_at: null,
    posture: [],
    foreign_tables: [],
    is_watching: true,
    watching: { folders: 3, reason: null },
    health: { watcher: 'working', overflow: null, files_unread: 0, workers_stuck: 0 },
    watched: [],
    exclusions: [],
    scan: null,
    last_full_scan_at: null,
    ...parts,
  };
}

export function deviceScanOf(parts: Partial<DeviceScan> = {}): DeviceScan {
  return {
    id: nextId(),
    device_id: nextId(),
    scan: 'full',
    path: null,
    state: 'running',
    reason: null,
    files_found: 0,
    files_unread: 0,
    requested_at: '2026-11-20T10:00:00.000Z',
    started_at: null,
    ended_at: null,
    signatures_version: null,
    progress: null,
    ...parts,
  };
}

export function deviceFindingOf(parts: Partial<DeviceFinding> = {}): DeviceFinding {
  return {
    id: nextId(),
    device_id: nextId(),
    scan_id: null,
    path: '/home/maria/invoice.zip',
    file_hash: 'a'.repeat(64),
    size: 68,
    threat: 'EICAR_Test_File',
    member: 'eicar.com',
    found_at: '2026-11-20T10:05:00.000Z',
    state: 'quarantined',
    reason: null,
    order: null,
    second_look: null,
    ...parts,
  };
}
