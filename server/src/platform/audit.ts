import { createHmac, createSecretKey, type KeyObject, hash as oneHash, randomBytes } from 'node:crypto';
import type { Activity, AuditKind } from '@palisade/contract/audit';
import type { Kysely, Selectable, Updateable } from 'kysely';
import { z } from 'zod';
import { inPages } from './batches.ts';
import { inTransaction } from './in-transaction.ts';
import type { Origin } from './origin.ts';

export interface AuditTables {
  audit_entries: {
    /** Consecutive: 1, 2, 3 ... */
    seq: number;
    at: string;
    kind: AuditKind;
    /** The account that the entry is about, and the actor; null for the server itself. */
    subject_id: string;
    actor_id: string | null;
    /** JSON: a salt, the origin and details. Null once the account is deleted. */
    personal: string | null;
    personal_hash: string;
    /** Hash over the previous entry's hash and this entry: HMAC-SHA256 with the installation's key, or SHA-256 for entries from before the log had a key. */
    hash: string;
  };
  audit_head: {
    id: number;
    seq: number;
    hash: string;
    /** The first entry sealed with the key; null until a server with the key has started. */
    keyed_from: number | null;
    /** The number and hash of the entry before the first one that is still checked; 0 and zeros if that is the first of the log. */
    anchor_seq: number;
    anchor_hash: string;
    /** HMAC-SHA256 with the key over this row. */
    mac: string | null;
  };
}

type AuditHead = Selectable<AuditTables['audit_head']>;

interface AuditEntry {
  kind: AuditKind;
  subject_id: string;
  actor_id: string | null;
  origin?: Pick<Origin, 'address' | 'client'> | undefined;
  details?: Record<string, string | number | boolean | null>;
}

/** The actor of an action, and its origin. */
export type Doer = Required<Pick<AuditEntry, 'origin'>> & { actor_id: string };

export interface Audit {
  /** Adds an entry to the end of the chain, in `database`'s transaction. Call it last: it locks the end of the chain, and a transaction that then waits for another lock can deadlock. */
  record(database: Kysely<AuditTables>, entry: AuditEntry): Promise<void>;
  /**
   * Erases the personal part of every entry about or by a person, in `database`'s transaction. Only for an account with an `account_deleted` entry in the log: for any other
   * the verifier reports tampering.
   */
  forget(database: Kysely<AuditTables>, user_id: string): Promise<void>;
  /**
   * Starts sealing the log with the key, if it is not sealed yet. Existing entries keep their hashes; the first sealed entry vouches for all before it. Call this only if
   * nothing shows that the log was sealed before.
   */
  beginSealing(database: Kysely<AuditTables>): Promise<void>;
  /**
   * Removes entries older than `before` (ISO), up to the first newer one, and seals the new beginning of the log. Returns their number. Throws if the log is not sealed with
   * the key: a log that was tampered with is not cleaned up.
   */
  forgetOld(database: Kysely<AuditTables>, before: string): Promise<number>;
}

const personalSchema = z.object({
  address: z.string().nullable(),
  client: z.string().nullable(),
  details: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])),
});

/** The personal part of an entry; empty if it was erased. */
export function personalOf({ personal }: { personal: string | null }): z.infer<typeof personalSchema> {
  return personal === null ? { address: null, client: null, details: {} } : personalSchema.parse(JSON.parse(personal));
}

/** Kinds of entries about devices and profiles of a home, which only its guardians change for each other. */
const HOME_KIND = /^(?:web|profile)_/u;

/** An entry as shown to the person whose account it is about. */
export function activityOf(entry: Selectable<AuditTables['audit_entries']>): Activity {
  const { seq, at, kind, subject_id, actor_id } = entry;
  const { address, client, details } = personalOf(entry);
  const other = details['side'] === 'technician' ? 'support' : HOME_KIND.test(kind) ? 'guardian' : 'administrator';
  const by = actor_id === null ? 'server' : actor_id === subject_id ? 'self' : other;
  return { seq, at, kind, by, details, ...(by === 'self' ? { address, client } : { address: null, client: null }) };
}

const SALT_BYTES = 16;
/** The one row of `audit_head`. */
export const HEAD = 1;
const REMOVED_AT_ONCE = 1_000;
const FORGOTTEN_AT_ONCE = 500;

const sha256 = (text: string) => oneHash('sha256', text);
/** The key as a `KeyObject`. Creating one for each entry would take 80% of the time of a check. */
const secrets = new WeakMap<Buffer, KeyObject>();

function hmac(key: Buffer, text: string): string {
  const secret = secrets.get(key) ?? createSecretKey(key);
  secrets.set(key, secret);
  return createHmac('sha256', secret).update(text).digest('hex');
}

/**
 * The hash of an entry: over the previous hash and all fields of the entry; the personal part is represented by its own hash. `key` is undefined for an entry from before
 * the log had a key.
 */
export function entryHash(
  key: Buffer | undefined,
  before: string,
  entry: { seq: number; at: string; kind: string; subject_id: string; actor_id: string | null; personal_hash: string },
): string {
  const { seq, at, kind, subject_id, actor_id, personal_hash } = entry;
  const text = JSON.stringify([before, seq, at, kind, subject_id, actor_id, personal_hash]);
  return key === undefined ? sha256(text) : hmac(key, text);
}

/** The hash of a personal part. Its salt prevents guessing an erased part. */
export function personalHash(personal: string): string {
  return sha256(personal);
}

/** The HMAC over the head row: end and beginning of the log. */
function headMac(key: Buffer, { seq, hash, keyed_from, anchor_seq, anchor_hash }: Omit<AuditHead, 'id' | 'mac'>): string {
  return hmac(key, JSON.stringify(['palisade audit head 1', seq, hash, keyed_from, anchor_seq, anchor_hash]));
}

/** Whether the head row was written with the key. */
export function isSealed(key: Buffer, head: AuditHead): boolean {
  return head.mac !== null && head.mac === headMac(key, head);
}

/** `now` is in ms. `onRecord` is called when an entry was added, before it is committed. */
export function createAudit(parts: { now: () => number; key: Buffer; onRecord?: () => void }): Audit {
  const { now, key, onRecord } = parts;
  return {
    async record(database, { kind, subject_id, actor_id, origin, details = {} }) {
      const personal = JSON.stringify({
        salt: randomBytes(SALT_BYTES).toString('base64url'),
        address: origin?.address ?? null,
        client: origin?.client ?? null,
        details,
      });
      const add = async (transaction: Kysely<AuditTables>) => {
        // The update locks the row: a concurrent transaction waits here until the other's entry is the end of the chain.
        const head = await transaction
          .updateTable('audit_head')
          .set((update) => ({ seq: update('seq', '+', 1) }))
          .where('id', '=', HEAD)
          .returningAll()
          .executeTakeFirstOrThrow();
        const entry = {
          seq: head.seq,
          at: new Date(now()).toISOString(),
          kind,
          subject_id,
          actor_id,
          personal_hash: personalHash(personal),
        };
        const hash = entryHash(key, head.hash, entry);
        await transaction
          .insertInto('audit_entries')
          .values({ ...entry, personal, hash })
          .execute();
        // If the head was written without the key, the next entry does not seal it, so that the verifier still finds it.
        const mac = isSealed(key, { ...head, seq: head.seq - 1 }) ? headMac(key, { ...head, hash }) : head.mac;
        await transaction.updateTable('audit_head').set({ hash, mac }).where('id', '=', HEAD).execute();
      };
      if (database.isTransaction) await add(database);
      else await inTransaction(database, add);
      onRecord?.();
    },

    async forget(database, user_id) {
      for (const side of ['subject_id', 'actor_id'] as const) {
        const pages = inPages(FORGOTTEN_AT_ONCE, (last?: { seq: number }) =>
          database
            .selectFrom('audit_entries')
            .select('seq')
            .where(side, '=', user_id)
            .where('seq', '>', last?.seq ?? 0)
            .orderBy('seq')
            .limit(FORGOTTEN_AT_ONCE)
            .execute(),
        );
        for await (const page of pages)
          await database
            .updateTable('audit_entries')
            .set({ personal: null })
            .where('seq', 'in', [0, ...page.map(({ seq }) => seq)])
            .where('personal', 'is not', null)
            .execute();
      }
    },

    async beginSealing(database) {
      await inTransaction(database, async (transaction) => {
        const head = await takeHead(transaction);
        if (head.mac !== null || head.keyed_from !== null) return;
        const sealed = { ...head, keyed_from: head.seq + 1 };
        await writeHead(transaction, { keyed_from: sealed.keyed_from, mac: headMac(key, sealed) });
      });
    },

    async forgetOld(database, before) {
      const last = await inTransaction(database, async (transaction) => {
        const head = await takeHead(transaction);
        if (!isSealed(key, head)) throw new Error('The audit log isn’t signed with the key, so no entry was removed.');
        const kept = await transaction
          .selectFrom('audit_entries')
          .select(({ fn }) => fn.min('seq').as('seq'))
          .where('at', '>=', before)
          .executeTakeFirst();
        const seq = kept?.seq === null || kept === undefined ? head.seq : kept.seq - 1;
        if (seq > head.anchor_seq) {
          const { hash } = await transaction
            .selectFrom('audit_entries')
            .select('hash')
            .where('seq', '=', seq)
            .executeTakeFirstOrThrow();
          const moved = { ...head, anchor_seq: seq, anchor_hash: hash };
          await writeHead(transaction, { anchor_seq: seq, anchor_hash: hash, mac: headMac(key, moved) });
        }
        return seq;
      });
      return await removeUpTo(database, last);
    },
  };
}

/** Reads the head row and locks it with an update. */
async function takeHead(transaction: Kysely<AuditTables>): Promise<AuditHead> {
  return await transaction
    .updateTable('audit_head')
    .set(({ ref }) => ({ seq: ref('seq') }))
    .where('id', '=', HEAD)
    .returningAll()
    .executeTakeFirstOrThrow();
}

async function writeHead(transaction: Kysely<AuditTables>, change: Updateable<AuditTables['audit_head']>): Promise<void> {
  await transaction.updateTable('audit_head').set(change).where('id', '=', HEAD).execute();
}

/** Removes one batch at a time, so that other queries do not wait long for the database. */
async function removeUpTo(database: Kysely<AuditTables>, last: number): Promise<number> {
  const first = await database
    .selectFrom('audit_entries')
    .select(({ fn }) => fn.min('seq').as('seq'))
    .executeTakeFirst();
  let removed = 0;
  for (let seq = first?.seq ?? last + 1; seq <= last; seq += REMOVED_AT_ONCE) {
    const { numDeletedRows } = await database
      .deleteFrom('audit_entries')
      .where('seq', '<=', Math.min(last, seq + REMOVED_AT_ONCE - 1))
      .executeTakeFirst();
    removed += Number(numDeletedRows);
  }
  return removed;
}

/** Seals the log with a new key because the earlier key is lost: entries sealed with that one can no longer be checked, and the check begins after them. */
export async function sealWithAnotherKey(database: Kysely<AuditTables>, key: Buffer): Promise<void> {
  await inTransaction(database, async (transaction) => {
    const head = await takeHead(transaction);
    const moved = { ...head, keyed_from: head.seq + 1, anchor_seq: head.seq, anchor_hash: head.hash };
    const { keyed_from, anchor_seq, anchor_hash } = moved;
    await writeHead(transaction, { keyed_from, anchor_seq, anchor_hash, mac: headMac(key, moved) });
  });
}

/** Times of the entries of a kind from `begin` until `end` (ISO times), oldest first. */
export async function timesOf(
  database: Kysely<Pick<AuditTables, 'audit_entries'>>,
  kind: AuditKind,
  begin: string,
  end: string,
): Promise<string[]> {
  const rows = await database
    .selectFrom('audit_entries')
    .select('at')
    .where('kind', '=', kind)
    .where('at', '>=', begin)
    .where('at', '<', end)
    .orderBy('seq')
    .execute();
  return rows.map(({ at }) => at);
}
