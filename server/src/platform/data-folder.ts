import {
  closeSync,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  realpathSync,
  statfsSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { z } from 'zod';

/** A DATA_DIR that this program refuses to use. `message` is one line that says what to do. */
export class DataFolderError extends Error {
  override name = 'DataFolderError';
}

/** The file that marks a folder as made by this program. */
export const MARK = 'palisade.data';
const MARK_TEXT = 'This is the data folder of a Palisade server. Don’t change its files by hand.\n';
/** Exists while a restore runs, or after one was interrupted. */
export const RESTORING = 'restoring';
const SQLITE_HEADER = 'SQLite format 3\0';
const PRIVATE_FOLDER = 0o700;
const NAMES_SHOWN = 3;

/** File systems without user files, by their magic number (statfs(2)). */
const SYSTEM_FILES = new Map([
  [0x9fa0, 'proc'],
  [0x62656572, 'sysfs'],
  [0x64626720, 'debugfs'],
  [0x63677270, 'cgroup2'],
  [0x27e0eb, 'cgroup'],
  [0x1cd1, 'devpts'],
]);

/** Names that a folder may hold before the first start: of file systems, of keys that were put there, of an interrupted first start. */
const BEFORE_FIRST = /^(lost\+found|palisade\.[\w.-]*|server\.(json|lock)|before-restore-\d+)$/;
const KEY_FILE = /^(quarantine\.key|two-factor\.key|audit\.key|backup\.key|audit\.head)(\.[\w.-]+)?$/;

const codeOf = (error: unknown) => (error instanceof Error && 'code' in error ? String(error.code) : 'unknown');

function unusable(folder: string, code: string): DataFolderError {
  if (code === 'ENOSPC')
    return new DataFolderError(
      `There is no space left for the data folder ${folder}. Free some, or set DATA_DIR to another folder.`,
    );
  return new DataFolderError(
    `We can’t write to the data folder ${folder} (${code}). Make it writable, or set DATA_DIR to another folder.`,
  );
}

/** The nearest existing ancestor folder. */
function existingAbove(path: string): string {
  let above = path;
  while (!existsSync(above) && dirname(above) !== above) above = dirname(above);
  return above;
}

/** Creates a folder and its parents. Replaces `mkdir` with `recursive`, which never ends under /proc (nodejs/node issue 31481). */
function makeFolder(path: string): void {
  if (existsSync(path)) return;
  if (dirname(path) !== path) makeFolder(dirname(path));
  mkdirSync(path, { mode: PRIVATE_FOLDER });
}

function startsAsSqlite(path: string): boolean {
  if (lstatSync(path, { throwIfNoEntry: false })?.isFile() !== true) return false;
  const file = openSync(path, 'r');
  try {
    const head = Buffer.alloc(SQLITE_HEADER.length);
    return readSync(file, head) === 0 || head.toString('latin1') === SQLITE_HEADER;
  } finally {
    closeSync(file);
  }
}

function holdsHomeId(path: string): boolean {
  return (
    lstatSync(path, { throwIfNoEntry: false })?.isFile() === true && z.uuid().safeParse(readFileSync(path, 'utf8').trim()).success
  );
}

/** Names in the folder that do not belong to this program, as far as names show it before the first start. */
function foreignNames(folder: string, names: readonly string[], key_files: readonly string[]): string[] {
  return names.filter((name) => {
    const path = join(folder, name);
    if (BEFORE_FIRST.test(name) || name === RESTORING || key_files.includes(path)) return false;
    if (name === 'home') return !holdsHomeId(path);
    if (name !== 'keys' || !lstatSync(path).isDirectory()) return true;
    // Names with two dots belong to a mounted Kubernetes secret volume.
    return readdirSync(path).some((key) => !KEY_FILE.test(key) && !key.startsWith('..') && !key_files.includes(join(path, key)));
  });
}

/** The real path of the folder, created if missing. @throws DataFolderError */
function openFolder(data_dir: string): { folder: string; names: string[] } {
  const found = lstatSync(data_dir, { throwIfNoEntry: false });
  if (found?.isSymbolicLink() && !existsSync(data_dir))
    throw new DataFolderError(
      `DATA_DIR ${data_dir} links to a missing folder. Create that folder, or set DATA_DIR to another one.`,
    );
  if (found !== undefined && !statSync(data_dir).isDirectory())
    throw new DataFolderError(`DATA_DIR ${data_dir} is a file. Set it to a new or empty folder.`);
  const system = SYSTEM_FILES.get(statfsSync(existingAbove(data_dir)).type);
  if (system !== undefined)
    throw new DataFolderError(`DATA_DIR ${data_dir} is on a kernel file system (${system}). Set it to a folder on a disk.`);
  makeFolder(data_dir);
  return { folder: realpathSync(data_dir), names: readdirSync(data_dir) };
}

/**
 * Checks that the data folder is this program's: one that it made and marked; one of an earlier version, recognized by its database and marked now; or a new or empty one.
 * Any other folder is left unchanged. `restores` is for the command that completes an interrupted restore. @throws DataFolderError
 */
export function requireOwnFolder(parts: { data_dir: string; key_files: readonly string[]; restores?: boolean }): void {
  const { data_dir, key_files, restores = false } = parts;
  try {
    const { folder, names } = openFolder(data_dir);
    if (!restores && names.includes(RESTORING))
      throw new DataFolderError(
        `A restore into the data folder ${data_dir} was interrupted, or is under way: what is in it is not whole. Run it to its end: palisade restore <file> --force`,
      );
    if (names.includes(MARK)) return;
    const is_known = startsAsSqlite(join(folder, 'palisade.sqlite')) || holdsHomeId(join(folder, 'home'));
    const foreign = is_known ? [] : foreignNames(folder, names, key_files);
    if (foreign.length > 0) {
      const more = foreign.length > NAMES_SHOWN ? ` and ${foreign.length - NAMES_SHOWN} more` : '';
      throw new DataFolderError(
        `DATA_DIR ${data_dir} isn’t a Palisade folder: it contains ${foreign.slice(0, NAMES_SHOWN).join(', ')}${more}. Set DATA_DIR to a new or empty folder. Nothing was changed.`,
      );
    }
    writeFileSync(join(folder, MARK), MARK_TEXT, { mode: 0o600, flag: 'wx', flush: true });
  } catch (error) {
    if (error instanceof DataFolderError || codeOf(error) === 'EEXIST') {
      // Another process marked it in the meantime.
      if (codeOf(error) === 'EEXIST' && existsSync(join(data_dir, MARK))) return;
      if (error instanceof DataFolderError) throw error;
    }
    throw unusable(data_dir, codeOf(error));
  }
}
