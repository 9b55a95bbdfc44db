import { type EndReason, SESSION_LIMITS } from '@palisade/contract/remote';
import { type Grant, type GrantsEnded, grantSchema, grantsEndedSchema } from '@palisade/contract/remote-grant';
import type { LiveSession, Phase, Side, Voice } from '@palisade/contract/remote-record';
import type { Selectable } from 'kysely';
import { z } from 'zod';
import type { LostBy, RemoteTables } from './remote.tables.ts';

// The state of a session at a time: pure rules over its row. remote.ts stores it.

export type Row = Selectable<RemoteTables['remote_sessions']>;

/** Lifetime of a side's page without renewal by its server, and the interval of renewals, in ms. */
export const SEAT = { lease_ms: 30_000, renewed_ms: 10_000 } as const;
export const SIDES: readonly Side[] = ['customer', 'technician'];

/** When time ends a session, and with which reason. ISO time. */
interface Deadline {
  at: string;
  reason: EndReason;
}

const after = (iso: string, ms: number) => new Date(Date.parse(iso) + ms).toISOString();
const grantsSchema = z.array(grantSchema);
/** The stored grants: all but the picture of the customer's browser, which is in `view`. */
export const grantsOf = ({ grants }: Pick<Row, 'grants'>): Grant[] => grantsSchema.parse(JSON.parse(grants));
const sharesSchema = z.array(z.string());
export const sharesOf = ({ shares }: Pick<Row, 'shares'>) => sharesSchema.parse(JSON.parse(shares));

export const isOpen = ({ status }: Pick<Row, 'status'>) => status === 'pending' || status === 'active';
export const isClaimed = ({ status, joined_at }: Pick<Row, 'status' | 'joined_at'>) => status === 'pending' && joined_at !== null;

/** The columns of a side, by the names that both have. */
export function sideOf(
  row: Row,
  side: Side,
): { seat: string | null; until: string | null; lost_at: string | null; lost_by: LostBy | null } {
  return side === 'customer'
    ? { seat: row.customer_seat, until: row.customer_until, lost_at: row.customer_lost_at, lost_by: row.customer_lost_by }
    : {
        seat: row.technician_seat,
        until: row.technician_until,
        lost_at: row.technician_lost_at,
        lost_by: row.technician_lost_by,
      };
}

type Seat = Pick<Row, 'customer_seat' | 'customer_until' | 'customer_lost_at' | 'customer_lost_by'>;
type OtherSeat = Pick<Row, 'technician_seat' | 'technician_until' | 'technician_lost_at' | 'technician_lost_by'>;

function withSide(side: Side, { seat, until, lost_at, lost_by }: ReturnType<typeof sideOf>): Seat | OtherSeat {
  return side === 'customer'
    ? { customer_seat: seat, customer_until: until, customer_lost_at: lost_at, customer_lost_by: lost_by }
    : { technician_seat: seat, technician_until: until, technician_lost_at: lost_at, technician_lost_by: lost_by };
}

/** Sets a side's part in the voice call, for as long as the page that set it is there. */
export const voiced = (side: Side, voice: Voice): Partial<Row> =>
  side === 'customer' ? { customer_voice: voice } : { technician_voice: voice };

/** A page of a side is there from now on. */
export function seated(side: Side, seat: string, now: string): Partial<Row> {
  return { ...withSide(side, { seat, until: after(now, SEAT.lease_ms), lost_at: null, lost_by: null }), ...voiced(side, 'off') };
}

/** A side has no page any more. */
export function lost(side: Side, lost_at: string, lost_by: LostBy): Partial<Row> {
  return { ...withSide(side, { seat: null, until: null, lost_at, lost_by }), ...voiced(side, 'off') };
}

const GONE: Record<Side, { ms: number; reason: EndReason }> = {
  customer: { ms: SESSION_LIMITS.customer_gone, reason: 'customer_gone' },
  technician: { ms: SESSION_LIMITS.technician_gone, reason: 'technician_gone' },
};

/** The time until which the customer has to confirm that it may continue. */
export function reaffirmBy({ status, reaffirmed_at }: Pick<Row, 'status' | 'reaffirmed_at'>): string | null {
  return status === 'active' && reaffirmed_at !== null ? after(reaffirmed_at, SESSION_LIMITS.reaffirm) : null;
}

/** The next time at which a session ends automatically; undefined for one that is over. */
export function deadlineOf(row: Row): Deadline | undefined {
  if (row.status === 'pending') {
    if (row.joined_at === null) return { at: row.expires_at, reason: 'expired' };
    return { at: row.consent_by ?? after(row.joined_at, SESSION_LIMITS.consent), reason: 'no_answer' };
  }
  if (row.status !== 'active') return undefined;
  const approved_at = row.approved_at ?? row.joined_at ?? row.started_at;
  const deadlines: Deadline[] = [{ at: after(approved_at, SESSION_LIMITS.longest), reason: 'time_limit' }];
  const reaffirm_by = reaffirmBy(row);
  if (reaffirm_by !== null) deadlines.push({ at: reaffirm_by, reason: 'not_reaffirmed' });
  if (row.unshared_at !== null)
    deadlines.push({ at: after(row.unshared_at, SESSION_LIMITS.share_stopped), reason: 'share_stopped' });
  for (const side of SIDES) {
    const { lost_at, lost_by } = sideOf(row, side);
    if (lost_at === null) continue;
    if (lost_by === 'server') deadlines.push({ at: after(lost_at, SESSION_LIMITS.reconnecting), reason: 'server_restart' });
    else deadlines.push({ at: after(lost_at, GONE[side].ms), reason: GONE[side].reason });
  }
  return deadlines.reduce((first, other) => (other.at < first.at ? other : first));
}

/** Ends a session: the same for every cause. */
export function ended(row: Row, ended_at: string, end_reason: EndReason): Partial<Row> {
  const status = row.status === 'active' && end_reason !== 'cancelled' ? 'completed' : 'cancelled';
  return {
    ...{ status, ended_at, end_reason, due_at: null, consent_by: null, shares: '[]', unshared_at: null, paused_at: null },
    ...lost('customer', ended_at, 'page'),
    ...lost('technician', ended_at, 'page'),
  };
}

/**
 * A row as of `now` (ISO), even if the database is not updated yet: pages whose lease was not renewed count as gone since the last renewal, and a session whose time is over
 * as ended then. `isHere` returns whether a page is connected to this server.
 */
export function asOf(row: Row, now: string, isHere: (seat: string) => boolean): Row {
  if (!isOpen(row)) return row;
  let settled = row;
  for (const side of SIDES) {
    const { seat, until } = sideOf(row, side);
    if (seat === null || until === null || until > now || isHere(seat)) continue;
    settled = { ...settled, ...lost(side, after(until, -SEAT.lease_ms), 'server') };
  }
  const deadline = deadlineOf(settled);
  if (deadline === undefined || deadline.at > now) return settled;
  return { ...settled, ...ended(settled, deadline.at, deadline.reason) };
}

/** When a session must be checked again at the latest; undefined for one that is over. */
export function lookAt(row: Row): string | undefined {
  const deadline = deadlineOf(row);
  if (deadline === undefined) return undefined;
  const leases = SIDES.flatMap((side) => sideOf(row, side).until ?? []);
  return [deadline.at, ...leases].toSorted()[0];
}

function phaseOf(row: Row): Phase {
  if (row.status === 'pending') return row.joined_at === null ? 'waiting' : 'claimed';
  if (row.status !== 'active') return 'ended';
  return row.customer_lost_at !== null || row.technician_lost_at !== null ? 'reconnecting' : 'active';
}

/** Grants are valid while both sides have a page: a person is watched, controlled or recorded only while both are at their screens. */
export const mayGrant = (row: Pick<Row, 'status' | 'customer_seat' | 'technician_seat'>) =>
  row.status === 'active' && row.customer_seat !== null && row.technician_seat !== null;

/** The valid grants; none for a session that is over, even if the database is not updated yet. */
export const heldGrants = (row: Row): Grant[] => (mayGrant(row) ? grantsOf(row) : []);

/** A row without the grants for which `isEnded` is true. */
export function withoutGrants(
  row: Row,
  isEnded: (grant: Grant) => boolean,
  { why, detail = null, at }: { why: GrantsEnded['why']; detail?: string | null; at: string },
): { set: Partial<Row>; ended: Grant[] } {
  const held = grantsOf(row);
  const ended_ones = held.filter(isEnded);
  if (ended_ones.length === 0) return { set: {}, ended: [] };
  const said: GrantsEnded = { grants: ended_ones.map(({ grant }) => grant), why, detail, at };
  return {
    set: { grants: JSON.stringify(held.filter((grant) => !isEnded(grant))), grants_ended: JSON.stringify(said) },
    ended: ended_ones,
  };
}

function liveGrants(row: Row): Pick<LiveSession, 'grants' | 'grants_ended'> {
  const seen: Grant[] =
    row.status === 'active' && row.view === 'screen' && row.approved_at !== null
      ? [{ grant: 'view', granted_at: row.approved_at, granted_by: row.customer, device: null }]
      : [];
  return {
    grants: [...seen, ...heldGrants(row)],
    grants_ended: row.grants_ended === null ? null : grantsEndedSchema.parse(JSON.parse(row.grants_ended)),
  };
}

/** The state for the pages of both sides. */
export function liveOf(row: Row): LiveSession {
  const deadline = deadlineOf(row);
  const isShown = sharesOf(row).length > 0;
  return {
    id: row.id,
    version: row.version,
    status: row.status,
    phase: phaseOf(row),
    end_reason: row.end_reason,
    ended_at: row.ended_at,
    support_agent: row.support_agent,
    technician:
      row.joined_at === null || row.support_agent === null
        ? null
        : { name: row.support_agent, provider: row.provider ?? '', staff_since: row.staff_since, asked_at: row.joined_at },
    approved_at: row.approved_at,
    view: row.view,
    share: isShown ? 'running' : row.has_shared === 1 ? 'stopped' : 'none',
    is_paused: row.paused_at !== null,
    is_customer_here: row.customer_seat !== null,
    is_technician_here: row.technician_seat !== null,
    voice: { customer: row.customer_voice, technician: row.technician_voice },
    reaffirm_by: reaffirmBy(row),
    due_at: deadline?.at ?? null,
    due_reason: deadline?.reason ?? null,
    ...liveGrants(row),
  };
}
