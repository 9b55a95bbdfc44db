import type { Kysely } from 'kysely';
import type { Disk } from './disk.ts';
import { type InstallationTables, writeFact } from './installation.ts';
import { isStorageError } from './storage-problem.ts';

/** `low`: uploads are refused, so that the database has room. `full`: the database takes no writes either. */
type StorageState = 'ok' | 'low' | 'full';

/** Knows whether there is room, and whether there is again. */
export interface StorageWatch {
  /** Notes the error of a failed answer. */
  note(error: unknown): void;
  state(): Promise<StorageState>;
}

const PROBE = 'storage_probe';
/** Interval between trial writes to a full database, in ms. */
const TRY_EVERY_MS = 1_000;

/** `disk` is that of the data folder. A write is tried only after one has failed: asking for the state costs nothing. */
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
      // An outage is another matter, and is reported elsewhere.
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
