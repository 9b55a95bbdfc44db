import { formatList, formatNumber, plural } from '@palisade/contract/intl';
import { z } from 'zod';

/** Present quality of the picture, from the browser's statistics (https://www.w3.org/TR/webrtc-stats/). */
export interface Quality {
  /** Frames shown per second; undefined until there are two readings. */
  frames_per_second: number | undefined;
  /** Delay from the customer's screen to this one without encoding, in ms: half of the round trip plus the time in the buffer. */
  delay_ms: number | undefined;
  /** Whether a relay (TURN) is used; undefined until a route is chosen. */
  route: 'direct' | 'relay' | undefined;
  width: number | undefined;
  height: number | undefined;
}

/** Values that the next reading is compared with. */
export interface Reading {
  at: number;
  frames: number;
  buffered_s: number;
  emitted: number;
}

const inboundSchema = z.object({
  type: z.literal('inbound-rtp'),
  kind: z.literal('video'),
  timestamp: z.number(),
  framesDecoded: z.number().optional(),
  frameWidth: z.number().optional(),
  frameHeight: z.number().optional(),
  jitterBufferDelay: z.number().optional(),
  jitterBufferEmittedCount: z.number().optional(),
});
const transportSchema = z.object({ type: z.literal('transport'), selectedCandidatePairId: z.string() });
const pairSchema = z.object({
  type: z.literal('candidate-pair'),
  id: z.string(),
  localCandidateId: z.string(),
  remoteCandidateId: z.string(),
  currentRoundTripTime: z.number().optional(),
});
const candidateSchema = z.object({
  type: z.enum(['local-candidate', 'remote-candidate']),
  id: z.string(),
  candidateType: z.string(),
});

/** The part of `RTCStatsReport` that is read. */
export interface Stats {
  forEach(visit: (entry: unknown) => void): void;
}

function entriesOf(stats: Stats): unknown[] {
  const entries: unknown[] = [];
  stats.forEach((entry) => {
    entries.push(entry);
  });
  return entries;
}

function find<S extends z.ZodType>(entries: readonly unknown[], schema: S, isIt: (entry: z.output<S>) => boolean = () => true) {
  for (const entry of entries) {
    const { data } = schema.safeParse(entry);
    if (data !== undefined && isIt(data)) return data;
  }
  return undefined;
}

/** The quality since the reading `before`. */
export function readQuality(stats: Stats, before: Reading | undefined): { quality: Quality; reading: Reading | undefined } {
  const entries = entriesOf(stats);
  const chosen = find(entries, transportSchema)?.selectedCandidatePairId;
  const pair = chosen === undefined ? undefined : find(entries, pairSchema, ({ id }) => id === chosen);
  const isRelayed =
    pair !== undefined &&
    [pair.localCandidateId, pair.remoteCandidateId].some(
      (end) => find(entries, candidateSchema, ({ id }) => id === end)?.candidateType === 'relay',
    );
  const inbound = find(entries, inboundSchema);
  const reading = inbound && {
    at: inbound.timestamp,
    frames: inbound.framesDecoded ?? 0,
    buffered_s: inbound.jitterBufferDelay ?? 0,
    emitted: inbound.jitterBufferEmittedCount ?? 0,
  };
  // A new connection counts from 0 again.
  const since = reading && before && reading.at > before.at && reading.frames >= before.frames ? before : undefined;
  const emitted = reading && since ? reading.emitted - since.emitted : 0;
  const buffered_s = reading && since && emitted > 0 ? (reading.buffered_s - since.buffered_s) / emitted : 0;
  const quality = {
    frames_per_second:
      reading && since ? Math.round(((reading.frames - since.frames) * 1_000) / (reading.at - since.at)) : undefined,
    delay_ms:
      pair?.currentRoundTripTime === undefined ? undefined : Math.round((pair.currentRoundTripTime / 2 + buffered_s) * 1_000),
    route: pair && (isRelayed ? ('relay' as const) : ('direct' as const)),
    width: inbound?.frameWidth,
    height: inbound?.frameHeight,
  };
  return { quality, reading };
}

/** The quality in one line: "24 frames/s, 18 ms, direct, 1920 × 1080". Unknown values are left out. */
export function describeQuality({ frames_per_second, delay_ms, route, width, height }: Quality): string {
  const known = [
    frames_per_second !== undefined &&
      plural(frames_per_second, { one: '1 frame/s', other: `${formatNumber(frames_per_second)} frames/s` }),
    delay_ms !== undefined && `${delay_ms} ms`,
    route === 'relay' ? 'through the relay' : route,
    width !== undefined && height !== undefined && `${width} × ${height}`,
  ].filter((part) => part !== undefined && part !== false);
  return known.length === 0 ? 'Measuring…' : formatList(known, 'plain');
}
