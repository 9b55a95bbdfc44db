import type { Scan, ScanStatus, ScanTotals } from '@palisade/contract/antivirus';
import { TEST_FILE_THREATS } from '@palisade/contract/constants';
import { type Kysely, sql } from 'kysely';
import { countBySpan } from '#platform/spans.ts';
import type { AntivirusTables } from './antivirus.tables.ts';
import { NO_INFECTIONS, type OpenInfections, readOpenInfections } from './infections.ts';

/** Numbers of one person's scans. `test_files` are among the infected ones. */
export interface ScanCounts extends ScanTotals {
  /** Time at which the last completely read file was read. */
  last_finished_at: string | null;
  /** Files that have waited for an engine for more than an hour. */
  overdue: number;
  /** Infections that their person must resolve. */
  open: OpenInfections;
}

const OVERDUE_MS = 3_600_000;
/** Files that the server still has to read. */
const UNDER_WAY = ['queued', 'engine_down'] as const;

/** Infected files of all people in each span of time, without the industry's test files. */
export function countInfected(database: Kysely<AntivirusTables>, starts: readonly string[], end?: string): Promise<number[]> {
  const names = sql.join(TEST_FILE_THREATS.map((name) => sql.lit(name)));
  const where = sql`scan_status = 'infected' and coalesce(threat_detected, '') not in (${names})`;
  return countBySpan(database, { table: 'scans', column: 'scanned_at', where }, starts, end);
}

/** Number of files of all people that were read completely in each span of time. */
export function countRead(database: Kysely<AntivirusTables>, starts: readonly string[], end?: string): Promise<number[]> {
  return countBySpan(
    database,
    { table: 'scans', column: 'scanned_at', where: sql`scan_status in ('clean', 'infected')` },
    starts,
    end,
  );
}

/** The counts of a person's scans that database triggers maintain. */
export async function readKeptCounts(database: Kysely<AntivirusTables>, user_id: string): Promise<ScanTotals> {
  const kept = await database
    .selectFrom('scan_counts')
    .select(['clean', 'infected', 'pending', 'test_files'])
    .where('user_id', '=', user_id)
    .executeTakeFirst();
  return kept ?? { clean: 0, infected: 0, pending: 0, test_files: 0 };
}

/** Number of files that have waited for an engine for too long. */
async function countOverdue(database: Kysely<AntivirusTables>, user_id: string, now: number): Promise<number> {
  const { count } = await database
    .selectFrom('scans')
    .where('user_id', '=', user_id)
    .where('scan_status', '=', 'pending')
    .where('status_detail', 'in', UNDER_WAY)
    .where('scanned_at', '<', new Date(now - OVERDUE_MS).toISOString())
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** When the newest file that was read to its end was read. */
async function lastFinished(database: Kysely<AntivirusTables>, user_id: string): Promise<string | null> {
  const newest = (scan_status: ScanStatus) =>
    database
      .selectFrom('scans')
      .select(['id', 'scanned_at'])
      .where('user_id', '=', user_id)
      .where('scan_status', '=', scan_status)
      .orderBy('id', 'desc')
      .limit(1)
      .executeTakeFirst();
  const [clean, infected] = await Promise.all([newest('clean'), newest('infected')]);
  return ((clean?.id ?? '') > (infected?.id ?? '') ? clean : infected)?.scanned_at ?? null;
}

/**
 * The numbers of a person's scans. Totals come from the maintained counts; records are counted only if there are infected or pending ones. `recent` are the person's newest
 * records, newest first. `now` is in ms.
 */
export async function countScans(
  database: Kysely<AntivirusTables>,
  { user_id, recent, now }: { user_id: string; recent: readonly Pick<Scan, 'scan_status' | 'scanned_at'>[]; now: number },
): Promise<ScanCounts> {
  const kept = await readKeptCounts(database, user_id);
  const finished = recent.find(({ scan_status }) => scan_status !== 'pending')?.scanned_at;
  const [overdue, open] = await Promise.all([
    kept.pending === 0 ? 0 : countOverdue(database, user_id, now),
    kept.infected === kept.test_files ? NO_INFECTIONS : readOpenInfections(database, user_id),
  ]);
  return {
    ...kept,
    last_finished_at: finished ?? (kept.clean + kept.infected === 0 ? null : await lastFinished(database, user_id)),
    overdue,
    open,
  };
}
