import { deleteScan, readScan } from '@palisade/contract/quarantine';
import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import { call } from '#api/call.ts';
import { dashboardQuery } from '#api/dashboard.ts';
import { isWaiting, scansQuery, WAITING_INTERVAL } from '#api/scans.ts';

export const scanDetailQuery = (id: string) =>
  queryOptions({
    queryKey: ['scan', id],
    queryFn: ({ signal }) => call(readScan, { params: { id }, signal }),
    refetchInterval: ({ state }) => (state.data && isWaiting(state.data) ? WAITING_INTERVAL : false),
  });

/** Takes a record out of the history. */
export function useDeleteScan(id: string) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: () => call(deleteScan, { params: { id } }),
    onSuccess: () => {
      queries.setQueryData(scansQuery.queryKey, (scans) => scans?.filter((scan) => scan.id !== id));
      void queries.invalidateQueries({ queryKey: scansQuery.queryKey });
      void queries.invalidateQueries({ queryKey: dashboardQuery.queryKey });
    },
  });
}
