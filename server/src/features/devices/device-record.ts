import { hash } from 'node:crypto';
import {
  type AckState,
  agentHealthSchema,
  capabilitiesSchema,
  devicePathSchema,
  fingerprintOf,
  foreignTableSchema,
  osSchema,
  postureSchema,
  scanProgressOnDeviceSchema,
  TRIAL_MS,
  telemetrySchema,
  watchingSchema,
  webProtectionStateSchema,
} from '@palisade/contract/agent';
import { type Device, type DeviceFinding, type DeviceScan, type Enforcement, STALLED_MS } from '@palisade/contract/devices';
import type { Selectable } from 'kysely';
import { z } from 'zod';
import type { DeviceTables } from './devices.tables.ts';

export type DeviceRow = Selectable<DeviceTables['devices']>;
export type ScanRow = Selectable<DeviceTables['device_scans']>;
export type FindingRow = Selectable<DeviceTables['device_findings']>;

/** Final states of a scan. */
export const SCANS_OVER: readonly DeviceScan['state'][] = ['done', 'cancelled', 'failed'];

const errorsSchema = z.array(z.object({ rule_id: z.string().nullable(), message: z.string() }));
const postureListSchema = z.array(postureSchema);
const tablesSchema = z.array(foreignTableSchema);
export const foldersSchema = z.array(devicePathSchema);

/** JSON of a column. A text of an earlier version that this one cannot read counts as missing. */
function read<T>(schema: z.ZodType<T>, text: string | null): T | undefined {
  return text === null ? undefined : schema.safeParse(JSON.parse(text)).data;
}

/** The revision that a device should have: changes of its person's rules plus its own. It never decreases. An unconfirmed device has the first one, without rules. */
export function desiredRev({ own_rev, confirmed_at }: Pick<DeviceRow, 'own_rev' | 'confirmed_at'>, rules_rev: number): number {
  return confirmed_at === null ? 1 : 1 + rules_rev + own_rev;
}

function stateOf({ ack_rev, ack_state }: DeviceRow, desired_rev: number): 'pending' | AckState {
  return ack_state === null || ack_rev < desired_rev ? 'pending' : ack_state;
}

function enforcementOf(row: DeviceRow, desired_rev: number, now: number): Enforcement {
  const state = stateOf(row, desired_rev);
  const is_applied = row.applied_rev === desired_rev && state === 'applied';
  return {
    state,
    desired_rev,
    applied_rev: row.applied_rev,
    pending_since: is_applied ? null : (row.pending_since ?? row.enrolled_at),
    applied_at: row.applied_at,
    seconds_left:
      state === 'trial' && row.trial_at !== null
        ? Math.max(0, Math.ceil((Date.parse(row.trial_at) + TRIAL_MS - now) / 1_000))
        : null,
    errors: read(errorsSchema, row.ack_errors) ?? [],
  };
}

/** The current state of a device. A connection alone does not prove that the agent's workers run; their reports do. */
function deviceStateOf(
  { revoked_at, confirmed_at, reported_at }: Pick<DeviceRow, 'revoked_at' | 'confirmed_at' | 'reported_at'>,
  is_connected: boolean,
  now: number,
): Device['state'] {
  if (revoked_at !== null) return 'revoked';
  if (confirmed_at === null) return 'waiting';
  if (!is_connected) return 'offline';
  return reported_at !== null && now - Date.parse(reported_at) > STALLED_MS ? 'stalled' : 'online';
}

/** The fingerprint of a public key (SPKI in base64). */
export function keyFingerprint(public_key: string): string {
  return fingerprintOf(hash('sha256', Buffer.from(public_key, 'base64'), 'hex'));
}

/** A device as a reply has it. Columns are copied under their names; the schema of the reply removes those that it does not name. */
export function deviceOf(
  row: DeviceRow,
  more: { rules_rev: number; rules_count: number; is_online: boolean; scan: ScanRow | undefined; now: number },
): Device {
  const { token_hash: _, public_key, ...columns } = row;
  const desired_rev = desiredRev(row, more.rules_rev);
  return {
    ...columns,
    os: read(osSchema, row.os) ?? { platform: 'other', name: '', arch: '' },
    fingerprint: keyFingerprint(public_key),
    state: deviceStateOf(row, more.is_online, more.now),
    capabilities: read(capabilitiesSchema, row.capabilities) ?? null,
    defaults: { inbound: row.default_inbound, outbound: row.default_outbound },
    enforcement: enforcementOf(row, desired_rev, more.now),
    rules_count: more.rules_count,
    telemetry: read(telemetrySchema, row.telemetry) ?? null,
    posture: read(postureListSchema, row.posture) ?? [],
    foreign_tables: read(tablesSchema, row.foreign_tables) ?? [],
    is_watching: row.is_watching === 1,
    watching: read(watchingSchema, row.watching) ?? null,
    health: read(agentHealthSchema, row.health) ?? null,
    web_protection: read(webProtectionStateSchema, row.web_protection) ?? null,
    watched: read(foldersSchema, row.watched) ?? [],
    exclusions: read(foldersSchema, row.exclusions) ?? [],
    scan: more.scan === undefined ? null : deviceScanOf(more.scan),
  };
}

export function deviceScanOf({ user_id: _, wanted: __, progress, ...row }: ScanRow): DeviceScan {
  const shown = read(scanProgressOnDeviceSchema, progress) ?? null;
  return { ...row, progress: shown, files_unread: shown === null ? 0 : shown.files_pending + shown.folders_unread };
}

export const capabilitiesOf = ({ capabilities }: Pick<DeviceRow, 'capabilities'>) => read(capabilitiesSchema, capabilities);

/** A finding as a reply has it, without its second look. */
export function findingOf(row: FindingRow): Omit<DeviceFinding, 'second_look'> {
  const { id, device_id, scan_id, path, file_hash, size, threat, member, found_at, state, reason, order_action } = row;
  return { id, device_id, scan_id, path, file_hash, size, threat, member, found_at, state, reason, order: order_action };
}
