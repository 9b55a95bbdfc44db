import { type Refusal, refusalsFrom } from '#platform/refusals.ts';

/** Refusals about devices and their agents. A landed code never changes its meaning or its parameters. */
export const DEVICE_REFUSALS = {
  'agent.too_fast': {
    problem: 'too_many_requests',
    english: 'This device says too much at once. Try again in {wait}.',
    params: { wait: 'wait' },
  },
  'threat_definitions.none': { problem: 'not_found', english: 'These threat definitions aren’t available.' },
  'device.revoked': { problem: 'conflict', english: 'This device was revoked.' },
  'device.other_fingerprint': {
    problem: 'conflict',
    english: 'The key of this device changed meanwhile. Reload the page and compare again.',
  },
  'device.already_revoked': { problem: 'conflict', english: 'This device is already revoked.' },
  'device.already_scanning': {
    problem: 'conflict',
    english: 'This device is already scanning. Wait for it to finish, or cancel it.',
  },
  'device.scan_finished': { problem: 'conflict', english: 'This scan already finished.' },
  'device.file_not_quarantined': { problem: 'conflict', english: 'This file isn’t in quarantine.' },
  'device.not_connected': {
    problem: 'conflict',
    english: 'This device isn’t connected. Turn it on and check that its agent is running.',
  },
  'device.cannot_share_screen': { problem: 'conflict', english: 'This device’s agent can’t share its screen.' },
  'enrollment.key_form': { problem: 'invalid_field', english: 'Give an Ed25519 key as SPKI in base64.' },
  'enrollment.too_many_codes': {
    problem: 'too_many_requests',
    english: 'Too many wrong codes. Try again in {wait}.',
    params: { wait: 'wait' },
  },
  'enrollment.device_limit': {
    problem: 'device_limit',
    english: {
      count: 'limit',
      one: 'Your plan holds 1 device, and you’ve reached that. Revoke one or ask for a larger plan.',
      other: 'Your plan holds {limit} devices, and you’ve reached that. Revoke one or ask for a larger plan.',
    },
    params: { limit: 'grouped' },
  },
  'server_rescan.file_deleted': { problem: 'conflict', english: 'This file was deleted.' },
  'server_rescan.file_too_large': { problem: 'conflict', english: 'This file is too large for the server to scan.' },
  'server_rescan.agent_too_old': { problem: 'conflict', english: 'This device’s agent can’t send files. Update the agent.' },
  'server_rescan.running': { problem: 'conflict', english: 'A server rescan of this file is already running.' },
  'server_rescan.arrived': { problem: 'conflict', english: 'The file already arrived, or wasn’t requested.' },
  'server_rescan.not_requested': { problem: 'not_found', english: 'This file is no longer requested.' },
  'server_rescan.other_file': { problem: 'conflict', english: 'The device sent a different file, so we didn’t accept it.' },
} as const satisfies Record<string, Refusal>;

export const { sentence, refuse, refuseField, refuseFor } = refusalsFrom(DEVICE_REFUSALS);
