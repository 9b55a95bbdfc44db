import type { Scan } from '@palisade/contract/antivirus';
import type { CurrentSubscription } from '@palisade/contract/current-subscription';
import {
  type DashboardDevices,
  type DashboardStatus,
  NEVER,
  RECENT_SCANS_MAXIMUM,
  readDashboard,
  type ScoreReason,
} from '@palisade/contract/dashboard';
import type { Status } from '@palisade/contract/status';
import type { KeptAnswers } from '#platform/kept-answers.ts';
import { type Api, serve } from '#platform/serve.ts';

/** The dashboard's data sources; the dashboard stores nothing itself. */
export interface DashboardSources<Facts> {
  recentScans(user_id: string, count: number): Promise<Scan[]>;
  scanCounts(user_id: string): Promise<{
    clean: number;
    infected: number;
    test_files: number;
    pending: number;
    last_finished_at: string | null;
  }>;
  plan(user_id: string): Promise<CurrentSubscription>;
  /** The shown values of a person's devices, and the facts for their score. */
  devices(user_id: string): Promise<{ shown: DashboardDevices | null; facts: Facts }>;
  overview(
    user_id: string,
    known: { devices: Facts },
  ): Promise<{
    security_score: number;
    score_breakdown: ScoreReason[];
    checks: { ran: number; unknown: number };
    status: Status;
    blocked: number;
    test_files_blocked: number;
  }>;
}

async function readStatus<Facts>(sources: DashboardSources<Facts>, id: string): Promise<DashboardStatus> {
  const judged = async () => {
    const { shown, facts } = await sources.devices(id);
    return { devices: shown, overview: await sources.overview(id, { devices: facts }) };
  };
  const [recent_scans, scans, subscription, { devices, overview }] = await Promise.all([
    sources.recentScans(id, RECENT_SCANS_MAXIMUM),
    sources.scanCounts(id),
    sources.plan(id),
    judged(),
  ]);
  return {
    security_score: overview.security_score,
    score_breakdown: overview.score_breakdown,
    score_checks: overview.checks,
    status: overview.status,
    last_scan: recent_scans[0]?.scanned_at ?? NEVER,
    subscription,
    recent_scans,
    devices,
    measured: {
      threats_neutralized: overview.blocked,
      test_files_neutralized: overview.test_files_blocked,
      firewall_rules: overview.status.looked_at.rules,
      files_scanned: scans.clean + scans.infected + scans.pending,
      files_infected: scans.infected,
      test_files_found: scans.test_files,
      files_pending: scans.pending,
      last_finished_at: scans.last_finished_at,
    },
  };
}

/** Cached: every open page reads the dashboard each half minute and after each event, usually unchanged. */
export function serveDashboard<Facts>(api: Api, sources: DashboardSources<Facts>, kept: Pick<KeptAnswers, 'keep'>): void {
  const answer = kept.keep(readDashboard, ({ id }) => readStatus(sources, id));
  serve(api, readDashboard, 'customer', ({ session }) => answer(session.user));
}
