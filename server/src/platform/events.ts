import websocket from '@fastify/websocket';
import { clientFrameSchema, EVENTS_CLOSED, EVENTS_PATH, type LiveEvent, type ServerFrame } from '@palisade/contract/events';
import type { FastifyRequest } from 'fastify';
import type { WebSocket } from 'ws';
import { BATCH } from './batches.ts';
import type { Bus } from './bus.ts';
import type { Counters } from './counters.ts';
import { logFailure } from './database-patience.ts';
import type { Rate } from './limits.ts';
import { sourceOf } from './origin.ts';
import { Problem, tooManyRequests } from './problem.ts';
import type { Api } from './serve.ts';
import type { Session, Sessions } from './session.ts';

/** Bounds of the events socket. Times in ms. */
export interface EventsLimits {
  /** How long a socket may take to say who it is. */
  hello_ms: number;
  /** The server says something at least this often; a page that has not answered by the next time is gone. */
  heartbeat_ms: number;
  sockets_per_person: number;
  /** Sockets that have not said yet who they are, of everybody and of one source. When there are too many, those go that have been silent for longest. */
  strangers: number;
  strangers_per_source: number;
  /** A page that reads so slowly that this many bytes wait for it is dropped; it resumes when it comes back. */
  waiting_bytes: number;
}

export const EVENTS_LIMITS: EventsLimits = {
  hello_ms: 5_000,
  heartbeat_ms: 25_000,
  sockets_per_person: 20,
  strangers: 2_000,
  strangers_per_source: 200,
  waiting_bytes: 1024 ** 2,
};

/** A page says two things, both short. Bytes of one frame, and frames between two heartbeats. */
const FRAME_BYTES_MAXIMUM = 1024;
const FRAMES_MAXIMUM = 20;
/** A close frame that is not answered is waited for no longer than this, in ms: a session that has ended hears nothing more within a second. */
const CLOSE_GRACE_MS = 500;
const RETRY_AFTER_S = 5;

/** A frame may come in parts, and parts may be empty: a bound on bytes bounds neither. */
const FRAGMENTS_MAXIMUM = 16;
const CHUNKS_MAXIMUM = 64;
/** Into how many parts heartbeats are spread, so that no moment is everybody's. */
const SPREAD = 100;

/** What a socket has said since the last heartbeat. */
interface Talk {
  frames: number;
  alive: boolean;
}

/** A socket that has said who it is. */
interface Page {
  socket: WebSocket;
  session: Session;
  talk: Talk;
  /** Which of the parts of a heartbeat is its. */
  turn: number;
  stop(): void;
}

/** A socket that has not been let in yet. */
interface Stranger {
  socket: WebSocket;
  source: string;
}

/** The strangers of one source, the longest silent first, and how many have said something and are being looked up. */
interface Crowd {
  silent: Set<Stranger>;
  talking: number;
}

/** Sets by a key; a key without members is forgotten. */
function createIndex<T>(): {
  add(key: string, member: T): void;
  remove(key: string, member: T): void;
  of(key: string): ReadonlySet<T>;
} {
  const sets = new Map<string, Set<T>>();
  const nobody: ReadonlySet<T> = new Set();
  return {
    add(key, member) {
      const set = sets.get(key);
      if (set === undefined) sets.set(key, new Set([member]));
      else set.add(member);
    },
    remove(key, member) {
      const set = sets.get(key);
      set?.delete(member);
      if (set?.size === 0) sets.delete(key);
    },
    of: (key) => sets.get(key) ?? nobody,
  };
}

/** One of our pages, or a program that is no browser. Another site's page can open a socket here, and its browser says so (RFC 6455 section 10.2). */
function isOwnOrigin(request: FastifyRequest, public_url: string | undefined): boolean {
  const { origin } = request.headers;
  if (origin === undefined) return true;
  if (!URL.canParse(origin)) return false;
  return (
    new URL(origin).host === request.host || (public_url !== undefined && new URL(origin).origin === new URL(public_url).origin)
  );
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function say(socket: WebSocket, frame: ServerFrame): void {
  if (socket.readyState === socket.OPEN) socket.send(JSON.stringify(frame));
}

/** Says why, hears nothing more, and does not wait long for the answer. */
function end(socket: WebSocket, code: number, reason: string): void {
  for (const event of ['message', 'ping', 'pong']) socket.removeAllListeners(event);
  socket.close(code, reason);
  setTimeout(() => socket.terminate(), CLOSE_GRACE_MS).unref();
}

/**
 * Serves the events socket (contract/src/events.ts). `present` answers what is under way for a person just now, which a page that connects hears first; `held` who
 * of several people may do nothing but set a second factor up. The answered `close` ends every socket.
 */
export async function serveEvents(
  api: Pick<Api, 'fastify'> & { sessions: Pick<Sessions, 'resolve' | 'living' | 'onEnd' | 'onChange'> },
  parts: {
    bus: Bus;
    present: (user_id: string) => LiveEvent[];
    held: (user_ids: readonly string[]) => Promise<ReadonlySet<string>>;
    limits: EventsLimits;
    /** How many sockets a source may open in a time, and what counts them. */
    opening: { rate: Rate; counters: Pick<Counters, 'take'> };
    public_url: string | undefined;
  },
): Promise<{ close: () => void; open: () => { known: number; strangers: number } }> {
  const { bus, present, held, limits, opening, public_url } = parts;
  const { fastify, sessions } = api;
  const pages = new Set<Page>();
  const ofPerson = createIndex<Page>();
  const ofSession = createIndex<Page>();
  const turns = Array.from({ length: SPREAD }, () => new Set<Page>());
  let joined = 0;
  let turn = 0;

  await fastify.register(websocket, {
    options: {
      maxPayload: FRAME_BYTES_MAXIMUM,
      maxFragments: FRAGMENTS_MAXIMUM,
      maxBufferedChunks: CHUNKS_MAXIMUM,
      perMessageDeflate: false,
    },
  });

  const endSession = ({ socket }: Pick<Page, 'socket'>) => end(socket, EVENTS_CLOSED.unauthenticated, 'The session has ended.');
  const hold = ({ socket }: Pick<Page, 'socket'>) =>
    end(socket, EVENTS_CLOSED.two_factor_setup_required, 'A second factor has to be set up first.');

  /** Lifetimes, and what other servers have ended or changed; what ends or changes here is told by `onEnd` and `onChange`. */
  async function checkSessions(some: readonly Page[]): Promise<void> {
    const living = await sessions.living(some.map(({ session }) => session.id));
    const left = some.filter((page) => living.has(page.session.id));
    const withheld = await held([...new Set(left.map(({ session }) => session.user.id))]);
    for (const page of some) {
      if (!living.has(page.session.id)) endSession(page);
      else if (withheld.has(page.session.user.id)) hold(page);
    }
  }

  const unchecked = new Set<Page>();
  let checking: Promise<void> | undefined;

  /** Has the sessions of pages looked up, many at a time: those that come while others are looked up are the next ones. */
  function checkSoon(some: Iterable<Page>): void {
    for (const page of some) unchecked.add(page);
    if (unchecked.size === 0 || checking) return;
    // What comes in the same moment is looked up together.
    checking = new Promise((resolve) => setImmediate(resolve))
      .then(async () => {
        const next = [...unchecked].slice(0, BATCH);
        for (const page of next) unchecked.delete(page);
        await checkSessions(next.filter((page) => pages.has(page)));
      })
      .catch((error: unknown) => logFailure(fastify.log, error, 'sessions could not be looked up'))
      .finally(() => {
        checking = undefined;
        checkSoon([]);
      });
  }

  /** A part of the pages at a time. */
  function beat(): void {
    turn = (turn + 1) % SPREAD;
    const due = turns[turn] ?? new Set();
    for (const { socket, talk } of due) {
      if (!talk.alive) {
        socket.terminate();
        continue;
      }
      talk.alive = false;
      talk.frames = 0;
      say(socket, { kind: 'ping' });
    }
    checkSoon(due);
  }

  function forget(page: Page): void {
    page.stop();
    pages.delete(page);
    ofPerson.remove(page.session.user.id, page);
    ofSession.remove(page.session.id, page);
    turns[page.turn]?.delete(page);
    unchecked.delete(page);
  }

  function welcome(socket: WebSocket, talk: Talk, session: Session, after: string | undefined): Page {
    const send = (frame: ServerFrame) => {
      if (socket.bufferedAmount > limits.waiting_bytes) socket.terminate();
      else say(socket, frame);
    };
    joined = (joined + 1) % SPREAD;
    const page: Page = { socket, session, talk, turn: joined, stop: () => {} };
    pages.add(page);
    ofPerson.add(session.user.id, page);
    ofSession.add(session.id, page);
    turns[page.turn]?.add(page);
    page.stop = bus.listen(session.user.id, after, {
      onStart: (start) => send({ kind: 'welcome', ...start, heartbeat_ms: limits.heartbeat_ms }),
      onEvent: ({ id, event }) => send({ kind: 'event', id, event }),
    });
    for (const event of present(session.user.id)) send({ kind: 'event', id: null, event });
    // It may have ended while it was looked up.
    checkSoon([page]);
    return page;
  }

  async function meet(
    socket: WebSocket,
    talk: Talk,
    hello: { access_token: string; after?: string | undefined },
  ): Promise<Page | undefined> {
    const session = await sessions.resolve(hello.access_token);
    if (socket.readyState !== socket.OPEN) return undefined;
    if (session === undefined) {
      endSession({ socket });
      return undefined;
    }
    if (session.is_held) {
      hold({ socket });
      return undefined;
    }
    if (ofPerson.of(session.user.id).size >= limits.sockets_per_person) {
      end(socket, EVENTS_CLOSED.too_many, 'Too many pages are open.');
      return undefined;
    }
    return welcome(socket, talk, session, hello.after);
  }

  /** Whoever has not been let in, in all and by source. */
  const all: Crowd = { silent: new Set(), talking: 0 };
  const crowds = new Map<string, Crowd>();
  const crowdOf = (source: string): Crowd => crowds.get(source) ?? { silent: new Set(), talking: 0 };
  const crowdsOf = ({ source }: Pick<Stranger, 'source'>) => [
    { crowd: all, most: limits.strangers },
    { crowd: crowdOf(source), most: limits.strangers_per_source },
  ];
  const isFull = ({ crowd, most }: { crowd: Crowd; most: number }) => crowd.silent.size + crowd.talking >= most;

  /** Ends whoever has been silent for longest where there are too many: a page says who it is as soon as it is there. */
  function makeRoom(stranger: Stranger): void {
    for (const place of crowdsOf(stranger)) {
      const [longest] = place.crowd.silent;
      if (longest === undefined || !isFull(place)) continue;
      for (const { crowd } of crowdsOf(longest)) crowd.silent.delete(longest);
      end(longest.socket, EVENTS_CLOSED.silent, 'Too many have not said who they are.');
    }
  }

  function accept(socket: WebSocket, request: FastifyRequest): void {
    const stranger: Stranger = { socket, source: sourceOf(request.ip) };
    const talk: Talk = { frames: 0, alive: true };
    let page: Page | undefined;
    let state: 'silent' | 'talking' | 'known' = 'silent';
    makeRoom(stranger);
    crowds.set(stranger.source, crowdOf(stranger.source));
    for (const { crowd } of crowdsOf(stranger)) crowd.silent.add(stranger);

    function become(next: 'talking' | 'known'): void {
      if (state === next || state === 'known') return;
      for (const { crowd } of crowdsOf(stranger)) {
        crowd.silent.delete(stranger);
        crowd.talking += (next === 'talking' ? 1 : 0) - (state === 'talking' ? 1 : 0);
      }
      state = next;
      clearTimeout(silence);
      const { silent, talking } = crowdOf(stranger.source);
      if (silent.size + talking === 0) crowds.delete(stranger.source);
    }
    const silence = setTimeout(() => end(socket, EVENTS_CLOSED.silent, 'No hello in time.'), limits.hello_ms);

    /** Whatever it says counts, the frames of the protocol itself too. */
    function isTooMuch(): boolean {
      talk.frames += 1;
      if (talk.frames <= FRAMES_MAXIMUM) return false;
      end(socket, EVENTS_CLOSED.malformed, 'Too many frames.');
      return true;
    }
    socket.on('ping', isTooMuch);
    socket.on('pong', isTooMuch);
    socket.on('message', (bytes, isBinary) => {
      if (isTooMuch()) return;
      const frame = clientFrameSchema.safeParse(isBinary ? undefined : parseJson(bytes.toString())).data;
      if (frame === undefined || (frame.kind === 'hello') !== (state === 'silent'))
        return end(socket, EVENTS_CLOSED.malformed, 'This frame is not understood.');
      if (frame.kind !== 'hello') {
        talk.alive = true;
        return;
      }
      become('talking');
      meet(socket, talk, frame).then(
        (met) => {
          page = met;
          become('known');
          // It may have gone meanwhile.
          if (socket.readyState !== socket.OPEN) leave();
        },
        (error: unknown) => {
          logFailure(fastify.log, error, 'a page could not be let in');
          end(socket, 1011, 'Something went wrong on the server.');
        },
      );
    });
    const leave = () => {
      become('known');
      if (page !== undefined) forget(page);
    };
    socket.once('close', leave);
  }

  fastify.get(
    `/api${EVENTS_PATH}`,
    {
      websocket: true,
      onRequest: async (request) => {
        if (!request.ws) throw new Problem('not_found', { detail: 'This address speaks WebSocket only.' });
        if (request.url.includes('?'))
          throw new Problem('malformed', { detail: 'Send the access token in the first message, never in the address.' });
        if (!isOwnOrigin(request, public_url)) throw new Problem('forbidden', { detail: 'Another site may not listen here.' });
        const source = sourceOf(request.ip);
        const empty = await opening.counters.take([{ key: `sockets:${source}`, rate: opening.rate }]);
        if (empty !== undefined) throw tooManyRequests('Too many live connections were opened from here.', empty.wait_ms);
        // All of them have said who they are and are being looked up: nobody can be sent away for somebody new.
        if (crowdsOf({ source }).some((place) => isFull(place) && place.crowd.silent.size === 0))
          throw new Problem('too_many_requests', { retry_after: RETRY_AFTER_S });
      },
    },
    accept,
  );

  const heartbeat = setInterval(beat, limits.heartbeat_ms / SPREAD);
  heartbeat.unref();
  const stopWatching = [
    sessions.onEnd((session_id) => {
      for (const page of ofSession.of(session_id)) endSession(page);
    }),
    sessions.onChange((user_id) => checkSoon(ofPerson.of(user_id))),
  ];
  return {
    open: () => ({ known: pages.size, strangers: all.silent.size + all.talking }),
    close() {
      clearInterval(heartbeat);
      for (const stop of stopWatching) stop();
      // 1001: going away (RFC 6455 section 7.4.1).
      for (const client of fastify.websocketServer.clients) end(client, 1001, 'The server is stopping.');
    },
  };
}
