import {
  type ClientFrame,
  EVENTS_CLOSED,
  eventsChannel,
  type LiveEvent,
  type SaidFrame,
  type ServerFrame,
} from '@palisade/contract/events';
import type { FastifyInstance } from 'fastify';
import type { Refusal } from './channels/frames.ts';
import { createIndexByKey } from './channels/index-by-key.ts';
import { type Connection, type SocketParts, type Sockets, serveSocket } from './channels/serve-socket.ts';
import { logFailure } from './database-patience.ts';
import { createDeskSeat, type DeskSeat, type DeskTopics, LOST } from './desk-topics.ts';
import type { PageSeat, RemoteFrame, RemotePages } from './page-seats.ts';
import type { Session, Sessions } from './session.ts';
import { type Published, personTopic, type Topics } from './topics/topics.ts';

const isRemote = (frame: SaidFrame): frame is RemoteFrame => /remote/u.test(frame.kind);

/** The frame of an event that many pages are told, made once. */
const frames = new WeakMap<Published, Buffer>();
function frameOf(published: Published): Buffer {
  let text = frames.get(published);
  if (text === undefined) {
    const { id, event } = published;
    text = Buffer.from(JSON.stringify({ kind: 'event', id, event } satisfies ServerFrame));
    frames.set(published, text);
  }
  return text;
}

type Hello = Extract<ClientFrame, { kind: 'hello' }>;

/** A page, and what it hears beside what concerns its own person. */
interface OfPerson {
  connection: Connection<Session, ServerFrame>;
  desk: DeskSeat | undefined;
  remote: PageSeat<RemoteFrame> | undefined;
}

const ENDED: Refusal = { code: EVENTS_CLOSED.unauthenticated, reason: 'The session has ended.' };
const HELD: Refusal = {
  code: EVENTS_CLOSED.two_factor_setup_required,
  reason: 'A second step of sign-in has to be set up first.',
};

/**
 * Serves the events socket of pages (contract/src/events.ts), after `openSockets`: each hears the topic of its person. `present` answers what is under way for a person
 * just now, which a page that connects hears first; `desk` what staff hear and say beside, `remote` who takes part in remote sessions; `held` who of several people may do nothing but set a second factor up.
 */
export function serveEvents(
  api: { fastify: FastifyInstance; sessions: Pick<Sessions, 'resolve' | 'living' | 'onEnd' | 'onChange'> },
  parts: SocketParts & {
    topics: Pick<Topics, 'listen'>;
    present: (user_id: string) => LiveEvent[];
    held: (user_ids: readonly string[]) => Promise<ReadonlySet<string>>;
    desk: DeskTopics;
    remote: RemotePages;
  },
): Pick<Sockets, 'close' | 'open'> {
  const { topics, present, held, desk, remote, ...socketParts } = parts;
  const { fastify, sessions } = api;
  const bySession = createIndexByKey<Connection<Session, ServerFrame>>();
  const byPerson = createIndexByKey<OfPerson>();

  const remotePage = ({ principal, tell, end }: Connection<Session, ServerFrame>) => ({ ...principal, tell, end });

  function hear(page: OfPerson, frame: SaidFrame): void {
    const { connection } = page;
    if (isRemote(frame)) {
      page.remote ??= remote.sit(remotePage(connection));
      page.remote.onFrame(frame);
      return;
    }
    page.desk ??= createDeskSeat({
      ...{ user: connection.principal.user, topics, desk, connection },
      onFailure: (error) => logFailure(fastify.log, error, 'what a page said could not be done'),
    });
    page.desk.onFrame(frame);
  }

  const sockets = serveSocket<Session, Hello, SaidFrame, ServerFrame>(
    fastify,
    {
      channel: eventsChannel,

      async meet({ access_token }) {
        const session = await sessions.resolve(access_token);
        if (session === undefined) return { refusal: ENDED };
        return session.is_held ? { refusal: HELD } : { principal: session };
      },

      keyOf: ({ user }) => user.id,

      /** Lifetimes, and what other servers have ended or changed; what ends or changes here is told by `onEnd` and `onChange`. */
      async refused(some) {
        const living = await sessions.living(some.map(({ id }) => id));
        const left = some.filter(({ id }) => living.has(id));
        const withheld = await held([...new Set(left.map(({ user }) => user.id))]);
        const refusals = new Map<Session, Refusal>();
        for (const session of some) {
          if (!living.has(session.id)) refusals.set(session, ENDED);
          else if (withheld.has(session.user.id)) refusals.set(session, HELD);
        }
        return refusals;
      },

      join(connection, { after }) {
        const { id: session_id, user } = connection.principal;
        bySession.add(session_id, connection);
        // Most pages never say a word of the desk, nor of remote sessions.
        const ofPerson: OfPerson = { connection, desk: undefined, remote: undefined };
        byPerson.add(user.id, ofPerson);
        const stop = topics.listen(personTopic(user.id), after, {
          onStart(start) {
            connection.tell({ kind: 'welcome', ...start, heartbeat_ms: socketParts.limits.heartbeat_ms });
            for (const event of present(user.id)) connection.tell({ kind: 'event', id: null, event });
            remote.onWelcome(remotePage(connection));
          },
          onEvent: (published) => connection.tellText(frameOf(published)),
          onLost: () => connection.end(LOST),
        });
        return {
          onFrame: (frame) => hear(ofPerson, frame),
          onLeave() {
            stop();
            ofPerson.desk?.leave();
            ofPerson.remote?.leave();
            byPerson.remove(user.id, ofPerson);
            bySession.remove(session_id, connection);
          },
        };
      },
    },
    socketParts,
  );

  const stopWatching = [
    sessions.onEnd((session_id) => {
      for (const connection of bySession.of(session_id)) connection.end(ENDED);
    }),
    sessions.onChange(sockets.lookAgain),
    // Whose role may be another one listens anew, as who they are then.
    sessions.onChange((user_id) => {
      for (const page of byPerson.of(user_id))
        if (page.desk?.isOfStaff() === true || page.remote?.isOfStaff() === true) page.connection.end(LOST);
    }),
  ];
  return {
    open: sockets.open,
    close() {
      for (const stop of stopWatching) stop();
      sockets.close();
    },
  };
}
