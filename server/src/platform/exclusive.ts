import SqliteDatabase from 'better-sqlite3';

/**
 * Takes the lock file at `path`, which it makes; undefined when another process, or this one, holds it. The lock is the operating system's (an SQLite
 * transaction on the file), so it ends with its holder, however that ends, and there is no such thing as a stale lock. Answers what gives it back.
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
