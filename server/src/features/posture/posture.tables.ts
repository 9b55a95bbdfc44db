import type { PersonalTable } from '#platform/personal-data.ts';

export interface PostureTables {
  /** One row for each time that a score was found, without a pause of a day, again and again: from `since` to `until`. */
  score_history: { user_id: string; since: string; until: string; score: number };
}

export const POSTURE_PERSONAL: readonly PersonalTable[] = [{ table: 'score_history', key: 'since' }];
