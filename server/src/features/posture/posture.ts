import type { HistoryDay, PostureScan } from '@palisade/contract/anti-hacking';
import { lastDays, startOfDay } from '@palisade/contract/day';
import type { Rule } from '@palisade/contract/firewall';
import type { Status } from '@palisade/contract/status';
import type { FastifyBaseLogger } from 'fastify';
import type { Kysely } from 'kysely';
import { createPersonCache } from '#platform/person-cache.ts';
import { type AlertMinute, historyOf } from './history.ts';
import { type Judgement, judge } from './judge.ts';
import { lastCheckAt, noteCheck } from './last-check.ts';
import { type OpenRules, readOpenRules } from './open-rules.ts';
import type { PostureTables } from './posture.tables.ts';
import { CHECKED_PORTS } from './posture-checks.ts';
import type { PostureFacts } from './posture-facts.ts';
import { createScoreHistory, type ScoreHistory } from './score-history.ts';
import { statusOf } from './status.ts';

interface Overview extends Pick<Judgement, 'security_score' | 'score_breakdown' | 'checks'> {
  status: Status;
  /** Real alerts that were blocked. */
  blocked: number;
  /** The part of them about the industry's harmless test files. */
  test_files_blocked: number;
}

export interface Posture {
  /** Score and real threats of the last days in the time zone (IANA name), oldest first. Today's score is computed now. */
  history(user_id: string, days: number, time_zone: string): Promise<HistoryDay[]>;
  /** The score with its reasons, and the numbers behind it. `known`: devices that the caller has just read. */
  overview(user_id: string, known?: { devices: PostureFacts['devices'] }): Promise<Overview>;
  /** Every check that can run, run now. */
  scan(user_id: string): Promise<PostureScan>;
  /** When the person last requested a check, and the current result; null before the first. A stored result would contradict the current status. */
  lastCheck(user_id: string): Promise<{ checked_at: string; result: PostureScan } | null>;
  /** The score history; only these two functions and a timer write or delete scores. */
  scores: Pick<ScoreHistory, 'keep' | 'forget'>;
  close(): Promise<void>;
}

/** The facts about a person's alerts for their posture. */
interface AlertFacts {
  tally(user_id: string): Promise<{
    all: number;
    blocked: number;
    test_files: number;
    test_files_blocked: number;
    unblocked_malware: number;
    unblocked_test_files: number;
    open: Omit<PostureFacts['alerts'], 'browser'>;
  }>;
  byMinute(user_id: string, start: string): Promise<AlertMinute[]>;
  aboutBrowsers(user_id: string, browsers: readonly string[]): Promise<string | undefined>;
}

/** People whose rules are remembered. */
const OPENED_MAXIMUM = 1_000;

/** Judges the security of an account by facts of other features. `now` is in ms. */
export function createPosture(parts: {
  database: Kysely<PostureTables>;
  alerts: AlertFacts;
  scans: (user_id: string) => Promise<PostureFacts['scans']>;
  rules: (user_id: string) => Promise<Rule[]>;
  account: (user_id: string) => Promise<PostureFacts['account']>;
  remote: (user_id: string) => Promise<PostureFacts['remote']>;
  plan: (user_id: string) => Promise<PostureFacts['plan']>;
  /** Not cached: a device that is back must count at once. */
  devices: (user_id: string) => Promise<PostureFacts['devices']>;
  web: (user_id: string) => Promise<PostureFacts['web']>;
  home: (user_id: string) => Promise<PostureFacts['home']>;
  signaturesAge: () => number | undefined;
  now: () => number;
  logger: FastifyBaseLogger;
}): Posture {
  const { database, alerts, scans, rules, account, remote, plan, devices, web, home, signaturesAge, now } = parts;
  // Sessions have been open for hours, so a cache of some seconds is harmless.
  const remotes = createPersonCache({ read: remote, now });
  const scores = createScoreHistory(parts);
  const opened = new Map<string, { rules: string; open: OpenRules }>();

  /** Rules are analyzed again only after a change: the score is read far more often. */
  function openRulesOf(user_id: string, list: readonly Rule[]): OpenRules {
    const key = JSON.stringify(list);
    const known = opened.get(user_id);
    if (known?.rules === key) return known.open;
    const open = readOpenRules(list, CHECKED_PORTS);
    if (opened.size >= OPENED_MAXIMUM) opened.clear();
    opened.set(user_id, { rules: key, open });
    return open;
  }

  async function judgementOf(user_id: string, known?: { devices: PostureFacts['devices'] }) {
    const [tally, scanFacts, ruleList, accountFacts, remoteFacts, planFacts, webFacts, homeFacts, deviceFacts] =
      await Promise.all([
        alerts.tally(user_id),
        scans(user_id),
        rules(user_id),
        account(user_id),
        remotes.of(user_id),
        plan(user_id),
        web(user_id),
        home(user_id),
        known === undefined ? devices(user_id) : known.devices,
      ]);
    const facts: PostureFacts = {
      account: accountFacts,
      remote: remoteFacts,
      devices: deviceFacts,
      web: webFacts,
      home: homeFacts,
      scans: scanFacts,
      signatures_age_ms: signaturesAge(),
      rules: openRulesOf(user_id, ruleList),
      rule_count: ruleList.length,
      // The file exists, whatever was decided about its alert.
      outside_quarantine: { all: tally.unblocked_malware, test_files: tally.unblocked_test_files },
      alerts: { ...tally.open, browser: await alerts.aboutBrowsers(user_id, accountFacts.unreviewed_browsers) },
      plan: planFacts,
    };
    const judgement = judge(facts);
    const status = statusOf(facts, judgement, now());
    scores.note(user_id, judgement.security_score, status.state);
    return { judgement, tally, status };
  }

  async function checkNow(user_id: string): Promise<PostureScan> {
    const { judgement, tally, status } = await judgementOf(user_id);
    const { findings, vulnerabilities_found, recommendations, recommendation_phrases, coverage, coverage_phrase } = judgement;
    return {
      threats_detected: tally.all,
      threats_blocked: tally.blocked,
      test_files: tally.test_files,
      status: status.next === null ? 'no_issues_found' : 'issues_found',
      ...{ vulnerabilities_found, recommendations, recommendation_phrases, findings, coverage, coverage_phrase },
    };
  }

  return {
    async history(user_id, count, time_zone) {
      await judgementOf(user_id);
      const days = lastDays(now(), time_zone, count);
      const start = days[0]?.start ?? startOfDay(now(), time_zone);
      const [runs, minutes] = await Promise.all([scores.from(user_id, start), alerts.byMinute(user_id, start)]);
      return historyOf(days, runs, minutes);
    },

    async overview(user_id, known) {
      const { judgement, tally, status } = await judgementOf(user_id, known);
      const { security_score, score_breakdown, checks } = judgement;
      return {
        ...{ security_score, score_breakdown, checks, status },
        blocked: tally.blocked,
        test_files_blocked: tally.test_files_blocked,
      };
    },

    async scan(user_id) {
      await noteCheck(database, user_id, now());
      return await checkNow(user_id);
    },

    async lastCheck(user_id) {
      const checked_at = await lastCheckAt(database, user_id);
      return checked_at === undefined ? null : { checked_at, result: await checkNow(user_id) };
    },

    scores,
    close: scores.close,
  };
}
