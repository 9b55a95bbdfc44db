import { Problem } from '#platform/problem.ts';

/** Holds back whoever guesses: at most so many wrong tries of one technician in a sliding window (ms). */
export interface WrongCodes {
  /**
   * Counts a try before its outcome is known, so that many at once are not tried for nothing; `forgive` takes it back when it was no guess.
   * @throws Problem `too_many_requests` with the seconds until the next try.
   */
  begin(agent_id: string): { forgive(): void };
}

/** Kept in this process: with several servers each has a count of its own (docs/decisions/0011). */
export function createWrongCodes(parts: { most: number; window: number; now: () => number }): WrongCodes {
  const { most, window, now } = parts;
  const tries = new Map<string, { at: number }[]>();
  return {
    begin(agent_id) {
      const at = now();
      const recent = (tries.get(agent_id) ?? []).filter((one) => one.at > at - window);
      const [oldest] = recent;
      if (oldest !== undefined && recent.length >= most) {
        throw new Problem('too_many_requests', {
          detail: 'Too many wrong session codes. Wait a few minutes, and ask the customer to read the code again.',
          retry_after: Math.ceil((oldest.at + window - at) / 1_000),
        });
      }
      const one = { at };
      tries.set(agent_id, [...recent, one]);
      return {
        forgive() {
          const left = (tries.get(agent_id) ?? []).filter((other) => other !== one);
          if (left.length > 0) tries.set(agent_id, left);
          else tries.delete(agent_id);
        },
      };
    },
  };
}
