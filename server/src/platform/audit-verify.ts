import type { Kysely, Selectable } from 'kysely';
import { type AuditTables, entryHash, HEAD, isSealed, personalHash } from './audit.ts';
import { inPages } from './batches.ts';

/** A log entry that a source outside the database vouches for. */
export interface AuditMark {
  seq: number;
  hash: string;
  /** The author of the mark, as a sentence names it. */
  by: 'the saved head' | 'this server’s own note';
}

/** The verifier's result. `fault` is the first invalid entry. */
export interface AuditVerdict {
  /** The number of the newest valid entry; with a fault, of the last entry before it. */
  entries: number;
  /** `number:hash` of that entry. */
  head: string;
  /** The first checked entry: earlier ones were removed by retention, or sealed with a key that was replaced. */
  checked_from: number;
  /** The first entry sealed with the key; earlier ones are chained without a key. Null if the log is not sealed at all. */
  keyed_from: number | null;
  fault: { seq: number; reason: string } | null;
}

const VERIFIED_AT_ONCE = 200;
/** Number of times the check restarts because retention removed entries while it ran. */
const BEGINNINGS_MAXIMUM = 5;

/** The position of an entry: its number and hash. */
export type Place = Pick<AuditMark, 'seq' | 'hash'>;
type Entry = Selectable<AuditTables['audit_entries']>;

/**
 * Reads the whole log and checks that no entry was changed, removed, inserted, reordered or cut off. An attacker with the database but without the key can only restore an
 * earlier state of the log; `marks`, stored outside the database, reveal that. With `verified`, reading starts after that entry if it still exists.
 */
export async function verifyAudit(
  database: Kysely<AuditTables>,
  { key, marks = [], verified }: { key: Buffer; marks?: readonly AuditMark[]; verified?: Place | undefined },
): Promise<AuditVerdict> {
  const readHead = () => database.selectFrom('audit_head').selectAll().where('id', '=', HEAD).executeTakeFirst();
  for (let beginning = 1; ; beginning += 1) {
    const head = await readHead();
    if (head === undefined) {
      const fault = { seq: 1, reason: 'The record of the log’s end is missing, so we can’t check the log.' };
      return { entries: 0, head: `0:${'0'.repeat(64)}`, checked_from: 1, keyed_from: null, fault };
    }
    const verdict = await verifyFrom(database, { key, marks, anchor: head, verified });
    if (verdict.fault === null || beginning === BEGINNINGS_MAXIMUM) return verdict;
    const now = await readHead();
    if (now?.anchor_seq === head.anchor_seq) return verdict;
  }
}

type Anchor = Pick<Selectable<AuditTables['audit_head']>, 'keyed_from' | 'anchor_seq' | 'anchor_hash'>;

async function verifyFrom(
  database: Kysely<AuditTables>,
  parts: { key: Buffer; marks: readonly AuditMark[]; anchor: Anchor; verified: Place | undefined },
): Promise<AuditVerdict> {
  const { key, marks, anchor, verified } = parts;
  const { keyed_from, anchor_seq, anchor_hash } = anchor;
  const deletions = await database
    .selectFrom('audit_entries')
    .select(['subject_id', 'seq'])
    .where('kind', '=', 'account_deleted')
    .execute();
  const deletedAt = new Map(deletions.map(({ subject_id, seq }) => [subject_id, seq]));
  /** Personal parts are erased only by the deletion of an account, and only in entries up to that deletion. */
  const mayBeForgotten = ({ seq, subject_id, actor_id }: Entry) =>
    [subject_id, actor_id].some((id) => id !== null && seq <= (deletedAt.get(id) ?? 0));

  const isThere = async ({ seq, hash }: Place) =>
    (await database.selectFrom('audit_entries').select('hash').where('seq', '=', seq).executeTakeFirst())?.hash === hash;
  const resumes = verified !== undefined && verified.seq > anchor_seq && (await isThere(verified));
  let before: Place = resumes ? verified : { seq: anchor_seq, hash: anchor_hash };
  const verdict = (fault: AuditVerdict['fault']) => ({
    entries: before.seq,
    head: `${before.seq}:${before.hash}`,
    checked_from: anchor_seq + 1,
    keyed_from,
    fault,
  });
  const contradicted = ({ seq, hash }: { seq: number; hash: string }) =>
    marks.find((mark) => mark.seq === seq && mark.hash !== hash);

  function faultOf(entry: Entry): string | undefined {
    if (entry.seq !== before.seq + 1) return `The entry ${before.seq + 1} is missing.`;
    if (entry.personal === null && !mayBeForgotten(entry)) return 'Its personal data was removed, but no account was deleted.';
    if (entry.personal !== null && personalHash(entry.personal) !== entry.personal_hash) return 'Its personal data was changed.';
    if (entryHash(keyed_from === null || entry.seq < keyed_from ? undefined : key, before.hash, entry) !== entry.hash)
      return 'This entry or the one before it was changed, moved, or added without the key.';
    const mark = contradicted(entry);
    if (mark !== undefined) return `It doesn’t match ${mark.by}. The log was rewritten.`;
    return undefined;
  }

  for (const mark of marks) {
    if (mark.seq > anchor_seq && mark.seq < before.seq && !(await isThere(mark)))
      return verdict({ seq: mark.seq, reason: `It doesn’t match ${mark.by}. The log was rewritten.` });
  }
  const rewritten = contradicted(before);
  if (rewritten !== undefined)
    return verdict({
      seq: before.seq,
      reason: `The log’s first entry doesn’t match ${rewritten.by}. The log was rewritten.`,
    });
  for (let looks = 1; ; looks += 1) {
    const read_to = before.seq;
    const pages = inPages(VERIFIED_AT_ONCE, (last?: Entry) =>
      database
        .selectFrom('audit_entries')
        .selectAll()
        .where('seq', '>', last?.seq ?? read_to)
        .orderBy('seq')
        .limit(VERIFIED_AT_ONCE)
        .execute(),
    );
    for await (const entries of pages) {
      for (const entry of entries) {
        const reason = faultOf(entry);
        if (reason !== undefined) return verdict({ seq: Math.min(entry.seq, before.seq + 1), reason });
        before = { seq: entry.seq, hash: entry.hash };
      }
    }
    const head = await database.selectFrom('audit_head').selectAll().where('id', '=', HEAD).executeTakeFirst();
    if (head === undefined) return verdict({ seq: before.seq, reason: 'The record of the log’s end is missing.' });
    // A newer entry was added since the last page: read again. If the second read does not find it, it was cut off.
    if (head.seq > before.seq && (looks === 1 || before.seq > read_to)) continue;
    if (head.seq > before.seq)
      return verdict({ seq: before.seq + 1, reason: `The end was cut off: the log had ${head.seq} entries.` });
    if (head.seq < before.seq || head.hash !== before.hash)
      return verdict({ seq: before.seq, reason: 'The record of the log’s end is for another entry.' });
    if (!isSealed(key, head))
      return verdict({
        seq: before.seq,
        reason:
          'The record of the log’s end isn’t signed with the key. Someone without the key wrote it, and perhaps other entries.',
      });
    const missing = marks.find((mark) => mark.seq > before.seq);
    if (missing !== undefined)
      return verdict({
        seq: before.seq + 1,
        reason: `The end was cut off: ${missing.by} is at entry ${missing.seq}.${before.seq === 0 ? ' The log is empty.' : ''} Someone tampered with the log, or an older database was restored.`,
      });
    return verdict(null);
  }
}
