import { type Counts, readCounts } from '@palisade/contract/desk-counts';
import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { call } from '#api/call.ts';
import { hearTopic, onEvent } from '#api/events.ts';
import { useIsStartOver } from '#api/start.ts';
import { WAITING_KEY } from './desk-keys.ts';

/** Shortest interval between two refetches of the desk, in ms: a busy desk changes many times a second. */
const REFETCH_PAUSE = 1_500;

export const deskCountsQuery = queryOptions({
  queryKey: ['desk', 'counts'],
  queryFn: ({ signal }) => call(readCounts, { signal }),
  retry: false,
});

/** Number of customers who wait for remote help. The shell keeps the counts fresh. */
export const useRemoteWaiting = () => useQuery({ ...deskCountsQuery, enabled: false }).data?.remote_waiting ?? 0;

/** Refetch interval, in ms: waiting remote sessions have no event for staff. */
const ASKED_AGAIN = 30_000;

/** Number of conversations in each part of the inbox, for staff only. `isAtDesk` subscribes to the staff topic: the counts follow its events, and customers see that support is present. */
export function useDeskCounts(isAtDesk: boolean): Counts | undefined {
  const queries = useQueryClient();
  useEffect(() => {
    if (!isAtDesk) return undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const refetch = () => {
      void queries.invalidateQueries({ queryKey: deskCountsQuery.queryKey });
      void queries.invalidateQueries({ queryKey: WAITING_KEY });
    };
    const soon = () => {
      timer ??= setTimeout(() => {
        timer = undefined;
        refetch();
      }, REFETCH_PAUSE);
    };
    const stops = [
      hearTopic('staff', () => void queries.invalidateQueries({ queryKey: ['desk'] })),
      onEvent('conversation_changed', soon),
      onEvent('conversation_removed', soon),
    ];
    return () => {
      clearTimeout(timer);
      for (const stop of stops) stop();
    };
  }, [queries, isAtDesk]);
  const enabled = useIsStartOver();
  return useQuery({ ...deskCountsQuery, enabled, refetchInterval: ASKED_AGAIN }).data;
}
