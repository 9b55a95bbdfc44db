import type { Readable } from 'node:stream';
import type { FastifyBaseLogger } from 'fastify';
import { StoreAwayError } from '#platform/blobs/blobs.ts';
import { Problem } from '#platform/problem.ts';
import { refuse } from './antivirus.refusals.ts';
import type { Examinations } from './examination.ts';
import { BUSY, type ReadingLeases } from './scan-jobs.ts';
import type { ScanRow } from './scan-row.ts';
import type { ScanStore } from './scan-store.ts';

/** An owner's actions on the kept bytes of a file. */
export interface KeptFiles {
  /** The bytes. @throws Problem `not_found` when none are kept, `unavailable` when they cannot be decrypted, and like all of these `on_another_server`. */
  restore(row: ScanRow): Promise<Readable>;
  /** Removes the kept bytes; the record stays. False when there are none. @throws Problem `conflict` while the file is read. */
  removeFile(row: ScanRow): Promise<boolean>;
  /**
   * Reads a kept encrypted archive with its password, which is not stored or passed on. @throws Problem `invalid_field` for a wrong one, `conflict` when there is nothing to
   * open, `unavailable` when no engine answers, `not_found` when the record was deleted meanwhile.
   */
  unlock(row: ScanRow, password: string): Promise<ScanRow>;
}

/** Seconds after which another server may answer. */
const RETRY_AFTER_S = 5;

/** @throws Problem `on_another_server` when the bytes of a record are in another data folder than `home`, or in a store that this server does not use. */
export function requireHere(row: ScanRow, scanStore: Pick<ScanStore, 'isShared'>, home: string): void {
  const is_kept = row.sealed === 1 || row.spooled === 1;
  if (!is_kept || scanStore.isShared(row)) return;
  if (row.home !== home || row.in_store === 1) throw new Problem('on_another_server', { retry_after: RETRY_AFTER_S });
}

export function createKeptFiles(parts: {
  examinations: Pick<Examinations, 'examine' | 'isRunning'>;
  scanStore: ScanStore;
  /** Undefined without a store that servers share. */
  leases: Pick<ReadingLeases, 'during'> | undefined;
  /** The data folder of this server. */
  home: string;
  /** The record as it is now. */
  find: (id: string) => Promise<ScanRow | undefined>;
  logger: FastifyBaseLogger;
}): KeptFiles {
  const { examinations, scanStore, leases, home, find, logger } = parts;
  const isRead = () => refuse('kept_file.scanning');

  function requireRest({ id }: ScanRow): void {
    if (examinations.isRunning(id)) throw isRead();
  }

  return {
    async restore(row) {
      requireHere(row, scanStore, home);
      if (row.sealed !== 1) throw refuse('kept_file.none');
      try {
        return await scanStore.read(row);
      } catch (error) {
        if (error instanceof StoreAwayError) throw error;
        // Deleted meanwhile, by its owner or with the account.
        const current = await find(row.id);
        if (current?.sealed !== 1) throw refuse('kept_file.none', {}, { cause: error });
        logger.error({ err: error, scan: row.id }, 'a sealed file could not be opened');
        throw refuse('kept_file.unreadable', {}, { cause: error });
      }
    },

    async removeFile(row) {
      requireHere(row, scanStore, home);
      requireRest(row);
      return await scanStore.removeFile(row);
    },

    async unlock(row, password) {
      requireHere(row, scanStore, home);
      requireRest(row);
      if (row.sealed !== 1 || row.scan_status !== 'pending' || row.status_detail !== 'encrypted') {
        throw refuse('kept_file.needs_no_password');
      }
      const opened =
        row.in_store === 1 && leases !== undefined
          ? await leases.during(row.id, (lease) => examinations.examine(row, { password, lease }))
          : await examinations.examine(row, { password });
      if (opened === BUSY) throw isRead();
      if (opened === undefined) throw new Problem('not_found');
      return opened;
    },
  };
}
