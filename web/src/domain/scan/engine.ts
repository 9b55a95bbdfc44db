import { readEngine } from '@palisade/contract/engine';
import { queryOptions } from '@tanstack/react-query';
import { call } from '#api/call.ts';

/** Interval at which the state of the engines is refetched, in ms. Short while no engine is ready. */
const INTERVAL = { ready: 60_000, waiting: 3_000 } as const;

export const engineQuery = queryOptions({
  queryKey: ['engine'],
  queryFn: ({ signal }) => call(readEngine, { signal }),
  refetchInterval: (query) =>
    query.state.data?.engines.some(({ state }) => state === 'ready') === false ? INTERVAL.waiting : INTERVAL.ready,
});
