import { countRules, type Device, listBlocked, listDevices } from '@palisade/contract/devices';
import { queryOptions } from '@tanstack/react-query';
import { call } from '#api/call.ts';

/** What is read of devices is out of date soon; pages are told when. */
const KEY = ['devices'] as const;

/** How often a device is asked for whose agent stops without a word, in ms. */
const STATE_INTERVAL = 30_000;

/** The person's computers, newest first; those that were revoked stay until they are removed. */
export const devicesQuery = queryOptions({
  queryKey: [...KEY, 'list'],
  queryFn: ({ signal }) => call(listDevices, { signal }),
  refetchInterval: STATE_INTERVAL,
});

/** What each rule decided on each device. */
export const ruleCountsQuery = queryOptions({
  queryKey: [...KEY, 'counters'],
  queryFn: ({ signal }) => call(countRules, { signal }),
});

/** What was dropped within the last hour. */
export const blockedQuery = queryOptions({
  queryKey: [...KEY, 'blocked'],
  queryFn: ({ signal }) => call(listBlocked, { signal }),
});

/** Those that may do something. */
export function livingOf(devices: readonly Device[]): Device[] {
  return devices.filter(({ state }) => state !== 'revoked');
}
