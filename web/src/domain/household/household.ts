import { type AskAnswer, answerAsk, type Household, readHousehold, setDeviceProfile } from '@palisade/contract/household';
import { queryOptions } from '@tanstack/react-query';
import { call } from '#api/call.ts';
import { useChange } from '#api/change.ts';

/** Interval of refetching, in ms, because no event reports new counts or the end of a pause. */
const STATE_INTERVAL = 30_000;

/** The key starts with `devices`, so events of devices refetch it. */
export const householdQuery = queryOptions({
  queryKey: ['devices', 'household'],
  queryFn: ({ signal }) => call(readHousehold, { signal }),
  refetchInterval: STATE_INTERVAL,
});

export type HouseholdAsk = Household['asks'][number];

export const useAnswerAsk = () =>
  useChange({
    of: answerAsk,
    mutationFn: ({ id, ...body }: { id: string; answer: Exclude<AskAnswer, 'wait'>; line: string }) =>
      call(answerAsk, { params: { id }, body }),
  });

export const useSetDeviceProfile = () =>
  useChange({
    of: setDeviceProfile,
    mutationFn: ({ id, profile_id }: { id: string; profile_id: string | null }) =>
      call(setDeviceProfile, { params: { id }, body: { profile_id } }),
  });
