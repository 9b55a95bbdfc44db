import { readOverview } from '@palisade/contract/overview';
import { queryOptions } from '@tanstack/react-query';
import { call } from '#api/call.ts';

/** Refetch interval in ms. */
const ASKED_AGAIN = 60_000;
/** Time for which data is fresh, in ms: parts that mount together with the reply do not fetch again. */
const FRESH = 2_000;

/** Counts of waiting records and first steps of a new installation. For administrators only. */
export const overviewQuery = queryOptions({
  queryKey: ['overview'],
  queryFn: ({ signal }) => call(readOverview, { signal }),
  staleTime: FRESH,
  // Parts mount after the reply or refusal and also use this query: repeating a refused fetch would unmount them.
  retryOnMount: false,
  refetchInterval: ASKED_AGAIN,
});
