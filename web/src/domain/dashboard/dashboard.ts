import { readDashboard } from '@palisade/contract/dashboard';
import { queryOptions } from '@tanstack/react-query';
import { call } from '#api/call.ts';

export const dashboardQuery = queryOptions({
  queryKey: ['dashboard'],
  queryFn: ({ signal }) => call(readDashboard, { signal }),
  // Actions on other screens may change the score, so the dashboard is refetched on return.
  staleTime: 0,
});
