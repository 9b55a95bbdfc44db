import { Problem } from './problem.ts';
import type { Sentence } from './sentence.ts';

/** The part of a person's plan that decides about premium tools; asked at each call, so that an expiry counts from its second on. */
export interface Premium {
  current(user_id: string): Promise<{ is_premium: boolean }>;
}

/** @throws Problem `premium_required` for whom the plan does not have premium tools; `says` is its sentence. */
export type RequirePremium = (user_id: string, says?: Sentence) => Promise<void>;

export function premiumCheck(premium: Premium): RequirePremium {
  return async (user_id, says) => {
    const { is_premium } = await premium.current(user_id);
    if (!is_premium) throw new Problem('premium_required', says === undefined ? {} : { says });
  };
}
