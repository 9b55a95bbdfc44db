import type { StatusState } from '@palisade/contract/status';
import type { PersonalTable } from '#platform/personal-data.ts';

export interface PostureTables {
  /** One row per period in which a score and state were found repeatedly without a pause of a day, from `since` to `until`. The state is null in rows of an older version. */
  score_history: { user_id: string; since: string; until: string; score: number; state: StatusState | null };
  /** When each person last asked for a security check. */
  security_checks: { user_id: string; checked_at: string; result: string };
}

export const POSTURE_PERSONAL: readonly PersonalTable[] = [
  { table: 'score_history', key: 'since' },
  { table: 'security_checks', key: 'checked_at' },
];

declare module '#platform/tables.ts' {
  interface Tables extends PostureTables {}
}
