import type { PersonalTable } from '#platform/personal-data.ts';

export interface PostureTables {
  /** One row for each time that a score was found, without a pause of a day, again and again: from `since` to `until`. */
  score_history: { user_id: string; since: string; until: string; score: number };
  /** The newest security check of each person; `result` is JSON. */
  security_checks: { user_id: string; checked_at: string; result: string };
}

export const POSTURE_PERSONAL: readonly PersonalTable[] = [
  { table: 'score_history', key: 'since' },
  { table: 'security_checks', key: 'checked_at', json: ['result'] },
];
