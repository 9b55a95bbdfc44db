import { type LiveEvent, liveEventSchema, OF_THE_MOMENT } from '@palisade/contract/events';
import type { FastifyBaseLogger } from 'fastify';
import { z } from 'zod';
import { newId } from '#platform/id.ts';
import { parseJson } from '#platform/parse-json.ts';
import { connectRedis, openRedisSubscriber, type RedisConnection, type RedisSubscriber, withinTime } from '#platform/redis.ts';
import { redisNames } from '#platform/redis-names.ts';
import {
  FORGOTTEN_AFTER_MS,
  KEPT_MAXIMUM,
  type Listener,
  PERSON,
  type Published,
  resumeAt,
  type TopicName,
  type Topics,
} from './topics.ts';

const PREFIX = 'topic:';

/** Starts the stream of a topic without recent listeners, and returns the stored events. The first entry is a marker of the start, not an event. */
const START = `
if redis.call('EXISTS', KEYS[1]) == 0 then redis.call('XADD', KEYS[1], '*', 'id', ARGV[1], 'event', '') end
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return redis.call('XRANGE', KEYS[1], '-', '+')`;

/** Stores an event and publishes it with its id in the stream, atomically: all servers receive events in the stored order. Does nothing without listeners. */
const TELL = `
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
local place = redis.call('XADD', KEYS[1], 'MAXLEN', ARGV[1], '*', 'id', ARGV[2], 'event', ARGV[3])
redis.call('PEXPIRE', KEYS[1], ARGV[4])
return redis.call('PUBLISH', KEYS[1], place .. ' ' .. ARGV[5])`;

/** Deletes the stored events, and tells listeners that events are missing. */
const FORGET = `
redis.call('DEL', KEYS[1])
return redis.call('PUBLISH', KEYS[1], ARGV[1])`;

/** Interval at which topics with listeners are marked as in use, in ms. */
const IN_USE_MS = FORGOTTEN_AFTER_MS / 5;
/** Number of topics that are marked at a time. */
const KEPT_AT_ONCE = 100;
/** Interval at which this server checks whether Redis is back, in ms. */
const LOOK_MS = 500;
/** Time to wait for an answer, in ms. Longer than for a request, because a late event does less harm than all pages reconnecting at once. */
const PATIENCE_MS = 2_000;
/** Dropped listeners reconnect at once, so they are dropped in batches: their number, and the ms between them. */
const SENT_AWAY = { at_once: 100, every_ms: 50 } as const;
/** Maximum number of remembered topics with events during an outage of Redis; beyond it, every topic is forgotten. */
const UNSAID_MAXIMUM = 10_000;

const entriesSchema = z.array(z.tuple([z.string(), z.tuple([z.literal('id'), z.string(), z.literal('event'), z.string()])]));
const scannedSchema = z.tuple([z.string(), z.array(z.string())]);
const messageSchema = z.union([
  z.object({ id: z.string().nullable(), event: liveEventSchema }),
  z.object({ forgotten: z.literal(true) }),
]);
/** The id of an event that is not stored. */
const NOWHERE = '0-0';
const FORGOTTEN = `${NOWHERE} ${JSON.stringify({ forgotten: true })}`;

/** An event with its id in the stream. */
interface Placed {
  place: string;
  published: Published;
}

/** A listener on this server. */
interface Seat {
  listener: Listener;
  /** Events that arrive before the stored ones are read; undefined after that. */
  waiting: Placed[] | undefined;
  /** The last stored event that it received: arriving events up to this id are duplicates. */
  told_to: string;
  /** It receives no more events. */
  is_lost: boolean;
  /** It started without Redis, so the stored events were not read for it. */
  is_unsure: boolean;
}

/** The listeners of one topic on this server. */
interface Room {
  seats: Set<Seat>;
  /** Resolves once this server is subscribed to the topic's channel. */
  heard: Promise<void>;
}

/** Whether an entry of a stream comes after another (redis.io/docs/latest/develop/data-types/streams, entry IDs: milliseconds and a number). */
function isAfter(place: string, other: string): boolean {
  const [ms = 0, number = 0] = place.split('-').map(Number);
  const [other_ms = 0, other_number = 0] = other.split('-').map(Number);
  return ms > other_ms || (ms === other_ms && number > other_number);
}

interface RedisTopicsOptions {
  url: string;
  logger: FastifyBaseLogger;
  kept?: number | undefined;
  connection: RedisConnection;
  subscriber: RedisSubscriber;
}

// Sends the script's text each time, not its hash: a command that must be sent twice is overtaken by later ones.
const evaluate = (script: string, key: string, values: readonly string[]) => ['EVAL', script, '1', key, ...values];

function tellSeat(seat: Seat, placed: Placed): void {
  const { place, published } = placed;
  if (seat.is_lost) return;
  if (seat.waiting !== undefined) seat.waiting.push(placed);
  else if (published.id === null || isAfter(place, seat.told_to)) seat.listener.onEvent(published);
}

/**
 * Topics shared by several servers: a Redis stream for each topic with listeners, and a channel of the same name. While Redis is away, events reach only the listeners of
 * this server; when it is back, listeners that may have missed some are dropped, and learn by their last id which. If Redis was only late, nothing is lost: events that it
 * confirms in the end were stored, and their listeners stay. @throws Error with one line when Redis cannot be used at the start.
 */
class RedisTopics implements Topics {
  private readonly logger: FastifyBaseLogger;
  private readonly kept: number;
  private readonly connection: RedisConnection;
  private readonly subscriber: RedisSubscriber;
  private readonly prefix: string;
  /** By key. */
  private readonly rooms = new Map<string, Room>();
  /** Keys of events that Redis has not confirmed, with their number. */
  private readonly unsaid = new Map<string, number>();
  private isUnsaidTooMuch = false;
  private isAway = false;
  /** Whether events of other servers may have been missed. */
  private wasDeaf = false;
  private isClosed = false;
  private readonly leaving: Seat[] = [];
  private sending: NodeJS.Timeout | undefined;
  private readonly keeping: NodeJS.Timeout;

  constructor(options: RedisTopicsOptions) {
    this.logger = options.logger;
    this.kept = options.kept ?? KEPT_MAXIMUM;
    this.connection = options.connection;
    this.subscriber = options.subscriber;
    this.prefix = redisNames(options.url) + PREFIX;
    this.keeping = setInterval(() => void this.keep().catch(this.lose), IN_USE_MS);
    this.keeping.unref();
  }

  /** The key of a topic's stream, which is also the name of its channel. */
  private keyOf(topic: TopicName) {
    return this.prefix + topic;
  }

  private send(command: readonly string[]) {
    return withinTime(this.connection.send(command), PATIENCE_MS);
  }

  private run(script: string, key: string, values: readonly string[]) {
    return this.send(evaluate(script, key, values));
  }

  private tellHere(key: string, placed: Placed): void {
    for (const seat of this.rooms.get(key)?.seats ?? []) tellSeat(seat, placed);
  }

  private sendAway(seats: Iterable<Seat>): void {
    for (const seat of seats) {
      if (!seat.is_lost) this.leaving.push(seat);
      seat.is_lost = true;
    }
    const next = () => {
      for (const { listener } of this.leaving.splice(0, SENT_AWAY.at_once)) listener.onLost();
      this.sending = this.leaving.length === 0 || this.isClosed ? undefined : setTimeout(next, SENT_AWAY.every_ms).unref();
    };
    if (this.sending === undefined) next();
  }

  hear(key: string, text: string): void {
    const space = text.indexOf(' ');
    const message = messageSchema.safeParse(parseJson(text.slice(space + 1))).data;
    // A newer server may send messages that this one does not know.
    if (message === undefined) return;
    if ('forgotten' in message) this.sendAway(this.rooms.get(key)?.seats ?? []);
    else this.tellHere(key, { place: text.slice(0, space), published: message });
  }

  private readonly lose = (error?: unknown): void => {
    if (this.isAway || this.isClosed) return;
    this.isAway = true;
    this.logger.error(
      { err: error },
      'Redis does not answer: until it does, events of other servers do not reach the pages here',
    );
    setTimeout(() => void this.look(), LOOK_MS).unref();
  };

  private noteUnsaid(key: string): boolean {
    const times = this.unsaid.get(key) ?? 0;
    if (times === 0 && this.unsaid.size >= UNSAID_MAXIMUM) {
      this.isUnsaidTooMuch = true;
      return false;
    }
    this.unsaid.set(key, times + 1);
    return true;
  }

  /** Redis confirmed an event late. */
  private noteSaid(key: string): void {
    const times = this.unsaid.get(key) ?? 0;
    if (times > 1) this.unsaid.set(key, times - 1);
    else this.unsaid.delete(key);
  }

  private async everyKey(beginning = ''): Promise<string[]> {
    const keys: string[] = [];
    for (let cursor = ''; cursor !== '0'; ) {
      const [next, some] = scannedSchema.parse(
        await this.send(['SCAN', cursor || '0', 'MATCH', `${this.prefix}${beginning}*`, 'COUNT', '1000']),
      );
      keys.push(...some);
      cursor = next;
    }
    return keys;
  }

  /** Marks the affected topics, so that listeners on other servers, and returning ones, learn that events are missing. */
  private async forgetUnsaid(): Promise<void> {
    if (this.isUnsaidTooMuch) for (const key of await this.everyKey()) this.unsaid.set(key, 1);
    this.isUnsaidTooMuch = false;
    for (const key of this.unsaid.keys()) {
      await this.run(FORGET, key, [FORGOTTEN]);
      this.unsaid.delete(key);
    }
  }

  /** Tests whether Redis is back, and ends the outage mode. */
  private async look(): Promise<void> {
    if (this.isClosed) return;
    try {
      // Answers arrive in the order of the commands: after this one the late answers are known.
      await this.send(['PING']);
      if (!(await this.subscriber.ask())) throw new Error('not subscribed yet');
      await this.forgetUnsaid();
    } catch {
      this.connection.renew();
      setTimeout(() => void this.look(), LOOK_MS).unref();
      return;
    }
    this.isAway = false;
    this.logger.warn('Redis answers again: events of all servers reach the pages here');
    for (const room of this.rooms.values()) {
      room.heard = Promise.resolve();
      // If no event was missed, only listeners that started without Redis are dropped.
      this.sendAway(this.wasDeaf ? room.seats : [...room.seats].filter(({ is_unsure }) => is_unsure));
    }
    this.wasDeaf = false;
  }

  onDeaf() {
    this.wasDeaf = true;
    this.lose();
  }

  /** The stored events of a topic, oldest first. */
  private async readKept(key: string, heard: Promise<void>) {
    if (this.isAway) throw new Error('We can’t reach Redis.');
    // Subscribe first, then read, so that no event is missed in between.
    await heard;
    const entries = entriesSchema.parse(await this.run(START, key, [newId(), String(FORGOTTEN_AFTER_MS)]));
    return entries.map(([place, [, id, , text]]) => ({ place, id, text }));
  }

  /** Sends a seat the stored events, and then later ones. */
  private async begin(key: string, { seats, heard }: Room, seat: Seat, after: string | undefined): Promise<void> {
    let kept_events: Awaited<ReturnType<RedisTopics['readKept']>> | undefined;
    try {
      kept_events = await this.readKept(key, heard);
    } catch (error) {
      this.lose(error);
    }
    if (!seats.has(seat)) return;
    if (kept_events === undefined) {
      // Without the stored events it is unknown which were missed.
      seat.is_unsure = true;
      seat.listener.onStart({ cursor: newId(), missed: after !== undefined });
    } else {
      const ids = kept_events.map(({ id }) => id);
      const { from, ...start } = resumeAt(ids, after);
      seat.told_to = kept_events.at(-1)?.place ?? NOWHERE;
      seat.listener.onStart(start);
      for (const { id, text } of kept_events.slice(from)) {
        const event = liveEventSchema.safeParse(parseJson(text)).data;
        if (event !== undefined) seat.listener.onEvent({ id, event });
      }
    }
    const { waiting = [] } = seat;
    seat.waiting = undefined;
    for (const placed of waiting) tellSeat(seat, placed);
  }

  /** Marks every topic with listeners as in use, in batches, so that no event waits behind thousands of commands. */
  private async keep(): Promise<void> {
    const all = [...this.rooms];
    for (let from = 0; from < all.length && !this.isAway && !this.isClosed; from += KEPT_AT_ONCE) {
      await Promise.all(
        all.slice(from, from + KEPT_AT_ONCE).map(async ([key, { seats }]) => {
          // Redis was emptied, or restarted without its data.
          if ((await this.send(['PEXPIRE', key, String(FORGOTTEN_AFTER_MS)])) !== 1) this.sendAway(seats);
        }),
      );
    }
  }

  private tell(key: string, event: LiveEvent): void {
    const id = OF_THE_MOMENT.has(event.kind) ? null : newId();
    const message = JSON.stringify({ id, event });
    const said = this.connection.send(
      id === null
        ? ['PUBLISH', key, `${NOWHERE} ${message}`]
        : evaluate(TELL, key, [String(this.kept + 1), id, JSON.stringify(event), String(FORGOTTEN_AFTER_MS), message]),
    );
    /** Redis may be late or gone: until it confirms this event, listeners on other servers may have missed it. */
    const tellUnkept = () => {
      this.tellHere(key, { place: NOWHERE, published: { id: null, event } });
      const isNoted = id !== null && this.noteUnsaid(key);
      said.then(
        () => (isNoted ? this.noteSaid(key) : undefined),
        () => undefined,
      );
    };
    if (this.isAway) tellUnkept();
    else
      withinTime(said, PATIENCE_MS).catch((error: unknown) => {
        this.lose(error);
        tellUnkept();
      });
  }

  /** Never rejects and never blocks: the publisher has other work. */
  publish(topic: TopicName, event: LiveEvent): void {
    this.tell(this.keyOf(topic), event);
  }

  /** Publishes an event to the topic of every person with a current or recent listener. */
  publishToAll(event: LiveEvent): void {
    this.everyKey(PERSON).then(
      (keys) => {
        for (const key of keys) this.tell(key, event);
      },
      (error: unknown) => {
        this.lose(error);
        this.isUnsaidTooMuch = true;
        for (const key of this.rooms.keys())
          if (key.startsWith(this.prefix + PERSON)) this.tellHere(key, { place: NOWHERE, published: { id: null, event } });
      },
    );
  }

  /** Whether a topic has a current listener, or a recent one that may ask for missed events. Otherwise an event need not be created. */
  async isHeard(topic: TopicName): Promise<boolean> {
    const key = this.keyOf(topic);
    if (this.isAway || this.rooms.has(key)) return true;
    // Without an answer, assume a listener on another server.
    return await this.send(['EXISTS', key]).then(
      (count) => count !== 0,
      () => true,
    );
  }

  /** Sends the events after the event or cursor `after`, then all later ones, until the returned function is called. */
  listen(topic: TopicName, after: string | undefined, listener: Listener): () => void {
    const key = this.keyOf(topic);
    let room = this.rooms.get(key);
    if (room === undefined) {
      room = { seats: new Set(), heard: this.subscriber.subscribe(key) };
      // Each seat awaits it; without a seat its rejection would be unhandled.
      room.heard.catch(() => {});
      this.rooms.set(key, room);
    }
    const { seats } = room;
    const seat: Seat = { listener, waiting: [], told_to: NOWHERE, is_lost: false, is_unsure: false };
    seats.add(seat);
    void this.begin(key, room, seat, after);
    return () => {
      seats.delete(seat);
      if (seats.size > 0 || this.rooms.get(key)?.seats !== seats) return;
      this.rooms.delete(key);
      this.subscriber.unsubscribe(key);
    };
  }

  close(): void {
    this.isClosed = true;
    clearInterval(this.keeping);
    clearTimeout(this.sending);
    this.subscriber.close();
    this.connection.close();
  }
}

/** Connects to Redis first. @throws Error with one line when it cannot be used at the start. */
export async function createRedisTopics(options: Omit<RedisTopicsOptions, 'connection' | 'subscriber'>): Promise<Topics> {
  const { url, logger } = options;
  const connection = await connectRedis(url, logger);
  let topics: RedisTopics | undefined;
  let wasDeaf = false;
  const subscriber = await openRedisSubscriber({
    url,
    logger,
    onMessage: (key, text) => topics?.hear(key, text),
    onLost() {
      wasDeaf = true;
      topics?.onDeaf();
    },
  });
  topics = new RedisTopics({ ...options, connection, subscriber });
  if (wasDeaf) topics.onDeaf();
  return topics;
}
