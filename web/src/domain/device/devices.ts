import { countRules, type Device, listBlocked, listDevices } from '@palisade/contract/devices';
import { queryOptions } from '@tanstack/react-query';
import { call } from '#api/call.ts';

/** Prefix of the queries of devices. Events report their changes. */
const KEY = ['devices'] as const;

/** Refetch interval, because no event reports a silently stopped agent, in ms. */
const STATE_INTERVAL = 30_000;

/** The person's computers, newest first. Revoked ones stay until they are removed. */
export const devicesQuery = queryOptions({
  queryKey: [...KEY, 'list'],
  queryFn: ({ signal }) => call(listDevices, { signal }),
  refetchInterval: STATE_INTERVAL,
});

/** Number of decisions of each rule on each device. */
export const ruleCountsQuery = queryOptions({
  queryKey: [...KEY, 'counters'],
  queryFn: ({ signal }) => call(countRules, { signal }),
});

/** Packets dropped within the last hour. */
export const blockedQuery = queryOptions({
  queryKey: [...KEY, 'blocked'],
  queryFn: ({ signal }) => call(listBlocked, { signal }),
});

/** Devices that are confirmed and not revoked. */
export function livingOf(devices: readonly Device[]): Device[] {
  return devices.filter(({ state }) => state !== 'revoked' && state !== 'waiting');
}
