import { createHash, randomBytes } from 'node:crypto';
import type { AuditKind } from '@palisade/contract/audit';
import type { Kysely } from 'kysely';
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

export interface Audit {
  /** Adds an entry to the end of the chain, in `database`'s transaction: what is not committed was never said. */
  record(database: Kysely<AuditTables>, entry: AuditEntry): Promise<void>;
}

const SALT_BYTES = 16;
const HEAD = 1;

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
  };
}
