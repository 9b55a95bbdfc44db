import type { UserInfo } from '@palisade/contract/auth';
import { may } from '@palisade/contract/may';
import {
  type JoinedSession,
  PENDING_LIFETIME,
  type RemoteSession,
  SESSION_LIMITS,
  sessionCodeSchema,
  WRONG_CODES,
} from '@palisade/contract/remote';
import type { GrantKind } from '@palisade/contract/remote-grant';
import type { LiveSession, Side, View } from '@palisade/contract/remote-record';
import type { ReportKind, SideOfSession } from '@palisade/contract/remote-session';
import type { OverseenSession } from '@palisade/contract/remote-staff';
import { type Kysely, sql } from 'kysely';
import type { Audit } from '#platform/audit.ts';
import type { Counters } from '#platform/counters.ts';
import { isUniqueViolation } from '#platform/database.ts';
import { newId } from '#platform/id.ts';
import type { Jobs } from '#platform/jobs/jobs.ts';
import { Problem } from '#platform/problem.ts';
import type { RemoteTables } from './remote.tables.ts';
import { type By, type Change, type ChangeTables, createSessionChanges, ends, type SessionChanges } from './session-changes.ts';
import { newSessionCode } from './session-code.ts';
import { grants, revokes } from './session-grants.ts';
import { createSessionLists, joinedOf, overseenOf, type SessionLists, sessionOf } from './session-lists.ts';
import { ended, heldGrants, isClaimed, isOpen, lost, type Row, reaffirmBy, SIDES, sideOf } from './session-state.ts';
import { createWrongCodes } from './wrong-codes.ts';

/**
 * Remote-support sessions: pending (waiting, then claimed) -> active -> completed, and cancelled. The database decides every move, and the clock is one of those who move
 * (session-state.ts).
 */
export interface Remote extends Pick<SessionChanges, 'change' | 'settle' | 'resume'>, SessionLists {
  /** A session that waits for a technician; an older one of this person that still waits is cancelled as `replaced`. */
  create(customer: UserInfo): Promise<RemoteSession>;
  /** As it is now. */
  find(id: string): Promise<Row | undefined>;
  findOwn(id: string): Promise<{ id: string; user_id: string } | undefined>;
  /** As one of its sides sees it. */
  show(me: UserInfo, row: Row): SideOfSession;
  /** @throws Problem `conflict` when it neither waits nor runs. */
  cancel(id: string, by: By): Promise<RemoteSession>;
  /** @throws Problem `conflict` when it does not run. */
  complete(id: string, by: By): Promise<JoinedSession>;
  /** @throws Problem `conflict` when nobody asks (any more). */
  approve(id: string, view: View, by: By): Promise<RemoteSession>;
  /** @throws Problem `conflict` when nobody asks (any more). */
  decline(id: string, by: By): Promise<RemoteSession>;
  /** @throws Problem `conflict` when it does not run. */
  reaffirm(id: string, by: By): Promise<RemoteSession>;
  /** @throws Problem `conflict` for one that nobody joined, or that was reported. */
  report(id: string, report: { reason: ReportKind; comment: string }, by: By): Promise<RemoteSession>;
  /** @throws Problem `conflict` for one that is not over, or in which nobody helped. */
  rate(id: string, rating: { rating: number; comment: string }): Promise<RemoteSession>;
  /** @throws Problem `conflict` when it does not run, a page is gone, or the device cannot be controlled now. */
  grant(id: string, what: { grant: GrantKind; device_id: string | null }, by: By): Promise<RemoteSession>;
  revoke(id: string, which: Parameters<typeof revokes>[0], why: Parameters<typeof revokes>[1], by: By): Promise<RemoteSession>;
  /** What is granted of a device just now; undefined where nothing is. */
  grantedOf(device: { id: string; user_id: string }): Promise<{ session_id: string; grants: GrantKind[] } | undefined>;
  writeNotes(id: string, notes: string): Promise<JoinedSession>;
  /** Asks to join. @throws Problem `not_found` whatever is wrong with the code, `too_many_requests`. */
  join(agent: UserInfo, session_code: string, by: By): Promise<JoinedSession>;
  /** A session as its technician's: `user_id` is who joined it. */
  findJoined(id: string): Promise<{ id: string; user_id: string } | undefined>;
  /** @throws Problem `conflict` for one that is over. */
  endOverseen(id: string, by: By): Promise<OverseenSession>;
  /** Ends what somebody may not take part in any more: their role was changed, or their account was disabled. */
  accessChanged(user_id: string): Promise<void>;
  /** Ends the sessions of an account and takes its name out of other people's, as part of `database`'s transaction. Answers what tells their other sides, once it is committed. */
  forget(database: Kysely<RemoteTables>, user_id: string): Promise<() => void>;
}

/** Somebody of the staff, as the customer is shown them. */
interface People {
  findUser(id: string): Promise<UserInfo | undefined>;
  staffSince(id: string): Promise<string | null>;
  provider(): Promise<string>;
}

/** A device that something may be granted of, or why not. */
export interface GrantDevice {
  id: string;
  device_name: string;
  refusal: string | null;
}

/** How often a creation is tried when another one of the same person, or the same code, came first. */
const CREATIONS_MAXIMUM = 5;

/** Who joined, where the account is gone. */
const FORMER_AGENT = 'A former technician';

/** Whatever is wrong with a code, its answer is this one: nobody learns which codes there are, or were. */
const NO_SUCH_CODE = 'No session waits with this code. Check it with the customer, character by character, or ask for a new one.';
const IS_OVER = 'This session cannot be ended like this: it has ended already.';
const DOES_NOT_RUN = 'This session cannot be ended like this: it has no technician yet, or has ended already.';
const NOBODY_ASKS = 'Nobody asks to join this session any more: it was answered, has ended or has expired.';
const NOT_RUNNING = 'This session does not run: it was not approved yet, or has ended already.';
const MAY_NOT_ANY_MORE = 'Who asked may not join sessions any more. The session is over.';
const NOBODY_JOINED = 'Nobody joined this session, so there is nobody to report.';
const REPORTED_ALREADY = 'You have reported this session already. The administrators know.';
const NO_SUCH_DEVICE = 'You have no device of this name any more. Look at Devices.';
const VIEW_IS_SHARED = 'What your browser shows is shared, and no longer shared, with the buttons of the picture.';
const NOT_HELPED = 'A session is rated once it is over, and only if somebody helped in it.';

const UNTOUCHED = {
  ...{ joined_at: null, ended_at: null, end_reason: null, agent_id: null, support_agent: null, version: 1 },
  ...{ provider: null, staff_since: null, consent_by: null, approved_at: null, view: null, reaffirmed_at: null },
  ...{ shares: '[]', has_shared: 0, unshared_at: null, paused_at: null, grants: '[]', grants_ended: null },
  ...{ customer_seat: null, customer_until: null, customer_lost_at: null, customer_lost_by: null },
  ...{ technician_seat: null, technician_until: null, technician_lost_at: null, technician_lost_by: null },
  ...({ customer_voice: 'off', technician_voice: 'off' } as const),
  ...{ noted: 0, last_seq: 0, notes: '', rating: null, rating_comment: null },
  ...{ reported_at: null, report_reason: null, report_comment: null },
} as const;

export function createRemote(parts: {
  database: Kysely<ChangeTables>;
  audit: Pick<Audit, 'record'>;
  jobs: Pick<Jobs, 'handle' | 'enqueue' | 'enqueueAll' | 'wake'>;
  counters: Pick<Counters, 'put' | 'remove'>;
  people: People;
  /** Told of a session that is not as it was. */
  onLive: (session: LiveSession) => void;
  /** Told of both sides of a session that is not as it was. */
  onChange: (user_id: string) => void;
  /** Told of a device of which more or less is granted than before. */
  onGrants: (device_id: string) => void;
  /** A device of a person, if it is connected. */
  findDevice: (user_id: string, device_id: string) => Promise<GrantDevice | undefined>;
  /** Whether a page is connected to this server. */
  isHere: (seat: string) => boolean;
  now: () => number;
}): Remote {
  const { database, counters, people, onChange, findDevice, now } = parts;
  const wrongCodes = createWrongCodes({ ...WRONG_CODES, counters });
  const changes = createSessionChanges(parts);
  const { change, changeIn, finish } = changes;
  const at = (offset_ms = 0) => new Date(now() + offset_ms).toISOString();

  async function insert(customer: UserInfo): Promise<Row> {
    const done = await database.transaction().execute(async (transaction) => {
      const older = await transaction
        .selectFrom('remote_sessions')
        .select('id')
        .where('user_id', '=', customer.id)
        .where('status', '=', sql.lit('pending'))
        .execute();
      const replaced: Change[] = [];
      for (const { id } of older) {
        const changed = await changeIn(
          transaction,
          id,
          null,
          ends('replaced', ({ status }) => status === 'pending', ''),
        );
        if (changed !== undefined) replaced.push(changed);
      }
      const expires_at = at(PENDING_LIFETIME);
      const row: Row = {
        ...UNTOUCHED,
        ...{ id: newId(), user_id: customer.id, customer: customer.username, session_code: newSessionCode(), status: 'pending' },
        ...{ started_at: at(), expires_at, due_at: expires_at },
      };
      await transaction.insertInto('remote_sessions').values(row).execute();
      await changes.plan(transaction, row);
      for (const { record } of replaced) await record();
      return { row, replaced };
    });
    for (const one of done.replaced) finish(one);
    return done.row;
  }

  /** The one that waits with a code, for somebody who is not its customer. */
  async function waiting(agent: UserInfo, session_code: string): Promise<string | undefined> {
    const row = await database
      .selectFrom('remote_sessions')
      .select('id')
      .where('session_code', '=', session_code)
      .where('status', '=', sql.lit('pending'))
      .where('joined_at', 'is', null)
      .where('user_id', '!=', agent.id)
      .executeTakeFirst();
    return row?.id;
  }

  async function claim(agent: UserInfo, session_code: string, by: By): Promise<Row | undefined> {
    const id = await waiting(agent, session_code);
    if (id === undefined) return undefined;
    const facts = {
      ...{ agent_id: agent.id, support_agent: agent.username },
      ...{ provider: await people.provider(), staff_since: await people.staffSince(agent.id) },
    };
    try {
      return await change(id, by, (row, time) =>
        row.status === 'pending' && row.joined_at === null
          ? {
              set: { ...facts, joined_at: time, consent_by: at(SESSION_LIMITS.consent) },
              notes: [{ kind: 'remote_session_asked', details: { technician: agent.username } }],
            }
          : { refused: NO_SUCH_CODE },
      );
    } catch (error) {
      if (error instanceof Problem && (error.code === 'conflict' || error.code === 'not_found')) return undefined;
      throw error;
    }
  }

  async function find(id: string): Promise<Row | undefined> {
    const row = await database.selectFrom('remote_sessions').selectAll().where('id', '=', id).executeTakeFirst();
    return row && changes.now(row);
  }

  const openOnes = (column: 'user_id' | 'agent_id', id: string) =>
    database
      .selectFrom('remote_sessions')
      .select('id')
      .where(column, '=', id)
      .where('status', 'in', ['pending', 'active'])
      .execute();

  const mayJoin = (user: UserInfo | undefined) => user !== undefined && may.joinSessions(user);

  /** Ends it unless that came first. */
  async function endQuietly(id: string, reason: Parameters<typeof ends>[0]): Promise<void> {
    await change(id, null, ends(reason, isOpen, IS_OVER)).catch((error: unknown) => {
      if (!(error instanceof Problem)) throw error;
    });
  }

  return {
    change,
    settle: changes.settle,
    resume: changes.resume,
    ...createSessionLists({ database: database.$pickTables<'remote_sessions'>(), as_now: changes.now, now }),
    async create(customer) {
      for (let attempt = 1; attempt <= CREATIONS_MAXIMUM; attempt += 1) {
        try {
          const row = await insert(customer);
          onChange(row.user_id);
          return sessionOf(row);
        } catch (error) {
          if (!isUniqueViolation(error, 'session_code') && !isUniqueViolation(error, 'user_id')) throw error;
        }
      }
      throw new Problem('conflict');
    },

    find,
    findOwn: (id) => database.selectFrom('remote_sessions').select(['id', 'user_id']).where('id', '=', id).executeTakeFirst(),

    show: (me, row) => ({
      ...sessionOf(row),
      side: row.user_id === me.id ? 'customer' : 'technician',
      customer: row.customer,
    }),

    cancel: async (id, by) => sessionOf(await change(id, by, ends('cancelled', isOpen, IS_OVER))),

    complete: async (id, by) =>
      joinedOf(
        await change(
          id,
          by,
          ends(
            by?.side === 'technician' ? 'ended_by_technician' : 'ended_by_customer',
            ({ status }) => status === 'active',
            DOES_NOT_RUN,
          ),
        ),
      ),

    async approve(id, view, by) {
      const asked = await find(id);
      const agent = asked?.agent_id == null ? undefined : await people.findUser(asked.agent_id);
      if (asked !== undefined && isClaimed(asked) && !mayJoin(agent)) {
        await endQuietly(id, 'access_lost');
        throw new Problem('conflict', { detail: MAY_NOT_ANY_MORE });
      }
      const row = await change(id, by, (before, time) => {
        if (!isClaimed(before)) return { refused: NOBODY_ASKS };
        const absent = SIDES.filter((side) => sideOf(before, side).seat === null).map((side) => lost(side, time, 'page'));
        return {
          set: {
            ...{ status: 'active', approved_at: time, reaffirmed_at: time, consent_by: null, view },
            unshared_at: view === 'screen' ? time : null,
            ...absent[0],
            ...absent[1],
          },
          notes: [{ kind: 'remote_session_approved', details: { view } }],
        };
      });
      return sessionOf(row);
    },

    decline: async (id, by) =>
      sessionOf(
        await change(id, by, (row, time) =>
          isClaimed(row)
            ? { set: ended(row, time, 'declined'), notes: [{ kind: 'remote_session_declined' }] }
            : { refused: NOBODY_ASKS },
        ),
      ),

    reaffirm: async (id, by) =>
      sessionOf(
        await change(id, by, (row, time) =>
          row.status === 'active'
            ? {
                set: { reaffirmed_at: time },
                notes: [{ kind: 'remote_session_reaffirmed', details: { until: reaffirmBy({ ...row, reaffirmed_at: time }) } }],
              }
            : { refused: NOT_RUNNING },
        ),
      ),

    async report(id, { reason, comment }, by) {
      const row = await change(id, by, (before, time) => {
        if (before.joined_at === null) return { refused: NOBODY_JOINED };
        if (before.reported_at !== null) return { refused: REPORTED_ALREADY };
        return {
          set: {
            ...(isOpen(before) ? ended(before, time, 'reported') : {}),
            ...{ reported_at: time, report_reason: reason, report_comment: comment },
          },
          notes: [{ kind: 'remote_session_reported', details: { about: reason } }],
        };
      });
      return sessionOf(row);
    },

    rate: async (id, { rating, comment }) =>
      sessionOf(
        await change(id, null, (row) =>
          row.approved_at === null || isOpen(row) ? { refused: NOT_HELPED } : { set: { rating, rating_comment: comment } },
        ),
      ),

    async grant(id, { grant, device_id }, by) {
      const row = await find(id);
      const device = row === undefined || device_id === null ? undefined : await findDevice(row.user_id, device_id);
      if (device_id !== null && device === undefined) throw new Problem('conflict', { detail: NO_SUCH_DEVICE });
      if (typeof device?.refusal === 'string') throw new Problem('conflict', { detail: device.refusal });
      const named = device === undefined ? null : { id: device.id, device_name: device.device_name };
      if (grant === 'view' && named === null) throw new Problem('conflict', { detail: VIEW_IS_SHARED });
      return sessionOf(await change(id, by, grants({ grant, device: named })));
    },

    revoke: async (id, which, why, by) => sessionOf(await change(id, by, revokes(which, why))),

    async grantedOf({ id, user_id }) {
      const rows = await database
        .selectFrom('remote_sessions')
        .selectAll()
        .where('user_id', '=', user_id)
        .where('status', '=', 'active')
        .execute();
      for (const row of rows.map(changes.now)) {
        const held = heldGrants(row).flatMap(({ grant, device }) => (device?.id === id ? [grant] : []));
        if (held.length > 0) return { session_id: row.id, grants: held };
      }
      return undefined;
    },

    writeNotes: async (id, notes) => joinedOf(await change(id, null, () => ({ set: { notes } }))),

    async join(agent, typed, by) {
      const attempt = await wrongCodes.begin(agent.id);
      const code = sessionCodeSchema.safeParse(typed);
      const row = code.success ? await claim(agent, code.data, by) : undefined;
      // A wrong one, one that is used or over, and what is none: all count the same, as they are answered the same.
      if (row === undefined) throw new Problem('not_found', { detail: NO_SUCH_CODE });
      await attempt.forgive();
      return joinedOf(row);
    },

    async findJoined(id) {
      const row = await database.selectFrom('remote_sessions').select(['id', 'agent_id']).where('id', '=', id).executeTakeFirst();
      return row?.agent_id == null ? undefined : { id: row.id, user_id: row.agent_id };
    },

    endOverseen: async (id, by) => overseenOf(await change(id, by, ends('ended_by_admin', isOpen, IS_OVER))),

    async accessChanged(user_id) {
      const user = await people.findUser(user_id);
      if (!mayJoin(user)) for (const { id } of await openOnes('agent_id', user_id)) await endQuietly(id, 'access_lost');
      if (user === undefined) for (const { id } of await openOnes('user_id', user_id)) await endQuietly(id, 'access_lost');
    },

    async forget(transaction, user_id) {
      const rows = await transaction
        .selectFrom('remote_sessions')
        .selectAll()
        .where('status', 'in', ['pending', 'active'])
        .where(({ or, eb }) => or([eb('user_id', '=', user_id), eb('agent_id', '=', user_id)]))
        .execute();
      const over: Change['row'][] = [];
      for (const row of rows) {
        // The log is the account's end's: that stands there.
        const { id, ...columns } = { ...row, ...ended(row, at(), 'access_lost'), version: row.version + 1 };
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
        for (const row of over) finish({ before: { ...row, status: 'active' }, row });
      };
    },
  };
}
