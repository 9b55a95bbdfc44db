import type { Device, DeviceFinding, DeviceScan } from '@palisade/contract/devices';
import { AGE_GROUPS, type Household, type Profile } from '@palisade/contract/household';
import type { WebDevice, WebProtection } from '@palisade/contract/web-protection';

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
    web_protection: null,
    watched: [],
    exclusions: [],
    scan: null,
    last_full_scan_at: null,
    ...parts,
  };
}

export function telemetryOf(parts: Partial<NonNullable<Device['telemetry']>> = {}): NonNullable<Device['telemetry']> {
  return {
    cpu_percent: 1,
    memory_percent: 1,
    memory_bytes: 1,
    network_in: 0,
    network_out: 0,
    network_percent: null,
    uptime_s: 1,
    listening: [],
    connections: [],
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

/** A device of web protection that asks this server. */
export function webDeviceOf(parts: Partial<WebDevice> = {}): WebDevice {
  const at = '2026-11-26T08:00:00.000Z';
  return {
    ...{ id: nextId(), name: 'Anna’s phone', kind: 'android', key: 'abcdefghijklmnopqrstuvwxyz', address: null },
    ...{ created_at: at, last_question_at: at, is_silent: false, answered: 40, refused: [{ category: 'ads', count: 2 }] },
    ...{ device_id: null, usual_gap_h: null, can_show_names: true, names_until: null, is_of_household: false },
    ...parts,
  };
}

export function webProtectionOf(parts: Partial<WebProtection> = {}): WebProtection {
  return {
    devices: [],
    ...{ devices_maximum: 10, devices_left: 10 },
    policy: { categories: ['ads'], services: [], safe_search: 'off' },
    paused_until: null,
    names: [],
    categories: [
      { category: 'ads', names: 900 },
      { category: 'adult', names: 0 },
      { category: 'gambling', names: 0 },
      { category: 'ways_around', names: 40 },
    ],
    has_dangerous: true,
    ways: { tls_host: 'dns.example.com', plain: null, addresses: [] },
    services: [{ id: 'tiktok', name: 'TikTok', kind: 'video' }],
    ...parts,
  };
}

/** A profile of a household, without devices. */
export function profileOf(parts: Partial<Profile> = {}): Profile {
  return {
    ...{ id: nextId(), name: 'Mia', picture: 'fox', age_group: 'child', shared_by: [], state: 'on', paused_until: null },
    rules: {
      categories: ['adult', 'gambling'],
      services: [],
      safe_search: 'moderate',
      times: [{ days: [1, 2, 3, 4, 5, 6, 7], from: '21:00', to: '06:30', refuses: 'all' }],
    },
    ...{ ask_key: 'abcdefghijklmnopqrstuvwxyz', devices: [], names: [], refused: [], created_at: '2026-11-20T10:00:00.000Z' },
    today: { answered: 120, refused: [{ category: 'adult', count: 2 }] },
    ...parts,
  };
}

export function householdOf(parts: Partial<Household> = {}): Household {
  const rules = profileOf().rules;
  return {
    time_zone: 'Europe/Vienna',
    guardians: [{ id: nextId(), name: 'Anna', is_me: true }],
    ...{ invites: [], profiles: [], profiles_maximum: 5, has_plan: true, asks: [], free_devices: [] },
    presets: AGE_GROUPS.map((age_group) => ({ age_group, rules })),
    ...parts,
  };
}

export function askOf(parts: Partial<Household['asks'][number]> = {}): Household['asks'][number] {
  return {
    ...{ id: nextId(), profile_id: nextId(), device_name: 'Mia’s phone', name: 'roblox.com', count: 1 },
    ...{ asked_at: '2026-11-26T08:00:00.000Z', answer: 'wait', line: '', answered_at: null, until: null },
    ...parts,
  };
}
