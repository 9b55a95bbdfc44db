import type { AuditEntry } from '@palisade/contract/audit';
import type { AdminUser } from '@palisade/contract/users';
import { MARIA } from '#api/fake-records.ts';

/** A customer for tests, with markup in the username. */
export const OMAR: AdminUser = {
  id: '01930000-0000-7000-8000-000000000901',
  username: 'omar <b>',
  email: 'omar@example.com',
  role: 'customer',
  created_at: '2026-03-02T09:00:00.000Z',
  disabled_at: null,
  last_signed_in_at: null,
  sessions: 2,
  last_used_at: '2026-11-20T10:00:00.000Z',
  two_factor: false,
  email_unproven: false,
  plan_name: null,
  security_score: null,
  state: null,
  serious_alerts: 0,
  has_silent_device: false,
};

/** A change of a customer's role by an administrator. */
export const AUDIT_ENTRY: AuditEntry = {
  seq: 12,
  at: '2026-11-20T10:00:00.000Z',
  kind: 'role_changed',
  subject_id: OMAR.id,
  subject: { id: OMAR.id, email: OMAR.email, username: OMAR.username },
  actor_id: MARIA.id,
  actor: { id: MARIA.id, email: MARIA.email, username: MARIA.username },
  address: '203.0.113.7',
  client: 'Firefox on Linux',
  details: { from: 'customer', to: 'support' },
  hash: 'a'.repeat(64),
};

/** The result of a check without faults. */
export const AUDIT_CHECK = {
  entries: 12,
  checked_from: 1,
  head: `12:${'a'.repeat(64)}`,
  fault: null,
  checked_at: '2026-11-20T10:00:00.000Z',
};
