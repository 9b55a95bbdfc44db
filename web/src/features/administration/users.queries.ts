import type { Role } from '@palisade/contract/auth';
import {
  type AdminUser,
  changeUser,
  deleteUnprovenUser,
  endUserSessions,
  listUserSessions,
  listUsers,
} from '@palisade/contract/users';
import { infiniteQueryOptions, queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import { call } from '#api/call.ts';

const ROWS_AT_ONCE = 50;
const USERS_KEY = ['users'];
/** The audit log's entries, and whether it is whole. */
export const AUDIT_KEY = ['audit'];

/** People by a search, page by page. The last page is one that is not full. */
export const usersQuery = (search: string) =>
  infiniteQueryOptions({
    queryKey: [...USERS_KEY, search],
    queryFn: ({ pageParam, signal }) =>
      call(listUsers, { query: { limit: ROWS_AT_ONCE, search, ...(pageParam && { cursor: pageParam }) }, signal }),
    initialPageParam: '',
    getNextPageParam: (rows) => (rows.length < ROWS_AT_ONCE ? undefined : rows.at(-1)?.id),
    placeholderData: (before) => before,
  });

export const userSessionsQuery = (user_id: string) =>
  queryOptions({
    queryKey: ['user-sessions', user_id],
    queryFn: ({ signal }) => call(listUserSessions, { query: { user_id }, signal }),
  });

/** Every screen that shows a person, and the log, which tells what was done to them. */
function useReadAnew(user_id: string) {
  const queries = useQueryClient();
  const keys = [USERS_KEY, userSessionsQuery(user_id).queryKey, AUDIT_KEY];
  return () => Promise.all(keys.map((queryKey) => queries.invalidateQueries({ queryKey })));
}

export function useChangeUser({ id }: AdminUser) {
  return useMutation({
    mutationFn: (change: { role?: Role; disabled?: boolean }) => call(changeUser, { body: { user_id: id, ...change } }),
    // Also after a failure: the list may be older than what the server knows.
    onSettled: useReadAnew(id),
  });
}

export function useDeleteUnproven({ id }: AdminUser) {
  return useMutation({
    mutationFn: () => call(deleteUnprovenUser, { body: { user_id: id } }),
    onSettled: useReadAnew(id),
  });
}

/** Ends one session of a person by its id, or every one. */
export function useEndUserSessions(user_id: string) {
  return useMutation({
    mutationFn: (session_id: string | undefined) =>
      call(endUserSessions, { body: { user_id, ...(session_id !== undefined && { session_id }) } }),
    onSettled: useReadAnew(user_id),
  });
}
