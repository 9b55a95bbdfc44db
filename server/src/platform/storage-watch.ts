import type { Kysely } from 'kysely';
import type { Disk } from './disk.ts';
import { type InstallationTables, writeFact } from './installation.ts';
import { isStorageError } from './storage-problem.ts';

/** `low`: uploads are refused, to keep room for the database. `full`: the database accepts no writes either. */
type StorageState = 'ok' | 'low' | 'full';

/** Watches whether there is free space, and whether a full disk has space again. */
export interface StorageWatch {
  /** Records the error of a failed request. */
  note(error: unknown): void;
  state(): Promise<StorageState>;
}

const PROBE = 'storage_probe';
/** Interval between trial writes to a full database, in ms. */
const TRY_EVERY_MS = 1_000;

/** `disk` is that of the data folder. A trial write happens only after a write has failed: otherwise reading the state costs nothing. */
export function createStorageWatch(parts: { database: Kysely<InstallationTables>; disk: Disk; now: () => number }): StorageWatch {
  const { database, disk, now } = parts;
  let is_full = false;
  let tried_at = Number.NEGATIVE_INFINITY;
  let trying: Promise<void> | undefined;

  async function tryWriting(): Promise<void> {
    tried_at = performance.now();
    try {
      await writeFact(database, PROBE, new Date(now()).toISOString());
      is_full = false;
    } catch (error) {
      // An outage is reported elsewhere, and does not mean that the disk is full.
      if (!isStorageError(error)) is_full = false;
    }
  }

  return {
    note(error) {
      const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
      if (isStorageError(error) || isStorageError(cause)) is_full = true;
    },
    async state() {
      if (is_full && performance.now() - tried_at >= TRY_EVERY_MS) {
        trying ??= tryWriting().finally(() => {
          trying = undefined;
        });
      }
      await trying;
      if (is_full) return 'full';
      return disk.fits(0) ? 'ok' : 'low';
    },
  };
}
