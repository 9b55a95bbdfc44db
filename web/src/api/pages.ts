import type { PageQuery } from '@palisade/contract/fields';
import { infiniteQueryOptions } from '@tanstack/react-query';
import type { Page } from './call.ts';

/** Page size. */
const ROWS_AT_ONCE = 50;

/** A paged list. `read` fetches one page with `callPage`. */
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

/** All loaded rows; undefined before the first page. */
export function rowsOf<Row>(data: { pages: readonly Page<Row[]>[] } | undefined): Row[] | undefined {
  return data?.pages.flatMap(({ rows }) => rows);
}

/** Total number of rows, if the server has counted them. */
export function totalOf(data: { pages: readonly Page<unknown>[] } | undefined): number | undefined {
  return data?.pages[0]?.total;
}

/** Number of rows not loaded yet; undefined if the server has not counted them. */
export function leftOf<Row>(data: { pages: readonly Page<Row[]>[] } | undefined): number | undefined {
  const total = totalOf(data);
  return total === undefined ? undefined : Math.max(0, total - (rowsOf(data)?.length ?? 0));
}
