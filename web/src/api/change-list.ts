import type { InferDataFromTag, Query, QueryClient, QueryKey } from '@tanstack/react-query';

interface ListChange<Data> {
  /** False where the key is the beginning of the keys of several lists. */
  isExact?: boolean;
  /** The value before the first reading; without it the list stays unread. */
  begin?: Data;
}

/**
 * The one way to change a list, or a record, that has been read: what the server told over the socket, what it answered to a write, or what a write will make of it
 * (`shows` of `useChange`). It changes where it stands, at once; what has not been read stays so. An answer that was asked for before the change does not overwrite it:
 * `change` is made in that answer too, so it has to say the same when it is made twice.
 * Answers what takes the change back.
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
      // Something else came between: how it stands now, the server knows.
      else void queries.invalidateQueries({ queryKey: query.queryKey, exact: true });
    }
  };
}

/** Puts a record where its query has it, as the server answered it now, whether it was read before or not. */
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
  // A list that was marked to be read anew keeps the mark.
  if (isInvalidated) query.invalidate();
}

/** Makes a change again in the answer that is on its way now, before anybody sees it. Answers what ends that. */
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
