import {
  acknowledgeAlert,
  deleteSuppression,
  disownAlert,
  listSuppressions,
  previewSuppression,
  readAlert,
  readMonitor,
  reopenAlert,
  resolveAlert,
} from '@palisade/contract/alerts';
import {
  type Alert,
  LIVE_FEED,
  listAlerts,
  readLiveFeed,
  readStats,
  type Stats,
  simulateThreat,
} from '@palisade/contract/anti-hacking';
import { originOf } from '#platform/origin.ts';
import { countPages, nextPage } from '#platform/page.ts';
import { type Api, type Call, serve } from '#platform/serve.ts';
import type { AlertCounts } from './alert-counts.ts';
import { type AlertRow, alertOf, type Decider } from './alert-record.ts';
import type { Alerts } from './alerts.ts';
import type { ReadMonitor } from './monitor.ts';

export function serveAlerts(
  api: Api,
  parts: {
    alerts: Alerts;
    counts: Pick<AlertCounts, 'stats'>;
    /** Adds a drill. */
    simulate: (user_id: string) => Promise<Alert>;
    readState: ReadMonitor;
  },
): void {
  const { alerts, counts, simulate, readState } = parts;
  const owned = { find: ({ id }: { id: string }) => alerts.find(id) };
  const deciderOf = ({ session, request }: Pick<Call<typeof readAlert>, 'session' | 'request'>): Decider => ({
    user_id: session.user.id,
    session_id: session.id,
    origin: originOf(request),
  });

  serve(api, listAlerts, 'premium', async ({ session, query, header, request }) => {
    const rows = await alerts.list(session.user.id, query);
    await countPages({ rows, query, header, count: () => alerts.count(session.user.id, query) });
    nextPage(
      { query, request, header },
      rows.map(({ last_id }) => ({ id: last_id })),
    );
    return rows.map(alertOf);
  });

  serve<typeof readAlert, AlertRow>(api, readAlert, owned, async ({ row }) => {
    return await alerts.detail(row);
  });

  serve<typeof acknowledgeAlert, AlertRow>(api, acknowledgeAlert, owned, async ({ row, session, request }) => {
    return await alerts.acknowledge(row, deciderOf({ session, request }));
  });

  serve<typeof resolveAlert, AlertRow>(api, resolveAlert, owned, async ({ row, body, session, request }) => {
    return await alerts.resolve(row, body, deciderOf({ session, request }));
  });

  serve<typeof reopenAlert, AlertRow>(api, reopenAlert, owned, async ({ row, session, request }) => {
    return await alerts.reopen(row, deciderOf({ session, request }));
  });

  serve<typeof disownAlert, AlertRow>(api, disownAlert, owned, async ({ row, session, request }) => {
    return await alerts.disown(row, deciderOf({ session, request }));
  });

  serve(api, listSuppressions, 'premium', async (call) =>
    nextPage(call, await alerts.suppressions.list(call.session.user.id, call.query)),
  );

  serve(api, previewSuppression, 'premium', async ({ session, body }) => {
    return await alerts.suppressions.preview(session.user.id, body.alert_id);
  });

  serve<typeof deleteSuppression, { id: string; user_id: string; rule: string; source: string }>(
    api,
    deleteSuppression,
    { find: ({ id }) => alerts.suppressions.find(id) },
    async ({ session, row, request }) => {
      await alerts.suppressions.remove(row, deciderOf({ session, request }));
    },
  );

  serve(api, readMonitor, 'premium', async ({ session }) => {
    const [state, counted] = await Promise.all([readState(session.user.id), alerts.counts(session.user.id)]);
    return { ...state, alerts: counted };
  });

  const statsOf = async (user_id: string, { name, is_known }: { name: string; is_known: boolean }): Promise<Stats> => ({
    ...(await counts.stats(user_id, name)),
    ...(is_known ? {} : { time_zone: 'UTC' }),
  });

  serve(api, readStats, 'premium', async ({ session, query }) => {
    return await statsOf(session.user.id, query.time_zone);
  });

  serve(api, readLiveFeed, 'premium', async ({ session, query }) => {
    const [rows, current_stats] = await Promise.all([
      alerts.list(session.user.id, { limit: LIVE_FEED.held, search: '', sort: 'latest' }),
      statsOf(session.user.id, query.time_zone),
    ]);
    return { live_threats: rows.map(alertOf), current_stats };
  });

  serve(api, simulateThreat, 'premium', async ({ session }) => {
    return { success: true as const, threat_detected: await simulate(session.user.id) };
  });
}
