import type { BodySentOf } from '@palisade/contract/endpoint';
import {
  acceptDomainList,
  addWebDevice,
  listDomainLists,
  listShownNames,
  listWebRefusals,
  pauseWebProtection,
  removeWebDevice,
  removeWebName,
  renewWebKey,
  setWebPolicy,
  showWebNames,
  type WebPolicy,
} from '@palisade/contract/web-protection';
import { queryOptions } from '@tanstack/react-query';
import { call, callPage } from '#api/call.ts';
import { useChange } from '#api/change.ts';
import { pagesQuery } from '#api/pages.ts';
import { tryAddress } from '#api/try-address.ts';

const KEY = ['devices', 'web'];

/** Interval of refetching refusals in ms, for a person who finds that a website doesn't open. */
const REFUSALS_INTERVAL = 5_000;

export const refusalsQuery = {
  ...pagesQuery([...KEY, 'refused'], (page, signal) => callPage(listWebRefusals, { query: page, signal })),
  refetchInterval: REFUSALS_INTERVAL,
};

/** Tested again each time that the steps of a device are opened. */
export const trialQuery = (address: string) =>
  queryOptions({
    queryKey: [...KEY, 'trial', address],
    queryFn: ({ signal }) => tryAddress(address, signal),
    staleTime: 0,
    gcTime: 0,
  });

export const useAddDevice = () =>
  useChange({ of: addWebDevice, mutationFn: (body: BodySentOf<typeof addWebDevice>) => call(addWebDevice, { body }) });

export const useRemoveDevice = () =>
  useChange({ of: removeWebDevice, mutationFn: (id: string) => call(removeWebDevice, { params: { id } }) });

export const useRenewKey = () =>
  useChange({ of: renewWebKey, mutationFn: (id: string) => call(renewWebKey, { params: { id } }) });

export const shownNamesQuery = (id: string) =>
  pagesQuery([...KEY, 'names', id], (page, signal) => callPage(listShownNames, { params: { id }, query: page, signal }));

export const useShowNames = () =>
  useChange({
    of: showWebNames,
    mutationFn: ({ id, shown }: { id: string; shown: boolean }) => call(showWebNames, { params: { id }, body: { shown } }),
  });

export const useSetPolicy = () => useChange({ of: setWebPolicy, mutationFn: (body: WebPolicy) => call(setWebPolicy, { body }) });

export const usePause = () =>
  useChange({ of: pauseWebProtection, mutationFn: (paused: boolean) => call(pauseWebProtection, { body: { paused } }) });

export const useRemoveName = () =>
  useChange({ of: removeWebName, mutationFn: (id: string) => call(removeWebName, { params: { id } }) });

const LISTS_KEY = [...KEY, 'lists'];

export const domainListsQuery = queryOptions({
  queryKey: LISTS_KEY,
  queryFn: ({ signal }) => call(listDomainLists, { signal }),
});

export const useAcceptList = () =>
  useChange({ mutationFn: (id: string) => call(acceptDomainList, { body: { id } }), renews: [LISTS_KEY] });
