import { readOverview } from '@palisade/contract/overview';
import { queryOptions } from '@tanstack/react-query';
import { call } from '#api/call.ts';

/** In ms: what waits was asked by somebody who waits longer. */
const ASKED_AGAIN = 60_000;

/** What waits for administrators, and what a new installation needs. Asked by administrators alone. */
export const overviewQuery = queryOptions({
  queryKey: ['overview'],
  queryFn: ({ signal }) => call(readOverview, { signal }),
  staleTime: 0,
  // What is drawn once it is answered, or refused, asks for it too: a refusal is not asked again for that, which would take what is drawn away.
  retryOnMount: false,
  refetchInterval: ASKED_AGAIN,
});
