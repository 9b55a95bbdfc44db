import type { Device, DeviceScan, Enforcement, WishedSystem } from '@palisade/contract/devices';
import type { Tone } from '#ui/badge.tsx';

export const DEVICE_STATES: Record<Device['state'], { label: string; tone: Tone }> = {
  waiting: { label: 'Waiting for you', tone: 'attention' },
  online: { label: 'Online', tone: 'safe' },
  stalled: { label: 'Not responding', tone: 'danger' },
  offline: { label: 'Offline', tone: 'attention' },
  revoked: { label: 'Revoked', tone: 'plain' },
};

/** The line below the name of a device, with the time of its last report. */
export const DEVICE_LINES = {
  waiting: '{system}',
  online: '{system}, reported {when}',
  stalled: '{system}, no report since {when}',
  offline: '{system}, silent since {when}',
  revoked: '{system}, revoked {when}',
} as const satisfies Record<Device['state'], string>;

export const ENFORCEMENTS: Record<Enforcement['state'], { label: string; tone: Tone; sentence: string }> = {
  pending: { label: 'Pending', tone: 'attention', sentence: 'Waiting for the device to apply your latest rules.' },
  trial: {
    label: 'Testing',
    tone: 'note',
    sentence: 'The latest rules apply while the agent checks its connection to this server.',
  },
  applied: { label: 'Applied', tone: 'safe', sentence: 'Your latest rules apply.' },
  rolled_back: {
    label: 'Rolled back',
    tone: 'danger',
    sentence: 'Your latest rules disconnected the device, so it went back to the previous ones.',
  },
  rejected: {
    label: 'Rejected',
    tone: 'danger',
    sentence: 'The device rejected your latest rules. The previous ones apply.',
  },
  unavailable: { label: 'Not applied', tone: 'attention', sentence: 'This device can’t apply rules.' },
};

/** State of each kind of scan, without full stop. */
export const SCANS: Record<DeviceScan['scan'], Record<DeviceScan['state'], string>> = {
  quick: {
    queued: 'Quick scan is waiting for the device',
    running: 'Quick scan is running',
    paused: 'Quick scan is paused',
    waiting: 'Quick scan is waiting',
    done: 'Quick scan finished',
    cancelled: 'Quick scan was cancelled',
    failed: 'Quick scan failed',
  },
  full: {
    queued: 'Full scan is waiting for the device',
    running: 'Full scan is running',
    paused: 'Full scan is paused',
    waiting: 'Full scan is waiting',
    done: 'Full scan finished',
    cancelled: 'Full scan was cancelled',
    failed: 'Full scan failed',
  },
  folder: {
    queued: 'Folder scan is waiting for the device',
    running: 'Folder scan is running',
    paused: 'Folder scan is paused',
    waiting: 'Folder scan is waiting',
    done: 'Folder scan finished',
    cancelled: 'Folder scan was cancelled',
    failed: 'Folder scan failed',
  },
};

export const CHECKS: Record<Device['posture'][number]['check'], string> = {
  security_updates: 'Security updates',
  disk_encryption: 'Disk encryption',
  screen_lock: 'Screen lock',
  ssh_settings: 'SSH settings',
  firewall_default: 'Firewall default',
  signatures_fresh: 'Threat definitions',
};

export function isOver({ state }: DeviceScan): boolean {
  return state === 'done' || state === 'cancelled' || state === 'failed';
}

/** Names of systems without an agent, alone and within a sentence. */
export const SYSTEM_NAMES: Record<WishedSystem, { name: string; here: string }> = {
  windows: { name: 'Windows', here: 'Windows' },
  macos: { name: 'macOS', here: 'macOS' },
  phone: { name: 'phone', here: 'a phone or tablet' },
};
