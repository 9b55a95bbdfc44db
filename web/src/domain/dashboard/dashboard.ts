import { readDashboard } from '@palisade/contract/dashboard';
import { queryOptions } from '@tanstack/react-query';
import { call } from '#api/call.ts';

export const dashboardQuery = queryOptions({
  queryKey: ['dashboard'],
  queryFn: ({ signal }) => call(readDashboard, { signal }),
  // Whatever is done on another screen may change the score, so that who comes back to the dashboard reads it anew.
  staleTime: 0,
});
