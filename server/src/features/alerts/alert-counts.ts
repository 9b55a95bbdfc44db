import { CHECKED_SCAM_RULE } from '@palisade/contract/alert-advice';
import type { Stats, ThreatType } from '@palisade/contract/anti-hacking';
import { startOfDay } from '@palisade/contract/day';
import { type Kysely, sql } from 'kysely';
import { createPersonCache } from '#platform/person-cache.ts';
import type { AlertTables } from './alerts.tables.ts';

/** The rules whose alerts are about one file each: it is blocked as soon as that is out of reach. */
const ONE_FILE_RULES: readonly string[] = ['malware_detected.infected', 'phishing_attempt.verdict'];
/** Only findings of the industry's test files have low severity (features/detection/rules.ts). */
const isOfTestFile = (row: { threat_type: string; severity: string; rule: string }) =>
  row.rule !== CHECKED_SCAM_RULE &&
  row.severity === 'low' &&
  (row.threat_type === 'malware_detected' || row.threat_type === 'phishing_attempt');

/** Real alerts of a person that count. */
interface AlertTally {
  all: number;
  blocked: number;
  /** Alerts about the industry's harmless test files, among all and among the blocked ones. */
  test_files: number;
  test_files_blocked: number;
  /** Not blocked and about a file that was found infected, whatever the alert's state. */
  unblocked_malware: number;
  /** Neither blocked nor resolved, by severity, with the newest of each. */
  open: { high: number; critical: number };
  newest: { high: string | undefined; critical: string | undefined };
}

export interface AlertCounts {
  /** Kept for some seconds; `forget` when the person's alerts changed. */
  tally(user_id: string): Promise<AlertTally>;
  forget(user_id: string): void;
  /** `time_zone` is an IANA name; "today" begins at its midnight. */
  stats(user_id: string, time_zone: string): Promise<Stats>;
  /** Alerts that were first seen from `start` (ISO time) on, by the minute, so that they fit the days of every time zone; oldest first. */
  byMinute(user_id: string, start: string): Promise<{ minute: string; outcome: Outcome; simulated: number; count: number }[]>;
  /** The newest alert about one of the browsers that a person signs in with. */
  aboutBrowsers(user_id: string, browsers: readonly string[]): Promise<string | undefined>;
}

type Outcome = AlertTables['alerts']['outcome'];

/** Counts alerts in the database. `now` is in ms. */
export function createAlertCounts(parts: { database: Kysely<AlertTables>; now: () => number }): AlertCounts {
  const { database, now } = parts;

  /** Alerts that count: neither kept out of the list nor found to be false. */
  const counted = (user_id: string) =>
    database
      .selectFrom('alerts')
      .where('user_id', '=', user_id)
      .where('hidden_by', 'is', null)
      .where((where) => where.or([where('resolved_reason', 'is', null), where('resolved_reason', '!=', 'false_positive')]));
  const blockedOf = (user_id: string) => counted(user_id).where('outcome', '=', 'blocked');

  const newestOpen = (user_id: string, severity: 'high' | 'critical') =>
    counted(user_id)
      .select('id')
      .where('severity', '=', severity)
      .where('simulated', '=', 0)
      .where('outcome', '!=', 'blocked')
      .where('status', '!=', 'resolved')
      .orderBy('last_id', 'desc')
      .limit(1)
      .executeTakeFirst();

  async function readTally(user_id: string): Promise<AlertTally> {
    const rows = await counted(user_id)
      .select(({ fn }) => ['rule', 'threat_type', 'severity', 'outcome', 'status', fn.countAll<number>().as('count')])
      .where('simulated', '=', 0)
      .groupBy(['rule', 'threat_type', 'severity', 'outcome', 'status'])
      .execute();
    type Row = (typeof rows)[number];
    const sum = (matches: (row: Row) => boolean) => rows.reduce((total, row) => total + (matches(row) ? row.count : 0), 0);
    const isBlocked = (row: Row) => row.outcome === 'blocked';
    const openOf = (severity: 'high' | 'critical') =>
      sum((row) => !isBlocked(row) && row.status !== 'resolved' && row.severity === severity);
    const open = { high: openOf('high'), critical: openOf('critical') };
    const newest = async (severity: 'high' | 'critical') =>
      open[severity] === 0 ? undefined : (await newestOpen(user_id, severity))?.id;
    const [high, critical] = await Promise.all([newest('high'), newest('critical')]);
    return {
      all: sum(() => true),
      blocked: sum(isBlocked),
      test_files: sum(isOfTestFile),
      test_files_blocked: sum((row) => isBlocked(row) && isOfTestFile(row)),
      unblocked_malware: sum((row) => !isBlocked(row) && ONE_FILE_RULES.includes(row.rule)),
      open,
      newest: { high, critical },
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
