import type { Grant, GrantKind, GrantsEnded } from '@palisade/contract/remote-grant';
import { type Move, notesOfRevoked } from './session-changes.ts';
import { grantsOf, mayGrant, withoutGrants } from './session-state.ts';

// Transitions that grant and revoke. Grants also end with the session and with the page of either side (session-changes.ts).

/** Adds a grant. Another device replaces the previous one: a technician controls one at a time. */
export function grants(grant: Pick<Grant, 'grant' | 'device'>): Move {
  return (row, now) => {
    if (!mayGrant(row)) return { refused: 'remote_grant.not_now' };
    const { device } = grant;
    const isElsewhere = (held: Grant) => held.device !== null && device !== null && held.device.id !== device.id;
    const held = grantsOf(row);
    if (held.some((one) => one.grant === grant.grant && one.device?.id === device?.id)) return { set: {} };
    const isWithout = grant.grant === 'clipboard' && !held.some((one) => one.device !== null && one.device.id === device?.id);
    if (isWithout) return { refused: 'remote_grant.device_first' };
    const granted: Grant = { ...grant, granted_at: now, granted_by: row.customer };
    const left = held.filter((one) => !isElsewhere(one));
    return {
      set: { grants: JSON.stringify([...left, granted]) },
      notes: [
        ...notesOfRevoked(held.filter(isElsewhere), 'customer'),
        { kind: 'remote_granted', details: { grant: grant.grant, ...(device && { device: device.device_name }) } },
      ],
    };
  };
}

/** Ends grants; `why` and `detail` are shown to both sides. Grants that do not exist are ignored. */
export function revokes(
  which: GrantKind | 'all' | readonly GrantKind[],
  { why, detail }: Pick<GrantsEnded, 'why'> & { detail?: string | null },
): Move {
  return (row, at) => {
    const named: readonly (GrantKind | 'all')[] = typeof which === 'string' ? [which] : which;
    const left = grantsOf(row).filter(({ grant }) => which !== 'all' && !named.includes(grant));
    // The clipboard grant ends with the last grant that needs it.
    const isUsed = left.some(({ grant, device }) => device !== null && grant !== 'clipboard');
    const isNamed = ({ grant }: Grant) => which === 'all' || named.includes(grant) || (grant === 'clipboard' && !isUsed);
    const { set, ended } = withoutGrants(row, isNamed, { why, detail: detail ?? null, at });
    return { set, notes: notesOfRevoked(ended, why) };
  };
}
