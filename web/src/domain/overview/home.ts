import { readHome } from '@palisade/contract/home';
import { queryOptions } from '@tanstack/react-query';
import { call } from '#api/call.ts';
import { ZONE } from '#ui/place.ts';

/** Refetch interval in ms. */
const ASKED_AGAIN = 60_000;

/** The installation at a glance. For administrators only. */
export const homeQuery = queryOptions({
  queryKey: ['home'],
  queryFn: ({ signal }) => call(readHome, { query: { time_zone: ZONE.name }, signal }),
  retryOnMount: false,
  refetchInterval: ASKED_AGAIN,
});
