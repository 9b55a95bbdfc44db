import { StoreAwayError } from './blobs/blobs.ts';
import { troubleOf } from './database-errors.ts';
import { refuse } from './platform.refusals.ts';
import { Problem } from './problem.ts';

/** Seconds after which a retry is useful. */
const RETRY_AFTER_S = 60;
const AWAY_RETRY_AFTER_S = 5;

/** Codes of the file system: full, over a quota, failing, read-only, out of file handles. The databases' own codes are in database-errors.ts. */
const OF_FILES = new Set(['ENOSPC', 'EDQUOT', 'EFBIG', 'EIO', 'EROFS', 'EMFILE', 'ENFILE']);

/** Whether an error means that the storage accepts no more data. */
export function isStorageError(error: unknown): boolean {
  if (troubleOf(error) === 'storage') return true;
  return error instanceof Error && 'code' in error && OF_FILES.has(String(error.code));
}

/** Converts the error of a full storage to `storage_full`, and of an unreachable one to `unavailable`; returns other errors unchanged. */
export function storageProblem(error: unknown): unknown {
  if (error instanceof StoreAwayError) return refuse('file_store.away', {}, { retry_after: AWAY_RETRY_AFTER_S, cause: error });
  return isStorageError(error) ? new Problem('storage_full', { retry_after: RETRY_AFTER_S, cause: error }) : error;
}
