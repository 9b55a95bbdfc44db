import { readDashboard } from '@palisade/contract/dashboard';
import { queryOptions } from '@tanstack/react-query';
import { call } from './call.ts';

export const dashboardQuery = queryOptions({
  queryKey: ['dashboard'],
  queryFn: ({ signal }) => call(readDashboard, { signal }),
});
