import { QUARANTINE_DAYS } from '@palisade/contract/quarantine';
import type { FastifyBaseLogger } from 'fastify';
import { type Kysely, type Selectable, sql, type Updateable } from 'kysely';
import { isStorageError } from '#platform/storage-problem.ts';
import type { AntivirusTables } from './antivirus.tables.ts';
import type { Quarantine } from './quarantine.ts';
import type { Spool } from './spool.ts';

/** A record as it is stored. */
export type ScanRow = Selectable<AntivirusTables['scans']>;

/** What a reading says of a file. */
export type Verdict = Required<
  Pick<
    Updateable<AntivirusTables['scans']>,
    | 'scan_status'
    | 'status_detail'
    | 'threat_detected'
    | 'threat_member'
    | 'threat_facts'
    | 'media_type'
    | 'notes'
    | 'engines'
    | 'coverage'
    | 'edition'
    | 'answered_from'
    | 'attempts'
  >
>;

/** What became of the uploaded bytes: `left` when they could not be removed, `waiting` for an engine or for room to be sealed. */
export type Copy = 'sealed' | 'deleted' | 'left' | 'waiting';

/** Of a file that is pending because no engine has read it yet. */
export const UNREAD = ['engine_down', 'queued'] as const;

/** Whether an engine has yet to read the file; else what lies in the spool waits for room to be sealed. */
export function isUnread({ scan_status, status_detail }: Pick<ScanRow, 'scan_status' | 'status_detail'>): boolean {
  return scan_status === 'pending' && UNREAD.some((detail) => detail === status_detail);
}

/** Which uploaded bytes stay, how, and until when. */
export interface Keeping {
  /** Stores a verdict, then seals, keeps or removes the bytes that it is about. `row` is undefined when the record was removed meanwhile. */
  conclude(row: ScanRow, verdict: Partial<Verdict>): Promise<{ row: ScanRow | undefined; copy: Copy }>;
  /** Seals what waited for room. Answers the record when it is sealed, or given up because it cannot be; undefined while there is no room, or the record is gone. */
  sealWaiting(row: ScanRow): Promise<ScanRow | undefined>;
  /** Puts the bytes of a sealed file back into the spool for an engine. False when they cannot be had. */
  recall(row: ScanRow): Promise<boolean>;
  /** Removes the bytes of a file that is sealed or waits to be; the record stays. False when somebody else has. */
  removeFile(row: ScanRow): Promise<boolean>;
  /** Removes all bytes of a scan. */
  remove(id: string): Promise<void>;
  /**
   * Removes what is over its time or belongs to no record, of this server's files. `busy` answers the scans that are taken in or read just now. Answers the records
   * that have changed by it.
   */
  sweep(busy: () => readonly string[]): Promise<ScanRow[]>;
}

const DAY_MS = 86_400_000;
const SWEPT_AT_ONCE = 100;
/** A server that has not removed what was over its time for so long does not run any more: others say so on its records. */
const ABANDONED_MS = DAY_MS;

/** Until when a file that has just arrived may wait to be read. */
export function waitsUntil(now: number): string {
  return new Date(now + QUARANTINE_DAYS.pending * DAY_MS).toISOString();
}

export function createKeeping(parts: {
  database: Kysely<AntivirusTables>;
  spool: Spool;
  quarantine: Quarantine;
  /** The data folder of `spool` and `quarantine`. */
  home: string;
  /** Bytes of one person that are kept sealed. */
  quota: number;
  now: () => number;
  logger: FastifyBaseLogger;
}): Keeping {
  const { database, spool, quarantine, home, quota, now, logger } = parts;
  const at = () => new Date(now()).toISOString();

  /** Until when the bytes stay after this verdict; null when they do not. */
  function keptUntil(row: ScanRow, scan_status: ScanRow['scan_status']): string | null {
    switch (scan_status) {
      case 'infected':
        return row.scan_status === 'infected' && row.kept_until !== null
          ? row.kept_until
          : new Date(now() + QUARANTINE_DAYS.infected * DAY_MS).toISOString();
      case 'pending':
        return row.kept_until ?? waitsUntil(now());
      case 'clean':
        // It was held to be infected and taken out of sight: its owner may have it back.
        return row.scan_status === 'infected' && row.sealed === 1 ? row.kept_until : null;
    }
  }

  /** A failure loses neither the verdict nor leaves the bytes as they are: they are removed then, but for want of room, which may come. */
  async function trySeal(row: ScanRow): Promise<'sealed' | 'no_room' | 'failed'> {
    try {
      const { bytes } = await database
        .selectFrom('scans')
        .select(({ fn }) => fn.sum<number | string | null>('size').as('bytes'))
        .where('user_id', '=', row.user_id)
        .where('sealed', '=', sql.lit(1))
        .executeTakeFirstOrThrow();
      if (Number(bytes ?? 0) + row.size > quota) return 'failed';
      await quarantine.seal(row, spool.path(row.id));
      return 'sealed';
    } catch (error) {
      logger.error({ err: error, scan: row.id }, 'a file could not be sealed');
      return isStorageError(error) ? 'no_room' : 'failed';
    }
  }

  async function remove(id: string): Promise<void> {
    await Promise.all([spool.remove(id), quarantine.remove(id)]);
  }

  /** Removes the files of this server that are over their time. */
  async function sweepExpired(busy: () => readonly string[]): Promise<ScanRow[]> {
    const changed: ScanRow[] = [];
    for (;;) {
      const over = await database
        .selectFrom('scans')
        .selectAll()
        .where('home', '=', home)
        .where('kept_until', 'is not', null)
        .where('kept_until', '<', at())
        .where('id', 'not in', ['', ...busy()])
        .orderBy('kept_until')
        .limit(SWEPT_AT_ONCE)
        .execute();
      for (const row of over) {
        if (busy().includes(row.id)) continue;
        const updated = await database
          .updateTable('scans')
          .set({ sealed: 0, spooled: 0, kept_until: null, ...(isUnread(row) ? { status_detail: 'expired' as const } : {}) })
          .where('id', '=', row.id)
          .returningAll()
          .executeTakeFirst();
        await remove(row.id);
        if (updated !== undefined) changed.push(updated);
      }
      if (over.length < SWEPT_AT_ONCE) return changed;
    }
  }

  /** Says of the files of a server that runs no more that they are not kept; should it run again, it removes them. */
  async function sweepAbandoned(): Promise<ScanRow[]> {
    return await database
      .updateTable('scans')
      .set(({ eb }) => ({
        sealed: 0,
        spooled: 0,
        kept_until: null,
        status_detail: eb
          .case()
          .when('status_detail', 'in', UNREAD)
          .then('expired' as const)
          .else(eb.ref('status_detail'))
          .end(),
      }))
      .where('home', '!=', home)
      .where('kept_until', 'is not', null)
      .where('kept_until', '<', new Date(now() - ABANDONED_MS).toISOString())
      .returningAll()
      .execute();
  }

  /** Removes files of a folder of this server that no record knows there. */
  async function sweepLeftovers(folder: Spool | Quarantine, busy: () => readonly string[]): Promise<void> {
    // Listed first, and without what is busy then: a file that comes later is not taken for a leftover, and of one that was here its record is written.
    const here = await folder.list();
    const busy_before = new Set(busy());
    const still = here.filter((id) => !busy_before.has(id));
    for (let start = 0; start < still.length; start += SWEPT_AT_ONCE) {
      const ids = still.slice(start, start + SWEPT_AT_ONCE);
      const rows = await database
        .selectFrom('scans')
        .select('id')
        .where('id', 'in', ids)
        .where(folder === spool ? 'spooled' : 'sealed', '=', sql.lit(1))
        .execute();
      const known = new Set(rows.map(({ id }) => id));
      for (const id of ids) if (!known.has(id) && !busy().includes(id)) await folder.remove(id);
    }
  }

  return {
    async conclude(row, verdict) {
      const { scan_status = row.scan_status, status_detail = row.status_detail } = verdict;
      const kept_until = keptUntil(row, scan_status);
      // Of what was not kept there is nothing to seal.
      const sealing = kept_until !== null && row.sealed === 0 && row.spooled === 1 ? await trySeal(row) : 'failed';
      const sealed = kept_until !== null && (row.sealed === 1 || sealing === 'sealed');
      // What no engine has read yet is never given up for want of a seal.
      const waits = !sealed && (isUnread({ scan_status, status_detail }) || sealing === 'no_room');
      const store = (kept: Partial<Pick<ScanRow, 'sealed' | 'spooled' | 'kept_until'>>) =>
        database
          .updateTable('scans')
          .set({
            ...verdict,
            // A threat that newer signatures find as well was found when it was found first.
            scanned_at: row.scan_status === 'infected' && scan_status === 'infected' ? row.scanned_at : at(),
            ...kept,
          })
          .where('id', '=', row.id)
          .returningAll();
      const updated =
        (await store({ sealed: sealed ? 1 : 0, spooled: waits ? 1 : 0, kept_until: sealed || waits ? kept_until : null })
          .where('sealed', '=', row.sealed)
          .where('spooled', '=', row.spooled)
          .executeTakeFirst()) ??
        // Their owner took the bytes away meanwhile, or their time was over: what is known of them is known all the same.
        (await store({}).executeTakeFirst());
      if (updated?.spooled === 1) return { row: updated, copy: 'waiting' };
      const stays = updated?.sealed === 1;
      try {
        if (stays) await spool.remove(row.id);
        else await remove(row.id);
        return { row: updated, copy: stays ? 'sealed' : 'deleted' };
      } catch (error) {
        // The verdict stands; the next start removes what stayed.
        logger.error({ err: error, scan: row.id }, 'the bytes of a finished scan could not be removed');
        return { row: updated, copy: 'left' };
      }
    },

    async sealWaiting(row) {
      const sealing = await trySeal(row);
      if (sealing === 'no_room') return undefined;
      const sealed = sealing === 'sealed';
      const updated = await database
        .updateTable('scans')
        .set({ sealed: sealed ? 1 : 0, spooled: 0, ...(sealed ? {} : { kept_until: null }) })
        .where('id', '=', row.id)
        .where('spooled', '=', sql.lit(1))
        .returningAll()
        .executeTakeFirst();
      if (updated?.sealed === 1) await spool.remove(row.id);
      else await remove(row.id);
      return updated;
    },

    async recall(row) {
      try {
        spool.require(row.size);
        await quarantine.unseal(row, spool.path(row.id));
        return true;
      } catch (error) {
        logger.error({ err: error, scan: row.id }, 'a sealed file could not be opened');
        return false;
      }
    },

    async removeFile(row) {
      const waits = row.spooled === 1 && !isUnread(row);
      const { numUpdatedRows } = await database
        .updateTable('scans')
        .set({ sealed: 0, spooled: 0, kept_until: null })
        .where('id', '=', row.id)
        .where(waits ? 'spooled' : 'sealed', '=', sql.lit(1))
        .executeTakeFirst();
      if (numUpdatedRows > 0n) await remove(row.id);
      return numUpdatedRows > 0n;
    },

    remove,

    async sweep(busy) {
      const changed = [...(await sweepExpired(busy)), ...(await sweepAbandoned())];
      await sweepLeftovers(quarantine, busy);
      await sweepLeftovers(spool, busy);
      return changed;
    },
  };
}
