import type { UserInfo } from '@palisade/contract/auth';
import { EVENTS_CLOSED, type LiveEvent } from '@palisade/contract/events';
import { may } from '@palisade/contract/may';
import type { LiveSession, Side } from '@palisade/contract/remote-record';
import { isAllowedSdp } from '@palisade/contract/remote-sdp';
import type { FastifyBaseLogger } from 'fastify';
import type { Kysely } from 'kysely';
import { inBatches } from '#platform/batches.ts';
import { logFailure } from '#platform/database-patience.ts';
import { newId } from '#platform/id.ts';
import type { PageSeat, RemoteFrame, RemotePage, RemotePages } from '#platform/page-seats.ts';
import { Problem } from '#platform/problem.ts';
import { sessionTopic, type Topics } from '#platform/topics/topics.ts';
import type { RemoteTables } from './remote.tables.ts';
import type { Remote } from './remote.ts';
import type { By, Move } from './session-changes.ts';
import { isOpen, liveOf, lost, type Row, SEAT, SIDES, seated, sideOf } from './session-state.ts';
import { OF_THE_SESSION, readSignal } from './signals.ts';

/** A page with a seat. */
interface Held {
  id: string;
  session_id: string;
  side: Side;
  /** Undefined while it is looked up. */
  stop: (() => void) | undefined;
  /** The session's version when the page took the seat; 0 before. */
  since_version: number;
  /** The newest known version of the session, and whether it runs, so that signals may pass. */
  known_version: number;
  isRunning: boolean;
  /** Writes of this page, one after the other. */
  writing: Promise<unknown>;
  waiting: number;
  /** Another page has its seat, or it has left. */
  isGone: boolean;
}

/** Most changes of a page that wait for the database; excess ones are dropped. */
const WAITING_MAXIMUM = 20;

/** The side of a person in a session: its customer, or the technician who asked, while they are staff. */
function sideFor(user: UserInfo, row: Row): Side | undefined {
  if (row.user_id === user.id) return 'customer';
  return row.agent_id === user.id && may.joinSessions(user) ? 'technician' : undefined;
}

/** The pages with seats on this server, and how they leave. */
interface Places {
  remote: Pick<Remote, 'find' | 'change'>;
  topics: Pick<Topics, 'listen' | 'publish'>;
  logger: FastifyBaseLogger;
  here: Map<string, { held: Held; drop: (why?: 'taken') => void }>;
  leaveSeat: (held: Held) => void;
}

/** One page of a person, with a seat in at most one session. */
class Seat {
  private readonly page: RemotePage;
  private readonly remote: Pick<Remote, 'find' | 'change'>;
  private readonly topics: Pick<Topics, 'listen' | 'publish'>;
  private readonly logger: FastifyBaseLogger;
  private readonly here: Map<string, { held: Held; drop: (why?: 'taken') => void }>;
  private readonly leaveSeat: (held: Held) => void;
  private readonly user: RemotePage['user'];
  private held: Held | undefined;

  constructor(page: RemotePage, options: Places) {
    this.page = page;
    this.remote = options.remote;
    this.topics = options.topics;
    this.logger = options.logger;
    this.here = options.here;
    this.leaveSeat = options.leaveSeat;
    this.user = this.page.user;
  }

  private byOf(side: Side): By {
    return {
      actor_id: this.user.id,
      origin: this.page.began === null ? undefined : { address: this.page.began.address, client: this.page.began.client },
      side,
    };
  }

  /** Unsubscribes; `why` informs the page. The seat is released unless another page has it. */
  private drop(one: Held, why?: 'taken'): void {
    if (one.isGone) return;
    one.isGone = true;
    one.stop?.();
    this.here.delete(one.id);
    if (this.held === one) this.held = undefined;
    if (why === undefined) this.leaveSeat(one);
    else this.page.tell({ kind: 'refused', topic: { session_id: one.session_id }, why });
  }

  private hear(one: Held, id: string | null, event: LiveEvent): void {
    const topic = { session_id: one.session_id };
    if (event.kind === 'remote_seat') {
      const isLater = one.since_version > 0 && event.version > one.since_version;
      if (event.side === one.side && event.seat !== one.id && isLater) this.drop(one, 'taken');
      return;
    }
    if (event.kind === 'remote_signal' && event.from === one.side) return;
    this.page.tell({ kind: 'event', id, event, topic });
    if (event.kind === 'remote_changed') this.know(one, event.session);
  }

  /** A session that is over has no places. */
  private know(one: Held, { status, version }: Pick<LiveSession, 'status' | 'version'>): void {
    if (version < one.known_version) return;
    one.known_version = version;
    one.isRunning = status === 'active';
    if (isOpen({ status })) return;
    one.isGone = true;
    one.stop?.();
    this.here.delete(one.id);
    if (this.held === one) this.held = undefined;
  }

  private async listen(session_id: string, after: string | undefined): Promise<void> {
    if (this.held !== undefined) this.drop(this.held);
    const one: Held = {
      id: newId(),
      session_id,
      side: 'customer',
      stop: undefined,
      since_version: 0,
      known_version: 0,
      isRunning: false,
      writing: Promise.resolve(),
      waiting: 0,
      isGone: false,
    };
    this.held = one;
    const topic = { session_id };
    const refuse = () => {
      one.isGone = true;
      one.stop?.();
      this.here.delete(one.id);
      if (this.held === one) this.held = undefined;
      this.page.tell({ kind: 'refused', topic });
    };
    const found = await this.remote.find(session_id);
    if (this.held !== one) return;
    const side = found && isOpen(found) ? sideFor(this.user, found) : undefined;
    if (side === undefined) return refuse();
    one.side = side;
    this.here.set(one.id, { held: one, drop: (why) => this.drop(one, why) });
    // Subscribe first, then take the seat, so that nothing in between is missed.
    one.stop = this.topics.listen(sessionTopic(session_id), after, {
      onStart: (start) => this.page.tell({ kind: 'listening', topic, ...start }),
      onEvent: ({ id, event }) => this.hear(one, id, event),
      onLost: () => this.page.end({ code: EVENTS_CLOSED.again, reason: 'Some events may be missing.' }),
    });
    const row = await this.remote
      .change(session_id, null, (before, time) =>
        isOpen(before) && sideFor(this.user, before) === side
          ? { set: seated(side, one.id, time) }
          : { refused: 'remote_session.moved' },
      )
      .catch((error: unknown) => {
        if (error instanceof Problem) return undefined;
        throw error;
      });
    if (one.isGone) {
      // The page left, or the session ended, while the seat was being taken.
      if (row !== undefined) this.leaveSeat(one);
      return;
    }
    if (row === undefined) return refuse();
    one.since_version = row.version;
    this.topics.publish(sessionTopic(session_id), { kind: 'remote_seat', session_id, side, seat: one.id, version: row.version });
    this.page.tell({ kind: 'event', id: null, event: { kind: 'remote_changed', session: liveOf(row) }, topic });
    this.know(one, row);
  }

  private write(one: Held, move: Move): void {
    if (one.waiting >= WAITING_MAXIMUM) return;
    one.waiting += 1;
    one.writing = one.writing
      .then(() => (one.isGone ? undefined : this.remote.change(one.session_id, this.byOf(one.side), move)))
      .catch((error: unknown) => {
        if (!(error instanceof Problem)) logFailure(this.logger, error, 'could not store a page’s report about a remote session');
      })
      .finally(() => {
        one.waiting -= 1;
      });
  }

  private speak(session_id: string, said: unknown): void {
    const one = this.held;
    if (one === undefined || one.session_id !== session_id || one.isGone) return;
    const dropped = (why: string) =>
      this.logger.warn(
        { user: this.user.id, session: session_id, side: one.side },
        `a signal of a remote session was dropped: ${why}`,
      );
    const read = readSignal(one.side, said);
    if (read === undefined) {
      dropped('this side can’t send it');
      return;
    }
    const { signal, move } = read;
    const isDescription = signal.type === 'offer' || signal.type === 'answer';
    if (isDescription && !isAllowedSdp(one.side, signal.sdp)) {
      dropped('its media target isn’t allowed');
      return;
    }
    if (move !== undefined) this.write(one, move);
    // Signals pass only between the customer's approval and the end of the session.
    if (!one.isRunning || OF_THE_SESSION.has(signal.type)) return;
    this.topics.publish(sessionTopic(session_id), { kind: 'remote_signal', session_id, from: one.side, signal });
  }

  onFrame(frame: RemoteFrame): void {
    const { held } = this;
    switch (frame.kind) {
      case 'listen_remote':
        this.listen(frame.session_id, frame.after).catch((error: unknown) => {
          logFailure(this.logger, error, 'could not add a page to a remote session');
          this.page.end({ code: EVENTS_CLOSED.again, reason: 'Some events may be missing.' });
        });
        return;
      case 'leave_remote':
        if (held?.session_id === frame.session_id) this.drop(held);
        return;
      case 'remote_signal':
        this.speak(frame.session_id, frame.signal);
        return;
    }
  }

  isOfStaff(): boolean {
    return this.held?.side === 'technician';
  }

  leave(): void {
    if (this.held !== undefined) this.drop(this.held);
  }
}

function createSeat(page: RemotePage, options: Places): Seat {
  return new Seat(page, options);
}

interface SeatsOptions {
  database: Kysely<RemoteTables>;
  remote: Pick<Remote, 'find' | 'change'>;
  topics: Pick<Topics, 'listen' | 'publish'>;
  logger: FastifyBaseLogger;
  now: () => number;
}

/** Tells a newly connected page about open sessions, since it missed the earlier event. */
async function tellOpen(database: Kysely<RemoteTables>, { user, tell }: RemotePage): Promise<void> {
  const open = await database
    .selectFrom('remote_sessions')
    .select('id')
    .where('user_id', '=', user.id)
    .where('status', 'in', ['pending', 'active'])
    .where('joined_at', 'is not', null)
    .limit(1)
    .executeTakeFirst();
  if (open !== undefined) tell({ kind: 'event', id: null, event: { kind: 'changed', topic: 'remote' } });
}

/** The pages on this server that take part in sessions: one for each side of each session, wherever the other side's is. */
export class Seats implements RemotePages {
  private readonly options: SeatsOptions;
  private readonly here = new Map<string, { held: Held; drop: (why?: 'taken') => void }>();
  private readonly closing = new Set<Promise<unknown>>();
  private isClosing = false;
  private readonly renewing: NodeJS.Timeout;

  constructor(options: SeatsOptions) {
    this.options = options;
    this.renewing = setInterval(() => {
      this.renew().catch((error: unknown) =>
        logFailure(this.options.logger, error, 'could not store which pages are in remote sessions'),
      );
    }, SEAT.renewed_ms);
    this.renewing.unref();
  }

  /** Frees the place of a side, unless another page has taken it. */
  private readonly leaveSeat = ({ id, session_id, side }: Held): void => {
    const left = this.options.remote
      .change(session_id, null, (row, time) =>
        sideOf(row, side).seat === id ? { set: lost(side, time, this.isClosing ? 'server' : 'page') } : { set: {} },
      )
      .catch((error: unknown) => {
        if (error instanceof Problem) return;
        // Its lease runs out on its own.
        logFailure(this.options.logger, error, 'could not store that a page left a remote session');
      })
      .finally(() => this.closing.delete(left));
    this.closing.add(left);
  };

  sit(page: RemotePage): PageSeat<RemoteFrame> {
    return createSeat(page, {
      remote: this.options.remote,
      topics: this.options.topics,
      logger: this.options.logger,
      here: this.here,
      leaveSeat: this.leaveSeat,
    });
  }

  /** Renews the leases of all pages on this server. */
  async renew(): Promise<void> {
    const until = new Date(this.options.now() + SEAT.lease_ms).toISOString();
    for (const side of SIDES) {
      const column = side === 'customer' ? 'customer_seat' : 'technician_seat';
      const seats = [...this.here.values()].flatMap(({ held }) => (held.side === side && held.since_version > 0 ? held : []));
      if (seats.length === 0) continue;
      const kept = await inBatches(seats, (batch) =>
        this.options.database
          .updateTable('remote_sessions')
          .set(side === 'customer' ? { customer_until: until } : { technician_until: until })
          .where(
            'id',
            'in',
            batch.map(({ session_id }) => session_id),
          )
          .where(
            column,
            'in',
            batch.map(({ id }) => id),
          )
          .returning(['customer_seat', 'technician_seat'])
          .execute(),
      );
      const left = new Set(kept.map((row) => (side === 'customer' ? row.customer_seat : row.technician_seat)));
      // Another page took the seat while Redis, which reports that, was away.
      for (const { id } of seats) if (!left.has(id)) this.here.get(id)?.drop('taken');
    }
  }

  onWelcome(page: RemotePage): void {
    tellOpen(this.options.database, page).catch((error: unknown) =>
      logFailure(this.options.logger, error, 'could not tell a page about the open remote session'),
    );
  }

  /** Whether a page is connected here. */
  isHere(seat: string): boolean {
    return this.here.has(seat);
  }

  /** Records that this server leaves, so that its pages have the time of a restart to come back. */
  async close(): Promise<void> {
    this.isClosing = true;
    clearInterval(this.renewing);
    for (const { drop } of [...this.here.values()]) drop();
    await Promise.allSettled([...this.closing]);
  }
}

export function createSeats(options: SeatsOptions): Seats {
  return new Seats(options);
}
