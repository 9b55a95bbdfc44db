import { QUARANTINE_DAYS } from '@palisade/contract/quarantine';
import type { Selectable, Updateable } from 'kysely';
import type { AntivirusTables } from './antivirus.tables.ts';

/** A record as it is stored. */
export type ScanRow = Selectable<AntivirusTables['scans']>;

/** The verdict of one reading. */
export type Verdict = Required<
  Pick<
    Updateable<AntivirusTables['scans']>,
    | 'scan_status'
    | 'status_detail'
    | 'threat_detected'
    | 'threat_member'
    | 'threat_facts'
    | 'media_type'
    | 'notes'
    | 'note_phrases'
    | 'engines'
    | 'coverage'
    | 'edition'
    | 'answered_from'
    | 'attempts'
  >
>;

/** The state of the uploaded bytes: `left` if they could not be removed, `waiting` for an engine or for room to be sealed. */
export type Copy = 'sealed' | 'deleted' | 'left' | 'waiting';

/** Details of a file that is pending because no engine has read it yet. */
export const UNREAD = ['engine_down', 'queued'] as const;

/** Whether no engine has read the file yet; otherwise a spooled file waits for room to be sealed. */
export function isUnread({ scan_status, status_detail }: Pick<ScanRow, 'scan_status' | 'status_detail'>): boolean {
  return scan_status === 'pending' && UNREAD.some((detail) => detail === status_detail);
}

/** Fields of a record without kept bytes. */
export const NOT_KEPT = { sealed: 0, spooled: 0, in_store: 0, sealed_sha256: null, kept_until: null } as const;

/** A new record with only the facts of the file: not read yet, and without kept bytes. */
export function newScan(file: Pick<ScanRow, 'id' | 'user_id' | 'filename' | 'file_hash' | 'size' | 'scanned_at'>): ScanRow {
  return {
    ...file,
    ...NOT_KEPT,
    scan_status: 'pending',
    status_detail: null,
    threat_detected: null,
    threat_member: null,
    threat_facts: null,
    media_type: null,
    first_seen_at: file.scanned_at,
    notes: '[]',
    note_phrases: '[]',
    engines: '[]',
    coverage: null,
    attempts: 0,
    engine_deaths: 0,
    engine_deaths_edition: null,
    unended_readings: 0,
    home: null,
    edition: null,
    answered_from: null,
    device_id: null,
    device_name: null,
    device_path: null,
    closed_at: null,
    closed_by: null,
  };
}

export const DAY_MS = 86_400_000;

/** The time until which a file that has just arrived may wait to be read. */
export function waitsUntil(now: number): string {
  return new Date(now + QUARANTINE_DAYS.pending * DAY_MS).toISOString();
}
