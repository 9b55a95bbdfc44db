import type { AuditKind } from '@palisade/contract/audit';
import type { EndReason } from '@palisade/contract/remote';
import type { Grant, GrantsEnded } from '@palisade/contract/remote-grant';
import type { LiveSession } from '@palisade/contract/remote-record';
import type { Kysely } from 'kysely';
import { z } from 'zod';
import type { Audit, AuditTables, Doer } from '#platform/audit.ts';
import { inPages } from '#platform/batches.ts';
import { inTransaction } from '#platform/in-transaction.ts';
import { Postponed } from '#platform/jobs/job.ts';
import { jobKind } from '#platform/jobs/job-kind.ts';
import type { JobTables } from '#platform/jobs/job-tables.ts';
import type { Jobs } from '#platform/jobs/jobs.ts';
import { Problem } from '#platform/problem.ts';
import { type MoveRefusal, refuse } from './remote.refusals.ts';
import type { RemoteTables } from './remote.tables.ts';
import {
  asOf,
  deadlineOf,
  ended,
  grantsOf,
  heldGrants,
  isOpen,
  liveOf,
  lookAt,
  mayGrant,
  type Row,
  withoutGrants,
} from './session-state.ts';

export type ChangeTables = RemoteTables & AuditTables & JobTables;

/** An audit entry about a change. */
export interface Note {
  kind: AuditKind;
  details?: Record<string, string | number | boolean | null>;
}

export function notesOfRevoked(grants: readonly Grant[], why: GrantsEnded['why']): Note[] {
  return grants.map(({ grant, device }) => ({
    kind: 'remote_revoked',
    details: { grant, reason: why, ...(device && { device: device.device_name }) },
  }));
}

/** The change that a call makes to the present session: new values, or the reason of a refusal. */
export type Move = (row: Row, now: string) => { set: Partial<Row>; notes?: readonly Note[] } | { refused: MoveRefusal };

/** The actor with their side; null for a change due to time. */
export type By = (Doer & { side: 'customer' | 'technician' | 'administrator' }) | null;

/** A transition of the current session: new values, or the reason of a refusal. */
export interface Change {
  before: Row;
  row: Row;
  refused: MoveRefusal | undefined;
  /** Call this last in the transaction: it writes the audit log. */
  record: () => Promise<void>;
}

export const ENDED = jobKind({ name: 'remote_ended', payload: z.object({ session_id: z.string() }), at_once: 2 });
export const REPORTED = jobKind({ name: 'remote_reported', payload: z.object({ session_id: z.string() }), at_once: 2 });
/** Ends sessions whose time is over; planned for the next possible deadline. */
const DUE = jobKind({ name: 'remote_due', payload: z.object({ session_id: z.string() }), at_once: 4 });
/** Wait before a deadline that clocks disagree about is checked again, in ms. */
const LOOK_AGAIN_MS = 1_000;
/** Maximum log entries per session for actions that its sides can repeat at will; a technician may cause half of them, and the rest is reserved for the customer. */
const NOTED_MAXIMUM = 200;
/** Events that occur once in a session, or once per file: they are always in the log. */
const ALWAYS_NOTED: ReadonlySet<AuditKind> = new Set([
  'remote_session_asked',
  'remote_session_approved',
  'remote_session_declined',
  'remote_session_reported',
  'remote_file_sent',
  'remote_recording_started',
]);
const AT_ONCE = 200;

/** The part that the session's pages receive, without its version. */
function tellable(row: Row): string {
  const { version: _, ...live } = liveOf(row);
  return JSON.stringify(live);
}

/** The part that other pages of both people show. */
const shown = ({ status, joined_at, approved_at, rating, reported_at, notes }: Row) =>
  JSON.stringify([status, joined_at, approved_at, rating, reported_at, notes]);

interface SessionChangesOptions {
  database: Kysely<ChangeTables>;
  audit: Pick<Audit, 'record'>;
  jobs: Pick<Jobs, 'handle' | 'enqueue' | 'enqueueAll' | 'wake'>;
  /** Called with a session that has changed. */
  onLive: (session: LiveSession) => void;
  /** Called with both of its people, if their lists show the change. */
  onChange: (user_id: string) => void;
  /** Called with a device whose grants have changed. */
  onGrants: (device_id: string) => void;
  /** Whether a page is connected to this server. */
  isHere: (seat: string) => boolean;
  now: () => number;
}

const at = (now: () => number) => new Date(now()).toISOString();

const waitFor = (now: () => number, row: Row) => Math.max(0, Date.parse(lookAt(row) ?? at(now)) - now());

function noteOfEnd({ id, end_reason }: Row, by: By): Note & { by: By } {
  return { kind: 'remote_session_ended', details: { session_id: id, reason: end_reason }, by };
}

/** Every change of a session: locked by an update, ended if its time is over, changed, planned, stored, reported. */
export class SessionChanges {
  private readonly options: SessionChangesOptions;
  private readonly clock: () => number;

  constructor(options: SessionChangesOptions) {
    this.options = options;
    this.clock = options.now;
    this.options.jobs.handle(DUE, async ({ payload: { session_id } }) => {
      const row = await this.settleOne(session_id).catch((error: unknown) => {
        // Gone with its customer's account.
        if (error instanceof Problem && error.code === 'not_found') return undefined;
        throw error;
      });
      if (row !== undefined && isOpen(row)) throw new Postponed(Math.max(LOOK_AGAIN_MS, waitFor(this.clock, row)));
    });
  }

  /** Plans the first check of a new session. */
  plan(transaction: Kysely<ChangeTables>, row: Row): Promise<void> {
    return this.options.jobs.enqueue(
      transaction.$pickTables<'jobs'>(),
      DUE,
      { session_id: row.id },
      { once: row.id, delay_ms: waitFor(this.clock, row) },
    );
  }

  private readonly moveIn = async (
    transaction: Kysely<ChangeTables>,
    id: string,
    by: By,
    move: Move,
  ): Promise<Change | undefined> => {
    // Of two concurrent changes, one waits here until the other commits.
    const stored = await transaction
      .updateTable('remote_sessions')
      .set(({ eb }) => ({ version: eb('version', '+', 1) }))
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirst();
    if (stored === undefined) return undefined;
    const time = at(this.clock);
    const before = asOf(stored, time, this.options.isHere);
    const moved = move(before, time);
    const set = 'refused' in moved ? {} : moved.set;
    const moved_to = { ...before, ...set };
    const loss = mayGrant(moved_to) ? undefined : withoutGrants(moved_to, () => true, { why: 'page_gone', at: time });
    const next = { ...moved_to, ...loss?.set };
    const row: Row = { ...next, due_at: deadlineOf(next)?.at ?? null };

    const notes: (Note & { by: By })[] = [];
    // Until a technician has asked to join, it concerns the customer alone.
    if (row.joined_at !== null) {
      if (isOpen(stored) && !isOpen(before)) notes.push(noteOfEnd(before, null));
      const said = 'refused' in moved ? [] : (moved.notes ?? []);
      // Only the entry of their request names the technician: it is personal to them, and deleted with their account.
      const room = by?.side === 'technician' ? NOTED_MAXIMUM / 2 : NOTED_MAXIMUM;
      for (const note of said)
        if (row.noted < room || ALWAYS_NOTED.has(note.kind))
          notes.push({ ...note, details: { session_id: id, ...note.details }, by });
      // They are never more than the grants, which are counted.
      for (const note of notesOfRevoked(loss?.ended ?? [], 'page_gone'))
        notes.push({ ...note, details: { session_id: id, ...note.details }, by: null });
      if (isOpen(before) && !isOpen(row)) notes.push(noteOfEnd(row, by));
    }
    row.noted += notes.length;

    const { id: _id, ...columns } = row;
    await transaction.updateTable('remote_sessions').set(columns).where('id', '=', id).execute();
    if (isOpen(stored) && !isOpen(row) && row.approved_at !== null)
      await this.options.jobs.enqueue(transaction.$pickTables<'jobs'>(), ENDED, { session_id: id }, { once: id });
    if (stored.reported_at === null && row.reported_at !== null)
      await this.options.jobs.enqueue(transaction.$pickTables<'jobs'>(), REPORTED, { session_id: id }, { once: id });
    return {
      before: stored,
      row,
      refused: 'refused' in moved ? moved.refused : undefined,
      record: async () => {
        for (const { kind, details, by: doer } of notes)
          await this.options.audit.record(transaction.$pickTables<'audit_entries' | 'audit_head'>(), {
            kind,
            subject_id: row.user_id,
            actor_id: doer?.actor_id ?? null,
            origin: doer?.origin,
            details: { ...details, side: doer?.side ?? 'clock' },
          });
      },
    };
  };

  /** Makes a change as part of a transaction, and plans the next check; undefined if the session does not exist. Call `finish` after the commit. */
  readonly changeIn = async (transaction: Kysely<ChangeTables>, id: string, by: By, move: Move): Promise<Change | undefined> => {
    const changed = await this.moveIn(transaction, id, by, move);
    if (changed !== undefined && isOpen(changed.row)) await this.plan(transaction, changed.row);
    return changed;
  };

  /** Informs everyone concerned, after the commit. */
  finish({ before, row }: Pick<Change, 'before' | 'row'>): void {
    if (tellable(before) !== tellable(row)) this.options.onLive(liveOf(row));
    if (shown(before) !== shown(row))
      for (const user_id of new Set([row.user_id, row.agent_id])) if (user_id !== null) this.options.onChange(user_id);
    const had = grantsOf(before);
    const has = heldGrants(row);
    if (JSON.stringify(had) !== JSON.stringify(has))
      for (const id of new Set([...had, ...has].flatMap(({ device }) => device?.id ?? []))) this.options.onGrants(id);
    if (isOpen(before) && !isOpen(row)) this.options.jobs.wake(ENDED);
    if (before.reported_at === null && row.reported_at !== null) this.options.jobs.wake(REPORTED);
  }

  private async changeBy(id: string, by: By, move: Move, how = this.changeIn): Promise<Row> {
    const done = await inTransaction(this.options.database, async (transaction) => {
      const changed = await how(transaction, id, by, move);
      await changed?.record();
      return changed;
    });
    if (done === undefined) throw new Problem('not_found');
    this.finish(done);
    if (done.refused !== undefined) throw refuse(done.refused);
    return done.row;
  }

  // The running check plans the next one itself: asking for it here would repeat it at once, endlessly.
  private settleOne(id: string) {
    return this.changeBy(id, null, () => ({ set: {} }), this.moveIn);
  }

  /** @throws Problem `not_found`, and `conflict` for a move that is refused. */
  change(id: string, by: By, move: Move): Promise<Row> {
    return this.changeBy(id, by, move);
  }

  /** The row as of now, even if the database is not updated yet. */
  now(row: Row): Row {
    return asOf(row, at(this.clock), this.options.isHere);
  }

  /** Ends all whose time is over. */
  async settle(): Promise<void> {
    const time = at(this.clock);
    const pages = inPages(AT_ONCE, (last?: { id: string }) =>
      this.options.database
        .selectFrom('remote_sessions')
        .select('id')
        .where('status', 'in', ['pending', 'active'])
        .where(({ or, eb }) =>
          or([eb('due_at', '<=', time), eb('customer_until', '<=', time), eb('technician_until', '<=', time)]),
        )
        .where('id', '>', last?.id ?? '')
        .orderBy('id')
        .limit(AT_ONCE)
        .execute(),
    );
    for await (const rows of pages) for (const { id } of rows) await this.settleOne(id);
  }

  /** Plans a look at each that is open, so that none is forgotten whose look was. */
  async resume(): Promise<void> {
    const rows = await this.options.database
      .selectFrom('remote_sessions')
      .selectAll()
      .where('status', 'in', ['pending', 'active'])
      .execute();
    await this.options.jobs.enqueueAll(
      this.options.database.$pickTables<'jobs'>(),
      DUE,
      rows.map((row) => ({ payload: { session_id: row.id }, once: row.id, delay_ms: waitFor(this.clock, row) })),
    );
  }
}

export function createSessionChanges(options: SessionChangesOptions): SessionChanges {
  return new SessionChanges(options);
}

/** A transition that ends a session if `isRight`, or returns the refusal. */
export function ends(reason: EndReason, isRight: (row: Row) => boolean, refused: MoveRefusal): Move {
  return (row, now) => (isRight(row) ? { set: ended(row, now, reason) } : { refused });
}
