import type { Device, DeviceScan, Enforcement } from '@palisade/contract/devices';
import type { Tone } from '#ui/badge.tsx';

export const DEVICE_STATES: Record<Device['state'], { label: string; tone: Tone }> = {
  online: { label: 'Online', tone: 'safe' },
  stalled: { label: 'Not responding', tone: 'danger' },
  offline: { label: 'Offline', tone: 'attention' },
  revoked: { label: 'Revoked', tone: 'plain' },
};

export const ENFORCEMENTS: Record<Enforcement['state'], { label: string; tone: Tone; sentence: string }> = {
  pending: { label: 'Pending', tone: 'attention', sentence: 'The device has not answered for the newest rules yet.' },
  trial: {
    label: 'On trial',
    tone: 'note',
    sentence: 'The rules are in force, and the agent makes sure that it still reaches this server.',
  },
  applied: { label: 'Applied', tone: 'safe', sentence: 'The newest rules are in force.' },
  rolled_back: {
    label: 'Rolled back',
    tone: 'danger',
    sentence: 'The newest rules cut the device off from this server, so the ones before them are in force again.',
  },
  rejected: {
    label: 'Rejected',
    tone: 'danger',
    sentence: 'The device refused the newest rules. The ones before them are in force.',
  },
  unavailable: { label: 'Not enforced', tone: 'attention', sentence: 'No rule is enforced on this device.' },
};

export const SCAN_KINDS: Record<DeviceScan['scan'], string> = {
  quick: 'Quick scan',
  full: 'Full scan',
  folder: 'Scan of a folder',
};

export const SCAN_STATES: Record<DeviceScan['state'], string> = {
  queued: 'waits for the device',
  running: 'runs',
  paused: 'is paused',
  waiting: 'waits',
  done: 'is done',
  cancelled: 'was cancelled',
  failed: 'failed',
};

export const CHECKS: Record<Device['posture'][number]['check'], string> = {
  security_updates: 'Security updates',
  disk_encryption: 'Disk encryption',
  screen_lock: 'Screen lock',
  ssh_settings: 'SSH settings',
  firewall_default: 'Firewall default',
  signatures_fresh: 'Signatures',
};

export function isOver({ state }: DeviceScan): boolean {
  return state === 'done' || state === 'cancelled' || state === 'failed';
}
