import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync, statfsSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describeSize } from '@palisade/contract/intl';
import SqliteDatabase from 'better-sqlite3';

/** An upgrade that cannot begin. `message` is one line that says what to do. */
class UpgradeCopyError extends Error {
  override name = 'UpgradeCopyError';
}

const COPY = 'palisade.before-upgrade.sqlite';
/** Bytes that SQLite writes even for a small database. */
const LEAST_BYTES = 4 * 1024 ** 2;

/** The path of the copy of an SQLite database that is made before an upgrade. */
export function upgradeCopyOf(sqlite: string): string {
  return join(dirname(sqlite), COPY);
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

function syncPath(path: string): void {
  const file = openSync(path, 'r');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** Copies an SQLite database once: an existing copy is from before an unfinished upgrade, and is kept. @throws UpgradeCopyError when the disk has no room for the copy and the upgrade. */
export function copyBeforeUpgrade(sqlite: string, freeBytes?: number): void {
  const copy = upgradeCopyOf(sqlite);
  if (existsSync(copy)) return;
  const folder = dirname(sqlite);
  const unfinished = `${copy}.part`;
  const removeUnfinished = () => {
    for (const path of [unfinished, `${unfinished}-journal`]) rmSync(path, { force: true });
  };
  removeUnfinished();
  const freeNow = () => {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize;
  };
  const free = freeBytes ?? freeNow();
  // Room for the copy, and as much again for the writes of the migrations.
  const needed = 2 * (sizeOf(sqlite) + sizeOf(`${sqlite}-wal`)) + LEAST_BYTES;
  const noRoom = (left: number) =>
    new UpgradeCopyError(
      `The upgrade needs ${describeSize(needed)} free in ${folder} to copy the database, but only ${describeSize(left)} is free. Free some space, or start the previous version. Nothing was changed.`,
    );
  if (free < needed) throw noRoom(free);
  const database = new SqliteDatabase(sqlite, { readonly: true, fileMustExist: true, timeout: 60_000 });
  try {
    database.prepare('vacuum into ?').run(unfinished);
    syncPath(unfinished);
    renameSync(unfinished, copy);
    syncPath(folder);
  } catch (error) {
    const left = freeNow();
    removeUnfinished();
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    if (code === 'SQLITE_FULL' || code === 'ENOSPC') throw noRoom(left);
    throw error;
  } finally {
    database.close();
  }
}

/** Removes the copy after the new version has started. Returns whether there was one. */
export function removeUpgradeCopy(sqlite: string): boolean {
  const copy = upgradeCopyOf(sqlite);
  const existed = existsSync(copy);
  rmSync(copy, { force: true });
  return existed;
}
