import { z } from 'zod';
import { FLOOD } from './rules.ts';

/** Requests in bins of 15 minutes: the start of each in ms since 1970, and the count. `told_at` is the last reported bin. */
export const volumeSchema = z.object({ bins: z.array(z.tuple([z.number(), z.number()])), told_at: z.number().nullable() });
type Volume = z.infer<typeof volumeSchema>;

export const NO_VOLUME: Volume = { bins: [], told_at: null };

/** The caller: an account, or a source without one. */
export interface Asker {
  kind: 'source' | 'account';
  /** A source key, or an account's id. */
  id: string;
}

/** Whether an asker's requests per minute matter: 15 smaller counts, and as many before, are below every floor. */
export function isWorthKeeping({ kind }: Asker, requests: number): boolean {
  return requests >= FLOOD.floor[kind] / 100;
}

const binAt = (at: number) => at - (at % FLOOD.bin_ms);

/** The interpolated quantile of sorted values. */
function quantile(sorted: readonly number[], share: number): number {
  const place = (sorted.length - 1) * share;
  const below = sorted[Math.floor(place)] ?? 0;
  const above = sorted[Math.ceil(place)] ?? below;
  return below + (above - below) * (place - Math.floor(place));
}

/** When the volume of `at`'s bin no longer matters for floods, in ms since 1970. */
export function volumeExpiry(at: number): number {
  return binAt(at) + (FLOOD.bins_before + 1) * FLOOD.bin_ms;
}

/** Adds requests that were made up to `at` (ms since 1970). `limit`, for a flood that was not reported yet: the allowance by the hours before. */
export function addVolume(
  volume: Volume,
  asker: Asker,
  at: number,
  requests: number,
): { volume: Volume; count: number; limit: number | undefined } {
  const bin = binAt(at);
  const counts = new Map(volume.bins);
  const count = (counts.get(bin) ?? 0) + requests;
  counts.set(bin, count);
  const first = bin - FLOOD.bins_before * FLOOD.bin_ms;
  const bins = [...counts].filter(([start]) => start >= first && start <= bin).sort(([a], [b]) => a - b);
  const before = Array.from({ length: FLOOD.bins_before }, (_, index) => counts.get(first + index * FLOOD.bin_ms) ?? 0).sort(
    (a, b) => a - b,
  );
  const upper = quantile(before, 0.75);
  const limit = Math.max(FLOOD.floor[asker.kind], upper + FLOOD.spreads * (upper - quantile(before, 0.25)));
  const is_flood = count > limit && volume.told_at !== bin;
  return { volume: { bins, told_at: is_flood ? bin : volume.told_at }, count, limit: is_flood ? Math.round(limit) : undefined };
}
