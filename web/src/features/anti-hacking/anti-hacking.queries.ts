import {
  type Alert,
  LIVE_FEED,
  readHistory,
  readLastCheck,
  readLiveFeed,
  readStats,
  type Stats,
} from '@palisade/contract/anti-hacking';
import { listBlocks } from '@palisade/contract/blocks';
import { currentSubscription } from '@palisade/contract/current-subscription';
import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { CallError, call } from '#api/call.ts';
import { ZONE } from '#ui/place.ts';

/** "Today" is in the person's time zone. */
const time_zone = ZONE.name;

export const planQuery = queryOptions({
  queryKey: ['subscription', 'current'],
  queryFn: ({ signal }) => call(currentSubscription, { signal }),
});

export const statsQuery = queryOptions({
  queryKey: ['anti-hacking', 'stats'],
  queryFn: ({ signal }) => call(readStats, { signal, query: { time_zone } }),
  meta: { silent_status: 403 },
});

export const HISTORY_KEY = ['anti-hacking', 'history'] as const;

/** Score and threats of the last days. The previous range stays visible during a fetch. */
export const historyQuery = (days: number) =>
  queryOptions({
    queryKey: [...HISTORY_KEY, days],
    queryFn: ({ signal }) => call(readHistory, { signal, query: { days, time_zone } }),
    placeholderData: keepPreviousData,
    meta: { silent_status: 403 },
  });

/** The newest security check, also from an earlier visit. */
export const lastCheckQuery = queryOptions({
  queryKey: ['anti-hacking', 'last-check'],
  queryFn: ({ signal }) => call(readLastCheck, { signal }),
  // A server without this endpoint answers 404; do not ask it at each mount.
  retryOnMount: false,
  meta: { silent_status: 403 },
});

/** Sources whose sign-ins to this account are blocked now. */
export const blocksQuery = queryOptions({
  queryKey: ['anti-hacking', 'blocks'],
  queryFn: ({ signal }) => call(listBlocks, { signal }),
});

/** The live list and its counts. */
export function fetchLiveFeed(signal: AbortSignal): Promise<{ live_threats: Alert[]; current_stats: Stats }> {
  return call(readLiveFeed, { signal, query: { time_zone } });
}

export function isPremiumRequired(error: unknown): boolean {
  return error instanceof CallError && error.status === 403;
}

/** Puts a new threat at the head of the live list, which holds 20. */
export function prependThreat(threats: readonly Alert[], threat: Alert): Alert[] {
  return [threat, ...threats.filter(({ id }) => id !== threat.id)].slice(0, LIVE_FEED.held);
}
