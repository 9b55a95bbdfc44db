import { listScans, type Scan, type StatusDetail, scanFile } from '@palisade/contract/antivirus';
import { type QueryClient, queryOptions } from '@tanstack/react-query';
import { call, type UploadOptions, upload } from './call.ts';
import { dashboardQuery } from './dashboard.ts';

/** How often the list is read anew while a file in it still waits for an engine, in ms. */
export const WAITING_INTERVAL = 5_000;

/** Details of records that the server goes on with by itself. */
const WAITING: readonly (StatusDetail | null)[] = ['queued', 'engine_down'];

export function isWaiting(scan: Scan): boolean {
  return scan.scan_status === 'pending' && WAITING.includes(scan.status_detail);
}

export const scansQuery = queryOptions({
  queryKey: ['scans'],
  queryFn: ({ signal }) => call(listScans, { signal }),
  refetchInterval: (query) => (query.state.data?.some(isWaiting) ? WAITING_INTERVAL : false),
});

export function uploadScan(file: File, options: UploadOptions): Promise<Scan> {
  return upload(scanFile, file, options);
}

/** Puts a new record at the head of the list that the screens read. */
export async function prependScan(queries: QueryClient, scan: Scan): Promise<void> {
  // Score, counts and log of the dashboard follow from it.
  void queries.invalidateQueries({ queryKey: dashboardQuery.queryKey });
  const wasReading = queries.isFetching({ queryKey: scansQuery.queryKey }) > 0;
  // A list that was asked for before this record existed must not overwrite it.
  await queries.cancelQueries({ queryKey: scansQuery.queryKey });
  queries.setQueryData(scansQuery.queryKey, (scans) => scans && [scan, ...scans.filter((other) => other.id !== scan.id)]);
  if (wasReading || queries.getQueryData(scansQuery.queryKey) === undefined) {
    await queries.invalidateQueries({ queryKey: scansQuery.queryKey });
  }
}
