import type { Endpoint } from '@palisade/contract/endpoint';
import { type MutationOptions, type QueryKey, type UseMutationResult, useMutation, useQueryClient } from '@tanstack/react-query';
import { useCallback, useRef } from 'react';
import { shownIn } from './shown-in.ts';

type Changing = Pick<Endpoint, 'changes' | 'changes_installation'>;

export interface ChangeOptions<Result, Given>
  extends Pick<MutationOptions<Result, Error, Given>, 'onSuccess' | 'onError' | 'gcTime'> {
  /** The sent value. It fails with the `CallError` of the call. */
  mutationFn: (given: Given) => Promise<Result>;
  /** The endpoints that it calls. Lists that show their changes are read anew, and waited for. */
  of?: Changing | readonly Changing[];
  /** Shows by `changeList` what will be, before the server has answered, and answers what takes it back. After a refusal that is called, and `error` says why. */
  shows?: (given: Given) => () => void;
  /** Further queries that are read anew, and not waited for. */
  renews?: readonly QueryKey[];
}

/** Queries that may change with every action of a person: the score on the dashboard, and what waits for administrators. */
const ALWAYS: readonly QueryKey[] = [['dashboard'], ['overview']];

/** A form makes its object anew at each press. */
function isSame(one: unknown, other: unknown): boolean {
  if (!isPlain(one) || !isPlain(other)) return Object.is(one, other);
  const keys = Object.keys(one);
  return keys.length === Object.keys(other).length && keys.every((key) => Object.is(one[key], other[key]));
}

function isPlain(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}

/**
 * The one way to write from a screen. `mutate` sends; `isPending` and `error` are for the screen to show. Lists that show the change are read anew, also after a refusal, since another person may have changed the record. After a success `isPending` lasts until that has been read. Without a connection it fails at once, with its sentence,
 * and is not sent later. The same given twice is sent once: the second press of a double click comes before a button shows that the first is on its way.
 */
export function useChange<Result, Given = void>({
  of = [],
  renews = [],
  shows,
  ...options
}: ChangeOptions<Result, Given>): UseMutationResult<Result, Error, Given> {
  const queries = useQueryClient();
  /** The last that was sent, until it is answered. */
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
      // Asked for twice, a list would be asked for again while its first answer is on its way.
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
      // Of three the third may take the second back, as a switch does.
      if (latest.current && isSame(latest.current.given, given)) return;
      latest.current = { given };
      send(...sent);
    },
    [send],
  );
  return { ...mutation, mutate };
}
