import type { Endpoint } from '@palisade/contract/endpoint';
import { type MutationOptions, type QueryKey, type UseMutationResult, useMutation, useQueryClient } from '@tanstack/react-query';
import { useCallback, useRef } from 'react';
import { shownIn } from './shown-in.ts';

type Changing = Pick<Endpoint, 'changes' | 'changes_installation'>;

export interface ChangeOptions<Result, Given>
  extends Pick<MutationOptions<Result, Error, Given>, 'onSuccess' | 'onError' | 'gcTime'> {
  /** Sends the value. Rejects with the `CallError` of the call. */
  mutationFn: (given: Given) => Promise<Result>;
  /** The called endpoints. Lists that show their changes are refetched, and `isPending` lasts until then. */
  of?: Changing | readonly Changing[];
  /** Shows the expected result with `changeList` before the reply, and returns a function that reverts it. A refusal calls that function and sets `error`. */
  shows?: (given: Given) => () => void;
  /** Further queries to refetch, without waiting for them. */
  renews?: readonly QueryKey[];
}

/** Queries that any action of a person may change: the score on the dashboard, and the counts for administrators. */
const ALWAYS: readonly QueryKey[] = [['dashboard'], ['overview']];

/** Shallow equality, because a form creates a new object at each press. */
function isSame(one: unknown, other: unknown): boolean {
  if (!isPlain(one) || !isPlain(other)) return Object.is(one, other);
  const keys = Object.keys(one);
  return keys.length === Object.keys(other).length && keys.every((key) => Object.is(one[key], other[key]));
}

function isPlain(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}

/**
 * The only way to write from a screen. `mutate` sends; the screen shows `isPending` and `error`.
 * Refetches the lists that show the change, also after a refusal, since another person may have changed the record. After a success `isPending` lasts until they are read.
 * Without a connection it fails at once and is not sent later.
 * A second call with an equal value is dropped while the first is pending: the second press of a double click comes before a button shows that it is busy.
 */
export function useChange<Result, Given = void>({
  of = [],
  renews = [],
  shows,
  ...options
}: ChangeOptions<Result, Given>): UseMutationResult<Result, Error, Given> {
  const queries = useQueryClient();
  /** The value sent last, until its reply. */
  const latest = useRef<{ given: unknown }>(undefined);
  const mutation = useMutation<Result, Error, Given, (() => void) | undefined>({
    ...options,
    networkMode: 'always',
    onMutate: (given) => shows?.(given),
    onSettled(_, error, given, takeBack) {
      if (latest.current?.given === given) latest.current = undefined;
      if (error !== null) takeBack?.();
      const topics = [of].flat().flatMap(({ changes, changes_installation }) => [changes, changes_installation]);
      const shown = topics.flatMap((topic) => (topic === undefined ? [] : shownIn(topic)));
      const beside = error === null ? [...renews, ...ALWAYS] : renews;
      // Each key once: a duplicate would refetch a list while its first fetch is running.
      const keys = new Map([...beside, ...shown].map((key) => [JSON.stringify(key), key]));
      const waitedFor = new Set(shown.map((key) => JSON.stringify(key)));
      const reading = [...keys].flatMap(([name, queryKey]) => {
        const read = queries.invalidateQueries({ queryKey });
        return waitedFor.has(name) ? [read] : [];
      });
      return error === null ? Promise.all(reading) : undefined;
    },
  });
  const { mutate: send } = mutation;
  const mutate = useCallback<typeof send>(
    (...sent) => {
      const [given] = sent;
      // Compares with the latest value only: a third press may undo the second, as with a switch.
      if (latest.current && isSame(latest.current.given, given)) return;
      latest.current = { given };
      send(...sent);
    },
    [send],
  );
  return { ...mutation, mutate };
}
