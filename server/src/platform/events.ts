import websocket from '@fastify/websocket';
import { clientFrameSchema, EVENTS_CLOSED, EVENTS_PATH, type LiveEvent, type ServerFrame } from '@palisade/contract/events';
import type { FastifyRequest } from 'fastify';
import type { WebSocket } from 'ws';
import type { Bus } from './bus.ts';
import { Problem } from './problem.ts';
import type { Api } from './serve.ts';
import type { Session, Sessions } from './session.ts';

/** Bounds of the events socket. Times in ms. */
export interface EventsLimits {
  /** How long a socket may take to say who it is. */
  hello_ms: number;
  /** The server says something at least this often; a page that has not answered by the next time is gone. */
  heartbeat_ms: number;
  /** Sockets of one person, and sockets of everybody who has not said yet who they are. */
  sockets_per_person: number;
  strangers: number;
  /** A page that reads so slowly that this many bytes wait for it is dropped; it resumes when it comes back. */
  waiting_bytes: number;
}

export const EVENTS_LIMITS: EventsLimits = {
  hello_ms: 5_000,
  heartbeat_ms: 25_000,
  sockets_per_person: 20,
  strangers: 500,
  waiting_bytes: 1024 ** 2,
};

/** A page says two things, both short. Bytes of one frame, and frames between two heartbeats. */
const FRAME_BYTES_MAXIMUM = 1024;
const FRAMES_MAXIMUM = 20;
/** A close frame that is not answered is waited for no longer than this, in ms: a session that has ended hears nothing more within a second. */
const CLOSE_GRACE_MS = 500;

/** A socket that has said who it is. */
interface Page {
  socket: WebSocket;
  session: Session;
  /** It has said something since the last heartbeat. */
  alive: boolean;
  frames: number;
  stop(): void;
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

/** Says why, and does not wait long for the answer. */
function end(socket: WebSocket, code: number, reason: string): void {
  socket.close(code, reason);
  setTimeout(() => socket.terminate(), CLOSE_GRACE_MS).unref();
}

/**
 * Serves the events socket (contract/src/events.ts). `present` answers what is under way for a person just now, which a page that connects hears first.
 * The answered `close` ends every socket.
 */
export async function serveEvents(
  api: Pick<Api, 'fastify'> & { sessions: Pick<Sessions, 'resolve' | 'lives' | 'isHeld' | 'onEnd' | 'onChange'> },
  parts: { bus: Bus; present: (user_id: string) => LiveEvent[]; limits: EventsLimits; public_url: string | undefined },
): Promise<{ close: () => void }> {
  const { bus, present, limits, public_url } = parts;
  const { fastify, sessions } = api;
  const pages = new Set<Page>();
  let strangers = 0;

  await fastify.register(websocket, { options: { maxPayload: FRAME_BYTES_MAXIMUM, perMessageDeflate: false } });

  const endSession = ({ socket }: Pick<Page, 'socket'>) => end(socket, EVENTS_CLOSED.unauthenticated, 'The session has ended.');
  const hold = ({ socket }: Pick<Page, 'socket'>) =>
    end(socket, EVENTS_CLOSED.two_factor_setup_required, 'A second factor has to be set up first.');

  /** Lifetimes, and what other servers have ended or changed; what ends or changes here is told by `onEnd` and `onChange`. */
  async function checkSession(page: Page): Promise<void> {
    try {
      if (!(await sessions.lives(page.session.id))) endSession(page);
      else if (await sessions.isHeld(page.session.user.id)) hold(page);
    } catch (error) {
      fastify.log.warn({ err: error }, 'a session could not be looked up');
    }
  }

  function beat(): void {
    for (const page of pages) {
      if (!page.alive) {
        page.socket.terminate();
        continue;
      }
      page.alive = false;
      page.frames = 0;
      say(page.socket, { kind: 'ping' });
      void checkSession(page);
    }
  }

  function welcome(socket: WebSocket, session: Session, after: string | undefined): Page {
    const send = (frame: ServerFrame) => {
      if (socket.bufferedAmount > limits.waiting_bytes) socket.terminate();
      else say(socket, frame);
    };
    const page: Page = { socket, session, alive: true, frames: 0, stop: () => {} };
    pages.add(page);
    page.stop = bus.listen(session.user.id, after, {
      onStart: (start) => send({ kind: 'welcome', ...start, heartbeat_ms: limits.heartbeat_ms }),
      onEvent: ({ id, event }) => send({ kind: 'event', id, event }),
    });
    for (const event of present(session.user.id)) send({ kind: 'event', id: null, event });
    // It may have ended while it was looked up.
    void checkSession(page);
    return page;
  }

  async function meet(socket: WebSocket, hello: { access_token: string; after?: string | undefined }): Promise<Page | undefined> {
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
    const theirs = [...pages].filter((page) => page.session.user.id === session.user.id);
    if (theirs.length >= limits.sockets_per_person) {
      end(socket, EVENTS_CLOSED.too_many, 'Too many pages are open.');
      return undefined;
    }
    return welcome(socket, session, hello.after);
  }

  function accept(socket: WebSocket): void {
    let page: Page | undefined;
    let greeted = false;
    strangers += 1;
    const known = () => {
      if (greeted) return;
      greeted = true;
      strangers -= 1;
      clearTimeout(silence);
    };
    const silence = setTimeout(() => end(socket, EVENTS_CLOSED.silent, 'No hello in time.'), limits.hello_ms);
    socket.on('message', (bytes, isBinary) => {
      const frame = clientFrameSchema.safeParse(isBinary ? undefined : parseJson(bytes.toString())).data;
      if (frame === undefined || (frame.kind === 'hello') === greeted)
        return end(socket, EVENTS_CLOSED.malformed, 'This frame is not understood.');
      if (frame.kind === 'hello') {
        known();
        meet(socket, frame).then(
          (met) => {
            page = met;
            // It may have gone meanwhile.
            if (socket.readyState !== socket.OPEN) leave();
          },
          (error: unknown) => {
            fastify.log.error({ err: error }, 'a page could not be let in');
            end(socket, 1011, 'Something went wrong on the server.');
          },
        );
        return;
      }
      if (page === undefined) return;
      page.alive = true;
      page.frames += 1;
      if (page.frames > FRAMES_MAXIMUM) end(socket, EVENTS_CLOSED.malformed, 'Too many frames.');
    });
    const leave = () => {
      known();
      if (page === undefined) return;
      page.stop();
      pages.delete(page);
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
        if (strangers >= limits.strangers) throw new Problem('too_many_requests', { retry_after: 5 });
      },
    },
    accept,
  );

  const heartbeat = setInterval(beat, limits.heartbeat_ms);
  heartbeat.unref();
  const stopWatching = [
    sessions.onEnd((session_id) => {
      for (const page of pages) if (page.session.id === session_id) endSession(page);
    }),
    sessions.onChange((user_id) => {
      for (const page of pages) if (page.session.user.id === user_id) void checkSession(page);
    }),
  ];
  return {
    close() {
      clearInterval(heartbeat);
      for (const stop of stopWatching) stop();
      // 1001: going away (RFC 6455 section 7.4.1).
      for (const client of fastify.websocketServer.clients) end(client, 1001, 'The server is stopping.');
    },
  };
}
