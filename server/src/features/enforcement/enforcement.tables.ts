import type { BlockKind, BlockRule } from '@palisade/contract/blocks';
import type { PersonalTable } from '#platform/personal-data.ts';

export const ENFORCEMENT_PERSONAL: readonly PersonalTable[] = [
  { table: 'blocks', withheld: ['account', 'lifted_by'] },
  { table: 'sign_in_sources', key: 'source', withheld: ['account'] },
];

export interface EnforcementTables {
  blocks: {
    id: string;
    kind: BlockKind;
    source: string;
    /** SHA-256 of the email in hex, known or not; null for a whole source. */
    account: string | null;
    /** The account's owner, where there is one. */
    user_id: string | null;
    rule: BlockRule;
    since: string;
    until: string;
    level: number;
    /** 0 once it no longer lengthens the next one: it was lifted, or the owner has signed in since. */
    counts: 0 | 1;
    lifted_at: string | null;
    lifted_by: string | null;
  };
  /** Sources from which the owners of accounts have signed in, and when last. */
  sign_in_sources: { account: string; source: string; user_id: string; last_at: string };
}

declare module '#platform/tables.ts' {
  interface Tables extends EnforcementTables {}
}
