import { type Alert, LIVE_FEED, type PostureScan, type Stats, type ThreatType } from '@palisade/contract/anti-hacking';
import type { PageQuery } from '@palisade/contract/fields';
import type { Rule } from '@palisade/contract/firewall';
import type { Kysely, Selectable } from 'kysely';
import { newId } from '#platform/id.ts';
import { createPersonCache } from '#platform/person-cache.ts';
import type { AlertTables } from './anti-hacking.tables.ts';
import { startOfDay } from './day.ts';
import { drill } from './drills.ts';
import type { Incident } from './incident.ts';
import { type OpenRules, readOpenRules } from './open-rules.ts';
import { CHECKED_PORTS, judge, type Posture, type PostureFacts } from './posture.ts';

interface Overview extends Pick<Posture, 'security_score' | 'score_breakdown'> {
  /** Real alerts that were blocked. */
  blocked: number;
  /** Firewall rules, enabled or not. */
  rule_count: number;
}

export interface AntiHacking {
  /** Raises an alert; told again with `blocked`, an alert that is there becomes blocked, and never the other way round. */
  raise(incident: Incident): Promise<void>;
  list(user_id: string, page: PageQuery): Promise<Alert[]>;
  /** `time_zone` is an IANA name; "today" begins at its midnight. */
  stats(user_id: string, time_zone: string): Promise<Stats>;
  liveThreats(user_id: string): Promise<Alert[]>;
  /** A drill. */
  simulate(user_id: string): Promise<Alert>;
  /** The score with its reasons, and what it was counted from. */
  overview(user_id: string): Promise<Overview>;
  /** Every check that can run, run now. */
  scan(user_id: string): Promise<PostureScan>;
}

/** People whose rules are remembered. */
const OPENED_MAXIMUM = 1_000;

function alertOf({ user_id: _user, dedupe_key: _key, blocked, simulated, ...row }: Selectable<AlertTables['alerts']>): Alert {
  return { ...row, blocked: blocked === 1, simulated: simulated === 1 };
}

export function createAntiHacking(parts: {
  database: Kysely<AlertTables>;
  /** The facts that other features hold. */
  scans: (user_id: string) => Promise<PostureFacts['scans']>;
  rules: (user_id: string) => Promise<Rule[]>;
  account: (user_id: string) => Promise<PostureFacts['account']>;
  remote: (user_id: string) => Promise<PostureFacts['remote']>;
  signaturesAge: () => number | undefined;
  now: () => number;
  /** From 0 up to, not including, 1. */
  random?: (() => number) | undefined;
}): AntiHacking {
  const { database, scans, rules, account, remote, signaturesAge, now, random = Math.random } = parts;

  async function list(user_id: string, { limit, cursor }: PageQuery): Promise<Alert[]> {
    let query = database.selectFrom('alerts').selectAll().where('user_id', '=', user_id).orderBy('id', 'desc').limit(limit);
    if (cursor !== undefined) query = query.where('id', '<', cursor);
    return (await query.execute()).map(alertOf);
  }

  const blockedOf = (user_id: string) => database.selectFrom('alerts').where('user_id', '=', user_id).where('blocked', '=', 1);

  /** Real alerts by what they are and whether they were blocked. */
  const countAlerts = (user_id: string) =>
    database
      .selectFrom('alerts')
      .select(({ fn }) => ['threat_type', 'severity', 'blocked', fn.countAll<number>().as('count')])
      .where('user_id', '=', user_id)
      .where('simulated', '=', 0)
      .groupBy(['threat_type', 'severity', 'blocked'])
      .execute();

  type Tally = Awaited<ReturnType<typeof countAlerts>>;
  const tallies = createPersonCache({ read: countAlerts, now });
  const countOf = (rows: Tally, matches: (row: Tally[number]) => boolean) =>
    rows.reduce((sum, row) => sum + (matches(row) ? row.count : 0), 0);

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
    const [rows, scanFacts, ruleList, accountFacts, remoteFacts] = await Promise.all([
      tallies.of(user_id),
      scans(user_id),
      rules(user_id),
      account(user_id),
      remote(user_id),
    ]);
    const posture = judge({
      account: accountFacts,
      remote: remoteFacts,
      scans: scanFacts,
      signatures_age_ms: signaturesAge(),
      rules: openRulesOf(user_id, ruleList),
      unblocked: {
        malware: countOf(rows, (row) => row.blocked === 0 && row.threat_type === 'malware_detected'),
        high: countOf(rows, (row) => row.blocked === 0 && row.severity === 'high'),
        critical: countOf(rows, (row) => row.blocked === 0 && row.severity === 'critical'),
      },
    });
    return { posture, rows, rule_count: ruleList.length };
  }

  return {
    async raise({ rule, key, at, outcome, evidence: _evidence, device_id: _device, session_id: _session, ...incident }) {
      const blocked = outcome === 'blocked';
      // A file is told of once, however often; anything else each time that it happens.
      const dedupe_key = key.startsWith('scan:') ? key : `${rule} ${incident.user_id} ${key} ${at}`;
      const row = { ...incident, id: newId(), created_at: at, blocked: blocked ? 1 : 0, simulated: 0, dedupe_key };
      await database
        .insertInto('alerts')
        .values(row)
        .onConflict((conflict) =>
          blocked ? conflict.column('dedupe_key').doUpdateSet({ blocked: 1 }) : conflict.column('dedupe_key').doNothing(),
        )
        .execute();
      tallies.forget(incident.user_id);
    },

    list,
    liveThreats: (user_id) => list(user_id, { limit: LIVE_FEED.held }),

    async stats(user_id, time_zone) {
      const midnight = startOfDay(now(), time_zone);
      const [today, rows] = await Promise.all([
        blockedOf(user_id)
          .select(({ fn }) => ['simulated', fn.countAll<number>().as('count')])
          .where('created_at', '>=', midnight)
          .groupBy('simulated')
          .execute(),
        blockedOf(user_id)
          .select(({ fn }) => ['simulated', 'threat_type', fn.countAll<number>().as('count')])
          .groupBy(['simulated', 'threat_type'])
          .execute(),
      ]);
      const since = (simulated: number) => today.find((row) => row.simulated === simulated)?.count ?? 0;
      const all = (simulated: number, type?: ThreatType) =>
        rows.reduce(
          (sum, row) => sum + (row.simulated === simulated && (type === undefined || row.threat_type === type) ? row.count : 0),
          0,
        );
      return {
        threats_blocked_today: since(0),
        intrusion_attempts_stopped: all(0, 'intrusion_attempt'),
        brute_force_attempts_blocked: all(0, 'brute_force'),
        threats_blocked_total: all(0),
        simulated_threats_blocked_today: since(1),
        simulated_intrusion_attempts_stopped: all(1, 'intrusion_attempt'),
        simulated_brute_force_attempts_blocked: all(1, 'brute_force'),
        simulated_threats_blocked_total: all(1),
      };
    },

    async simulate(user_id) {
      const id = newId();
      const row = {
        id,
        user_id,
        ...drill(random),
        created_at: new Date(now()).toISOString(),
        blocked: 1,
        simulated: 1,
        dedupe_key: `drill:${id}`,
      };
      return alertOf(await database.insertInto('alerts').values(row).returningAll().executeTakeFirstOrThrow());
    },

    async overview(user_id) {
      const { posture, rows, rule_count } = await postureOf(user_id);
      const { security_score, score_breakdown } = posture;
      return { security_score, score_breakdown, rule_count, blocked: countOf(rows, (row) => row.blocked === 1) };
    },

    async scan(user_id) {
      const { posture, rows } = await postureOf(user_id);
      const { findings, vulnerabilities_found, recommendations, coverage } = posture;
      return {
        threats_detected: countOf(rows, () => true),
        threats_blocked: countOf(rows, (row) => row.blocked === 1),
        status: vulnerabilities_found.length > 0 ? 'issues_found' : 'no_issues_found',
        vulnerabilities_found,
        recommendations,
        findings,
        coverage,
      };
    },
  };
}
