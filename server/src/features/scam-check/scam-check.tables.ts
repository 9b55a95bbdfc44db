import type { ProviderDomain, ScamVerdict } from '@palisade/contract/scam-check';
import type { PersonalTable } from '#platform/personal-data.ts';

export interface ScamCheckTables {
  scam_checks: {
    id: string;
    user_id: string;
    created_at: string;
    verdict: ScamVerdict;
    /** The beginning of the text. */
    excerpt: string;
    /** JSON: the answer. */
    answer: string;
  };
  /** Domains that a person trusts. */
  scam_trusted: { id: string; user_id: string; domain: string; created_at: string };
  /** The provider's own lists. */
  scam_domains: { id: string; list: ProviderDomain['list']; domain: string; created_at: string };
}

export const SCAM_CHECK_PERSONAL: readonly PersonalTable[] = [
  { table: 'scam_checks', json: ['answer'] },
  { table: 'scam_trusted' },
];

declare module '#platform/tables.ts' {
  interface Tables extends ScamCheckTables {}
}
