import type { Scan, ScanStatus, ScanTotals } from '@palisade/contract/antivirus';
import type { Kysely } from 'kysely';
import type { AntivirusTables } from './antivirus.tables.ts';

interface Lately {
  week: number;
  month: number;
}

/** Numbers of one person's scans. `test_files` are among the infected ones. */
export interface ScanCounts extends ScanTotals {
  /** When a file was last read to its end. */
  last_finished_at: string | null;
  /** Files that have waited for an engine for more than an hour. */
  overdue: number;
  /** Counts of the last 7 and the last 30 days: infected files without the industry's test files, and files that were not read whole. */
  lately: { infected: Lately; unread: Lately };
}

/** The industry's harmless test files by the names that the rule pack gives them (family `industry-test`). */
export const INDUSTRY_TEST_THREATS: readonly string[] = [
  'EICAR-Test-File',
  'GTUBE-Test-Mail',
  'GTUBE-Test-Mail.Rspamd',
  'AMSI-Test-Sample',
  'ClamAV-Test-File',
];

const OVERDUE_MS = 3_600_000;
const WEEK_MS = 7 * 86_400_000;
const MONTH_MS = 30 * 86_400_000;
/** Files that the server still has to read. */
const UNDER_WAY = ['queued', 'engine_down'] as const;

/** The counts that the database keeps of a person's scans. */
export async function readKeptCounts(database: Kysely<AntivirusTables>, user_id: string): Promise<ScanTotals> {
  const kept = await database
    .selectFrom('scan_counts')
    .select(['clean', 'infected', 'pending', 'test_files'])
    .where('user_id', '=', user_id)
    .executeTakeFirst();
  return kept ?? { clean: 0, infected: 0, pending: 0, test_files: 0 };
}

/** Groups of infected files and of those that were not read, lately or still under way. */
async function readOpen(database: Kysely<AntivirusTables>, user_id: string, now: number) {
  const since = (age_ms: number) => new Date(now - age_ms).toISOString();
  const rows = await database
    .selectFrom('scans')
    .where('user_id', '=', user_id)
    .where('scan_status', 'in', ['infected', 'pending'])
    .where(({ eb, or }) => or([eb('scanned_at', '>=', since(MONTH_MS)), eb('status_detail', 'in', UNDER_WAY)]))
    .select(({ fn, eb }) => [
      'scan_status',
      'threat_detected',
      eb.fn.coalesce(eb('status_detail', 'in', UNDER_WAY), eb.lit(false)).as('is_under_way'),
      eb('scanned_at', '>=', since(WEEK_MS)).as('is_of_week'),
      eb('scanned_at', '<', since(OVERDUE_MS)).as('is_overdue'),
      fn.countAll<number>().as('count'),
    ])
    .groupBy(['scan_status', 'threat_detected', 'is_under_way', 'is_of_week', 'is_overdue'])
    .execute();
  // SQLite has no booleans.
  return rows.map((row) => ({
    ...row,
    is_under_way: Boolean(row.is_under_way),
    is_of_week: Boolean(row.is_of_week),
    is_overdue: Boolean(row.is_overdue),
  }));
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
 * The numbers of a person's scans. Totals are those that the database keeps; records are counted only where there are infected or pending ones. `recent` are the person's newest records, newest
 * first. `now` is in ms.
 */
export async function countScans(
  database: Kysely<AntivirusTables>,
  { user_id, recent, now }: { user_id: string; recent: readonly Pick<Scan, 'scan_status' | 'scanned_at'>[]; now: number },
): Promise<ScanCounts> {
  const kept = await readKeptCounts(database, user_id);
  const rows = kept.infected + kept.pending === 0 ? [] : await readOpen(database, user_id, now);
  const finished = recent.find(({ scan_status }) => scan_status !== 'pending')?.scanned_at;
  const sum = (some: typeof rows) => some.reduce((total, row) => total + row.count, 0);
  const latelyOf = (some: typeof rows): Lately => ({ week: sum(some.filter(({ is_of_week }) => is_of_week)), month: sum(some) });
  const infected = rows.filter(
    ({ scan_status, threat_detected }) => scan_status === 'infected' && !INDUSTRY_TEST_THREATS.includes(threat_detected ?? ''),
  );
  return {
    ...kept,
    last_finished_at: finished ?? (kept.clean + kept.infected === 0 ? null : await lastFinished(database, user_id)),
    overdue: sum(rows.filter(({ is_under_way, is_overdue }) => is_under_way && is_overdue)),
    lately: {
      infected: latelyOf(infected),
      unread: latelyOf(rows.filter(({ scan_status, is_under_way }) => scan_status === 'pending' && !is_under_way)),
    },
  };
}
