import { cancelUpload, listScans, type Scan, type StatusDetail, scanFile, UPLOAD_KEY_HEADER } from '@palisade/contract/antivirus';
import { type QueryClient, queryOptions } from '@tanstack/react-query';
import { call, type UploadOptions, upload } from './call.ts';
import { dashboardQuery } from './dashboard.ts';
import { isLive } from './events.ts';

/** How often the list is read anew while a file in it still waits for an engine and no events arrive, in ms. */
export const WAITING_INTERVAL = 5_000;

/** Details of records that the server goes on with by itself. */
const WAITING: readonly (StatusDetail | null)[] = ['queued', 'engine_down'];

export function isWaiting(scan: Scan): boolean {
  return scan.scan_status === 'pending' && WAITING.includes(scan.status_detail);
}

export const scansQuery = queryOptions({
  queryKey: ['scans'],
  queryFn: ({ signal }) => call(listScans, { signal }),
  refetchInterval: (query) => (!isLive() && query.state.data?.some(isWaiting) ? WAITING_INTERVAL : false),
});

/** A name that nobody else's upload has. Not crypto.randomUUID, which only secure origins have. */
export function newUploadKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Sends a file under a key, by which its progress is told and it can be taken back. */
export function uploadScan(file: File, { key, ...options }: Omit<UploadOptions, 'headers'> & { key: string }): Promise<Scan> {
  return upload(scanFile, file, { ...options, headers: { [UPLOAD_KEY_HEADER]: key } });
}

/** Takes a file back at any stage. Its upload then fails with `upload_cancelled`; where the verdict was faster, with nothing. */
export async function takeBack(key: string): Promise<void> {
  await call(cancelUpload, { params: { key } });
}

/** Changes the list that the screens read. A list that is being read just now may be from before the change, so the change waits for it. */
async function changeScans(queries: QueryClient, change: (scans: Scan[]) => Scan[]): Promise<void> {
  const { queryKey } = scansQuery;
  await queries
    .getQueryCache()
    .find({ queryKey })
    ?.promise?.catch(() => undefined);
  queries.setQueryData(queryKey, (scans) => scans && change(scans));
}

/** Puts a record that is new, or has changed, where it belongs in the list: newest first, by id. */
export async function mergeScan(queries: QueryClient, scan: Scan): Promise<void> {
  // Score, counts and log of the dashboard follow from it.
  void queries.invalidateQueries({ queryKey: dashboardQuery.queryKey });
  await changeScans(queries, (scans) =>
    [scan, ...scans.filter(({ id }) => id !== scan.id)].sort((one, other) => (one.id < other.id ? 1 : -1)),
  );
}

/** Takes a record off the list. */
export async function removeScan(queries: QueryClient, scan_id: string): Promise<void> {
  void queries.invalidateQueries({ queryKey: dashboardQuery.queryKey });
  await changeScans(queries, (scans) => scans.filter(({ id }) => id !== scan_id));
}
