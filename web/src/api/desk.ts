import { type Counts, readCounts } from '@palisade/contract/desk';
import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { call } from './call.ts';
import { hearTopic, onEvent } from './events.ts';

/** What is told of the desk is read anew at most so often, in ms: at a busy one much changes in each second. */
const ANEW_AT_MOST = 1_500;

export const deskCountsQuery = queryOptions({
  queryKey: ['desk', 'counts'],
  queryFn: ({ signal }) => call(readCounts, { signal }),
  retry: false,
});

/** How many conversations stand in each part of the inbox, as it is now. Asked by staff alone. */
export function useDeskCounts(): Counts | undefined {
  const queries = useQueryClient();
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const readAnew = () => void queries.invalidateQueries({ queryKey: deskCountsQuery.queryKey });
    const soon = () => {
      timer ??= setTimeout(() => {
        timer = undefined;
        readAnew();
      }, ANEW_AT_MOST);
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
  }, [queries]);
  return useQuery(deskCountsQuery).data;
}
