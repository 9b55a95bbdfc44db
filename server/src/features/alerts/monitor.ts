import type { Monitor } from '@palisade/contract/alerts';
import type { Kysely } from 'kysely';
import { claimFact, type InstallationTables, readFact } from '#platform/installation.ts';

const WATCHING_SINCE = 'watching_since';

/** The watches that run now. */
export type Watches = Record<Monitor['watches'][number]['id'], () => boolean>;

const REASONS: Record<keyof Watches, string> = {
  files: 'The scanner isn’t running, so uploads are waiting.',
  sign_ins: 'This server doesn’t monitor sign-ins yet.',
  requests: 'This server doesn’t monitor requests yet.',
};

/** The watched things, and the start of the watch, before which there are no alerts. */
export type ReadMonitor = (user_id: string) => Promise<Pick<Monitor, 'watching_since' | 'watches'>>;

/** Starts the watch at the first start of an installation. */
export async function createMonitor(parts: {
  database: Kysely<InstallationTables>;
  accounts: { findAccount(id: string): Promise<{ created_at: string } | undefined> };
  watches: Watches;
  now: () => number;
}): Promise<ReadMonitor> {
  const { database, accounts, watches, now } = parts;
  const at = new Date(now()).toISOString();
  await claimFact(database, WATCHING_SINCE, at);
  const begun_at = (await readFact(database, WATCHING_SINCE)) ?? at;

  const stateOf = (id: keyof Watches) => {
    const is_watched = watches[id]();
    return { id, is_watched, reason: is_watched ? null : REASONS[id] };
  };
  return async (user_id) => {
    const created_at = (await accounts.findAccount(user_id))?.created_at ?? begun_at;
    return {
      watching_since: [created_at, begun_at].sort().at(-1) ?? begun_at,
      watches: [stateOf('files'), stateOf('sign_ins'), stateOf('requests')],
    };
  };
}
