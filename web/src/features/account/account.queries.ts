import { changePassword, changeUsername, currentUser } from '@palisade/contract/auth';
import { endOtherSessions, endSession, listSessions } from '@palisade/contract/sessions';
import { type QueryClient, queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import { call, callPage } from '#api/call.ts';
import { pagesQuery } from '#api/pages.ts';
import { refreshUser } from '#api/session.ts';

export const accountQuery = queryOptions({
  queryKey: ['account'],
  queryFn: ({ signal }) => call(currentUser, { signal }),
});

export const sessionsQuery = pagesQuery(['sessions'], (query, signal) => callPage(listSessions, { signal, query }));

/** What happened to this person's account. */
export const ACTIVITY_KEY = ['activity'] as const;

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

/** What stands beside in Security Preferences: who is signed in, and what was done. */
function readAnew(queries: QueryClient) {
  return Promise.all([sessionsQuery.queryKey, ACTIVITY_KEY].map((queryKey) => queries.invalidateQueries({ queryKey })));
}

export function useChangePassword() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (body: { current_password: string; new_password: string }) => call(changePassword, { body }),
    onSuccess: () => readAnew(queries),
  });
}

/** Ends one session by its id, or every other one. `onEnded` is called before the list is read anew: whoever asked may go with its row. */
export function useEndSessions(onEnded: () => void) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: ({ id, password }: { id: string | undefined; password: string }) =>
      id === undefined
        ? call(endOtherSessions, { body: { password } })
        : call(endSession, { params: { id }, body: { password } }),
    onSuccess: onEnded,
    // Also after a failure: the list may be older than what the server knows.
    onSettled: () => readAnew(queries),
  });
}
