import type { Counters } from '#platform/counters.ts';
import { newId } from '#platform/id.ts';
import { refuse } from './remote.refusals.ts';

/** Limits code guessing: a maximum of wrong codes per technician in a sliding window (ms). */
export interface WrongCodes {
  /**
   * Counts a try before its outcome is known, so that concurrent tries cannot bypass the limit; `forgive` takes it back if the code was right. @throws Problem
   * `too_many_requests` with the seconds until the next try.
   */
  begin(agent_id: string): Promise<{ forgive(): Promise<void> }>;
}

export function createWrongCodes(parts: {
  most: number;
  window: number;
  counters: Pick<Counters, 'put' | 'remove'>;
}): WrongCodes {
  const { most, window: window_ms, counters } = parts;
  return {
    async begin(agent_id) {
      const key = `wrong-codes:${agent_id}`;
      const member = newId();
      const { wait_ms } = await counters.put(key, { member, most, window_ms });
      if (wait_ms > 0) {
        throw refuse('remote_session.too_many_codes', {}, { retry_after: Math.ceil(wait_ms / 1_000) });
      }
      return { forgive: () => counters.remove(key, member) };
    },
  };
}
