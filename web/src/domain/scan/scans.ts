import {
  cancelUpload,
  countScans,
  listScans,
  type Scan,
  type ScansQuery,
  type StatusDetail,
  scanFile,
  UPLOAD_KEY_HEADER,
} from '@palisade/contract/antivirus';
import { hashKey, infiniteQueryOptions, type QueryClient, queryOptions } from '@tanstack/react-query';
import { call, type UploadOptions, upload } from '#api/call.ts';
import { changeList } from '#api/change-list.ts';
import { isLive } from '#api/events.ts';
import { dashboardQuery } from '#domain/dashboard/dashboard.ts';

/** Interval at which the list is refetched while a file waits for an engine and no events arrive, in ms. */
export const WAITING_INTERVAL = 5_000;

/** Status details of scans that the server still has to process. */
const WAITING: readonly (StatusDetail | null)[] = ['queued', 'engine_down'];

export function isWaiting(scan: Scan): boolean {
  return scan.scan_status === 'pending' && WAITING.includes(scan.status_detail);
}

/** Filter and order of a list of scans. */
export type ScanChoice = Pick<ScansQuery, 'status' | 'infection' | 'search' | 'sort'>;

/** All scans, newest first. */
export const EVERY_SCAN: ScanChoice = { status: undefined, search: '', sort: 'newest' };

/** Page size of the list of scans. */
const SCANS_PAGE = 50;

const SCANS_KEY = ['scans'];
const LISTS_KEY = [...SCANS_KEY, 'list'];

interface ScansPage {
  rows: Scan[];
  /** Cursor of the next page; undefined on the last page. Stored from the reply, because rows are added and removed. */
  next: string | undefined;
}

/** The scan history, page by page. */
export const scansQuery = (choice: ScanChoice) =>
  infiniteQueryOptions({
    queryKey: [...LISTS_KEY, choice],
    queryFn: async ({ signal, pageParam }): Promise<ScansPage> => {
      const rows = await call(listScans, {
        signal,
        query: { ...choice, limit: SCANS_PAGE, ...(pageParam && { cursor: pageParam }) },
      });
      return { rows, next: rows.length < SCANS_PAGE ? undefined : rows.at(-1)?.id };
    },
    initialPageParam: '',
    getNextPageParam: ({ next }) => next,
    refetchInterval: ({ state }) =>
      !isLive() && state.data?.pages.some(({ rows }) => rows.some(isWaiting)) ? WAITING_INTERVAL : false,
  });

/** Number of scans of each status, on all pages. */
export const scanTotalsQuery = (search: string) =>
  queryOptions({
    queryKey: [...SCANS_KEY, 'totals', search],
    queryFn: ({ signal }) => call(countScans, { signal, query: { search } }),
  });

/** A unique name for an upload. Not crypto.randomUUID, which exists only on secure origins. */
export function newUploadKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Uploads a file under a key, which identifies its progress events and allows its cancellation. */
export function uploadScan(file: File, { key, ...options }: Omit<UploadOptions, 'headers'> & { key: string }): Promise<Scan> {
  return upload(scanFile, file, { ...options, headers: { [UPLOAD_KEY_HEADER]: key } });
}

/** Cancels an upload at any stage. The upload then fails with `upload_cancelled`, unless the scan has already ended. */
export async function takeBack(key: string): Promise<void> {
  await call(cancelUpload, { params: { key } });
}

/** Changes the cached list of all scans, and refetches the other queries that depend on scans. */
function changeScans(queries: QueryClient, change: (pages: ScansPage[]) => ScansPage[]): void {
  const { queryKey } = scansQuery(EVERY_SCAN);
  void queries.invalidateQueries({ queryKey: dashboardQuery.queryKey });
  void queries.invalidateQueries({ queryKey: SCANS_KEY, predicate: ({ queryHash }) => queryHash !== hashKey(queryKey) });
  changeList(queries, queryKey, (read) => ({ ...read, pages: change(read.pages) }));
}

/** Inserts or replaces a scan in the list: newest first, by id. A scan older than all loaded rows is left to the next page. */
export function mergeScan(queries: QueryClient, scan: Scan): void {
  changeScans(queries, (pages) => {
    const place = pages.findIndex(({ rows, next }) => next === undefined || (rows.at(-1)?.id ?? next) <= scan.id);
    return pages.map(({ rows, next }, index) => {
      const others = rows.filter(({ id }) => id !== scan.id);
      return { rows: index === place ? [scan, ...others].sort((one, other) => (one.id < other.id ? 1 : -1)) : others, next };
    });
  });
}

export function removeScan(queries: QueryClient, scan_id: string): void {
  changeScans(queries, (pages) => pages.map(({ rows, next }) => ({ rows: rows.filter(({ id }) => id !== scan_id), next })));
}

/** Refetches every list of scans, and the counts derived from them. */
export function invalidateScans(queries: QueryClient): void {
  void queries.invalidateQueries({ queryKey: SCANS_KEY });
  void queries.invalidateQueries({ queryKey: dashboardQuery.queryKey });
}
