import {
  type AlertDetail,
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
import { type AlertFilter, listAlerts, type ThreatType } from '@palisade/contract/anti-hacking';
import type { BodySentOf } from '@palisade/contract/endpoint';
import type { Severity } from '@palisade/contract/severity';
import { queryOptions, useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query';
import { call, callPage } from '#api/call.ts';
import { useChange } from '#api/change.ts';
import { putRecord } from '#api/change-list.ts';
import { pagesQuery, rowsOf } from '#api/pages.ts';

const ROOT = ['anti-hacking'] as const;
/** Prefix of the lists of alerts and of their counts. */
export const ALERTS_KEY = [...ROOT, 'alerts'] as const;

/** Filter of a list of alerts. */
export interface AlertChoice {
  status: AlertFilter | undefined;
  severity: Severity | undefined;
  type: ThreatType | 'false_alarm' | undefined;
  simulated: 'true' | 'false' | undefined;
  search: string;
}

/** Real alerts that need the person. Simulated alerts have a separate list. */
export const ACTIVE: AlertChoice = { status: 'active', severity: undefined, type: undefined, simulated: 'false', search: '' };

/** Alerts that need the person begin with the most severe one, all others with the latest. */
export const alertsQuery = (choice: AlertChoice) =>
  pagesQuery([...ALERTS_KEY, choice], (page, signal) =>
    callPage(listAlerts, { signal, query: { ...choice, ...page, sort: choice.status === 'active' ? 'severity' : 'latest' } }),
  );

/** Watched events and counts of alerts. */
export const monitorQuery = queryOptions({
  // As for the overview: if a server lacks this endpoint, do not ask it at each mount.
  retryOnMount: false,
  queryKey: [...ALERTS_KEY, 'monitor'],
  queryFn: ({ signal }) => call(readMonitor, { signal }),
  meta: { silent_status: 403 },
});

export const SIMULATED: AlertChoice = { ...ACTIVE, simulated: 'true' };

/** Active simulated alerts. `isLoading` until their count and rows are known. */
export function useSimulatedAlerts(isEnabled = true) {
  const { data, isLoading } = useQuery({ ...monitorQuery, enabled: isEnabled });
  const count = data === undefined ? 0 : data.alerts.active - data.alerts.real - data.alerts.test_files;
  const read = useInfiniteQuery({ ...alertsQuery(SIMULATED), enabled: count > 0 });
  return { count, rows: rowsOf(read.data), isLoading: isLoading || read.isLoading };
}

export const alertQuery = (id: string) =>
  queryOptions({
    queryKey: [...ROOT, 'alert', id],
    queryFn: ({ signal }) => call(readAlert, { params: { id }, signal }),
  });

export const suppressionsQuery = queryOptions({
  queryKey: [...ROOT, 'suppressions'],
  queryFn: ({ signal }) => call(listSuppressions, { signal }),
  meta: { silent_status: 403 },
});

export const previewQuery = (alert_id: string) =>
  queryOptions({
    queryKey: [...ROOT, 'preview', alert_id],
    queryFn: () => call(previewSuppression, { body: { alert_id } }),
  });

/** A decision about an alert. Stores the alert that the server returns, and refetches every screen with alerts. */
function useDecision<Given = void>(mutationFn: (given: Given) => Promise<AlertDetail>) {
  const queries = useQueryClient();
  return useChange({
    mutationFn,
    onSuccess: (changed) => putRecord(queries, alertQuery(changed.id).queryKey, changed),
    renews: [ROOT],
  });
}

export function useAcknowledgeAlert(id: string) {
  return useDecision(() => call(acknowledgeAlert, { params: { id } }));
}

export function useResolveAlert(id: string) {
  return useDecision((body: BodySentOf<typeof resolveAlert>) => call(resolveAlert, { params: { id }, body }));
}

export function useReopenAlert(id: string) {
  return useDecision(() => call(reopenAlert, { params: { id } }));
}

/** "Wasn't me". Ends sessions, so all cached data of the account may be outdated. */
export function useDisownAlert(id: string) {
  const queries = useQueryClient();
  return useChange({
    mutationFn: () => call(disownAlert, { params: { id } }),
    onSuccess: ({ alert }) => {
      putRecord(queries, alertQuery(id).queryKey, alert);
      void queries.invalidateQueries();
    },
  });
}

export function useDeleteSuppression() {
  return useChange({ mutationFn: (id: string) => call(deleteSuppression, { params: { id } }), renews: [ROOT] });
}
