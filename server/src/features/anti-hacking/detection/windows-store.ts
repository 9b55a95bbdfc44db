import type { Kysely } from 'kysely';
import { nameOf, type Place } from './detect.ts';
import type { DetectionTables } from './detection.tables.ts';

/** A window as it is stored: JSON, and when it expires, in ms since 1970. */
export interface Stored extends Place {
  state: string;
  expires_at: number;
}

const iso = (ms: number) => new Date(ms).toISOString();

/**
 * Changes the windows at some places in one transaction. Each is taken by being written, so that servers that look at events at once count together.
 * `change` gets those that hold something, by their names, and answers all that hold something then. Places come in the order of their names.
 */
export async function changeWindows<T>(
  parts: { database: Kysely<DetectionTables>; now: () => number },
  places: readonly Place[],
  change: (before: ReadonlyMap<string, Stored>) => { after: readonly Stored[]; answer: T },
): Promise<T> {
  const { database, now } = parts;
  return await database.transaction().execute(async (transaction) => {
    const updated_at = iso(now());
    const write = (rows: readonly { rule: string; key: string; state: string; expires_at: string }[]) =>
      transaction.insertInto('detection_windows').values(rows.map((row) => ({ ...row, updated_at })));
    const taken = await write(places.map(({ rule, key }) => ({ rule, key, state: '', expires_at: updated_at })))
      .onConflict((conflict) => conflict.columns(['rule', 'key']).doUpdateSet({ updated_at }))
      .returning(['rule', 'key', 'state', 'expires_at'])
      .execute();
    const before = taken
      .filter(({ state }) => state !== '')
      .map((row) => [nameOf(row), { ...row, expires_at: Date.parse(row.expires_at) }] as const);
    const { after, answer } = change(new Map(before));
    const held = new Map(after.map((stored) => [nameOf(stored), stored]));
    const rows = places.map(({ rule, key }) => {
      const stored = held.get(nameOf({ rule, key }));
      return { rule, key, state: stored?.state ?? '', expires_at: stored === undefined ? updated_at : iso(stored.expires_at) };
    });
    await write(rows)
      .onConflict((conflict) =>
        conflict.columns(['rule', 'key']).doUpdateSet((excluded) => ({
          state: excluded.ref('excluded.state'),
          expires_at: excluded.ref('excluded.expires_at'),
        })),
      )
      .execute();
    return answer;
  });
}

/** Whether any window at these places holds something. */
export async function isAnyHeld(database: Kysely<DetectionTables>, places: readonly Place[]): Promise<boolean> {
  const held = await database
    .selectFrom('detection_windows')
    .select('rule')
    .where(({ eb, and, or }) => or(places.map(({ rule, key }) => and([eb('rule', '=', rule), eb('key', '=', key)]))))
    .where('state', '!=', '')
    .limit(1)
    .executeTakeFirst();
  return held !== undefined;
}

/** Forgets what has expired, and beyond `maximum` what would expire first. */
export async function sweepWindows(
  { database, now }: { database: Kysely<DetectionTables>; now: () => number },
  maximum: number,
): Promise<void> {
  await database.deleteFrom('detection_windows').where('expires_at', '<=', iso(now())).execute();
  const first = await database
    .selectFrom('detection_windows')
    .select('expires_at')
    .orderBy('expires_at', 'desc')
    .offset(maximum)
    .limit(1)
    .executeTakeFirst();
  if (first !== undefined) await database.deleteFrom('detection_windows').where('expires_at', '<=', first.expires_at).execute();
}

/** Forgets what is counted at these places. */
export async function emptyWindows(database: Kysely<DetectionTables>, places: readonly Place[]): Promise<void> {
  await database
    .deleteFrom('detection_windows')
    .where(({ eb, and, or }) => or(places.map(({ rule, key }) => and([eb('rule', '=', rule), eb('key', '=', key)]))))
    .execute();
}

/** Forgets what is counted of a person, in a transaction. Where a source's window names them among others, it goes with that window, within the hour. */
export async function forgetWindowsOf(database: Kysely<DetectionTables>, user_id: string): Promise<void> {
  await database.deleteFrom('detection_windows').where('key', 'like', `%${user_id}%`).execute();
}
