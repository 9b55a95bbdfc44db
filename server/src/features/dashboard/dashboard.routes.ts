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
import { type Api, serve } from '#platform/serve.ts';

/** The dashboard's sources; it stores no data of its own. */
export interface DashboardSources {
  recentScans(user_id: string, count: number): Promise<Scan[]>;
  scanCounts(user_id: string): Promise<{
    clean: number;
    infected: number;
    test_files: number;
    pending: number;
    last_finished_at: string | null;
  }>;
  plan(user_id: string): Promise<CurrentSubscription>;
  devices(user_id: string): Promise<DashboardDevices | null>;
  overview(user_id: string): Promise<{
    security_score: number;
    score_breakdown: ScoreReason[];
    checks: { ran: number; unknown: number };
    blocked: number;
    test_files_blocked: number;
    rule_count: number;
    infected_in_the_open: boolean;
  }>;
}

export function serveDashboard(api: Api, sources: DashboardSources): void {
  serve(api, readDashboard, 'customer', async ({ session }): Promise<DashboardStatus> => {
    const { id } = session.user;
    const [recent_scans, scans, subscription, overview, devices] = await Promise.all([
      sources.recentScans(id, RECENT_SCANS_MAXIMUM),
      sources.scanCounts(id),
      sources.plan(id),
      sources.overview(id),
      sources.devices(id),
    ]);
    return {
      security_score: overview.security_score,
      score_breakdown: overview.score_breakdown,
      score_checks: overview.checks,
      last_scan: recent_scans[0]?.scanned_at ?? NEVER,
      subscription,
      recent_scans,
      devices,
      measured: {
        threats_neutralized: overview.blocked,
        test_files_neutralized: overview.test_files_blocked,
        firewall_rules: overview.rule_count,
        files_scanned: scans.clean + scans.infected + scans.pending,
        files_infected: scans.infected,
        test_files_found: scans.test_files,
        infected_in_the_open: overview.infected_in_the_open,
        files_pending: scans.pending,
        last_finished_at: scans.last_finished_at,
      },
    };
  });
}
