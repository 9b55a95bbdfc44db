import type { InferDataFromTag, Query, QueryClient, QueryKey } from '@tanstack/react-query';

interface ListChange<Data> {
  /** False if the key is a prefix of the keys of several lists. */
  isExact?: boolean;
  /** Initial data for a query that has none; without it the query stays empty. */
  begin?: Data;
}

/**
 * The only way to change cached data of a list or record: after an event, after the reply to a write, or before it (`shows` of `useChange`).
 * Applies at once to cached data and skips queries without data. A fetch that started before the change does not overwrite it: `change` is applied to its result too,
 * so applying `change` twice must have the same effect as once.
 * Returns a function that reverts the change.
 */
export function changeList<Key extends QueryKey, Data = InferDataFromTag<unknown, Key>>(
  queries: QueryClient,
  queryKey: Key,
  change: (known: Data) => Data,
  { isExact = true, begin }: ListChange<Data> = {},
): () => void {
  if (begin !== undefined) queries.setQueryData<Data>(queryKey, (known) => known ?? begin);
  const changed = queries
    .getQueryCache()
    .findAll({ queryKey, exact: isExact })
    .map((query) => {
      const before = query.state.data;
      const make = () => set<Data>(queries, query, (known) => (known === undefined ? known : change(known)));
      make();
      return { query, before, after: query.state.data, release: hold(query, make) };
    });
  return () => {
    for (const { query, before, after, release } of changed) {
      release();
      if (query.state.data === after) set(queries, query, () => before);
      // Other changes came since, so only the server knows the present state.
      else void queries.invalidateQueries({ queryKey: query.queryKey, exact: true });
    }
  };
}

/** Stores a record that the server has just returned, also in a query that has no data yet. */
export function putRecord<Key extends QueryKey, Data = InferDataFromTag<unknown, Key>>(
  queries: QueryClient,
  queryKey: Key,
  record: Data,
): void {
  changeList<Key, Data>(queries, queryKey, () => record, { begin: record });
}

function set<Data>(queries: QueryClient, query: Query, change: (known: Data | undefined) => Data | undefined): void {
  const { isInvalidated } = query.state;
  queries.setQueryData<Data>(query.queryKey, change);
  // `setQueryData` clears the stale mark of a list; set it again.
  if (isInvalidated) query.invalidate();
}

/** Applies a change again to the result of the running fetch, before it is shown. Returns a function that stops this. */
function hold(query: Query, make: () => void): () => void {
  let isHeld = query.state.fetchStatus === 'fetching';
  const again = () => {
    if (isHeld) make();
  };
  if (isHeld) query.promise?.then(again, again);
  return () => {
    isHeld = false;
  };
}
