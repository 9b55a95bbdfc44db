import type { Kysely } from 'kysely';
import { inTransaction } from '#platform/in-transaction.ts';
import type { DetectionTables } from './detection.tables.ts';
import { type Asker, addVolume, isWorthKeeping, NO_VOLUME, volumeExpiry, volumeSchema } from './flood.ts';
import { FLOOD } from './rules.ts';
import { changeWindows, type Stored } from './windows-store.ts';

/** An asker's requests since the last fold. */
interface Counted {
  asker: Asker;
  key: string;
  requests: number;
}

/** More requests than the hours before allow. */
export interface Flood {
  asker: Asker;
  key: string;
  /** Requests of the 15 minutes, and the highest number that is no flood. */
  count: number;
  limit: number;
  /** ISO time. */
  at: string;
}

/** Volumes of requests by asker. Counted here, and kept together with what other servers count. */
export interface Volumes {
  /** Counts a request of an account, or of a source without one. Costs a look-up. */
  count(asker: Asker): void;
  /** Stores the counts since the last fold, and hands over floods that were not reported yet, in the transaction that marks them as reported. */
  fold(found: (transaction: Kysely<DetectionTables>, floods: readonly Flood[]) => Promise<void>): Promise<void>;
}

/** Maximum number of askers counted between two folds. More at once are not a single asker's flood. */
const ASKERS_MAXIMUM = 10_000;
const FOLDED_AT_ONCE = 100;

/** `now` is in ms. */
export function createVolumes(parts: { database: Kysely<DetectionTables>; now: () => number }): Volumes {
  const { database, now } = parts;
  let counted = new Map<string, { asker: Asker; requests: number }>();

  const keep = (transaction: Kysely<DetectionTables>, some: readonly Counted[], at: number): Promise<Flood[]> => {
    const places = some.map((entry) => ({ ...entry, rule: FLOOD.id })).sort((a, b) => (a.key < b.key ? -1 : 1));
    return changeWindows(transaction, { places, at }, (before) => {
      const after: Stored[] = [];
      const floods: Flood[] = [];
      for (const { rule, key, asker, requests } of places) {
        const state = before.get(`${rule} ${key}`)?.state;
        const earlier = state === undefined ? NO_VOLUME : volumeSchema.parse(JSON.parse(state));
        const { volume, count, limit } = addVolume(earlier, asker, at, requests);
        after.push({ rule, key, state: JSON.stringify(volume), expires_at: volumeExpiry(at) });
        if (limit !== undefined) floods.push({ asker, key, count, limit, at: new Date(at).toISOString() });
      }
      return { after, answer: floods };
    });
  };

  return {
    count(asker) {
      const key = `${asker.kind} ${asker.id}`;
      const known = counted.get(key);
      if (known !== undefined) known.requests += 1;
      else if (counted.size < ASKERS_MAXIMUM) counted.set(key, { asker, requests: 1 });
    },

    async fold(found) {
      const at = now();
      const some = [...counted].map(([key, entry]) => ({ key, ...entry }));
      counted = new Map();
      const kept = some.filter(({ asker, requests }) => isWorthKeeping(asker, requests));
      for (let begin = 0; begin < kept.length; begin += FOLDED_AT_ONCE) {
        await inTransaction(database, async (transaction) => {
          await found(transaction, await keep(transaction, kept.slice(begin, begin + FOLDED_AT_ONCE), at));
        });
      }
    },
  };
}
