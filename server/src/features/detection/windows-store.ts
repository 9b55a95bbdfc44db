import type { Kysely } from 'kysely';
import { nameOf, type Place } from './detect.ts';
import type { DetectionTables } from './detection.tables.ts';
import { windowSchema } from './windows.ts';

/** A stored window: JSON, and its expiry in ms since 1970. */
export interface Stored extends Place {
  state: string;
  expires_at: number;
}

const iso = (ms: number) => new Date(ms).toISOString();

/**
 * Changes the windows at some places in a transaction. An update locks each, so that servers that examine events concurrently count together. `change` gets the non-empty
 * windows by name, and returns those that are non-empty afterwards. Places must be sorted by name; `at` is in ms.
 */
export async function changeWindows<T>(
  transaction: Kysely<DetectionTables>,
  { places, at }: { places: readonly Place[]; at: number },
  change: (before: ReadonlyMap<string, Stored>) => { after: readonly Stored[]; answer: T },
): Promise<T> {
  if (places.length === 0) return change(new Map()).answer;
  const updated_at = iso(at);
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

/** Removes expired windows, and beyond `maximum` those that would expire first. */
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

/** Removes the counts of these places. */
export async function emptyWindows(database: Kysely<DetectionTables>, places: readonly Place[]): Promise<void> {
  await database
    .deleteFrom('detection_windows')
    .where(({ eb, and, or }) => or(places.map(({ rule, key }) => and([eb('rule', '=', rule), eb('key', '=', key)]))))
    .execute();
}

/** Deletes the counts about a person, in a transaction: `account` is their key in events. A source's window that also counts others continues without them. */
export async function forgetWindowsOf(
  transaction: Kysely<DetectionTables>,
  { user_id, account }: { user_id: string; account: string },
): Promise<void> {
  const names = [user_id, account];
  const isNamed = (text: string) => names.some((name) => text.includes(name));
  const places = await transaction
    .selectFrom('detection_windows')
    .select(['rule', 'key'])
    .where(({ or, eb }) => or(names.flatMap((name) => [eb('key', 'like', `%${name}%`), eb('state', 'like', `%${name}%`)])))
    .execute();
  // In the order in which counting locks them, so that there is no deadlock.
  for (const { rule, key } of places.sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1))) {
    if (isNamed(key)) {
      await transaction.deleteFrom('detection_windows').where('rule', '=', rule).where('key', '=', key).execute();
      continue;
    }
    const at = transaction.updateTable('detection_windows').where('rule', '=', rule).where('key', '=', key);
    const taken = await at
      .set(({ ref }) => ({ updated_at: ref('updated_at') }))
      .returning('state')
      .executeTakeFirst();
    if (taken === undefined || taken.state === '') continue;
    const window = windowSchema.parse(JSON.parse(taken.state));
    const values = window.values.filter((entry) => !isNamed(`${entry.user_id} ${entry.value}`));
    const samples = window.samples.filter(({ what }) => !isNamed(what));
    await at.set({ state: JSON.stringify({ ...window, values, samples }) }).execute();
  }
}
