import type { EndReason, SessionStatus } from '@palisade/contract/remote';
import type { PersonalTable } from '#platform/personal-data.ts';

export interface RemoteTables {
  remote_sessions: {
    id: string;
    user_id: string;
    /** The customer's username when the session was created. */
    customer: string;
    session_code: string;
    status: SessionStatus;
    started_at: string;
    expires_at: string;
    joined_at: string | null;
    ended_at: string | null;
    end_reason: EndReason | null;
    /** The technician who joined. */
    agent_id: string | null;
    support_agent: string | null;
  };
}

export const REMOTE_PERSONAL: readonly PersonalTable[] = [{ table: 'remote_sessions' }];
