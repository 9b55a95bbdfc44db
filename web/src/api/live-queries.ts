import type { QueryClient } from '@tanstack/react-query';
import { dashboardQuery } from './dashboard.ts';
import { onEvent, onGap } from './events.ts';
import { mergeScan, removeScan } from './scans.ts';

/** Has everything that the screens have read follow the events, until the answered function is called. */
export function followEvents(queries: QueryClient): () => void {
  const stops = [
    onEvent('scan_changed', ({ scan }) => void mergeScan(queries, scan)),
    onEvent('scan_removed', ({ scan_id }) => void removeScan(queries, scan_id)),
    onEvent('alerts_changed', () => {
      void queries.invalidateQueries({ queryKey: ['anti-hacking'] });
      void queries.invalidateQueries({ queryKey: dashboardQuery.queryKey });
    }),
    onGap(() => void queries.invalidateQueries()),
  ];
  return () => {
    for (const stop of stops) stop();
  };
}
