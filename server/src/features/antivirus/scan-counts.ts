import type { Kysely } from 'kysely';
import type { AntivirusTables } from './antivirus.tables.ts';

interface Lately {
  week: number;
  month: number;
}

/** What the scans of one person amount to. */
export interface ScanCounts {
  clean: number;
  infected: number;
  /** How many of the infected ones are the industry's test files. */
  test_files: number;
  pending: number;
  /** When a file was last read to its end. */
  last_finished_at: string | null;
  /** Files that have waited for an engine for more than an hour. */
  overdue: number;
  /** Of the last 7 and of the last 30 days: infected ones without the industry's test files, and those that nothing could read whole. */
  lately: { infected: Lately; unread: Lately };
  /** Threats that were found in two or more uploads of the last 7 days; the industry's test files are none. */
  repeated_threats: string[];
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
/** Files that the server goes on with by itself. */
const UNDER_WAY = ['queued', 'engine_down'] as const;

/** Counts the scans of a person. `now` is in ms. */
export async function countScans(database: Kysely<AntivirusTables>, user_id: string, now: number): Promise<ScanCounts> {
  const since = (age_ms: number) => new Date(now - age_ms).toISOString();
  const mine = database.selectFrom('scans').where('user_id', '=', user_id);
  const [rows, tests, finished, overdue, lately, repeated] = await Promise.all([
    mine
      .select(({ fn }) => ['scan_status', fn.countAll<number>().as('count')])
      .groupBy('scan_status')
      .execute(),
    mine
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('scan_status', '=', 'infected')
      .where('threat_detected', 'in', [...INDUSTRY_TEST_THREATS])
      .executeTakeFirstOrThrow(),
    mine.select('scanned_at').where('scan_status', 'in', ['clean', 'infected']).orderBy('id', 'desc').limit(1).executeTakeFirst(),
    mine
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('scan_status', '=', 'pending')
      .where('status_detail', 'in', UNDER_WAY)
      .where('scanned_at', '<', since(OVERDUE_MS))
      .executeTakeFirstOrThrow(),
    mine
      .select(({ fn, eb }) => [
        'scan_status',
        eb('scanned_at', '>=', since(WEEK_MS)).as('is_of_week'),
        fn.countAll<number>().as('count'),
      ])
      .where('scanned_at', '>=', since(MONTH_MS))
      .where(({ eb, or }) =>
        or([
          eb('scan_status', '=', 'infected').and(
            or([eb('threat_detected', 'is', null), eb('threat_detected', 'not in', [...INDUSTRY_TEST_THREATS])]),
          ),
          eb('scan_status', '=', 'pending').and('status_detail', 'not in', UNDER_WAY),
        ]),
      )
      .groupBy(['scan_status', 'is_of_week'])
      .execute(),
    mine
      .select('threat_detected')
      .where('scan_status', '=', 'infected')
      .where('scanned_at', '>=', since(WEEK_MS))
      .where('threat_detected', 'not in', [...INDUSTRY_TEST_THREATS])
      .groupBy('threat_detected')
      .having(({ fn }) => fn.countAll(), '>=', 2)
      .orderBy('threat_detected')
      .execute(),
  ]);
  const countOf = (status: string) => rows.find((row) => row.scan_status === status)?.count ?? 0;
  const latelyOf = (status: string): Lately => {
    const of = lately.filter((row) => row.scan_status === status);
    const count = (some: typeof of) => some.reduce((sum, row) => sum + row.count, 0);
    // SQLite has no booleans.
    return { week: count(of.filter(({ is_of_week }) => Boolean(is_of_week))), month: count(of) };
  };
  return {
    clean: countOf('clean'),
    infected: countOf('infected'),
    test_files: tests.count,
    pending: countOf('pending'),
    last_finished_at: finished?.scanned_at ?? null,
    overdue: overdue.count,
    lately: { infected: latelyOf('infected'), unread: latelyOf('pending') },
    repeated_threats: repeated.flatMap((row) => (row.threat_detected === null ? [] : [row.threat_detected])),
  };
}
