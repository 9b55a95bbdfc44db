import { readOverview } from '@palisade/contract/overview';
import { queryOptions } from '@tanstack/react-query';
import { call } from '#api/call.ts';

/** In ms: what waits was asked by somebody who waits longer. */
const ASKED_AGAIN = 60_000;
/** In ms: parts that are drawn with the page's answer do not ask again. */
const FRESH = 2_000;

/** Waiting records of administrators, and first steps of a new installation. Asked by administrators alone. */
export const overviewQuery = queryOptions({
  queryKey: ['overview'],
  queryFn: ({ signal }) => call(readOverview, { signal }),
  staleTime: FRESH,
  // Parts that are drawn after the answer or refusal read it too: they do not repeat a refusal, which would remove the drawn part.
  retryOnMount: false,
  refetchInterval: ASKED_AGAIN,
});
