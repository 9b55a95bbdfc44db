import type { Kysely, Selectable } from 'kysely';
import { newId } from '#platform/id.ts';
import type { SecurityEvent } from '#platform/security-event.ts';
import { UNKNOWN_CLIENT } from '#platform/user-agent.ts';
import type { DetectionTables } from './detection.tables.ts';

type KnownBrowser = Pick<Selectable<DetectionTables['known_browsers']>, 'id' | 'client' | 'source' | 'first_seen'>;

type SignIn = Extract<SecurityEvent, { kind: 'login_succeeded' }>;
type Browser = { id: string; is_new: boolean; knows_source: boolean };

/** Browsers that people have signed in with. The ids are from this list, not the browsers' own, so that a browser without stored identifier has one too. */
export interface KnownBrowsers {
  /** The browser of a sign-in, if it is known and unchanged; undefined if it is to be learned. */
  recognise(event: SignIn): Promise<Browser | undefined>;
  /**
   * Records the browser of a sign-in, in a transaction. It is new if neither its identifier, nor its kind, nor its source was seen for this account; an account's first
   * sign-in is recorded without notice.
   */
  learn(transaction: Kysely<DetectionTables>, event: SignIn): Promise<Browser | null>;
  /** "It was me": the browser is trusted and reviewed from now on. */
  trustBrowser(user_id: string, id: string): Promise<void>;
  /** The alert about it has been decided, either way. */
  reviewBrowser(user_id: string, id: string): Promise<void>;
  /** "It was not me": its next sign-in counts as one from a new browser. */
  forgetBrowser(user_id: string, id: string): Promise<void>;
  /** New browsers without a decision of their person; the newest first. */
  unreviewedBrowsers(user_id: string): Promise<KnownBrowser[]>;
  /** Removes browsers that have not been seen for long. */
  sweep(): Promise<void>;
}

const RETENTION_MS = 180 * 86_400_000;
/** The precision of `last_seen`, in ms: far below the retention, so that most sign-ins cause no write. */
const LAST_SEEN_GRAIN_MS = 3_600_000;
/** Kept browsers of one account. Beyond them, the least recently seen are removed. */
const BROWSERS_MAXIMUM = 200;

/** `now` is in ms. */
export function createKnownBrowsers(parts: { database: Kysely<DetectionTables>; now: () => number }): KnownBrowsers {
  const { database, now } = parts;
  const oldest = () => new Date(now() - RETENTION_MS).toISOString();
  const of = (user_id: string, id: string) =>
    database.updateTable('known_browsers').where('user_id', '=', user_id).where('id', '=', id);

  const knownTo = (from: Kysely<DetectionTables>, user_id: string) =>
    from
      .selectFrom('known_browsers')
      .select(['id', 'browser_id', 'client', 'source', 'last_seen'])
      .where('user_id', '=', user_id)
      .where('last_seen', '>', oldest())
      .orderBy('last_seen', 'desc')
      .orderBy('id', 'desc')
      .execute();

  return {
    async recognise({ at, user_id, source, client, data }) {
      if (user_id === null) return undefined;
      const same = (await knownTo(database, user_id)).find(
        (browser) => browser.browser_id === (data.browser_id ?? '') && browser.client === client && browser.source === source,
      );
      if (same === undefined) return undefined;
      if (now() - Date.parse(same.last_seen) >= LAST_SEEN_GRAIN_MS) await of(user_id, same.id).set({ last_seen: at }).execute();
      return { id: same.id, is_new: false, knows_source: true };
    },

    async learn(transaction, { at, user_id, source, client, data }) {
      if (user_id === null || source === null || client === null) return null;
      const known = await knownTo(transaction, user_id);
      const browser_id = data.browser_id ?? '';
      const knows_source = known.some((browser) => browser.source === source);
      const is_new =
        known.length > 0 &&
        !knows_source &&
        !known.some(
          (browser) =>
            (browser.browser_id !== '' && browser.browser_id === browser_id) ||
            (browser.client !== UNKNOWN_CLIENT && browser.client === client),
        );
      const id = newId();
      // The database decides which of two sign-ins at once was first.
      const { id: stored } = await transaction
        .insertInto('known_browsers')
        .values({
          id,
          user_id,
          browser_id,
          client,
          source,
          first_seen: at,
          last_seen: at,
          trusted_at: null,
          reviewed: is_new ? 0 : 1,
        })
        .onConflict((conflict) => conflict.columns(['user_id', 'browser_id', 'client', 'source']).doUpdateSet({ last_seen: at }))
        .returning('id')
        .executeTakeFirstOrThrow();
      const excess = known.slice(BROWSERS_MAXIMUM - 1).map((browser) => browser.id);
      if (excess.length > 0) await transaction.deleteFrom('known_browsers').where('id', 'in', excess).execute();
      return { id: stored, is_new: is_new && stored === id, knows_source };
    },

    async trustBrowser(user_id, id) {
      await of(user_id, id)
        .set({ trusted_at: new Date(now()).toISOString(), reviewed: 1 })
        .execute();
    },

    async reviewBrowser(user_id, id) {
      await of(user_id, id).set({ reviewed: 1 }).execute();
    },

    async forgetBrowser(user_id, id) {
      await database.deleteFrom('known_browsers').where('user_id', '=', user_id).where('id', '=', id).execute();
    },

    unreviewedBrowsers: (user_id) =>
      database
        .selectFrom('known_browsers')
        .select(['id', 'client', 'source', 'first_seen'])
        .where('user_id', '=', user_id)
        .where('reviewed', '=', 0)
        .orderBy('id', 'desc')
        .execute(),

    async sweep() {
      await database.deleteFrom('known_browsers').where('last_seen', '<=', oldest()).execute();
    },
  };
}
