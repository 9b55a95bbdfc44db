import type { PageQuery } from '@palisade/contract/fields';
import { infiniteQueryOptions } from '@tanstack/react-query';
import type { Page } from './call.ts';

/** Rows that are read at once; more on demand. */
const ROWS_AT_ONCE = 50;

/** A list, page by page. `read` asks the server for one, as `callPage` answers it. */
export function pagesQuery<Row>(
  queryKey: readonly unknown[],
  read: (page: Partial<PageQuery>, signal: AbortSignal) => Promise<Page<Row[]>>,
) {
  return infiniteQueryOptions({
    queryKey,
    queryFn: ({ pageParam, signal }) => read({ limit: ROWS_AT_ONCE, ...(pageParam && { cursor: pageParam }) }, signal),
    initialPageParam: '',
    getNextPageParam: ({ next }) => next,
  });
}

/** All rows that have been read; undefined before the first. */
export function rowsOf<Row>(data: { pages: readonly Page<Row[]>[] } | undefined): Row[] | undefined {
  return data?.pages.flatMap(({ rows }) => rows);
}

/** Number of all rows, where the server counted them. */
export function totalOf(data: { pages: readonly Page<unknown>[] } | undefined): number | undefined {
  return data?.pages[0]?.total;
}

/** Number of unread rows; undefined where the server has not counted them. */
export function leftOf<Row>(data: { pages: readonly Page<Row[]>[] } | undefined): number | undefined {
  const total = totalOf(data);
  return total === undefined ? undefined : Math.max(0, total - (rowsOf(data)?.length ?? 0));
}
