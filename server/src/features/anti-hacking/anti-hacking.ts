import {
  type Alert,
  type HistoryDay,
  LIVE_FEED,
  type PostureScan,
  type Stats,
  type ThreatType,
} from '@palisade/contract/anti-hacking';
import type { LiveEvent } from '@palisade/contract/events';
import type { Rule } from '@palisade/contract/firewall';
import type { FastifyBaseLogger } from 'fastify';
import { sql } from 'kysely';
import type { Audit } from '#platform/audit.ts';
import { newId } from '#platform/id.ts';
import { createPersonCache } from '#platform/person-cache.ts';
import type { AlertMails } from './alert-mails.ts';
import { alertOf } from './alert-record.ts';
import { type Alerts, type Consequences, createAlerts } from './alerts.ts';
import { lastDays, startOfDay } from './day.ts';
import { drill } from './drills.ts';
import { historyOf } from './history.ts';
import { UNRESOLVED } from './merging.ts';
import { type OpenRules, readOpenRules } from './open-rules.ts';
import { judge, type Posture } from './posture.ts';
import { CHECKED_PORTS, type PostureFacts } from './posture-checks.ts';
import { createScoreHistory } from './score-history.ts';

interface Overview extends Pick<Posture, 'security_score' | 'score_breakdown' | 'checks'> {
  /** Real alerts that were blocked. */
  blocked: number;
  /** How many of them are about the industry's harmless test files. */
  test_files_blocked: number;
  /** Firewall rules, enabled or not. */
  rule_count: number;
  /** An infected upload could be neither sealed nor removed. */
  infected_in_the_open: boolean;
}

export interface AntiHacking {
  /** The alerts themselves, and what is decided about them. */
  alerts: Alerts;
  raise: Alerts['raise'];
  /** `time_zone` is an IANA name; "today" begins at its midnight. */
  stats(user_id: string, time_zone: string): Promise<Stats>;
  /** Score and real threats of the last days by the clocks of the time zone, oldest first. Today's score is found anew. */
  history(user_id: string, days: number, time_zone: string): Promise<HistoryDay[]>;
  liveThreats(user_id: string): Promise<Alert[]>;
  /** A drill. */
  simulate(user_id: string): Promise<Alert>;
  /** The score with its reasons, and what it was counted from. */
  overview(user_id: string): Promise<Overview>;
  /** Every check that can run, run now. */
  scan(user_id: string): Promise<PostureScan>;
}

/** The rules whose alerts are about one file each: it is blocked as soon as that is out of reach. */
const ONE_FILE_RULES: readonly string[] = ['malware_detected.infected', 'phishing_attempt.verdict'];
/** What is found in files is of low severity where it is one of the industry's test files, and nowhere else (detection/rules.ts). */
const isOfTestFile = (row: { threat_type: string; severity: string }) =>
  row.severity === 'low' && (row.threat_type === 'malware_detected' || row.threat_type === 'phishing_attempt');
/** People whose rules are remembered. */
const OPENED_MAXIMUM = 1_000;

export function createAntiHacking(parts: {
  database: Parameters<typeof createAlerts>[0]['database'];
  /** What alerts lead to. */
  audit: Audit;
  mails: AlertMails;
  tell: (user_id: string, event: LiveEvent) => void;
  consequences: Consequences;
  /** The facts that other features hold. */
  scans: (user_id: string) => Promise<PostureFacts['scans']>;
  rules: (user_id: string) => Promise<Rule[]>;
  account: (user_id: string) => Promise<PostureFacts['account']>;
  remote: (user_id: string) => Promise<PostureFacts['remote']>;
  /** Read anew each time: a device that comes back is back. */
  devices: (user_id: string) => Promise<PostureFacts['devices']>;
  signaturesAge: () => number | undefined;
  now: () => number;
  logger: FastifyBaseLogger;
  /** From 0 up to, not including, 1. */
  random?: (() => number) | undefined;
}): AntiHacking {
  const { database, scans, rules, account, remote, devices, signaturesAge, now, random = Math.random } = parts;

  /** Alerts that count: neither kept out of the list nor found to be false. */
  const counted = (user_id: string) =>
    database
      .selectFrom('alerts')
      .where('user_id', '=', user_id)
      .where('hidden_by', 'is', null)
      .where((where) => where.or([where('resolved_reason', 'is', null), where('resolved_reason', '!=', 'false_positive')]));
  const blockedOf = (user_id: string) => counted(user_id).where('outcome', '=', 'blocked');

  /** Real alerts by the rule that found them, what became of them, and whether they are settled. */
  const countAlerts = (user_id: string) =>
    counted(user_id)
      .select(({ fn }) => ['rule', 'threat_type', 'severity', 'outcome', 'status', fn.countAll<number>().as('count')])
      .where('simulated', '=', 0)
      .groupBy(['rule', 'threat_type', 'severity', 'outcome', 'status'])
      .execute();

  type Tally = Awaited<ReturnType<typeof countAlerts>>;
  const countOf = (rows: Tally, matches: (row: Tally[number]) => boolean) =>
    rows.reduce((sum, row) => sum + (matches(row) ? row.count : 0), 0);

  const isBlocked = (row: Tally[number]) => row.outcome === 'blocked';
  const isOpen = (row: Tally[number]) => !isBlocked(row) && row.status !== 'resolved';

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

  async function tallyOf(user_id: string) {
    const rows = await countAlerts(user_id);
    const open = (severity: 'high' | 'critical') => countOf(rows, (row) => isOpen(row) && row.severity === severity);
    const newest = async (severity: 'high' | 'critical') =>
      open(severity) === 0 ? undefined : (await newestOpen(user_id, severity))?.id;
    const [high, critical] = await Promise.all([newest('high'), newest('critical')]);
    return { rows, open: { high: open('high'), critical: open('critical') }, newest: { high, critical } };
  }
  const tallies = createPersonCache({ read: tallyOf, now });
  // Of sessions that have been open for hours, some seconds tell nothing.
  const remotes = createPersonCache({ read: remote, now });

  /** The newest alert about one of the browsers. */
  async function alertOfBrowsers(user_id: string, browsers: readonly string[]): Promise<string | undefined> {
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
  }

  const alerts = createAlerts({ ...parts, onChange: tallies.forget });

  const scores = createScoreHistory(parts);

  const opened = new Map<string, { rules: string; open: OpenRules }>();

  /** Rules are looked at again only when they changed: the score is asked for far more often. */
  function openRulesOf(user_id: string, list: readonly Rule[]): OpenRules {
    const key = JSON.stringify(list);
    const known = opened.get(user_id);
    if (known?.rules === key) return known.open;
    const open = readOpenRules(list, CHECKED_PORTS);
    if (opened.size >= OPENED_MAXIMUM) opened.clear();
    opened.set(user_id, { rules: key, open });
    return open;
  }

  async function postureOf(user_id: string): Promise<{ posture: Posture; rows: Tally; rule_count: number }> {
    const [{ rows, open, newest }, scanFacts, ruleList, accountFacts, remoteFacts, deviceFacts] = await Promise.all([
      tallies.of(user_id),
      scans(user_id),
      rules(user_id),
      account(user_id),
      remotes.of(user_id),
      devices(user_id),
    ]);
    // A file lies where it lies, whatever was said of its alert.
    const malware = countOf(rows, (row) => !isBlocked(row) && ONE_FILE_RULES.includes(row.rule));
    const posture = judge({
      account: accountFacts,
      remote: remoteFacts,
      devices: deviceFacts,
      scans: scanFacts,
      signatures_age_ms: signaturesAge(),
      rules: openRulesOf(user_id, ruleList),
      unblocked: { malware, ...open },
      newest: { ...newest, browser: await alertOfBrowsers(user_id, accountFacts.unreviewed_browsers) },
    });
    await scores.note(user_id, posture.security_score);
    return { posture, rows, rule_count: ruleList.length };
  }

  return {
    alerts,
    raise: alerts.raise,

    async liveThreats(user_id) {
      const rows = await alerts.list(user_id, { limit: LIVE_FEED.held, search: '' });
      return rows.map(alertOf);
    },

    async stats(user_id, time_zone) {
      const midnight = startOfDay(now(), time_zone);
      const [today, rows] = await Promise.all([
        blockedOf(user_id)
          .select(({ fn }) => ['simulated', 'threat_type', 'severity', fn.countAll<number>().as('count')])
          .where('created_at', '>=', midnight)
          .groupBy(['simulated', 'threat_type', 'severity'])
          .execute(),
        blockedOf(user_id)
          .select(({ fn }) => ['simulated', 'threat_type', 'severity', fn.countAll<number>().as('count')])
          .groupBy(['simulated', 'threat_type', 'severity'])
          .execute(),
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

    async history(user_id, count, time_zone) {
      await postureOf(user_id);
      const days = lastDays(now(), time_zone, count);
      const start = days[0]?.start ?? startOfDay(now(), time_zone);
      const [runs, minutes] = await Promise.all([
        scores.from(user_id, start),
        // By the minute, so that they fit the days of every time zone.
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
      ]);
      return historyOf(days, runs, minutes);
    },

    async simulate(user_id) {
      const id = newId();
      const at = new Date(now()).toISOString();
      const row = {
        id,
        user_id,
        ...drill(random),
        created_at: at,
        last_seen: at,
        last_id: id,
        count: 1,
        rule: 'drill',
        source: null,
        outcome: 'blocked' as const,
        evidence: JSON.stringify({ threshold: 'It is a drill: you asked for it, and nothing of it happened.', events: [] }),
        simulated: 1,
        dedupe_key: `drill:${id}`,
        status: 'open' as const,
        ...UNRESOLVED,
        browser_id: null,
        session_ids: '[]',
        hidden_by: null,
      };
      return alertOf(await database.insertInto('alerts').values(row).returningAll().executeTakeFirstOrThrow());
    },

    async overview(user_id) {
      const { posture, rows, rule_count } = await postureOf(user_id);
      const { security_score, score_breakdown, checks } = posture;
      const infected_in_the_open = score_breakdown.some(({ id }) => id === 'infected_not_removed');
      return {
        security_score,
        score_breakdown,
        checks,
        rule_count,
        infected_in_the_open,
        blocked: countOf(rows, isBlocked),
        test_files_blocked: countOf(rows, (row) => isBlocked(row) && isOfTestFile(row)),
      };
    },

    async scan(user_id) {
      const { posture, rows } = await postureOf(user_id);
      const { findings, vulnerabilities_found, recommendations, coverage } = posture;
      return {
        threats_detected: countOf(rows, () => true),
        threats_blocked: countOf(rows, isBlocked),
        test_files: countOf(rows, isOfTestFile),
        status: vulnerabilities_found.length > 0 ? 'issues_found' : 'no_issues_found',
        vulnerabilities_found,
        recommendations,
        findings,
        coverage,
      };
    },
  };
}
