import type { Resolved, Resolver } from '@palisade/names/resolver';
import { nameText, type Question } from '@palisade/names/wire';
import type { DeviceRules } from './name-rules.ts';
import type { QuestionCounts } from './question-counts.ts';

/** Time for which a device and its rules are cached, in ms. Changes by another server take effect after it. */
const KNOWN_MS = 2_500;
const KNOWN_MAXIMUM = 10_000;
/** Identifies a device by its key, or by the source address of a plain DNS query. */
export type Asker = { key: string } | { address: string };

/** Rate limit of queries per device: a token bucket of this size, refilled with `PER_SECOND`. */
const BURST = 1_000;
const PER_SECOND = 200;
/** Maximum queries of one device that wait for upstreams, so that it cannot use up the limit of all devices. */
const WAITING_MAXIMUM = 200;

interface Asking {
  id: string;
  key: string;
  user_id: string;
  profile_id: string | null;
  last_question_at: string | null;
  /** All names that it queries are recorded until this time. */
  names_until?: string | null;
}

interface Known {
  device: Asking | undefined;
  rules: DeviceRules;
  read_at: number;
  /** The device has not sent a query before. */
  isNew: boolean;
}

/** Token bucket of a device, and its number of pending queries. A change of rules does not refill it. */
interface Bucket {
  left: number;
  counted_at: number;
  waiting: number;
}

/** `unknown`: no device has this key or address. `limited`: the device exceeds its rate limit. */
export type Answered =
  | { kind: 'unknown' }
  | { kind: 'limited' }
  | { kind: 'answered'; answer: Buffer | undefined; question?: Question | undefined };

/** Answers DNS queries of devices by their rules. */
export class QuestionDesk {
  private readonly options: {
    resolver: Pick<Resolver, 'resolve'>;
    counts: Pick<QuestionCounts, 'add' | 'write'>;
    find: (asker: Asker) => Promise<Asking | undefined>;
    rulesOf: (device: Pick<Asking, 'user_id' | 'profile_id'>) => Promise<DeviceRules>;
    now: () => number;
  };
  private readonly known = new Map<string, Known>();
  private readonly buckets = new Map<string, Bucket>();
  private generation = 0;
  private readonly reading = new Map<string, Promise<Known>>();

  constructor(options: QuestionDesk['options']) {
    this.options = options;
  }

  /** Clears the cache, so that the next query reads device and rules again. */
  forget(): void {
    this.generation += 1;
    this.known.clear();
    this.reading.clear();
  }

  private read(key: string, asker: Asker): Promise<Known> {
    const reading = this.reading.get(key);
    if (reading !== undefined) return reading;
    const read = this.readNow(key, asker).finally(() => {
      if (this.reading.get(key) === read) this.reading.delete(key);
    });
    this.reading.set(key, read);
    return read;
  }

  private async readNow(key: string, asker: Asker): Promise<Known> {
    const { generation } = this;
    const read_at = this.options.now();
    const device = await this.options.find(asker);
    const rules: DeviceRules = device === undefined ? NO_RULES : await this.options.rulesOf(device);
    const known = { device, rules, read_at, isNew: device?.last_question_at === null };
    // Rules that were read before a change are not cached.
    if (generation !== this.generation) return known;
    const [oldest] = this.known.keys();
    if (this.known.size >= KNOWN_MAXIMUM && oldest !== undefined) this.known.delete(oldest);
    if (device !== undefined || 'address' in asker) this.known.set(key, known);
    return known;
  }

  /** Takes a token from the device's bucket. Undefined if the device exceeds its limits. */
  private take(device_id: string): Bucket | undefined {
    const now = this.options.now();
    const bucket = this.buckets.get(device_id) ?? this.newBucket(device_id, now);
    const passed = Math.max(now - bucket.counted_at, 0);
    bucket.left = Math.min(bucket.left + (passed * PER_SECOND) / 1_000, BURST);
    bucket.counted_at = now;
    if (bucket.left < 1 || bucket.waiting >= WAITING_MAXIMUM) return undefined;
    bucket.left -= 1;
    return bucket;
  }

  private newBucket(device_id: string, counted_at: number): Bucket {
    const [oldest] = this.buckets.keys();
    if (this.buckets.size >= KNOWN_MAXIMUM && oldest !== undefined) this.buckets.delete(oldest);
    const bucket = { left: BURST, counted_at, waiting: 0 };
    this.buckets.set(device_id, bucket);
    return bucket;
  }

  /** Whether a device has this key. */
  async isKnown(key: string): Promise<boolean> {
    return (await this.knownOf({ key })).device !== undefined;
  }

  private knownOf(asker: Asker): Known | Promise<Known> {
    const key = 'key' in asker ? `key ${asker.key}` : `address ${asker.address}`;
    const kept = this.known.get(key);
    return kept !== undefined && Math.abs(this.options.now() - kept.read_at) < KNOWN_MS ? kept : this.read(key, asker);
  }

  async ask(asker: Asker, message: Buffer): Promise<Answered> {
    const found = this.knownOf(asker);
    const known = found instanceof Promise ? await found : found;
    if (known.device === undefined) return { kind: 'unknown' };
    const bucket = this.take(known.device.id);
    if (bucket === undefined) return { kind: 'limited' };
    const resolving = this.options.resolver.resolve(message, known.rules.policy);
    const { answer, question, refusal }: Resolved = resolving instanceof Promise ? await waitingIn(bucket, resolving) : resolving;
    if (question !== undefined) {
      const { id: device_id, key, user_id, profile_id, names_until } = known.device;
      // Names of a device with a profile are never recorded, so that guardians cannot see them.
      const areShown = profile_id === null && names_until != null && this.options.now() < Date.parse(names_until);
      const shown = areShown && refusal === undefined ? nameText(question.name) : undefined;
      this.options.counts.add({ device_id, key, user_id, profile_id, refusal, shown, is_private: known.rules.is_private });
      // The first query is written at once, because a page waits for it.
      if (known.isNew) {
        known.isNew = false;
        void this.options.counts.write();
      }
    }
    return { kind: 'answered', answer, question };
  }
}

const NO_RULES: DeviceRules = { policy: { levels: [], safe_search: 'off', seconds_maximum: 0 }, is_private: false };

function waitingIn(bucket: Bucket, resolving: Promise<Resolved>): Promise<Resolved> {
  bucket.waiting += 1;
  return resolving.finally(() => {
    bucket.waiting -= 1;
  });
}
