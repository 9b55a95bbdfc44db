import { type AlertPhrase, alertEnglish, asWritten, knownAlertPhrase } from '@palisade/contract/alert-phrases';
import { phraseSchema } from '@palisade/contract/phrase';
import { z } from 'zod';

/**
 * A rule's way of counting. Times in ms. `each`: every event is reported. `sliding`: `count` events within the window, as in fail2ban (maxretry, findtime). `bucket`: more
 * events than fit into a bucket that leaks one in each `leak_ms`, as in CrowdSec (capacity, leakspeed); `once`: a value in the bucket is not added again (distinct).
 * `different`: the required number of different values.
 */
export type Counting =
  | { kind: 'sliding'; count: number; window_ms: number; different: number }
  | { kind: 'bucket'; capacity: number; leak_ms: number; different: number; once: boolean };
export type Measure = { kind: 'each' } | Counting;

/** A sample of a server of an earlier version has no phrase. */
export const sampleSchema = z.object({
  at: z.string(),
  what: z.string(),
  phrase: phraseSchema.nullable().default(null),
  source: z.string().nullable(),
});
/** An event in words, as evidence shows it. */
export type Sample = z.infer<typeof sampleSchema>;

/** The phrase of a stored English sentence; the sentence unchanged if its phrase is missing, or of a newer version. */
export function phraseOrWritten(english: string, phrase: Sample['phrase']): AlertPhrase {
  return (phrase === null ? undefined : knownAlertPhrase(phrase)) ?? asWritten(english);
}

const WHAT_MAXIMUM = 200;

/** An event as a sample. Words that are too long are cut. */
export function sampleOf(phrase: AlertPhrase, { at, source }: Pick<Sample, 'at' | 'source'>): Sample {
  const english = alertEnglish(phrase);
  if (english.length <= WHAT_MAXIMUM) return { at, what: english, phrase, source };
  const what = english.slice(0, WHAT_MAXIMUM);
  return { at, what, phrase: asWritten(what), source };
}

/** A rule's state for the events with one key. Its size is bounded by the rule's measure. Times are ms since 1970. */
export const windowSchema = z.object({
  /** The time of the latest event. */
  at: z.number(),
  /** The level of a bucket then. */
  level: z.number(),
  /** The latest events of a sliding window, oldest first. */
  times: z.array(z.number()),
  /** The latest event of each value, oldest first, and how many there were. `user_id` is whom that event was about. */
  values: z.array(z.object({ value: z.string(), at: z.number(), user_id: z.string().nullable(), count: z.int().default(1) })),
  samples: z.array(sampleSchema),
  /** The latest event that was not stopped. */
  open_at: z.number().nullable(),
});
export type Window = z.infer<typeof windowSchema>;

/** An event as a window counts it. */
export interface Drop {
  at: number;
  value: string;
  user_id: string | null;
  sample: Sample;
  is_blocked: boolean;
}

const SAMPLES_MAXIMUM = 5;

export const EMPTY: Window = { at: 0, level: 0, times: [], values: [], samples: [], open_at: null };

export function addSample(samples: readonly Sample[], sample: Sample): Sample[] {
  return [...samples, sample].slice(-SAMPLES_MAXIMUM);
}

/** When a window becomes equal to an empty one, in ms since 1970. */
export function expiryOf({ at, level, times }: Window, measure: Counting): number {
  return measure.kind === 'sliding' ? (times.at(-1) ?? at) + measure.window_ms : at + level * measure.leak_ms;
}

/** Oldest first; of equal times in the order of the values, so that their order of arrival does not matter. */
export function withValue(
  values: Window['values'],
  { value, at, user_id }: Pick<Drop, 'value' | 'at' | 'user_id'>,
): Window['values'] {
  const before = values.find((entry) => entry.value === value);
  const entry = {
    ...{ value, at: Math.max(at, before?.at ?? at), user_id: user_id ?? before?.user_id ?? null },
    count: (before?.count ?? 0) + 1,
  };
  return [...values.filter((other) => other.value !== value), entry].sort(
    (a, b) => a.at - b.at || (a.value < b.value ? -1 : a.value > b.value ? 1 : 0),
  );
}

/** Removes the events of one value. Undefined if nothing is left. */
export function forgive(window: Window, value: string): Window | undefined {
  const forgiven = window.values.find((entry) => entry.value === value);
  if (forgiven === undefined) return window;
  const values = window.values.filter((entry) => entry !== forgiven);
  return values.length === 0 ? undefined : { ...window, values, level: Math.max(0, window.level - forgiven.count) };
}

/** Adds an event. `is_full`: the rule's threshold is reached; the caller then empties the window. */
export function pour(window: Window, measure: Counting, drop: Drop): { window: Window; is_full: boolean } {
  // Servers' clocks differ slightly: a late event does not move time back.
  const at = Math.max(window.at, drop.at);
  const next = {
    at,
    samples: addSample(window.samples, drop.sample),
    open_at: drop.is_blocked ? window.open_at : Math.max(drop.at, window.open_at ?? drop.at),
  };
  if (measure.kind === 'sliding') {
    const begin = at - measure.window_ms;
    const times = [...window.times, drop.at].filter((time) => time > begin).sort((a, b) => a - b);
    const values = withValue(window.values, drop).filter((entry) => entry.at > begin);
    const is_full = times.length >= measure.count && values.length >= measure.different;
    return {
      window: { ...next, level: 0, times: times.slice(-measure.count), values: values.slice(-measure.different) },
      is_full,
    };
  }
  const left = window.level === 0 ? 0 : Math.max(0, window.level - (at - window.at) / measure.leak_ms);
  // The oldest leaks first.
  const still = left === 0 ? [] : window.values.slice(-Math.ceil(left));
  if (measure.once && still.some(({ value }) => value === drop.value)) {
    return { window: { ...window, ...next, level: left, values: still }, is_full: false };
  }
  const values = withValue(still, drop).slice(-measure.capacity - 1);
  const is_full = left + 1 > measure.capacity && values.length >= measure.different;
  return { window: { ...next, level: Math.min(measure.capacity, left + 1), times: [], values }, is_full };
}
