import { type LiveEvent, liveEventSchema, OF_THE_MOMENT } from '@palisade/contract/events';
import type { FastifyBaseLogger } from 'fastify';
import { z } from 'zod';
import { newId } from '#platform/id.ts';
import { connectRedis, openRedisHearer, withinTime } from '#platform/redis.ts';
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

/** Begins a topic where nobody has listened lately, and answers what is kept. The first entry is no event: it is what came before. */
const START = `
if redis.call('EXISTS', KEYS[1]) == 0 then redis.call('XADD', KEYS[1], '*', 'id', ARGV[1], 'event', '') end
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return redis.call('XRANGE', KEYS[1], '-', '+')`;

/**
 * Keeps an event and tells it with its place among those that are kept, in one step: all servers hear events in the order in which they are kept. Where nobody listens
 * there is nothing to do.
 */
const TELL = `
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
local place = redis.call('XADD', KEYS[1], 'MAXLEN', ARGV[1], '*', 'id', ARGV[2], 'event', ARGV[3])
redis.call('PEXPIRE', KEYS[1], ARGV[4])
return redis.call('PUBLISH', KEYS[1], place .. ' ' .. ARGV[5])`;

/** Forgets what is kept, and tells those who listen that something is missing. */
const FORGET = `
redis.call('DEL', KEYS[1])
return redis.call('PUBLISH', KEYS[1], ARGV[1])`;

/** How often topics that somebody listens to are said to be in use. */
const IN_USE_MS = FORGOTTEN_AFTER_MS / 5;
/** Topics of which it is said at a time. */
const KEPT_AT_ONCE = 100;
/** How soon it is tried again whether Redis is back. */
const LOOK_MS = 500;
/** How long an answer is waited for. An event that is late hurts less than all pages that come back at once, so it is more than what a request waits. */
const PATIENCE_MS = 2_000;
/** Listeners who are sent away come back at once: so many at a time, and how long until the next. */
const SENT_AWAY = { at_once: 100, every_ms: 50 } as const;
/** So many topics are remembered that were told something while Redis was away; when there are more, every topic is forgotten. */
const UNSAID_MAXIMUM = 10_000;

const entriesSchema = z.array(z.tuple([z.string(), z.tuple([z.literal('id'), z.string(), z.literal('event'), z.string()])]));
const scannedSchema = z.tuple([z.string(), z.array(z.string())]);
const messageSchema = z.union([
  z.object({ id: z.string().nullable(), event: liveEventSchema }),
  z.object({ forgotten: z.literal(true) }),
]);
/** What has no place among what is kept. */
const NOWHERE = '0-0';
const FORGOTTEN = `${NOWHERE} ${JSON.stringify({ forgotten: true })}`;

/** An event with its place among what is kept. */
interface Placed {
  place: string;
  published: Published;
}

/** Somebody who listens here. */
interface Seat {
  listener: Listener;
  /** What came until it is known what is kept; undefined once it has begun. */
  waiting: Placed[] | undefined;
  /** What is kept was told up to here: what comes of it is known already. */
  told_to: string;
  /** Nothing is told it any more. */
  is_lost: boolean;
  /** It began without Redis: what is kept was not read for it. */
  is_unsure: boolean;
}

/** Those who listen to one topic here. */
interface Room {
  seats: Set<Seat>;
  /** Once what is told in it is heard here. */
  heard: Promise<void>;
}

/** Whether an entry of a stream comes after another (redis.io/docs/latest/develop/data-types/streams, entry IDs: milliseconds and a number). */
function isAfter(place: string, other: string): boolean {
  const [ms = 0, number = 0] = place.split('-').map(Number);
  const [other_ms = 0, other_number = 0] = other.split('-').map(Number);
  return ms > other_ms || (ms === other_ms && number > other_number);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Topics of several servers: a stream of Redis for each that somebody listens to, and a channel of the same name. While Redis is away events reach the listeners of this
 * server alone; when it is back, those who may have missed something are sent away, and find out by their last id what it was. One that was late is no loss: what it
 * confirms in the end was kept, and its pages stay.
 * @throws Error with one line when Redis cannot be used at the start.
 */
export async function createRedisTopics(parts: {
  url: string;
  logger: FastifyBaseLogger;
  kept?: number | undefined;
}): Promise<Topics> {
  const { url, logger, kept = KEPT_MAXIMUM } = parts;
  const prefix = redisNames(url) + PREFIX;
  /** Of a topic's stream, and the name of the channel on which its events are published. */
  const keyOf = (topic: TopicName) => prefix + topic;
  /** By key. */
  const rooms = new Map<string, Room>();
  /** Keys of what was told without a word of Redis that it has it, and how often. */
  const unsaid = new Map<string, number>();
  let isUnsaidTooMuch = false;
  let isAway = false;
  /** What other servers told may have gone by unheard. */
  let wasDeaf = false;
  let isClosed = false;
  const connection = await connectRedis(url, logger);
  const send = (command: readonly string[]) => withinTime(connection.send(command), PATIENCE_MS);
  // The text each time, not its hash: a command that has to be sent twice is overtaken by what comes after it.
  const evaluate = (script: string, key: string, values: readonly string[]) => ['EVAL', script, '1', key, ...values];
  const run = (script: string, key: string, values: readonly string[]) => send(evaluate(script, key, values));

  function tellSeat(seat: Seat, placed: Placed): void {
    const { place, published } = placed;
    if (seat.is_lost) return;
    if (seat.waiting !== undefined) seat.waiting.push(placed);
    else if (published.id === null || isAfter(place, seat.told_to)) seat.listener.onEvent(published);
  }

  function tellHere(key: string, placed: Placed): void {
    for (const seat of rooms.get(key)?.seats ?? []) tellSeat(seat, placed);
  }

  const leaving: Seat[] = [];
  let sending: NodeJS.Timeout | undefined;
  function sendAway(seats: Iterable<Seat>): void {
    for (const seat of seats) {
      if (!seat.is_lost) leaving.push(seat);
      seat.is_lost = true;
    }
    const next = () => {
      for (const { listener } of leaving.splice(0, SENT_AWAY.at_once)) listener.onLost();
      sending = leaving.length === 0 || isClosed ? undefined : setTimeout(next, SENT_AWAY.every_ms).unref();
    };
    if (sending === undefined) next();
  }

  function hear(key: string, text: string): void {
    const space = text.indexOf(' ');
    const message = messageSchema.safeParse(parseJson(text.slice(space + 1))).data;
    // A newer server may tell what this one does not know.
    if (message === undefined) return;
    if ('forgotten' in message) sendAway(rooms.get(key)?.seats ?? []);
    else tellHere(key, { place: text.slice(0, space), published: message });
  }

  function lose(error?: unknown): void {
    if (isAway || isClosed) return;
    isAway = true;
    logger.error({ err: error }, 'Redis does not answer: until it does, events of other servers do not reach the pages here');
    setTimeout(() => void look(), LOOK_MS).unref();
  }

  function noteUnsaid(key: string): boolean {
    const times = unsaid.get(key) ?? 0;
    if (times === 0 && unsaid.size >= UNSAID_MAXIMUM) {
      isUnsaidTooMuch = true;
      return false;
    }
    unsaid.set(key, times + 1);
    return true;
  }

  /** Redis had it after all, and was late. */
  function noteSaid(key: string): void {
    const times = unsaid.get(key) ?? 0;
    if (times > 1) unsaid.set(key, times - 1);
    else unsaid.delete(key);
  }

  async function everyKey(beginning = ''): Promise<string[]> {
    const keys: string[] = [];
    for (let cursor = ''; cursor !== '0'; ) {
      const [next, some] = scannedSchema.parse(
        await send(['SCAN', cursor || '0', 'MATCH', `${prefix}${beginning}*`, 'COUNT', '1000']),
      );
      keys.push(...some);
      cursor = next;
    }
    return keys;
  }

  /** Who listened elsewhere, or will come back, is to learn that something is missing. */
  async function forgetUnsaid(): Promise<void> {
    if (isUnsaidTooMuch) for (const key of await everyKey()) unsaid.set(key, 1);
    isUnsaidTooMuch = false;
    for (const key of unsaid.keys()) {
      await run(FORGET, key, [FORGOTTEN]);
      unsaid.delete(key);
    }
  }

  /** Tries whether Redis is back, and ends what was said without it. */
  async function look(): Promise<void> {
    if (isClosed) return;
    try {
      // Answers come in the order of what was asked: after this one it is known what Redis was merely late with.
      await send(['PING']);
      if (!(await hearer.ask())) throw new Error('nothing is heard yet');
      await forgetUnsaid();
    } catch {
      connection.renew();
      setTimeout(() => void look(), LOOK_MS).unref();
      return;
    }
    isAway = false;
    logger.warn('Redis answers again: events of all servers reach the pages here');
    for (const room of rooms.values()) {
      room.heard = Promise.resolve();
      // Where nothing went by unheard, those stay who have been told everything.
      sendAway(wasDeaf ? room.seats : [...room.seats].filter(({ is_unsure }) => is_unsure));
    }
    wasDeaf = false;
  }

  const onDeaf = () => {
    wasDeaf = true;
    lose();
  };
  const hearer = await openRedisHearer({ url, logger, onMessage: hear, onLost: onDeaf });

  /** What is kept of a topic, oldest first. */
  async function readKept(key: string, heard: Promise<void>) {
    if (isAway) throw new Error('Redis is away.');
    // First heard, then read: nothing comes between.
    await heard;
    const entries = entriesSchema.parse(await run(START, key, [newId(), String(FORGOTTEN_AFTER_MS)]));
    return entries.map(([place, [, id, , text]]) => ({ place, id, text }));
  }

  /** Tells a seat what is kept, and from then on what comes. */
  async function begin(key: string, { seats, heard }: Room, seat: Seat, after: string | undefined): Promise<void> {
    let kept_events: Awaited<ReturnType<typeof readKept>> | undefined;
    try {
      kept_events = await readKept(key, heard);
    } catch (error) {
      lose(error);
    }
    if (!seats.has(seat)) return;
    if (kept_events === undefined) {
      // Without what is kept nobody knows what was missed.
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

  /** Says of every topic that somebody listens here; some at a time, so that no event waits behind thousands of them. */
  async function keep(): Promise<void> {
    const all = [...rooms];
    for (let from = 0; from < all.length && !isAway && !isClosed; from += KEPT_AT_ONCE) {
      await Promise.all(
        all.slice(from, from + KEPT_AT_ONCE).map(async ([key, { seats }]) => {
          // Emptied, or restarted without its data.
          if ((await send(['PEXPIRE', key, String(FORGOTTEN_AFTER_MS)])) !== 1) sendAway(seats);
        }),
      );
    }
  }

  const keeping = setInterval(() => void keep().catch(lose), IN_USE_MS);
  keeping.unref();

  function tell(key: string, event: LiveEvent): void {
    const id = OF_THE_MOMENT.has(event.kind) ? null : newId();
    const message = JSON.stringify({ id, event });
    const said = connection.send(
      id === null
        ? ['PUBLISH', key, `${NOWHERE} ${message}`]
        : evaluate(TELL, key, [String(kept + 1), id, JSON.stringify(event), String(FORGOTTEN_AFTER_MS), message]),
    );
    /** Redis may be late, or have gone: until it says that it has this, nobody elsewhere may have heard of it. */
    const tellUnkept = () => {
      tellHere(key, { place: NOWHERE, published: { id: null, event } });
      const isNoted = id !== null && noteUnsaid(key);
      said.then(
        () => (isNoted ? noteSaid(key) : undefined),
        () => undefined,
      );
    };
    if (isAway) tellUnkept();
    else
      withinTime(said, PATIENCE_MS).catch((error: unknown) => {
        lose(error);
        tellUnkept();
      });
  }

  return {
    publish: (topic, event) => tell(keyOf(topic), event),

    publishToAll(event) {
      everyKey(PERSON).then(
        (keys) => {
          for (const key of keys) tell(key, event);
        },
        (error: unknown) => {
          lose(error);
          isUnsaidTooMuch = true;
          for (const key of rooms.keys())
            if (key.startsWith(prefix + PERSON)) tellHere(key, { place: NOWHERE, published: { id: null, event } });
        },
      );
    },

    async isHeard(topic) {
      const key = keyOf(topic);
      if (isAway || rooms.has(key)) return true;
      // Who cannot be asked may know of somebody.
      return await send(['EXISTS', key]).then(
        (count) => count !== 0,
        () => true,
      );
    },

    listen(topic, after, listener) {
      const key = keyOf(topic);
      let room = rooms.get(key);
      if (room === undefined) {
        room = { seats: new Set(), heard: hearer.subscribe(key) };
        // Each seat waits for it; without one nobody would.
        room.heard.catch(() => {});
        rooms.set(key, room);
      }
      const { seats } = room;
      const seat: Seat = { listener, waiting: [], told_to: NOWHERE, is_lost: false, is_unsure: false };
      seats.add(seat);
      void begin(key, room, seat, after);
      return () => {
        seats.delete(seat);
        if (seats.size > 0 || rooms.get(key)?.seats !== seats) return;
        rooms.delete(key);
        hearer.unsubscribe(key);
      };
    },

    close() {
      isClosed = true;
      clearInterval(keeping);
      clearTimeout(sending);
      hearer.close();
      connection.close();
    },
  };
}
