import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { leftOf, type pagesQuery, rowsOf, totalOf } from '#api/pages.ts';
import { useSearched } from './list-filters.tsx';
import { ShowMore } from './show-more.tsx';

export interface SearchedPages<Choice, Row> {
  /** The present choice, as its filters show it. */
  chosen: Choice;
  setChosen: (choice: Choice) => void;
  /** The choice that the rows answer: search words follow once typing has paused. */
  choice: Choice;
  rows: Row[] | undefined;
  /** The rows answer an earlier choice. */
  isOutdated: boolean;
  /** Of all that there are, as far as the server has said it. */
  total: number | undefined;
  error: Error | null;
  refetch: () => Promise<unknown>;
  /** Stands below the rows: what reads the next ones. */
  more: ReactNode;
}

/** A list that is narrowed by choices and by words, and read page by page. `everything` is what it begins with. */
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
