import { Problem } from './problem.ts';

/** Seconds after which it is worth trying again. */
const RETRY_AFTER_S = 60;

/**
 * Of the file system (full, over a quota, failing, read-only, out of file handles), of SQLite (sqlite.org/rescode.html: its extended codes begin with these), and
 * of PostgreSQL (appendix A: class 53 "insufficient resources" as far as it is about storage, 58030 "io_error").
 */
const STORAGE_CODES =
  /^(ENOSPC|EDQUOT|EFBIG|EIO|EROFS|EMFILE|ENFILE|SQLITE_FULL|SQLITE_IOERR\w*|SQLITE_READONLY\w*|53100|58030)$/;

/** Whether an error says that the storage takes no more. */
export function isStorageError(error: unknown): boolean {
  return error instanceof Error && 'code' in error && STORAGE_CODES.test(String(error.code));
}

/** `storage_full` in place of the error of a storage that takes no more; else the error itself. */
export function storageProblem(error: unknown): unknown {
  return isStorageError(error) ? new Problem('storage_full', { retry_after: RETRY_AFTER_S, cause: error }) : error;
}
