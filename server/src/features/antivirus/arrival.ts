import type { Coverage, Scan } from '@palisade/contract/antivirus';
import type { Kysely } from 'kysely';
import type { InstallationTables } from '#platform/installation.ts';
import type { JobTables } from '#platform/jobs/job-tables.ts';
import type { AntivirusTables } from './antivirus.tables.ts';
import type { Waiter } from './examination-news.ts';
import type { ScanCounts } from './scan-counts.ts';
import type { ScanRow } from './scan-row.ts';

/** A file received as `id`: in the spool's folder, or in memory. */
export interface Arrival extends Waiter {
  id: string;
  user_id: string;
  /** The name as sent; untrusted. */
  filename: string;
  /** Bytes. */
  size: number;
  sha256: string;
  bytes: Buffer | undefined;
}

export const NO_COVERAGE: Coverage = {
  members_total: 0,
  members_scanned: 0,
  bytes_scanned: 0,
  encrypted: 0,
  bytes_raw: 0,
  whole_file_conditions: true,
};

/** The dashboard's figures of a person's scans. */
export interface Overview {
  counts: ScanCounts;
  recent: Scan[];
}

/** Earlier engine crashes on the same bytes, which reduce the number of attempts. */
export async function earlierDeaths(
  database: Kysely<AntivirusTables & InstallationTables & JobTables>,
  { user_id, file_hash }: ScanRow,
): Promise<Partial<ScanRow>> {
  const earlier = await database
    .selectFrom('scans')
    .select(['engine_deaths', 'engine_deaths_edition'])
    .where('user_id', '=', user_id)
    .where('file_hash', '=', file_hash)
    .where('engine_deaths', '>', 0)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
  return earlier ?? {};
}
