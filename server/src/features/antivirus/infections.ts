import { TEST_FILE_THREATS } from '@palisade/contract/constants';
import { displayName } from '@palisade/scanner/filename';
import type { ExpressionBuilder, Kysely } from 'kysely';
import { newId } from '#platform/id.ts';
import type { AntivirusTables } from './antivirus.tables.ts';
import { newScan, type ScanRow } from './scan-row.ts';

type Scans = Pick<AntivirusTables, 'scans'>;

/** Infections that their person must resolve. */
export interface OpenInfections {
  /** Uploads of the same bytes count as one infection; on devices each copy counts. */
  count: number;
  /** The newest ones. */
  newest: readonly { id: string; filename: string; threat: string | null }[];
}

export const NO_INFECTIONS: OpenInfections = { count: 0, newest: [] };

/** Maximum number of infections that sentences name. */
const NAMED = 3;

/** True if a row of `scans` is an infection that its person must resolve. */
export const isOpenInfection = ({ eb, and, fn, val }: ExpressionBuilder<Scans, 'scans'>) =>
  and([
    eb('scan_status', '=', 'infected'),
    eb('closed_at', 'is', null),
    eb(fn.coalesce('threat_detected', val('')), 'not in', TEST_FILE_THREATS),
  ]);

/** A person's open infections, without the industry's harmless test files. */
export async function readOpenInfections(database: Kysely<Scans>, user_id: string): Promise<OpenInfections> {
  const rows = await database
    .selectFrom('scans')
    .where('user_id', '=', user_id)
    .where(isOpenInfection)
    .groupBy(['file_hash', 'device_id', 'device_path'])
    .select(({ fn }) => [fn.max('id').as('id'), fn.max('filename').as('filename'), fn.max('threat_detected').as('threat')])
    // The number of groups.
    .select(({ fn }) => fn.countAll<number>().over().as('count'))
    .orderBy('id', 'desc')
    .limit(NAMED)
    .execute();
  return { count: Number(rows[0]?.count ?? 0), newest: rows.map(({ id, filename, threat }) => ({ id, filename, threat })) };
}

/** A file that a device found, and put into quarantine or left. */
export interface FoundOnDevice {
  user_id: string;
  device: { id: string; device_name: string };
  file: {
    path: string;
    file_hash: string;
    size: number;
    threat: string;
    member: string | null;
    found_at: string;
    outcome: 'quarantined' | 'left';
  };
}

/** The record of an infected file that a device found; closed if its agent quarantined the file. `scanned_at` is an ISO time. */
export function rowOnDevice({ user_id, device, file }: FoundOnDevice, scanned_at: string): ScanRow {
  const of = { user_id, filename: displayName(file.path), file_hash: file.file_hash, size: file.size };
  return {
    ...newScan({ id: newId(), ...of, scanned_at }),
    ...{ scan_status: 'infected', threat_detected: file.threat, threat_member: file.member },
    ...{ device_id: device.id, device_name: device.device_name, device_path: file.path },
    ...(file.outcome === 'quarantined' && { closed_at: scanned_at, closed_by: 'agent' }),
  };
}

/** Where a copy of a file lies on a device. */
export interface CopyOnDevice {
  user_id: string;
  device_id: string;
  path: string;
  file_hash: string;
}

/** The end of an infection, or null for one that is open again. */
type End = { at: string; by: 'person' | 'agent' } | null;

const columnsOf = (end: End) => ({ closed_at: end?.at ?? null, closed_by: end?.by ?? null });

/**
 * Closes the infections of the given records, or reopens them, all or none: a person's uploads, each with every upload of the same bytes, or the copy on a device. Returns
 * the changed records.
 */
export async function settleRecords(
  database: Kysely<Scans>,
  { user_id, scan_ids, end }: { user_id: string; scan_ids: readonly string[]; end: End },
): Promise<ScanRow[]> {
  return await database
    .updateTable('scans')
    .set(columnsOf(end))
    .where('user_id', '=', user_id)
    .where('scan_status', '=', 'infected')
    .where('closed_at', end === null ? 'is not' : 'is', null)
    .where(({ exists, selectFrom, ref }) =>
      exists(
        selectFrom('scans as named')
          .select('named.id')
          .where('named.id', 'in', scan_ids)
          .where('named.user_id', '=', user_id)
          .whereRef('named.file_hash', '=', 'scans.file_hash')
          .where(({ eb, fn, val }) => eb(fn.coalesce('named.device_id', val('')), '=', fn.coalesce('scans.device_id', val(''))))
          .where(({ eb, fn, val }) =>
            eb(fn.coalesce('named.device_path', val('')), '=', fn.coalesce(ref('scans.device_path'), val(''))),
          ),
      ),
    )
    .returningAll()
    .execute();
}

/** `settleRecords` for a copy that an agent deleted or restored. */
export async function settleCopy(database: Kysely<Scans>, copy: CopyOnDevice, end: End): Promise<ScanRow[]> {
  return await database
    .updateTable('scans')
    .set(columnsOf(end))
    .where('user_id', '=', copy.user_id)
    .where('scan_status', '=', 'infected')
    .where('file_hash', '=', copy.file_hash)
    .where('device_id', '=', copy.device_id)
    .where('device_path', '=', copy.path)
    .where('closed_at', end === null ? 'is not' : 'is', null)
    .returningAll()
    .execute();
}

/** Those of these records whose device has no other open infection by the same bytes. */
export async function lastCopies(database: Kysely<Scans>, rows: readonly ScanRow[]): Promise<ScanRow[]> {
  const ids = rows.filter(({ device_id }) => device_id !== null).map(({ id }) => id);
  if (ids.length === 0) return [...rows];
  const kept = await database
    .selectFrom('scans')
    .select('scans.id')
    .where('scans.id', 'in', ids)
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('scans as other')
          .select('other.id')
          .where('other.scan_status', '=', 'infected')
          .where('other.closed_at', 'is', null)
          .whereRef('other.user_id', '=', 'scans.user_id')
          .whereRef('other.device_id', '=', 'scans.device_id')
          .whereRef('other.file_hash', '=', 'scans.file_hash'),
      ),
    )
    .execute();
  const open = new Set(kept.map(({ id }) => id));
  return rows.filter(({ id }) => !open.has(id));
}
