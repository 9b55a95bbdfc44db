import { CHECKED_SCAM_RULE, RULES_WITHOUT_FILE } from '@palisade/contract/alert-advice';
import type { Stats, ThreatType } from '@palisade/contract/anti-hacking';
import { startOfDay } from '@palisade/contract/day';
import type { Severity } from '@palisade/contract/severity';
import { type Kysely, sql } from 'kysely';
import { createPersonCache } from '#platform/person-cache.ts';
import { countBySpan } from '#platform/spans.ts';
import type { AlertTables } from './alerts.tables.ts';

/** Rules whose alerts concern one file each; such an alert becomes blocked once the file is out of reach. */
const ONE_FILE_RULES: readonly string[] = ['malware_detected.infected', 'phishing_attempt.verdict'];
/** Only findings of the industry's test files have low severity (features/detection/rules.ts). */
const isOfTestFile = (row: { threat_type: string; severity: string; rule: string }) =>
  !RULES_WITHOUT_FILE.includes(row.rule) &&
  row.severity === 'low' &&
  (row.threat_type === 'malware_detected' || row.threat_type === 'phishing_attempt');

/** `isOfTestFile` for rows of the database. */
const IS_OF_TEST_FILE = sql<boolean>`(simulated = 0 and severity = 'low' and rule not in (${sql.join(RULES_WITHOUT_FILE)})
  and threat_type in ('malware_detected', 'phishing_attempt'))`;

/** Open serious alerts. The literals match those of the index `alerts_serious`. */
const IS_SERIOUS = sql<boolean>`simulated = 0 and outcome <> 'blocked' and status <> 'resolved' and severity in ('high', 'critical')
  and hidden_by is null`;

/** True if the person of a row of `users` has a serious alert. */
export const hasSeriousAlert = () =>
  sql<boolean>`exists (select 1 from alerts where alerts.user_id = users.id and ${IS_SERIOUS})`;

/** The number of serious alerts of each of these people who has any. */
export async function seriousAlertsOf(
  database: Kysely<AlertTables>,
  user_ids: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const rows = await database
    .selectFrom('alerts')
    .select(({ fn }) => ['user_id', fn.countAll<number>().as('count')])
    .where('user_id', 'in', user_ids)
    .where(IS_SERIOUS)
    .groupBy('user_id')
    .execute();
  return new Map(rows.map(({ user_id, count }) => [user_id, Number(count)]));
}

/** Counts the real alerts of all people per span of time, without harmless test files, as the people themselves see them. */
export function countAlerts(database: Kysely<AlertTables>, starts: readonly string[], end?: string): Promise<number[]> {
  const where = sql`simulated = 0 and hidden_by is null and not ${IS_OF_TEST_FILE}`;
  return countBySpan(database, { table: 'alerts', column: 'created_at', where }, starts, end);
}

/** Rules whose subject a separate check reports, where it can be resolved: a file in the scan history, a browser to review, a silent device. */
const TOLD_ELSEWHERE: readonly string[] = [
  ...ONE_FILE_RULES,
  'device_infected_file',
  'suspicious_login.new_browser',
  'device_offline',
  'false_alarm.cleared',
  // The person has just read the result of their own check.
  CHECKED_SCAM_RULE,
];

/** Refused password guessing counts as news for this many ms. */
const GUESSING_IS_NEWS_MS = 7 * 86_400_000;

/** Open alerts of one kind, and the newest of them. */
interface OpenAlerts {
  count: number;
  newest: string | undefined;
}

/** Real alerts of a person that count. */
interface AlertTally {
  all: number;
  blocked: number;
  /** Alerts about the industry's harmless test files, among all and among the blocked ones. */
  test_files: number;
  test_files_blocked: number;
  /** Alerts about an infected file that was not blocked, whatever their state. */
  unblocked_malware: number;
  unblocked_test_files: number;
  /** Alerts that need the person's attention: not blocked and not resolved (`lesser`: low or medium severity, not yet seen); and refused password guessing of the last days. */
  open: Record<'critical' | 'high' | 'lesser' | 'guessing', OpenAlerts>;
}

export interface AlertCounts {
  /** Cached for some seconds; call `forget` when the person's alerts changed. */
  tally(user_id: string): Promise<AlertTally>;
  forget(user_id: string): void;
  /** `time_zone` is an IANA name; "today" begins at its midnight. */
  stats(user_id: string, time_zone: string): Promise<Stats>;
  /** Alerts first seen from `start` (ISO time) on, counted by minute so that they can be grouped into days of any time zone; oldest first. Without test files. */
  byMinute(user_id: string, start: string): Promise<{ minute: string; outcome: Outcome; simulated: number; count: number }[]>;
  /** The newest alert about one of the browsers that a person signs in with. */
  aboutBrowsers(user_id: string, browsers: readonly string[]): Promise<string | undefined>;
}

type Outcome = AlertTables['alerts']['outcome'];

/** Counts alerts in the database. `now` is in ms. */
export function createAlertCounts(parts: { database: Kysely<AlertTables>; now: () => number }): AlertCounts {
  const { database, now } = parts;

  /** Alerts that count: neither suppressed nor marked as false. */
  const counted = (user_id: string) =>
    database
      .selectFrom('alerts')
      .where('user_id', '=', user_id)
      .where('hidden_by', 'is', null)
      .where((where) => where.or([where('resolved_reason', 'is', null), where('resolved_reason', '!=', 'false_positive')]));
  const blockedOf = (user_id: string) => counted(user_id).where('outcome', '=', 'blocked');

  async function readTally(user_id: string): Promise<AlertTally> {
    const rows = await counted(user_id)
      .select(({ fn }) => ['rule', 'threat_type', 'severity', 'outcome', 'status', fn.countAll<number>().as('count')])
      .select(({ fn }) => [fn.max('last_id').as('last_id'), fn.max('last_seen').as('last_seen')])
      .where('simulated', '=', 0)
      .groupBy(['rule', 'threat_type', 'severity', 'outcome', 'status'])
      .execute();
    type Row = (typeof rows)[number];
    const sum = (matches: (row: Row) => boolean) => rows.reduce((total, row) => total + (matches(row) ? row.count : 0), 0);
    const isBlocked = (row: Row) => row.outcome === 'blocked';
    const isOutside = (row: Row) => !isBlocked(row) && ONE_FILE_RULES.includes(row.rule);
    const waits = (row: Row) => row.status !== 'resolved' && !TOLD_ELSEWHERE.includes(row.rule) && !isOfTestFile(row);
    const open = async (matches: (row: Row) => boolean): Promise<OpenAlerts> => {
      const some = rows.filter((row) => waits(row) && matches(row));
      const last = some
        .map(({ last_id }) => last_id)
        .sort()
        .at(-1);
      if (last === undefined) return { count: 0, newest: undefined };
      const newest = await counted(user_id).select('id').where('last_id', '=', last).executeTakeFirst();
      return { count: some.reduce((total, { count }) => total + Number(count), 0), newest: newest?.id };
    };
    const since = new Date(now() - GUESSING_IS_NEWS_MS).toISOString();
    const ofSeverity = (severity: Severity) => open((row) => !isBlocked(row) && row.severity === severity);
    const isLesser = ({ severity, status }: Row) => (severity === 'low' || severity === 'medium') && status === 'open';
    const [critical, high, lesser, guessing] = await Promise.all([
      ofSeverity('critical'),
      ofSeverity('high'),
      open((row) => !isBlocked(row) && isLesser(row)),
      open((row) => isBlocked(row) && row.threat_type === 'brute_force' && row.status === 'open' && row.last_seen >= since),
    ]);
    return {
      all: sum(() => true),
      blocked: sum(isBlocked),
      test_files: sum(isOfTestFile),
      test_files_blocked: sum((row) => isBlocked(row) && isOfTestFile(row)),
      unblocked_malware: sum(isOutside),
      unblocked_test_files: sum((row) => isOutside(row) && isOfTestFile(row)),
      open: { critical, high, lesser, guessing },
    };
  }
  const tallies = createPersonCache({ read: readTally, now });

  return {
    tally: tallies.of,
    forget: tallies.forget,

    async stats(user_id, time_zone) {
      const blocked = () =>
        blockedOf(user_id)
          .select(({ fn }) => ['simulated', 'threat_type', 'severity', 'rule', fn.countAll<number>().as('count')])
          .groupBy(['simulated', 'threat_type', 'severity', 'rule']);
      const [today, rows] = await Promise.all([
        blocked().where('created_at', '>=', startOfDay(now(), time_zone)).execute(),
        blocked().execute(),
      ]);
      type Row = (typeof rows)[number];
      const sumOf = (of: readonly Row[], matches: (row: Row) => boolean) =>
        of.reduce((sum, row) => sum + (matches(row) ? row.count : 0), 0);
      const since = (simulated: number) => sumOf(today, (row) => row.simulated === simulated);
      const all = (simulated: number, type?: ThreatType) =>
        sumOf(rows, (row) => row.simulated === simulated && (type === undefined || row.threat_type === type));
      const ofTestFiles = (of: readonly Row[]) => sumOf(of, (row) => row.simulated === 0 && isOfTestFile(row));
      return {
        threats_blocked_today: since(0),
        intrusion_attempts_stopped: all(0, 'intrusion_attempt'),
        brute_force_attempts_blocked: all(0, 'brute_force'),
        threats_blocked_total: all(0),
        simulated_threats_blocked_today: since(1),
        simulated_intrusion_attempts_stopped: all(1, 'intrusion_attempt'),
        simulated_brute_force_attempts_blocked: all(1, 'brute_force'),
        simulated_threats_blocked_total: all(1),
        test_files_blocked_today: ofTestFiles(today),
        test_files_blocked_total: ofTestFiles(rows),
      };
    },

    byMinute: (user_id, start) =>
      counted(user_id)
        .select(({ fn }) => [
          sql<string>`substr(created_at, 1, 16)`.as('minute'),
          'outcome',
          'simulated',
          fn.countAll<number>().as('count'),
        ])
        .where('created_at', '>=', start)
        .where(({ not }) => not(IS_OF_TEST_FILE))
        .groupBy(['minute', 'outcome', 'simulated'])
        .orderBy('minute')
        .execute(),

    async aboutBrowsers(user_id, browsers) {
      if (browsers.length === 0) return undefined;
      const row = await database
        .selectFrom('alerts')
        .select('id')
        .where('user_id', '=', user_id)
        .where('browser_id', 'in', browsers)
        .orderBy('last_id', 'desc')
        .limit(1)
        .executeTakeFirst();
      return row?.id;
    },
  };
}
