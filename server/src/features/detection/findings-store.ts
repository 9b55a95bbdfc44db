import { THREAT_TYPES } from '@palisade/contract/anti-hacking';
import { phraseSchema } from '@palisade/contract/phrase';
import { severitySchema } from '@palisade/contract/severity';
import type { Kysely } from 'kysely';
import { z } from 'zod';
import { inBatches } from '#platform/batches.ts';
import { newId } from '#platform/id.ts';
import type { FindingTables } from '#platform/incident.ts';
import { AUDIENCES } from './rules.ts';
import { sampleSchema } from './windows.ts';

const foundSchema = z.object({
  rule: z.string(),
  key: z.string(),
  threat_type: z.enum(THREAT_TYPES),
  severity: severitySchema,
  /** The English sentence; findings of an earlier version have no phrase. */
  description: z.string(),
  phrase: phraseSchema.nullable().default(null),
  threshold: z.string(),
  threshold_phrase: phraseSchema.nullable().default(null),
  samples: z.array(sampleSchema),
  audience: z.enum(AUDIENCES),
  /** The time of the event that reached the threshold. */
  at: z.string(),
  user_id: z.string().nullable(),
  address: z.string().nullable(),
  // A server of an earlier version calls it by another name.
  browser_id: z.string().nullable().default(null),
  session_id: z.string().nullable(),
  /** The outcome; undefined where it depends on `tried`. */
  outcome: z.enum(['blocked', 'allowed', 'unknown']).optional(),
  /** The sign-in attempts: the outcome is blocked if all of them were refused at the time. */
  tried: z.array(z.object({ source: z.string(), account: z.string(), user_id: z.string().nullable() })),
});
/** A rule's finding, with all that its report needs. */
export type Found = z.infer<typeof foundSchema>;

const toldSchema = z.array(z.string());

/** A finding, kept until all recipients have been notified. */
export interface KeptFinding {
  id: string;
  created_at: string;
  found: Found;
  /** The recipients notified so far. */
  told: readonly string[];
}

/** Stores findings in the transaction that counted them, so that they are reported even if this server stops. */
export async function keepFindings(
  transaction: Kysely<FindingTables>,
  all: readonly Found[],
  created_at: string,
): Promise<KeptFinding[]> {
  const kept = all.map((found) => ({ id: newId(), created_at, found, told: [] }));
  const rows = kept.map(({ found, ...row }) => ({ ...row, found: JSON.stringify(found), told: '[]' }));
  await inBatches(rows, (batch) => transaction.insertInto('detection_findings').values(batch).execute());
  return kept;
}

/** Undefined for a finding of another version of the server: it cannot be reported here. */
function readFound(text: string): Found | undefined {
  return foundSchema.safeParse(JSON.parse(text)).data;
}

/** Findings with recipients that are not notified yet, the oldest first. */
export async function unfinishedFindings(database: Kysely<FindingTables>): Promise<KeptFinding[]> {
  const rows = await database.selectFrom('detection_findings').selectAll().orderBy('id').limit(UNFINISHED_AT_ONCE).execute();
  return rows.flatMap(({ found: text, told, ...row }) => {
    const found = readFound(text);
    return found === undefined ? [] : [{ ...row, found, told: toldSchema.parse(JSON.parse(told)) }];
  });
}

const UNFINISHED_AT_ONCE = 200;

/** Marks a recipient as notified, in the transaction that notifies them; `next` is undefined if none is left. False if another server has done so, or is doing it. */
export async function takeFinding(
  transaction: Kysely<FindingTables>,
  { id, told }: Pick<KeptFinding, 'id' | 'told'>,
  next: readonly string[] | undefined,
): Promise<boolean> {
  const before = JSON.stringify(told);
  const row =
    next === undefined
      ? transaction.deleteFrom('detection_findings').where('id', '=', id).where('told', '=', before).returning('id')
      : transaction
          .updateTable('detection_findings')
          .set({ told: JSON.stringify(next) })
          .where('id', '=', id)
          .where('told', '=', before)
          .returning('id');
  return (await row.executeTakeFirst()) !== undefined;
}

/** Deletes findings that could not be reported for too long. Returns their number. */
export async function forgetFindings(database: Kysely<FindingTables>, before: string): Promise<number> {
  const rows = await database.deleteFrom('detection_findings').where('created_at', '<', before).returning('id').execute();
  return rows.length;
}

/** Removes a person, in a transaction: findings about them, and their id among the notified. */
export async function forgetFindingsOf(transaction: Kysely<FindingTables>, user_id: string): Promise<void> {
  const rows = await transaction
    .selectFrom('detection_findings')
    .select(['id', 'found', 'told'])
    .where(({ or, eb }) => or([eb('found', 'like', `%${user_id}%`), eb('told', 'like', `%${user_id}%`)]))
    .execute();
  for (const { id, ...row } of rows) {
    const found = readFound(row.found);
    if (found === undefined || (found.user_id === user_id && found.audience === 'person')) {
      await transaction.deleteFrom('detection_findings').where('id', '=', id).execute();
      continue;
    }
    const without = {
      ...found,
      user_id: found.user_id === user_id ? null : found.user_id,
      tried: found.tried.filter((attempt) => attempt.user_id !== user_id),
    };
    await transaction
      .updateTable('detection_findings')
      .set({ found: JSON.stringify(without) })
      .where('id', '=', id)
      .execute();
  }
}
