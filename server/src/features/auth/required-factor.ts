import type { Role } from '@palisade/contract/auth';
import type { Settings } from '#platform/settings.ts';

/** Whether people with this role must have a second factor. */
export type FactorRule = (role: Role) => boolean;

/** `staff` are roles that may see or change data of others: support and administrators. */
export function factorRule(required: Settings['require_two_factor']): FactorRule {
  return (role) => required === 'everyone' || (required === 'staff' && role !== 'customer');
}
