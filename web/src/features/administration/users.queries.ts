import type { Role } from '@palisade/contract/auth';
import { listInvitations } from '@palisade/contract/invitation';
import {
  type AdminUser,
  changeUser,
  deleteUnprovenUser,
  endUserSessions,
  listUserSessions,
  listUsers,
  type UsersQuery,
} from '@palisade/contract/users';
import { queryOptions } from '@tanstack/react-query';
import { call, callPage } from '#api/call.ts';
import { useChange } from '#api/change.ts';
import { pagesQuery } from '#api/pages.ts';

const USERS_KEY = ['users'];
/** Prefix of the queries of the audit log. */
export const AUDIT_KEY = ['audit'];

/** Filter and order of the list of people. */
export type UserChoice = Pick<UsersQuery, 'search' | 'role' | 'state' | 'sort'>;
export const EVERYBODY: UserChoice = { search: '', role: undefined, state: undefined, sort: 'urgent' };

export const usersQuery = (choice: UserChoice) =>
  pagesQuery([...USERS_KEY, choice], (page, signal) => callPage(listUsers, { signal, query: { ...choice, ...page } }));

export const userSessionsQuery = (user_id: string) =>
  queryOptions({
    queryKey: ['user-sessions', user_id],
    queryFn: ({ signal }) => call(listUserSessions, { query: { user_id }, signal }),
  });

export function useChangeUser({ id }: AdminUser) {
  return useChange({
    of: changeUser,
    mutationFn: (change: { role?: Role; disabled?: boolean }) => call(changeUser, { body: { user_id: id, ...change } }),
    renews: [AUDIT_KEY],
  });
}

export function useDeleteUnproven({ id }: AdminUser) {
  return useChange({
    of: deleteUnprovenUser,
    mutationFn: () => call(deleteUnprovenUser, { body: { user_id: id } }),
    renews: [AUDIT_KEY],
  });
}

/** Ends one session of a person by its id, or all of them. */
export function useEndUserSessions(user_id: string) {
  return useChange({
    of: endUserSessions,
    mutationFn: (session_id: string | undefined) =>
      call(endUserSessions, { body: { user_id, ...(session_id !== undefined && { session_id }) } }),
    renews: [AUDIT_KEY],
  });
}

export const invitationsQuery = queryOptions({
  // The key has the prefix of the people, so a change of people also refetches the invitations.
  queryKey: ['users', 'invitations'],
  queryFn: ({ signal }) => call(listInvitations, { query: {}, signal }),
});
