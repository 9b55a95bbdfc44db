import type { JoinedSession } from '@palisade/contract/remote';

let lastId = 0;

const PHASES = { pending: 'waiting', active: 'active', completed: 'ended', cancelled: 'ended' } as const;

/** A session for tests. A test sets the fields that it is about. */
export function sessionOf(parts: Partial<JoinedSession> = {}): JoinedSession {
  lastId += 1;
  return {
    id: `01930000-0000-7000-a000-${String(lastId).padStart(12, '0')}`,
    session_code: 'K7M-4QP-9XD',
    version: 1,
    status: 'pending',
    phase: PHASES[parts.status ?? 'pending'],
    technician: null,
    approved_at: null,
    view: null,
    share: 'none',
    is_paused: false,
    is_customer_here: false,
    is_technician_here: false,
    voice: { customer: 'off', technician: 'off' },
    reaffirm_by: null,
    due_at: null,
    due_reason: null,
    grants: [],
    grants_ended: null,
    rating: null,
    reported_at: null,
    notes: '',
    started_at: '2026-11-20T10:00:00.000Z',
    expires_at: new Date(Date.now() + 20.5 * 60_000).toISOString(),
    joined_at: null,
    ended_at: null,
    end_reason: null,
    support_agent: null,
    customer: 'maria',
    ...parts,
  };
}
