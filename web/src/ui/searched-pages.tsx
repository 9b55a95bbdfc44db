import { keepPreviousData, type QueryKey, type UseQueryOptions, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { leftOf, type pagesQuery, rowsOf, totalOf } from '#api/pages.ts';
import { useSearched } from './list-filters.tsx';
import type { ListRead } from './listed.tsx';
import { ShowMore } from './show-more.tsx';

/** A list that is loaded completely. */
export function useList<Row, Key extends QueryKey>(query: UseQueryOptions<Row[], Error, Row[], Key>): ListRead<Row> {
  const { data, isPlaceholderData, error, refetch } = useQuery(query);
  return { rows: data, isOutdated: isPlaceholderData, error, refetch };
}

export interface SearchedPages<Choice, Row> extends ListRead<Row> {
  /** The filter as its controls show it. */
  chosen: Choice;
  setChosen: (choice: Choice) => void;
  /** The filter of the loaded rows: search text follows after a pause in typing. */
  choice: Choice;
  /** Total number of rows, if known. */
  total: number | undefined;
  refetch: () => Promise<unknown>;
  /** The control below the rows that loads the next page. */
  more: ReactNode;
}

/** A paged list with filters and search. `everything` is the initial filter. */
export function useSearchedPages<Choice extends { search: string }, Row>(
  everything: Choice,
  queryOf: (choice: Choice) => ReturnType<typeof pagesQuery<Row>>,
): SearchedPages<Choice, Row> {
  const [chosen, setChosen] = useState(everything);
  const choice = { ...chosen, search: useSearched(chosen.search) };
  const { data, isPlaceholderData, error, refetch, fetchNextPage, hasNextPage, isFetchingNextPage } = useInfiniteQuery({
    ...queryOf(choice),
    placeholderData: keepPreviousData,
  });
  return {
    chosen,
    setChosen,
    choice,
    rows: rowsOf(data),
    isOutdated: isPlaceholderData,
    total: totalOf(data),
    error,
    refetch,
    more: hasNextPage && !isPlaceholderData && (
      <ShowMore left={leftOf(data)} loading={isFetchingNextPage} onMore={fetchNextPage} />
    ),
  };
}
