import { PREMIUM_REQUIRED_FOR_SCAN, readLiveFeed, readStats, scanPosture, simulateThreat } from '@palisade/contract/anti-hacking';
import { Problem } from '#platform/problem.ts';
import { type Api, serve } from '#platform/serve.ts';
import { serveAlerts } from './alerts.routes.ts';
import type { AntiHacking } from './anti-hacking.ts';
import type { ReadMonitor } from './monitor.ts';

/** As much of somebody's plan as decides who may use these tools; asked at each call, so that an expiry counts from its second on. */
export interface Premium {
  current(user_id: string): Promise<{ is_premium: boolean }>;
}

export function serveAntiHacking(api: Api, antiHacking: AntiHacking, premium: Premium, readState: ReadMonitor): void {
  async function requirePremium(user_id: string, detail?: string): Promise<void> {
    const { is_premium } = await premium.current(user_id);
    if (!is_premium) throw new Problem('premium_required', detail === undefined ? {} : { detail });
  }

  serveAlerts(api, antiHacking.alerts, readState, requirePremium);

  serve(api, readStats, 'customer', async ({ session, query }) => {
    await requirePremium(session.user.id);
    return await antiHacking.stats(session.user.id, query.time_zone);
  });

  serve(api, readLiveFeed, 'customer', async ({ session, query }) => {
    await requirePremium(session.user.id);
    const [live_threats, current_stats] = await Promise.all([
      antiHacking.liveThreats(session.user.id),
      antiHacking.stats(session.user.id, query.time_zone),
    ]);
    return { live_threats, current_stats };
  });

  serve(api, simulateThreat, 'customer', async ({ session }) => {
    await requirePremium(session.user.id);
    return { success: true as const, threat_detected: await antiHacking.simulate(session.user.id) };
  });

  serve(api, scanPosture, 'customer', async ({ session }) => {
    await requirePremium(session.user.id, PREMIUM_REQUIRED_FOR_SCAN);
    return await antiHacking.scan(session.user.id);
  });
}
