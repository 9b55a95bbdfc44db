import { changePassword, changeUsername, currentUser } from '@palisade/contract/auth';
import { endOtherSessions, endSession, listSessions } from '@palisade/contract/sessions';
import { queryOptions, useQueryClient } from '@tanstack/react-query';
import { call, callPage } from '#api/call.ts';
import { useChange } from '#api/change.ts';
import { putRecord } from '#api/change-list.ts';
import { pagesQuery } from '#api/pages.ts';
import { refreshUser } from '#api/session.ts';

export const accountQuery = queryOptions({
  queryKey: ['account'],
  queryFn: ({ signal }) => call(currentUser, { signal }),
});

export const sessionsQuery = pagesQuery(['sessions'], (query, signal) => callPage(listSessions, { signal, query }));

export const ACTIVITY_KEY = ['activity'] as const;

export function useChangeUsername() {
  const queries = useQueryClient();
  return useChange({
    of: changeUsername,
    mutationFn: (username: string) => call(changeUsername, { body: { username } }),
    onSuccess: (account) => {
      putRecord(queries, accountQuery.queryKey, account);
      refreshUser(account);
    },
  });
}

export function useChangePassword() {
  return useChange({
    of: changePassword,
    mutationFn: (body: { current_password: string; new_password: string }) => call(changePassword, { body }),
  });
}

/** Ends one session by its id, or every other one. `onEnded` is called before the list is refetched, because the refetch may unmount the row of the caller. */
export function useEndSessions(onEnded: () => void) {
  return useChange({
    of: [endOtherSessions, endSession],
    mutationFn: ({ id, password }: { id: string | undefined; password: string }) =>
      id === undefined
        ? call(endOtherSessions, { body: { password } })
        : call(endSession, { params: { id }, body: { password } }),
    onSuccess: onEnded,
  });
}
