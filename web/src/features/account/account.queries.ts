import { changePassword, changeUsername, currentUser } from '@palisade/contract/auth';
import { endOtherSessions, endSession, listSessions } from '@palisade/contract/sessions';
import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import { call } from '#api/call.ts';
import { refreshUser } from '#api/session.ts';

export const accountQuery = queryOptions({
  queryKey: ['account'],
  queryFn: ({ signal }) => call(currentUser, { signal }),
});

export const sessionsQuery = queryOptions({
  queryKey: ['sessions'],
  queryFn: ({ signal }) => call(listSessions, { signal }),
});

export function useChangeUsername() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (username: string) => call(changeUsername, { body: { username } }),
    onSuccess: (account) => {
      queries.setQueryData(accountQuery.queryKey, account);
      refreshUser(account);
    },
  });
}

export function useChangePassword() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (body: { current_password: string; new_password: string }) => call(changePassword, { body }),
    onSuccess: () => queries.invalidateQueries({ queryKey: sessionsQuery.queryKey }),
  });
}

/** Ends one session by its id, or every other one. */
export function useEndSessions() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: ({ id, password }: { id: string | undefined; password: string }) =>
      id === undefined
        ? call(endOtherSessions, { body: { password } })
        : call(endSession, { params: { id }, body: { password } }),
    // Also after a failure: the list may be older than what the server knows.
    onSettled: () => queries.invalidateQueries({ queryKey: sessionsQuery.queryKey }),
  });
}
