import { createHash, randomBytes } from 'node:crypto';
import type { AuditKind } from '@palisade/contract/audit';
import type { Kysely, Selectable } from 'kysely';
import { z } from 'zod';
import type { Origin } from './origin.ts';

export interface AuditTables {
  audit_entries: {
    /** 1, 2, 3 ... without a gap. */
    seq: number;
    at: string;
    kind: AuditKind;
    /** Whose account it is about, and who did it; null for the server itself. */
    subject_id: string;
    actor_id: string | null;
    /** JSON: a salt, where it was done from, and details. Null once the account is gone. */
    personal: string | null;
    personal_hash: string;
    /** SHA-256 over the entry before and this one. */
    hash: string;
  };
  audit_head: { id: number; seq: number; hash: string };
}

interface AuditEntry {
  kind: AuditKind;
  subject_id: string;
  actor_id: string | null;
  origin?: Pick<Origin, 'address' | 'client'> | undefined;
  details?: Record<string, string | number | boolean | null>;
}

/** Who does something, and from where. */
export type Doer = Required<Pick<AuditEntry, 'origin'>> & { actor_id: string };

export interface Audit {
  /**
   * Adds an entry to the end of the chain, in `database`'s transaction: what is not committed was never said. To be called last in it: who holds the end of the
   * chain must wait for nobody, or two transactions wait for each other.
   */
  record(database: Kysely<AuditTables>, entry: AuditEntry): Promise<void>;
  /**
   * Forgets what is personal in every entry that is about somebody, or of what they did, in `database`'s transaction. Only for an account whose
   * `account_deleted` stands in the log: of any other the verifier takes it for tampering.
   */
  forget(database: Kysely<AuditTables>, user_id: string): Promise<void>;
}

const personalSchema = z.object({
  address: z.string().nullable(),
  client: z.string().nullable(),
  details: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])),
});

/** What is personal in an entry; nothing where it is forgotten. */
export function personalOf({ personal }: { personal: string | null }): z.infer<typeof personalSchema> {
  return personal === null ? { address: null, client: null, details: {} } : personalSchema.parse(JSON.parse(personal));
}

const SALT_BYTES = 16;
const HEAD = 1;
/** What the first entry is chained to. */
const NOTHING_BEFORE = '0'.repeat(64);
const VERIFIED_AT_ONCE = 500;

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

/** The hash of an entry: over that of the entry before, and everything of its own but the personal part, which stands in by its own hash. */
function entryHash(
  before: string,
  entry: { seq: number; at: string; kind: string; subject_id: string; actor_id: string | null; personal_hash: string },
): string {
  const { seq, at, kind, subject_id, actor_id, personal_hash } = entry;
  return sha256(JSON.stringify([before, seq, at, kind, subject_id, actor_id, personal_hash]));
}

/** The hash of a personal part. Its salt keeps anybody from guessing what was in one that is gone. */
function personalHash(personal: string): string {
  return sha256(personal);
}

/** `now` is in ms. */
export function createAudit({ now }: { now: () => number }): Audit {
  return {
    async record(database, { kind, subject_id, actor_id, origin, details = {} }) {
      const personal = JSON.stringify({
        salt: randomBytes(SALT_BYTES).toString('base64url'),
        address: origin?.address ?? null,
        client: origin?.client ?? null,
        details,
      });
      const add = async (transaction: Kysely<AuditTables>) => {
        // Taken by being written: of two at once one waits here until the other's entry is the end of the chain.
        const head = await transaction
          .updateTable('audit_head')
          .set((update) => ({ seq: update('seq', '+', 1) }))
          .where('id', '=', HEAD)
          .returning(['seq', 'hash'])
          .executeTakeFirstOrThrow();
        const entry = {
          seq: head.seq,
          at: new Date(now()).toISOString(),
          kind,
          subject_id,
          actor_id,
          personal_hash: personalHash(personal),
        };
        const hash = entryHash(head.hash, entry);
        await transaction
          .insertInto('audit_entries')
          .values({ ...entry, personal, hash })
          .execute();
        await transaction.updateTable('audit_head').set({ hash }).where('id', '=', HEAD).execute();
      };
      if (database.isTransaction) await add(database);
      else await database.transaction().execute(add);
    },

    async forget(database, user_id) {
      await database
        .updateTable('audit_entries')
        .set({ personal: null })
        .where(({ or, eb }) => or([eb('subject_id', '=', user_id), eb('actor_id', '=', user_id)]))
        .where('personal', 'is not', null)
        .execute();
    },
  };
}

/** What the verifier says. `head` is `number:hash` of the newest entry; `fault` is the first entry that does not hold. */
export interface AuditVerdict {
  entries: number;
  head: string;
  fault: { seq: number; reason: string } | null;
}

/**
 * Reads the whole log and checks that nothing was changed, taken out, put in, reordered or cut off. Whoever can rewrite all of it and its head can only be
 * found out by a head that was noted elsewhere before: `noted` is one that an earlier verdict answered.
 */
export async function verifyAudit(database: Kysely<AuditTables>, noted?: { seq: number; hash: string }): Promise<AuditVerdict> {
  const deletions = await database
    .selectFrom('audit_entries')
    .select(['subject_id', 'seq'])
    .where('kind', '=', 'account_deleted')
    .execute();
  const deletedAt = new Map(deletions.map(({ subject_id, seq }) => [subject_id, seq]));
  /** Only a deletion forgets, and nothing of what came after it. */
  const mayBeForgotten = ({ seq, subject_id, actor_id }: { seq: number; subject_id: string; actor_id: string | null }) =>
    [subject_id, actor_id].some((id) => id !== null && seq <= (deletedAt.get(id) ?? 0));

  let before = { seq: 0, hash: NOTHING_BEFORE };
  const verdict = (fault: AuditVerdict['fault']) => ({ entries: before.seq, head: `${before.seq}:${before.hash}`, fault });

  function faultOf(entry: Selectable<AuditTables['audit_entries']>): string | undefined {
    if (entry.seq !== before.seq + 1) return `The entry ${before.seq + 1} is missing.`;
    if (entry.personal === null && !mayBeForgotten(entry))
      return 'What is personal in it was taken out, but no account of it was deleted.';
    if (entry.personal !== null && personalHash(entry.personal) !== entry.personal_hash)
      return 'What is personal in it was changed.';
    if (entryHash(before.hash, entry) !== entry.hash) return 'It was changed, moved or put in, or the one before it was.';
    if (entry.seq === noted?.seq && entry.hash !== noted.hash)
      return 'It is another one than the noted head says: the log was rewritten.';
    return undefined;
  }

  let isLastLook = false;
  for (;;) {
    const entries = await database
      .selectFrom('audit_entries')
      .selectAll()
      .where('seq', '>', before.seq)
      .orderBy('seq')
      .limit(VERIFIED_AT_ONCE)
      .execute();
    for (const entry of entries) {
      const reason = faultOf(entry);
      if (reason !== undefined) return verdict({ seq: Math.min(entry.seq, before.seq + 1), reason });
      before = { seq: entry.seq, hash: entry.hash };
    }
    if (entries.length > 0) {
      isLastLook = false;
      continue;
    }
    const head = await database.selectFrom('audit_head').select(['seq', 'hash']).where('id', '=', HEAD).executeTakeFirst();
    if (head === undefined) return verdict({ seq: before.seq, reason: 'The record of where the log ends is missing.' });
    // An entry that was added since the last page, unless there is none when it is looked for again.
    if (head.seq > before.seq && !isLastLook) {
      isLastLook = true;
      continue;
    }
    if (head.seq > before.seq)
      return verdict({ seq: before.seq + 1, reason: `The end was cut off: the log had ${head.seq} entries.` });
    if (head.seq < before.seq || head.hash !== before.hash)
      return verdict({ seq: before.seq, reason: 'The record of where the log ends is of another entry.' });
    if (noted !== undefined && noted.seq > before.seq)
      return verdict({ seq: before.seq + 1, reason: `The end was cut off: the noted head is that of entry ${noted.seq}.` });
    return verdict(null);
  }
}
