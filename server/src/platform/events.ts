import {
  type ClientFrame,
  EVENTS_CLOSED,
  eventsChannel,
  type LiveEvent,
  type SaidFrame,
  type ServerFrame,
} from '@palisade/contract/events';
import type { FastifyInstance } from 'fastify';
import type { Connection, SocketParts, Sockets } from './channels/channel-service.ts';
import type { Refusal } from './channels/frames.ts';
import { createIndexByKey } from './channels/index-by-key.ts';
import { serveSocket } from './channels/serve-socket.ts';
import { logFailure } from './database-patience.ts';
import { createDeskSeat, type DeskSeat, type DeskTopics, LOST } from './desk-topics.ts';
import type { PageSeat, RemoteFrame, RemotePage, RemotePages } from './page-seats.ts';
import type { Session, Sessions } from './session.ts';
import { type Listener, type Published, personTopic, type Topics } from './topics/topics.ts';

const isRemote = (frame: SaidFrame): frame is RemoteFrame => /remote/u.test(frame.kind);

/** Frames of events, serialized once for many pages. */
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

const ENDED: Refusal = { code: EVENTS_CLOSED.unauthenticated, reason: 'The session has ended.' };
const DELETED: Refusal = { code: EVENTS_CLOSED.account_deleted, reason: 'The account is deleted.' };
const HELD: Refusal = {
  code: EVENTS_CLOSED.two_factor_setup_required,
  reason: 'Set up two-factor sign-in first.',
};

/** The parts of an open page that changes of its person concern. */
interface OpenPage {
  readonly connection: Connection<Session, ServerFrame>;
  readonly desk: DeskSeat | undefined;
  readonly remote: PageSeat<RemoteFrame> | undefined;
  isOutdated: boolean;
}

/** Closes and reconnects pages when their sessions end or their people change. Returns the functions that stop this. */
function watchSessions(
  sessions: Pick<Sessions, 'onEnd' | 'onChange'>,
  pages: {
    sockets: Pick<Sockets, 'lookAgain'>;
    bySession: { of(session_id: string): Iterable<Connection<Session, ServerFrame>> };
    byPerson: { of(user_id: string): Iterable<OpenPage> };
  },
): (() => void)[] {
  const { sockets, bySession, byPerson } = pages;
  return [
    sessions.onEnd((session_id, is_deletion) => {
      for (const connection of bySession.of(session_id)) connection.end(is_deletion ? DELETED : ENDED);
    }),
    sessions.onChange((key) => sockets.lookAgain(key)),
    // A person whose role may have changed reconnects with the new role: at once if the page receives restricted events, otherwise at its next request.
    sessions.onChange((user_id) => {
      for (const page of byPerson.of(user_id)) {
        if (page.desk?.isOfStaff() === true || page.remote?.isOfStaff() === true) page.connection.end(LOST);
        else page.isOutdated = true;
      }
    }),
  ];
}

interface EventsParts extends SocketParts {
  topics: Pick<Topics, 'listen'>;
  present: (user_id: string) => LiveEvent[];
  held: (user_ids: readonly string[]) => Promise<ReadonlySet<string>>;
  desk: DeskTopics;
  remote: RemotePages;
}

/**
 * Serves the events socket of pages (contract/src/events.ts), after `openSockets`: each page receives the topic of its person. `present` returns a person's running work,
 * which a connecting page receives first; `desk` serves the frames of staff, `remote` those of remote sessions; `held` returns which of several people may only set up a
 * second factor.
 */
export function serveEvents(
  api: { fastify: FastifyInstance; sessions: Pick<Sessions, 'resolve' | 'living' | 'onEnd' | 'onChange'> },
  parts: EventsParts,
): Pick<Sockets, 'close' | 'open'> {
  const { topics, present, held, desk, remote, ...socketParts } = parts;
  const { fastify, sessions } = api;
  const bySession = createIndexByKey<Connection<Session, ServerFrame>>();
  const byPerson = createIndexByKey<Page>();

  const remotePage = (connection: Connection<Session, ServerFrame>): RemotePage => ({
    ...connection.principal,
    tell: (frame) => connection.tell(frame),
    end: (refusal) => connection.end(refusal),
  });

  /** An admitted page. There is one for each open page, so its methods are on the prototype and not closures. */
  class Page implements Listener {
    readonly connection: Connection<Session, ServerFrame>;
    // Most pages never send messages about the desk or remote sessions.
    desk: DeskSeat | undefined = undefined;
    remote: PageSeat<RemoteFrame> | undefined = undefined;
    /** The person's role may have changed since the page was admitted. */
    isOutdated = false;
    readonly #stop: () => void;

    constructor(connection: Connection<Session, ServerFrame>, after: string | undefined) {
      this.connection = connection;
      const { id: session_id, user } = connection.principal;
      bySession.add(session_id, connection);
      byPerson.add(user.id, this);
      this.#stop = topics.listen(personTopic(user.id), after, this);
    }

    onStart(start: Parameters<Listener['onStart']>[0]): void {
      const { connection } = this;
      connection.tell({ kind: 'welcome', ...start, heartbeat_ms: socketParts.limits.heartbeat_ms });
      for (const event of present(connection.principal.user.id)) connection.tell({ kind: 'event', id: null, event });
      remote.onWelcome(remotePage(connection));
    }

    onEvent(published: Published): void {
      this.connection.tellText(frameOf(published));
    }

    onLost(): void {
      this.connection.end(LOST);
    }

    onFrame(frame: SaidFrame): void {
      const { connection } = this;
      if (this.isOutdated) {
        // The page reconnects with the new role and sends its requests again.
        connection.end(LOST);
        return;
      }
      if (isRemote(frame)) {
        this.remote ??= remote.sit(remotePage(connection));
        this.remote.onFrame(frame);
        return;
      }
      this.desk ??= createDeskSeat({
        ...{ user: connection.principal.user, topics, desk, connection },
        onFailure: (error) => logFailure(fastify.log, error, 'could not process a page’s message'),
      });
      this.desk.onFrame(frame);
    }

    onLeave(): void {
      const { id: session_id, user } = this.connection.principal;
      this.#stop();
      this.desk?.leave();
      this.remote?.leave();
      byPerson.remove(user.id, this);
      bySession.remove(session_id, this.connection);
    }
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

      /** Checks expired sessions, and those ended or changed by other servers; `onEnd` and `onChange` report those of this server. */
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

      join: (connection, { after }) => new Page(connection, after),
    },
    socketParts,
  );

  const stopWatching = watchSessions(sessions, { sockets, bySession, byPerson });
  return {
    open: () => sockets.open(),
    close() {
      for (const stop of stopWatching) stop();
      sockets.close();
    },
  };
}
