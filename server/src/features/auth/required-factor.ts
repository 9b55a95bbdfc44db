import type { Role } from '@palisade/contract/auth';
import type { Settings } from '#platform/settings.ts';

/** Whether who has this role must have a second factor. */
export type FactorRule = (role: Role) => boolean;

/** `staff` are those who may see or do something for others: support and administrators. */
export function factorRule(required: Settings['require_two_factor']): FactorRule {
  return (role) => required === 'everyone' || (required === 'staff' && role !== 'customer');
}
