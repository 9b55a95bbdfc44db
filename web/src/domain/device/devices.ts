import { countRules, type Device, listBlocked, listDevices } from '@palisade/contract/devices';
import { queryOptions } from '@tanstack/react-query';
import { call } from '#api/call.ts';

/** Facts about devices change soon; events tell pages when. */
const KEY = ['devices'] as const;

/** Interval at which a device is read whose agent stopped silently, in ms. */
const STATE_INTERVAL = 30_000;

/** The person's computers, newest first; those that were revoked stay until they are removed. */
export const devicesQuery = queryOptions({
  queryKey: [...KEY, 'list'],
  queryFn: ({ signal }) => call(listDevices, { signal }),
  refetchInterval: STATE_INTERVAL,
});

/** Decisions of each rule on each device. */
export const ruleCountsQuery = queryOptions({
  queryKey: [...KEY, 'counters'],
  queryFn: ({ signal }) => call(countRules, { signal }),
});

/** Packets dropped within the last hour. */
export const blockedQuery = queryOptions({
  queryKey: [...KEY, 'blocked'],
  queryFn: ({ signal }) => call(listBlocked, { signal }),
});

/** Those that may do something. */
export function livingOf(devices: readonly Device[]): Device[] {
  return devices.filter(({ state }) => state !== 'revoked');
}
