import type { EndReason, SessionStatus } from '@palisade/contract/remote';
import type { SessionFile, SessionFileStatus } from '@palisade/contract/remote-files';
import type { Side, View, Voice } from '@palisade/contract/remote-record';
import type { ReportKind } from '@palisade/contract/remote-session';
import type { PersonalTable } from '#platform/personal-data.ts';

/** Why a side has no page: the page left, or its server stopped. */
export type LostBy = 'page' | 'server';

export interface RemoteTables {
  remote_sessions: {
    id: string;
    user_id: string;
    /** The customer's username when the session was created. */
    customer: string;
    session_code: string;
    status: SessionStatus;
    started_at: string;
    /** The time until which a technician may ask to join. */
    expires_at: string;
    /** When a technician asked. */
    joined_at: string | null;
    ended_at: string | null;
    end_reason: EndReason | null;
    /** The technician who asked. */
    agent_id: string | null;
    support_agent: string | null;
    /** Grows with each change. */
    version: number;
    provider: string | null;
    staff_since: string | null;
    /** The time until which the customer has to answer. */
    consent_by: string | null;
    approved_at: string | null;
    view: View | null;
    reaffirmed_at: string | null;
    /** JSON: the connections that show something. */
    shares: string;
    has_shared: number;
    /** Time since when the picture is missing. */
    unshared_at: string | null;
    paused_at: string | null;
    /** JSON: the grants besides the picture of the customer's browser; and which ended last, and why. */
    grants: string;
    grants_ended: string | null;
    /** The page of each side, and the end of its lease. */
    customer_seat: string | null;
    customer_until: string | null;
    /** Since when there is none, and why. */
    customer_lost_at: string | null;
    customer_lost_by: LostBy | null;
    technician_seat: string | null;
    technician_until: string | null;
    technician_lost_at: string | null;
    technician_lost_by: LostBy | null;
    /** Each side's part in the voice call. */
    customer_voice: Voice;
    technician_voice: Voice;
    /** When time alone ends it. */
    due_at: string | null;
    /** Number of its entries in the audit log. */
    noted: number;
    /** `seq` of its last message. */
    last_seq: number;
    /** The technician's, for the staff. */
    notes: string;
    rating: number | null;
    rating_comment: string | null;
    reported_at: string | null;
    report_reason: ReportKind | null;
    report_comment: string | null;
  };
  remote_messages: {
    id: string;
    session_id: string;
    /** The session's customer, not the author. */
    user_id: string;
    seq: number;
    side: Side;
    author: string;
    message: string;
    client_message_id: string | null;
    sent_at: string;
  };
  remote_files: {
    id: string;
    session_id: string;
    /** The session's customer, not the sender. */
    user_id: string;
    kind: SessionFile['kind'];
    side: Side;
    author: string;
    filename: string;
    size: number;
    sha256: string;
    status: SessionFileStatus;
    threat: string | null;
    sent_at: string;
    /** The time since which it is being scanned. */
    arrived_at: string | null;
  };
}

const SEATS = ['customer', 'technician'].flatMap((side) =>
  ['seat', 'until', 'lost_at', 'lost_by'].map((what) => `${side}_${what}`),
);

export const REMOTE_PERSONAL: readonly PersonalTable[] = [
  // Staff's notes are left out.
  {
    table: 'remote_sessions',
    withheld: ['notes', 'version', 'noted', 'last_seq', ...SEATS],
    json: ['shares', 'grants', 'grants_ended'],
  },
  { table: 'remote_messages' },
  { table: 'remote_files' },
];

declare module '#platform/tables.ts' {
  interface Tables extends RemoteTables {}
}
