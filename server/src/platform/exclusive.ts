import SqliteDatabase from 'better-sqlite3';

/**
 * Takes the lock file at `path`, which is created if missing; undefined if any process, also this one, holds it. The lock is the operating system's (an SQLite transaction
 * on the file), so it always ends with its holder and cannot become stale. Returns a function that releases it.
 */
export function takeExclusive(path: string): (() => void) | undefined {
  const file = new SqliteDatabase(path, { timeout: 0 });
  try {
    file.exec('begin exclusive');
  } catch (error) {
    file.close();
    if (error instanceof Error && 'code' in error && error.code === 'SQLITE_BUSY') return undefined;
    throw error;
  }
  return () => void file.close();
}
