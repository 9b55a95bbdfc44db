import type { BodySentOf } from '@palisade/contract/endpoint';
import {
  addProfile,
  addProfileName,
  changeProfile,
  inviteGuardian,
  joinHome,
  leaveHome,
  lookAtAskPage,
  lookAtHomeInvite,
  mayI,
  pauseProfile,
  removeProfile,
  removeProfileName,
  renewAskKey,
  setHomeTimeZone,
  tryProfile,
  withdrawHomeInvite,
} from '@palisade/contract/household';
import { queryOptions, useQueryClient } from '@tanstack/react-query';
import { call } from '#api/call.ts';
import { useChange } from '#api/change.ts';
import { putRecord } from '#api/change-list.ts';
import { ownKeyOf } from './own-key.ts';

type OfProfile<Body> = { id: string } & Body;

export const useAddProfile = () =>
  useChange({ of: addProfile, mutationFn: (body: BodySentOf<typeof addProfile>) => call(addProfile, { body }) });

export const useChangeProfile = () =>
  useChange({
    of: changeProfile,
    mutationFn: ({ id, ...body }: OfProfile<BodySentOf<typeof changeProfile>>) => call(changeProfile, { params: { id }, body }),
  });

export const useRemoveProfile = () =>
  useChange({ of: removeProfile, mutationFn: (id: string) => call(removeProfile, { params: { id } }) });

export const usePauseProfile = () =>
  useChange({
    of: pauseProfile,
    mutationFn: ({ id, ...body }: OfProfile<BodySentOf<typeof pauseProfile>>) => call(pauseProfile, { params: { id }, body }),
  });

export const useRenewAskKey = () =>
  useChange({ of: renewAskKey, mutationFn: (id: string) => call(renewAskKey, { params: { id } }) });

export const useAddProfileName = () =>
  useChange({
    of: addProfileName,
    mutationFn: ({ id, ...body }: OfProfile<BodySentOf<typeof addProfileName>>) => call(addProfileName, { params: { id }, body }),
  });

export const useRemoveProfileName = () =>
  useChange({ of: removeProfileName, mutationFn: (id: string) => call(removeProfileName, { params: { id } }) });

export const useTryProfile = () =>
  useChange({
    mutationFn: ({ id, ...body }: OfProfile<BodySentOf<typeof tryProfile>>) => call(tryProfile, { params: { id }, body }),
  });

export const useSetHomeTimeZone = () =>
  useChange({ of: setHomeTimeZone, mutationFn: (time_zone: string) => call(setHomeTimeZone, { body: { time_zone } }) });

export const useInviteGuardian = () =>
  useChange({ of: inviteGuardian, mutationFn: (email: string) => call(inviteGuardian, { body: { email } }) });

export const useWithdrawInvite = () =>
  useChange({ of: withdrawHomeInvite, mutationFn: (id: string) => call(withdrawHomeInvite, { params: { id } }) });

export const useLeaveHome = () => useChange({ of: leaveHome, mutationFn: () => call(leaveHome) });

export const homeInviteQuery = (token: string) =>
  queryOptions({
    queryKey: ['devices', 'household', 'invite', token],
    queryFn: ({ signal }) => call(lookAtHomeInvite, { body: { token }, signal }),
    enabled: token !== '',
  });

export const useJoinHome = () => useChange({ of: joinHome, mutationFn: (token: string) => call(joinHome, { body: { token } }) });

/** Polling interval in ms, the longest time until a waiting person sees the answer. Hidden pages do not poll. */
const ASK_INTERVAL = 5_000;
const ASK_PAGE_KEY = ['ask-page'];

export const askPageQuery = (key: string) =>
  queryOptions({
    queryKey: ASK_PAGE_KEY,
    queryFn: ({ signal }) => call(lookAtAskPage, { body: { key, own_key: ownKeyOf(key) }, signal }),
    refetchInterval: ASK_INTERVAL,
    meta: { silent_status: 404 },
  });

/** Sends a “May I?” request. The reply is the page with the request, which is shown at once. */
export function useMayI(key: string) {
  const queries = useQueryClient();
  return useChange({
    mutationFn: (refusal_id: string) => call(mayI, { body: { key, own_key: ownKeyOf(key), refusal_id } }),
    onSuccess: (page) => putRecord(queries, askPageQuery(key).queryKey, page),
  });
}
