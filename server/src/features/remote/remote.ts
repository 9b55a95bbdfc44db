import type { UserInfo } from '@palisade/contract/auth';
import type { Counts } from '@palisade/contract/desk-counts';
import {
  type JoinedSession,
  PENDING_LIFETIME,
  type RemoteSession,
  SESSION_LIMITS,
  type SessionsQuery,
  sessionCodeSchema,
  WRONG_CODES,
} from '@palisade/contract/remote';
import type { GrantKind } from '@palisade/contract/remote-grant';
import type { Side, View } from '@palisade/contract/remote-record';
import type { ReportKind, SideOfSession } from '@palisade/contract/remote-session';
import type { OverseenQuery, OverseenSession } from '@palisade/contract/remote-staff';
import { type Kysely, sql } from 'kysely';
import { isUniqueViolation } from '#platform/database.ts';
import { newId } from '#platform/id.ts';
import { inTransaction } from '#platform/in-transaction.ts';
import { Problem } from '#platform/problem.ts';
import { refuse } from './remote.refusals.ts';
import type { RemoteTables } from './remote.tables.ts';
import type { RemoteOptions } from './remote-options.ts';
import { type By, type Change, createSessionChanges, ends, type Move, type SessionChanges } from './session-changes.ts';
import { newSessionCode } from './session-code.ts';
import { grants, revokes } from './session-grants.ts';
import { createSessionLists, joinedOf, overseenOf, type SessionLists, sessionOf } from './session-lists.ts';
import { at, FORMER_AGENT, mayJoin, openOnes, UNTOUCHED, waiting } from './session-rows.ts';
import { ended, heldGrants, isClaimed, isOpen, lost, type Row, reaffirmBy, SIDES, sideOf } from './session-state.ts';
import { createWrongCodes, type WrongCodes } from './wrong-codes.ts';

/** Maximum attempts to create a session when another one of the same person, or with the same code, came first. */
const CREATIONS_MAXIMUM = 5;

/** Remote-support sessions: pending (waiting, then claimed) -> active -> completed, or cancelled. The database decides every transition; some are due to time (session-state.ts). */
export class Remote implements Pick<SessionChanges, 'change' | 'settle' | 'resume'>, SessionLists {
  private readonly options: RemoteOptions;
  private readonly wrongCodes: WrongCodes;
  private readonly changes: SessionChanges;
  private readonly lists: SessionLists;

  constructor(options: RemoteOptions) {
    this.options = options;
    this.wrongCodes = createWrongCodes({ ...WRONG_CODES, counters: options.counters });
    this.changes = createSessionChanges(options);
    this.lists = createSessionLists({
      database: this.options.database.$pickTables<'remote_sessions'>(),
      as_now: (row) => this.changes.now(row),
      now: this.options.now,
    });
  }

  private async insert(customer: UserInfo): Promise<Row> {
    const done = await inTransaction(this.options.database, async (transaction) => {
      const older = await transaction
        .selectFrom('remote_sessions')
        .select('id')
        .where('user_id', '=', customer.id)
        .where('status', '=', sql.lit('pending'))
        .execute();
      const replaced: Change[] = [];
      for (const { id } of older) {
        const changed = await this.changes.changeIn(
          transaction,
          id,
          null,
          ends('replaced', ({ status }) => status === 'pending', 'remote_session.already_ended'),
        );
        if (changed !== undefined) replaced.push(changed);
      }
      const expires_at = at(this.options.now, PENDING_LIFETIME);
      const row: Row = {
        ...UNTOUCHED,
        id: newId(),
        user_id: customer.id,
        customer: customer.username,
        session_code: newSessionCode(),
        status: 'pending',
        started_at: at(this.options.now),
        expires_at,
        due_at: expires_at,
      };
      await transaction.insertInto('remote_sessions').values(row).execute();
      await this.changes.plan(transaction, row);
      for (const { record } of replaced) await record();
      return { row, replaced };
    });
    for (const one of done.replaced) this.changes.finish(one);
    return done.row;
  }

  private async claim(agent: UserInfo, session_code: string, by: By): Promise<Row | undefined> {
    const id = await waiting(this.options.database, agent, session_code);
    if (id === undefined) return undefined;
    const facts = {
      agent_id: agent.id,
      support_agent: agent.username,
      provider: await this.options.people.provider(),
      staff_since: await this.options.people.staffSince(agent.id),
    };
    try {
      return await this.changes.change(id, by, (row, time) =>
        row.status === 'pending' && row.joined_at === null
          ? {
              set: { ...facts, joined_at: time, consent_by: at(this.options.now, SESSION_LIMITS.consent) },
              notes: [{ kind: 'remote_session_asked', details: { technician: agent.username } }],
            }
          : { refused: 'remote_session.moved' },
      );
    } catch (error) {
      if (error instanceof Problem && (error.code === 'conflict' || error.code === 'not_found')) return undefined;
      throw error;
    }
  }

  /** The session with its present state. */
  async find(id: string): Promise<Row | undefined> {
    const row = await this.options.database.selectFrom('remote_sessions').selectAll().where('id', '=', id).executeTakeFirst();
    return row && this.changes.now(row);
  }

  /** Ends it, unless it already has ended. */
  private async endQuietly(id: string, reason: Parameters<typeof ends>[0]): Promise<void> {
    await this.changes.change(id, null, ends(reason, isOpen, 'remote_session.already_ended')).catch((error: unknown) => {
      if (!(error instanceof Problem)) throw error;
    });
  }

  /** @throws Problem `not_found`, and `conflict` for a refused transition. */
  change(id: string, by: By, move: Move): Promise<Row> {
    return this.changes.change(id, by, move);
  }

  /** Ends all sessions whose time is over. */
  settle(): Promise<void> {
    return this.changes.settle();
  }

  /** Plans a check of each open session, in case its job was lost. */
  resume(): Promise<void> {
    return this.changes.resume();
  }

  list(user_id: string, query: SessionsQuery): Promise<RemoteSession[]> {
    return this.lists.list(user_id, query);
  }

  /** The number of matching sessions on all pages. */
  count(user_id: string, query: SessionsQuery): Promise<number> {
    return this.lists.count(user_id, query);
  }

  listJoined(agent_id: string, query: SessionsQuery): Promise<JoinedSession[]> {
    return this.lists.listJoined(agent_id, query);
  }

  countJoined(agent_id: string, query: SessionsQuery): Promise<number> {
    return this.lists.countJoined(agent_id, query);
  }

  /** All sessions that a technician asked to join, reported ones first. */
  listOverseen(query: OverseenQuery): Promise<OverseenSession[]> {
    return this.lists.listOverseen(query);
  }

  countOverseen(query: OverseenQuery): Promise<number> {
    return this.lists.countOverseen(query);
  }

  /** Number of sessions that wait for this technician: those of all other people. */
  countWaiting(me: string): Promise<number> {
    return this.lists.countWaiting(me);
  }

  /** The customers of these sessions who wait longest. */
  listWaiting(me: string): Promise<Counts['remote_customers']> {
    return this.lists.listWaiting(me);
  }

  /** Counts the sessions of a customer that have run for longer than this, in ms. */
  countLonger(user_id: string, than_ms: number): Promise<number> {
    return this.lists.countLonger(user_id, than_ms);
  }

  /** Creates a session that waits for a technician; an older waiting one of this person is cancelled as `replaced`. */
  async create(customer: UserInfo): Promise<RemoteSession> {
    for (let attempt = 1; attempt <= CREATIONS_MAXIMUM; attempt += 1) {
      try {
        const row = await this.insert(customer);
        this.options.onChange(row.user_id);
        return sessionOf(row);
      } catch (error) {
        if (!isUniqueViolation(error, 'session_code') && !isUniqueViolation(error, 'user_id')) throw error;
      }
    }
    throw new Problem('conflict');
  }

  findOwn(id: string): Promise<{ id: string; user_id: string } | undefined> {
    return this.options.database.selectFrom('remote_sessions').select(['id', 'user_id']).where('id', '=', id).executeTakeFirst();
  }

  /** The view of one of its sides. */
  show(me: UserInfo, row: Row): SideOfSession {
    return {
      ...sessionOf(row),
      side: row.user_id === me.id ? 'customer' : 'technician',
      customer: row.customer,
    };
  }

  /** @throws Problem `conflict` if it is neither waiting nor running. */
  async cancel(id: string, by: By): Promise<RemoteSession> {
    return sessionOf(await this.changes.change(id, by, ends('cancelled', isOpen, 'remote_session.already_ended')));
  }

  /** @throws Problem `conflict` when it does not run. */
  async complete(id: string, by: By): Promise<JoinedSession> {
    return joinedOf(
      await this.changes.change(
        id,
        by,
        ends(
          by?.side === 'technician' ? 'ended_by_technician' : 'ended_by_customer',
          ({ status }) => status === 'active',
          'remote_session.not_ended_by_you',
        ),
      ),
    );
  }

  /** @throws Problem `conflict` if there is no (longer a) request. */
  async approve(id: string, view: View, by: By): Promise<RemoteSession> {
    const asked = await this.find(id);
    const agent = asked?.agent_id == null ? undefined : await this.options.people.findUser(asked.agent_id);
    if (asked !== undefined && isClaimed(asked) && !mayJoin(agent)) {
      await this.endQuietly(id, 'access_lost');
      throw refuse('remote_session.technician_refused');
    }
    const row = await this.changes.change(id, by, (before, time) => {
      if (!isClaimed(before)) return { refused: 'remote_session.request_over' };
      const absent = SIDES.filter((side) => sideOf(before, side).seat === null).map((side) => lost(side, time, 'page'));
      return {
        set: {
          status: 'active',
          approved_at: time,
          reaffirmed_at: time,
          consent_by: null,
          view,
          unshared_at: view === 'screen' ? time : null,
          ...absent[0],
          ...absent[1],
        },
        notes: [{ kind: 'remote_session_approved', details: { view } }],
      };
    });
    return sessionOf(row);
  }

  /** @throws Problem `conflict` if there is no (longer a) request. */
  async decline(id: string, by: By): Promise<RemoteSession> {
    return sessionOf(
      await this.changes.change(id, by, (row, time) =>
        isClaimed(row)
          ? { set: ended(row, time, 'declined'), notes: [{ kind: 'remote_session_declined' }] }
          : { refused: 'remote_session.request_over' },
      ),
    );
  }

  /** @throws Problem `conflict` when it does not run. */
  async reaffirm(id: string, by: By): Promise<RemoteSession> {
    return sessionOf(
      await this.changes.change(id, by, (row, time) =>
        row.status === 'active'
          ? {
              set: { reaffirmed_at: time },
              notes: [{ kind: 'remote_session_reaffirmed', details: { until: reaffirmBy({ ...row, reaffirmed_at: time }) } }],
            }
          : { refused: 'remote_session.not_running' },
      ),
    );
  }

  /** @throws Problem `conflict` for one that was not joined, or that was reported. */
  async report(id: string, { reason, comment }: { reason: ReportKind; comment: string }, by: By): Promise<RemoteSession> {
    const row = await this.changes.change(id, by, (before, time) => {
      if (before.joined_at === null) return { refused: 'remote_session.nobody_joined' };
      if (before.reported_at !== null) return { refused: 'remote_session.already_reported' };
      return {
        set: {
          ...(isOpen(before) ? ended(before, time, 'reported') : {}),
          reported_at: time,
          report_reason: reason,
          report_comment: comment,
        },
        notes: [{ kind: 'remote_session_reported', details: { about: reason } }],
      };
    });
    return sessionOf(row);
  }

  /** @throws Problem `conflict` for one that is not over, or had no technician. */
  async rate(id: string, { rating, comment }: { rating: number; comment: string }): Promise<RemoteSession> {
    return sessionOf(
      await this.changes.change(id, null, (row) =>
        row.approved_at === null || isOpen(row)
          ? { refused: 'remote_session.not_rated_yet' }
          : { set: { rating, rating_comment: comment } },
      ),
    );
  }

  /** @throws Problem `conflict` when it does not run, a page is gone, or the device cannot be controlled now. */
  async grant(id: string, { grant, device_id }: { grant: GrantKind; device_id: string | null }, by: By): Promise<RemoteSession> {
    const row = await this.find(id);
    const device = row === undefined || device_id === null ? undefined : await this.options.findDevice(row.user_id, device_id);
    if (device_id !== null && device === undefined) throw refuse('remote_grant.no_device');
    if (device?.refusal) throw new Problem('conflict', { says: device.refusal });
    const named = device === undefined ? null : { id: device.id, device_name: device.device_name };
    if (grant === 'view' && named === null) throw refuse('remote_grant.view_is_shared');
    return sessionOf(await this.changes.change(id, by, grants({ grant, device: named })));
  }

  async revoke(
    id: string,
    which: Parameters<typeof revokes>[0],
    why: Parameters<typeof revokes>[1],
    by: By,
  ): Promise<RemoteSession> {
    return sessionOf(await this.changes.change(id, by, revokes(which, why)));
  }

  /** The present grants of a device; undefined without any. */
  async grantedOf({
    id,
    user_id,
  }: {
    id: string;
    user_id: string;
  }): Promise<{ session_id: string; grants: GrantKind[] } | undefined> {
    const rows = await this.options.database
      .selectFrom('remote_sessions')
      .selectAll()
      .where('user_id', '=', user_id)
      .where('status', '=', 'active')
      .execute();
    for (const row of rows.map((row) => this.changes.now(row))) {
      const held = heldGrants(row).flatMap(({ grant, device }) => (device?.id === id ? [grant] : []));
      if (held.length > 0) return { session_id: row.id, grants: held };
    }
    return undefined;
  }

  async writeNotes(id: string, notes: string): Promise<JoinedSession> {
    return joinedOf(await this.changes.change(id, null, () => ({ set: { notes } })));
  }

  /** Asks to join. @throws Problem `not_found` for any invalid code, `too_many_requests`. */
  async join(agent: UserInfo, typed: string, by: By): Promise<JoinedSession> {
    const attempt = await this.wrongCodes.begin(agent.id);
    const code = sessionCodeSchema.safeParse(typed);
    const row = code.success ? await this.claim(agent, code.data, by) : undefined;
    // Wrong, used, expired and malformed codes count and are answered alike.
    if (row === undefined) throw refuse('remote_session.wrong_code');
    await attempt.forgive();
    return joinedOf(row);
  }

  /** A session as the technician's record: `user_id` is the person who joined it. */
  async findJoined(id: string): Promise<{ id: string; user_id: string } | undefined> {
    const row = await this.options.database
      .selectFrom('remote_sessions')
      .select(['id', 'agent_id'])
      .where('id', '=', id)
      .executeTakeFirst();
    return row?.agent_id == null ? undefined : { id: row.id, user_id: row.agent_id };
  }

  /** @throws Problem `conflict` for one that is over. */
  async endOverseen(id: string, by: By): Promise<OverseenSession> {
    return overseenOf(await this.changes.change(id, by, ends('ended_by_admin', isOpen, 'remote_session.already_ended')));
  }

  /** Ends the sessions of a person whose role was changed, or whose account was disabled. */
  async accessChanged(user_id: string): Promise<void> {
    const user = await this.options.people.findUser(user_id);
    if (!mayJoin(user))
      for (const { id } of await openOnes(this.options.database, 'agent_id', user_id)) await this.endQuietly(id, 'access_lost');
    if (user === undefined)
      for (const { id } of await openOnes(this.options.database, 'user_id', user_id)) await this.endQuietly(id, 'access_lost');
  }

  /** Ends the sessions of an account and removes its name from other people's, as part of a transaction. Returns the function that informs the other sides, to be called after the commit. */
  async forget(transaction: Kysely<RemoteTables>, user_id: string): Promise<() => void> {
    const rows = await transaction
      .selectFrom('remote_sessions')
      .selectAll()
      .where('status', 'in', ['pending', 'active'])
      .where(({ or, eb }) => or([eb('user_id', '=', user_id), eb('agent_id', '=', user_id)]))
      .execute();
    const over: Change['row'][] = [];
    for (const row of rows) {
      // The log is the account's end's: that stands there.
      const { id, ...columns } = { ...row, ...ended(row, at(this.options.now), 'access_lost'), version: row.version + 1 };
      await transaction.updateTable('remote_sessions').set(columns).where('id', '=', id).execute();
      over.push({ id, ...columns });
    }
    await transaction
      .updateTable('remote_sessions')
      .set({ support_agent: FORMER_AGENT })
      .where('agent_id', '=', user_id)
      .execute();
    await transaction
      .updateTable('remote_messages')
      .set({ author: FORMER_AGENT })
      .where('side', '=', 'technician' satisfies Side)
      .where('session_id', 'in', (eb) => eb.selectFrom('remote_sessions').select('id').where('agent_id', '=', user_id))
      .execute();
    return () => {
      for (const row of over) this.changes.finish({ before: { ...row, status: 'active' }, row });
    };
  }
}

export function createRemote(options: RemoteOptions): Remote {
  return new Remote(options);
}
