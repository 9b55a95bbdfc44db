import { open, rm } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { QUARANTINE_DAYS } from '@palisade/contract/quarantine';
import type { FastifyBaseLogger } from 'fastify';
import { type Kysely, sql } from 'kysely';
import { inPages } from '#platform/batches.ts';
import { type BlobFacts, StoreAwayError } from '#platform/blobs/blobs.ts';
import { fileBytes } from '#platform/file-bytes.ts';
import { inTransaction } from '#platform/in-transaction.ts';
import type { JobTables } from '#platform/jobs/job-tables.ts';
import { isStorageError } from '#platform/storage-problem.ts';
import type { AntivirusTables } from './antivirus.tables.ts';
import type { Quarantine } from './quarantine.ts';
import type { ReadingLease, ReadingLeases } from './scan-jobs.ts';
import { type Copy, DAY_MS, isUnread, NOT_KEPT, type ScanRow, UNREAD, type Verdict, waitsUntil } from './scan-row.ts';
import type { Spool } from './spool.ts';

/** A scan, and whether bytes of it are in the store that servers share. */
type Kept = Pick<ScanRow, 'id' | 'in_store'>;

/** A file in the shared store without a record counts as left over only after this many ms: another server may be about to store its record. */
const LEFTOVER_AFTER_MS = DAY_MS;

const SWEPT_AT_ONCE = 100;

/** A server that has not removed expired files for this many ms is considered gone, which other servers note on its records. */
const ABANDONED_MS = DAY_MS;

interface ScanStoreOptions {
  database: Kysely<AntivirusTables & JobTables>;
  /** Undefined without a store that servers share. */
  leases: Pick<ReadingLeases, 'begin'> | undefined;
  spool: Spool;
  /** The quarantine of this server alone. */
  quarantine: Quarantine;
  /** The quarantine of all servers, if they share a store: new files are sealed there. */
  shared: Quarantine | undefined;
  /** The data folder of `spool` and `quarantine`. */
  home: string;
  /** Maximum sealed bytes per person. */
  quota: number;
  now: () => number;
  logger: FastifyBaseLogger;
}

const at = (now: () => number) => new Date(now()).toISOString();

/** The time until which the bytes are kept after this verdict; null if they are not. */
function keptUntil(now: () => number, row: ScanRow, scan_status: ScanRow['scan_status']): string | null {
  switch (scan_status) {
    case 'infected':
      return row.scan_status === 'infected' && row.kept_until !== null
        ? row.kept_until
        : new Date(now() + QUARANTINE_DAYS.infected * DAY_MS).toISOString();
    case 'pending':
      return row.kept_until ?? waitsUntil(now());
    case 'clean':
      // The file was quarantined as infected: its owner may restore it.
      return row.scan_status === 'infected' && row.sealed === 1 ? row.kept_until : null;
  }
}

/** Removes those of the given files that have no record. */
async function removeUnknown(
  database: Kysely<AntivirusTables & JobTables>,
  ids: readonly string[],
  column: 'spooled' | 'sealed' | 'in_store',
  busy: () => readonly string[],
  removeOne: (id: string) => Promise<void>,
): Promise<void> {
  for (let start = 0; start < ids.length; start += SWEPT_AT_ONCE) {
    const some = ids.slice(start, start + SWEPT_AT_ONCE);
    const rows = await database.selectFrom('scans').select('id').where('id', 'in', some).where(column, '=', sql.lit(1)).execute();
    const known = new Set(rows.map(({ id }) => id));
    for (const id of some) if (!known.has(id) && !busy().includes(id)) await removeOne(id);
  }
}

/** Removes files without a record from the store that servers share. */
async function sweepSharedLeftovers(
  database: Kysely<AntivirusTables & JobTables>,
  now: () => number,
  of: Quarantine,
  signal: AbortSignal,
): Promise<void> {
  const before = new Date(now() - LEFTOVER_AFTER_MS).toISOString();
  const old: string[] = [];
  for await (const { key, modified_at } of of.list()) {
    if (signal.aborted) return;
    if (modified_at < before) old.push(key);
  }
  await removeUnknown(database, old, 'in_store', () => [], of.remove);
}

/** Storage of uploaded bytes: which are kept, in which form, and until when. */
export class ScanStore {
  private readonly options: ScanStoreOptions;

  constructor(options: ScanStoreOptions) {
    this.options = options;
  }

  /** The place of a file's sealed bytes. */
  private placeOf({ in_store }: Pick<ScanRow, 'in_store'>): Quarantine {
    if (in_store === 0) return this.options.quarantine;
    if (this.options.shared === undefined)
      throw new StoreAwayError('Files are kept in a store, and STORAGE_URL does not name it.');
    return this.options.shared;
  }

  private async seal(row: ScanRow): Promise<{ in_store: number; sealed_sha256: string }> {
    const place = this.options.shared ?? this.options.quarantine;
    const { sha256 }: BlobFacts = await place.seal(row, fileBytes(this.options.spool.path(row.id)));
    return { in_store: place === this.options.shared ? 1 : 0, sealed_sha256: sha256 };
  }

  /** A failure loses no verdict and leaves no unencrypted bytes: they are removed, unless only space or the store is missing, which may come back. */
  private async trySeal(row: ScanRow): Promise<{ in_store: number; sealed_sha256: string | null } | 'no_room' | 'failed'> {
    try {
      const { bytes } = await this.options.database
        .selectFrom('scans')
        .select(({ fn }) => fn.sum<number | string | null>('size').as('bytes'))
        .where('user_id', '=', row.user_id)
        .where('sealed', '=', sql.lit(1))
        .executeTakeFirstOrThrow();
      if (Number(bytes ?? 0) + row.size > this.options.quota) return 'failed';
      // It was sealed in the store when it arrived.
      if (row.in_store === 1) return { in_store: 1, sealed_sha256: row.sealed_sha256 };
      return await this.seal(row);
    } catch (error) {
      // A sealed file needs no room: the next reader tries again.
      if (row.in_store === 1) throw error;
      this.options.logger.error({ err: error, scan: row.id }, 'a file could not be sealed');
      return isStorageError(error) || error instanceof StoreAwayError ? 'no_room' : 'failed';
    }
  }

  /** Removes all bytes of a scan. @throws StoreAwayError */
  async remove(file: Kept): Promise<void> {
    const sealed = file.in_store === 1 ? this.placeOf(file) : this.options.quarantine;
    await Promise.all([this.options.spool.remove(file.id), sealed.remove(file.id)]);
  }

  /** `remove`, but bytes that cannot be removed now are left to a sweep. */
  async letGo(file: Kept): Promise<void> {
    await this.remove(file).catch((error: unknown) => {
      this.options.logger.error({ err: error, scan: file.id }, 'the bytes of a scan could not be removed');
    });
  }

  /** Removes expired files of this server. */
  private async sweepExpired(busy: () => readonly string[]): Promise<ScanRow[]> {
    const changed: ScanRow[] = [];
    const pages = inPages(SWEPT_AT_ONCE, () =>
      this.options.database
        .selectFrom('scans')
        .selectAll()
        .where('home', '=', this.options.home)
        .where('in_store', '=', sql.lit(0))
        .where('kept_until', 'is not', null)
        .where('kept_until', '<', at(this.options.now))
        .where('id', 'not in', ['', ...busy()])
        .orderBy('kept_until')
        .limit(SWEPT_AT_ONCE)
        .execute(),
    );
    for await (const over of pages) {
      for (const row of over) {
        if (busy().includes(row.id)) continue;
        const updated = await this.expire(row);
        if (updated !== undefined) changed.push(updated);
      }
    }
    return changed;
  }

  private async expire(row: ScanRow): Promise<ScanRow | undefined> {
    const updated = await this.options.database
      .updateTable('scans')
      .set({ ...NOT_KEPT, ...(isUnread(row) ? { status_detail: 'expired' as const } : {}) })
      .where('id', '=', row.id)
      .returningAll()
      .executeTakeFirst();
    await this.letGo(row);
    return updated;
  }

  /** Removes expired files from the shared store. Files that are being read are removed next time. */
  private async sweepSharedExpired(signal: AbortSignal): Promise<ScanRow[]> {
    const changed: ScanRow[] = [];
    const pages = inPages(SWEPT_AT_ONCE, (last?: ScanRow) =>
      this.options.database
        .selectFrom('scans')
        .selectAll()
        .where('in_store', '=', sql.lit(1))
        .where('kept_until', 'is not', null)
        .where('kept_until', '<', at(this.options.now))
        .where('id', '>', last?.id ?? '')
        .orderBy('id')
        .limit(SWEPT_AT_ONCE)
        .execute(),
    );
    for await (const over of pages) {
      if (signal.aborted) break;
      for (const row of over) {
        const held = await this.options.leases?.begin(this.options.database.$pickTables<'jobs'>(), row.id);
        if (held === undefined || signal.aborted) continue;
        held.keep();
        try {
          const updated = await this.expire(row);
          if (updated !== undefined) changed.push(updated);
        } finally {
          await held.end();
        }
      }
    }
    return changed;
  }

  /** Marks the files of a server that is gone as not kept; if it runs again, it removes them. */
  private async sweepAbandoned(): Promise<ScanRow[]> {
    return await this.options.database
      .updateTable('scans')
      .set(({ eb }) => ({
        ...NOT_KEPT,
        status_detail: eb
          .case()
          .when('status_detail', 'in', UNREAD)
          .then('expired' as const)
          .else(eb.ref('status_detail'))
          .end(),
      }))
      .where('home', '!=', this.options.home)
      .where('kept_until', 'is not', null)
      .where('kept_until', '<', new Date(this.options.now() - ABANDONED_MS).toISOString())
      .returningAll()
      .execute();
  }

  /** Removes files without a record from the folders of this server. */
  private async sweepLeftovers(busy: () => readonly string[]): Promise<void> {
    // List first, without busy files: later files are not listed, and the records of earlier ones are already stored.
    const spooled = await this.options.spool.list();
    const sealed: string[] = [];
    for await (const { key } of this.options.quarantine.list()) sealed.push(key);
    const busy_before = new Set(busy());
    const still = (ids: readonly string[]) => ids.filter((id) => !busy_before.has(id));
    await removeUnknown(this.options.database, still(sealed), 'sealed', busy, this.options.quarantine.remove);
    await removeUnknown(this.options.database, still(spooled), 'spooled', busy, (id) => this.options.spool.remove(id));
  }

  /**
   * Stores a verdict, then seals, keeps or removes the file's bytes. `row` is undefined when the record was deleted meanwhile. @throws LeaseLost when `lease` is no longer
   * this server's: then nothing is stored.
   */
  async conclude(
    row: ScanRow,
    verdict: Partial<Verdict>,
    lease?: ReadingLease,
  ): Promise<{ row: ScanRow | undefined; copy: Copy }> {
    const { scan_status = row.scan_status, status_detail = row.status_detail } = verdict;
    const kept_until = keptUntil(this.options.now, row, scan_status);
    // A file that is not kept has no bytes to seal.
    const sealing = kept_until !== null && row.sealed === 0 && row.spooled === 1 ? await this.trySeal(row) : 'failed';
    const now_sealed = typeof sealing === 'string' ? undefined : sealing;
    const sealed = kept_until !== null && (row.sealed === 1 || now_sealed !== undefined);
    // A file that no engine has read yet is not given up when sealing fails.
    const waits = !sealed && (isUnread({ scan_status, status_detail }) || sealing === 'no_room');
    const store = (
      from: Kysely<AntivirusTables>,
      kept: Partial<Pick<ScanRow, 'sealed' | 'spooled' | 'in_store' | 'sealed_sha256' | 'kept_until'>>,
    ) =>
      from
        .updateTable('scans')
        .set({
          ...verdict,
          // If newer signatures find the same threat, the time of the first finding stays.
          scanned_at: row.scan_status === 'infected' && scan_status === 'infected' ? row.scanned_at : at(this.options.now),
          ...kept,
        })
        .where('id', '=', row.id)
        .returningAll();
    const kept = sealed || waits ? { ...now_sealed, sealed: sealed ? 1 : 0, spooled: waits ? 1 : 0, kept_until } : NOT_KEPT;
    const write = async (from: Kysely<AntivirusTables>) =>
      (await store(from, kept).where('sealed', '=', row.sealed).where('spooled', '=', row.spooled).executeTakeFirst()) ??
      // The owner removed the bytes meanwhile, or they expired: store the verdict anyway.
      (await store(from, {}).executeTakeFirst());
    const updated =
      lease === undefined
        ? await write(this.options.database)
        : await inTransaction(this.options.database, async (transaction) => {
            await lease.confirm(transaction.$pickTables<'jobs'>());
            return await write(transaction.$pickTables<'scans' | 'scan_counts' | 'quarantine_reports'>());
          });
    if (updated?.spooled === 1) return { row: updated, copy: 'waiting' };
    const stays = updated?.sealed === 1;
    try {
      if (stays) await this.options.spool.remove(row.id);
      else await this.remove({ ...row, ...now_sealed });
      return { row: updated, copy: stays ? 'sealed' : 'deleted' };
    } catch (error) {
      // The verdict stands; the next start removes the remaining bytes.
      this.options.logger.error({ err: error, scan: row.id }, 'the bytes of a finished scan could not be removed');
      return { row: updated, copy: 'left' };
    }
  }

  /** Seals a file that waited for room. Returns the record if it is sealed, or given up because it cannot be; undefined while there is no room, or when the record was deleted. */
  async sealWaiting(row: ScanRow): Promise<ScanRow | undefined> {
    const sealing = await this.trySeal(row);
    if (sealing === 'no_room') return undefined;
    const updated = await this.options.database
      .updateTable('scans')
      .set(sealing === 'failed' ? NOT_KEPT : { ...sealing, sealed: 1, spooled: 0 })
      .where('id', '=', row.id)
      .where('spooled', '=', sql.lit(1))
      .returningAll()
      .executeTakeFirst();
    if (updated?.sealed === 1) await this.options.spool.remove(row.id);
    else await this.remove(sealing === 'failed' ? row : { ...row, ...sealing });
    return updated;
  }

  /**
   * With a shared store: stores the sealed bytes of a received file there, so that they survive this server. Returns the columns for its record; none without such a store.
   * @throws StoreAwayError, StoreFullError
   */
  async deposit(row: ScanRow): Promise<Partial<ScanRow>> {
    return this.options.shared === undefined ? {} : await this.seal(row);
  }

  /** Restores the sealed bytes of a file to the spool for an engine. False when they are missing or were changed. @throws StoreAwayError, and the error for a disk without room. */
  async recall(row: ScanRow): Promise<boolean> {
    const path = this.options.spool.path(row.id);
    try {
      this.options.spool.require(row.size);
      const bytes = await this.placeOf(row).read(row, row.sealed_sha256);
      const file = await open(path, 'wx', 0o600).catch((error: unknown) => {
        bytes.destroy();
        throw error;
      });
      await pipeline(bytes, file.createWriteStream()).catch(async (error: unknown) => {
        await rm(path, { force: true });
        throw error;
      });
      return true;
    } catch (error) {
      if (error instanceof StoreAwayError || (row.in_store === 1 && isStorageError(error))) throw error;
      this.options.logger.error({ err: error, scan: row.id }, 'a sealed file could not be opened');
      return false;
    }
  }

  /** Decrypts the sealed bytes of a file. @throws when they are missing or were changed; StoreAwayError. */
  async read(row: ScanRow): Promise<Readable> {
    return await this.placeOf(row).read(row, row.sealed_sha256);
  }

  /** Whether the bytes of a file are in the shared store, whether read or not. */
  isShared({ in_store }: ScanRow): boolean {
    return in_store === 1 && this.options.shared !== undefined;
  }

  /** Removes the bytes of a file that is sealed or waits to be; the record stays. False when another caller has removed them. @throws StoreAwayError before anything is changed. */
  async removeFile(row: ScanRow): Promise<boolean> {
    const waits = row.spooled === 1 && !isUnread(row);
    // Remove the shared copy first, so that a reported removal is complete.
    if (row.in_store === 1) await this.placeOf(row).remove(row.id);
    const { numUpdatedRows } = await this.options.database
      .updateTable('scans')
      .set(NOT_KEPT)
      .where('id', '=', row.id)
      .where(waits ? 'spooled' : 'sealed', '=', sql.lit(1))
      .executeTakeFirst();
    if (numUpdatedRows > 0n) await this.remove({ ...row, in_store: 0 });
    return numUpdatedRows > 0n;
  }

  /** Removes expired files, and those without a record, from this server's own folders. `busy` returns the scans being received or read. Returns the changed records. */
  async sweep(busy: () => readonly string[]): Promise<ScanRow[]> {
    const changed = [...(await this.sweepExpired(busy)), ...(await this.sweepAbandoned())];
    await this.sweepLeftovers(busy);
    return changed;
  }

  /** `sweep` for the shared store; skips files that are being read. */
  async sweepShared(signal: AbortSignal): Promise<ScanRow[]> {
    const changed = await this.sweepSharedExpired(signal);
    if (this.options.shared !== undefined)
      await sweepSharedLeftovers(this.options.database, this.options.now, this.options.shared, signal);
    return changed;
  }
}

export function createScanStore(options: ScanStoreOptions): ScanStore {
  return new ScanStore(options);
}
