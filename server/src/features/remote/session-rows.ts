import type { UserInfo } from '@palisade/contract/auth';
import { may } from '@palisade/contract/may';
import { type Kysely, sql } from 'kysely';
import type { Sentence } from '#platform/sentence.ts';
import type { ChangeTables } from './session-changes.ts';

/** A member of staff, as shown to the customer. */
export interface People {
  findUser(id: string): Promise<UserInfo | undefined>;
  staffSince(id: string): Promise<string | null>;
  provider(): Promise<string>;
}

/** A device for grants, or the reason why it cannot be used. */
export interface GrantDevice {
  id: string;
  device_name: string;
  refusal: Sentence | null;
}

/** The name shown for a person who joined and whose account is gone. */
export const FORMER_AGENT = 'A former technician';

export const UNTOUCHED = {
  joined_at: null,
  ended_at: null,
  end_reason: null,
  agent_id: null,
  support_agent: null,
  version: 1,
  provider: null,
  staff_since: null,
  consent_by: null,
  approved_at: null,
  view: null,
  reaffirmed_at: null,
  shares: '[]',
  has_shared: 0,
  unshared_at: null,
  paused_at: null,
  grants: '[]',
  grants_ended: null,
  customer_seat: null,
  customer_until: null,
  customer_lost_at: null,
  customer_lost_by: null,
  technician_seat: null,
  technician_until: null,
  technician_lost_at: null,
  technician_lost_by: null,
  customer_voice: 'off',
  technician_voice: 'off',
  noted: 0,
  last_seq: 0,
  notes: '',
  rating: null,
  rating_comment: null,
  reported_at: null,
  report_reason: null,
  report_comment: null,
} as const;

export const at = (now: () => number, offset_ms = 0) => new Date(now() + offset_ms).toISOString();

/** The one that waits with a code, for a person who is not its customer. */
export async function waiting(
  database: Kysely<ChangeTables>,
  agent: UserInfo,
  session_code: string,
): Promise<string | undefined> {
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

export const openOnes = (database: Kysely<ChangeTables>, column: 'user_id' | 'agent_id', id: string) =>
  database
    .selectFrom('remote_sessions')
    .select('id')
    .where(column, '=', id)
    .where('status', 'in', ['pending', 'active'])
    .execute();

export const mayJoin = (user: UserInfo | undefined) => user !== undefined && may.joinSessions(user);
