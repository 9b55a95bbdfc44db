import { type BigIntStats, constants, type FSWatcher, watch } from 'node:fs';
import { type FileHandle, lstat, open, opendir, readlink } from 'node:fs/promises';
import { FileRefused, timely } from './timely.ts';

/**
 * Safe access to files and folders that other users of this computer can write to. Each folder of a path is opened relative to the handle of its parent, and links of other
 * users are not followed, so that another user cannot redirect the access by a rename. Names are bytes.
 */
export type { BigIntStats as Stats } from 'node:fs';

/** Flag of open(2) for a handle without read or write access, through which a folder can be inspected and entered. The same value on x86-64 and arm64. */
const O_PATH = 0o10000000;
const FOLDER = O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW;
/** Opening a FIFO without a writer, or a file with a lease, does not block. */
const FILE = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY;
/** Maximum links of root in one path (Linux: MAXSYMLINKS). */
const LINKS_MAXIMUM = 40;
/** Maximum components of one path: a path of 64 KB, sixteen times PATH_MAX. */
const COMPONENTS_MAXIMUM = 32_768;
const CHUNK_BYTES = 256 * 1024;
const NAMES_AT_ONCE = 256;
const WRITABLE_BY_OTHERS = 0o022n;
const STICKY = 0o1000n;
const SLASH = Buffer.from('/');

type EntryKind = 'file' | 'folder' | 'link' | 'other';
export interface Entry {
  name: Buffer;
  kind: EntryKind;
}

/**
 * The users who can change the entries of a folder or of a parent folder: only root; others, but not entries of root (sticky); or
 * others.
 */
type Writers = 'root' | 'sticky' | 'others';

const codeOf = (error: unknown) => (error instanceof Error && 'code' in error ? String(error.code) : '');

/** Splits a path into its components. @throws FileRefused `bad_path` for a path that is not absolute or contains NUL, `.` or `..` */
function componentsOf(path: Buffer): Buffer[] {
  const parts: Buffer[] = [];
  if (path[0] !== SLASH[0]) throw new FileRefused('bad_path', 'the path is not absolute');
  for (let from = 1; from < path.length; ) {
    const at = path.indexOf(SLASH, from);
    const end = at < 0 ? path.length : at;
    if (end > from) parts.push(checkedName(path.subarray(from, end)));
    from = end + 1;
  }
  if (parts.length > COMPONENTS_MAXIMUM) throw new FileRefused('bad_path', 'the path has too many folders');
  return parts;
}

function checkedName(name: Buffer): Buffer {
  const text = name.toString('latin1');
  if (text === '' || text === '.' || text === '..' || text.includes('/') || text.includes('\0'))
    throw new FileRefused('bad_path', 'this is not the name of an entry');
  return name;
}

/** The path of an entry of a folder, for display and storage. */
export function joinPath(folder: Buffer, name: Buffer): Buffer {
  return folder.equals(SLASH) ? Buffer.concat([SLASH, name]) : Buffer.concat([folder, SLASH, name]);
}

/** The folder part and the name of a path. @throws FileRefused `bad_path` */
export function splitPath(path: Buffer): { folder: Buffer; name: Buffer } {
  const parts = componentsOf(path);
  const name = parts.pop();
  if (name === undefined) throw new FileRefused('bad_path', 'this is the root');
  return { folder: parts.reduce(joinPath, SLASH), name };
}

function writersOf(stats: BigIntStats, above: Writers): Writers {
  if (above === 'others' || stats.uid !== 0n) return 'others';
  // With an access control list, the group bits are its mask: the maximum rights of additional users and groups (acl(5)).
  if ((stats.mode & WRITABLE_BY_OTHERS) === 0n) return above;
  return (stats.mode & STICKY) === 0n ? 'others' : 'sticky';
}

/** A handle of an open folder, which stays valid if its path changes. */
export class Folder {
  /** The requested path, for display and storage; it is never opened. */
  readonly path: Buffer;
  readonly stats: BigIntStats;
  readonly writers: Writers;
  /** Whether only root can write to the folder, and only root can replace it or a parent folder. */
  readonly isRootsAlone: boolean;
  readonly #handle: FileHandle;

  private constructor(path: Buffer, handle: FileHandle, stats: BigIntStats, above: Writers) {
    this.path = path;
    this.#handle = handle;
    this.stats = stats;
    this.writers = writersOf(stats, above);
    this.isRootsAlone = this.writers !== 'others' && (stats.mode & WRITABLE_BY_OTHERS) === 0n;
  }

  /**
   * Opens an absolute path, one component at a time. Links of root in folders that only root can write to are followed, because some systems have them (for example `/home`); others are not.
   * @throws FileRefused `link`, `bad_path`, `deadline`; or the system's error
   */
  static async open(path: string | Buffer): Promise<Folder> {
    let rest = componentsOf(Buffer.from(path));
    let links = 0;
    let folder = await Folder.#root();
    for (let name = rest.shift(); name !== undefined; name = rest.shift()) {
      const above = folder;
      try {
        folder = await above.folder(name);
      } catch (error) {
        if (!(error instanceof FileRefused) || error.code !== 'link' || links >= LINKS_MAXIMUM) throw error;
        const target = await above.#rootsLink(name);
        if (target === undefined) throw error;
        links += 1;
        rest = [...componentsOf(target), ...rest];
        folder = await Folder.#root();
      } finally {
        await above.close();
      }
    }
    return folder;
  }

  static async #root(): Promise<Folder> {
    return await Folder.#take(SLASH, SLASH, 'root');
  }

  static async #take(at: Buffer, path: Buffer, above: Writers): Promise<Folder> {
    const handle = await timely(
      () => open(at, FOLDER),
      (late) => late.close(),
    );
    try {
      return new Folder(path, handle, await timely(() => handle.stat({ bigint: true })), above);
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  /** The target of a link that only root can have created; undefined for any other entry. */
  async #rootsLink(name: Buffer): Promise<Buffer | undefined> {
    if (!this.isRootsAlone || (await this.stat(name)).uid !== 0n) return undefined;
    const target = await this.readLink(name);
    if (target[0] === SLASH[0]) return target;
    // Relative targets such as `usr/lib` and `../run`.
    const parts = this.path.toString('latin1').split('/').filter(Boolean);
    for (const part of target.toString('latin1').split('/')) {
      if (part === '..') parts.pop();
      else if (part !== '' && part !== '.') parts.push(part);
    }
    return Buffer.from(`/${parts.join('/')}`, 'latin1');
  }

  /** Path of an entry through the folder's handle, so that only the last component can change. For this module only. */
  entryPath(name: Buffer): Buffer {
    return Buffer.concat([Buffer.from(`/proc/self/fd/${this.#handle.fd}/`), checkedName(name)]);
  }

  /** Opens a subfolder. @throws FileRefused `link` for a link or another entry that is not a folder */
  async folder(name: Buffer): Promise<Folder> {
    try {
      return await Folder.#take(this.entryPath(name), joinPath(this.path, name), this.writers);
    } catch (error) {
      if (codeOf(error) === 'ENOTDIR' || codeOf(error) === 'ELOOP')
        throw new FileRefused('link', 'it is a link, or no folder, where a folder is expected');
      throw error;
    }
  }

  /** Opens a regular file for reading. @throws FileRefused `not_regular`, `link`, `deadline`; or the system's error */
  async file(name: Buffer): Promise<ForeignFile> {
    return await ForeignFile.open(this.entryPath(name), joinPath(this.path, name));
  }

  /** The stats of an entry, without following a link. */
  async stat(name: Buffer): Promise<BigIntStats> {
    return await timely(() => lstat(this.entryPath(name), { bigint: true }));
  }

  async readLink(name: Buffer): Promise<Buffer> {
    return await timely(() => readlink(this.entryPath(name), { encoding: 'buffer' }));
  }

  /** Yields the entries in the order of the file system, without loading all of them into memory. */
  async *entries(): AsyncGenerator<Entry> {
    const folder = await timely(
      () => opendir(`/proc/self/fd/${this.#handle.fd}/.`, { encoding: 'latin1', bufferSize: NAMES_AT_ONCE }),
      (late) => late.close(),
    );
    try {
      for (let entry = await timely(() => folder.read()); entry !== null; entry = await timely(() => folder.read())) {
        const kind = entry.isFile() ? 'file' : entry.isDirectory() ? 'folder' : entry.isSymbolicLink() ? 'link' : 'other';
        yield { name: Buffer.from(entry.name, 'latin1'), kind };
      }
    } finally {
      await folder.close().catch(() => undefined);
    }
  }

  /**
   * Watches this folder, and not a later one at its path; the handle may be closed meanwhile. `onName` receives the name of an entry that was written, created, moved or removed.
   * @throws the system's error immediately; ENOSPC if the kernel's limit of watches is reached
   */
  watch(onName: (name: Buffer) => void, onGone: () => void): FSWatcher {
    const watcher = watch(`/proc/self/fd/${this.#handle.fd}/.`, { persistent: false, encoding: 'buffer' }, (_event, name) => {
      // An event with the watched name `.` means that the folder itself was moved or removed.
      if (name === null || name.toString('latin1') === '.') onGone();
      else onName(Buffer.from(name));
    });
    watcher.on('error', onGone);
    return watcher;
  }

  async close(): Promise<void> {
    await this.#handle.close();
  }
}

/** A handle of an open regular file of another user, which stays valid if its path changes. */
export class ForeignFile {
  readonly path: Buffer;
  /** The file's stats when it was opened. */
  readonly stats: BigIntStats;
  readonly #handle: FileHandle;

  private constructor(path: Buffer, handle: FileHandle, stats: BigIntStats) {
    this.path = path;
    this.#handle = handle;
    this.stats = stats;
  }

  /** For this module only: other modules use `Folder.file` or `openForeign`. */
  static async open(at: Buffer, path: Buffer): Promise<ForeignFile> {
    let handle: FileHandle;
    try {
      handle = await timely(
        () => open(at, FILE),
        (late) => late.close(),
      );
    } catch (error) {
      if (codeOf(error) === 'ELOOP') throw new FileRefused('link', 'it is a link');
      // A socket, or a missing device.
      if (codeOf(error) === 'ENXIO') throw new FileRefused('not_regular', 'it is no plain file');
      throw error;
    }
    try {
      const stats = await timely(() => handle.stat({ bigint: true }));
      if (!stats.isFile()) throw new FileRefused('not_regular', 'it is no plain file');
      return new ForeignFile(path, handle, stats);
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  /** Path of exactly this open file for programs that the agent starts, valid until it is closed. It is ASCII, whatever the file's name is. */
  get handlePath(): string {
    return `/proc/${process.pid}/fd/${this.#handle.fd}`;
  }

  /** Reads the whole file if it has at most `bytes_maximum` bytes. @throws FileRefused `too_large` before anything is read, `deadline` */
  async read(bytes_maximum: number): Promise<Buffer> {
    if (this.stats.size > BigInt(bytes_maximum)) throw new FileRefused('too_large', `it has more than ${bytes_maximum} bytes`);
    return await this.readSome(bytes_maximum);
  }

  /** Reads at most `bytes_maximum` bytes from `position`, up to the size that the file had when it was opened. */
  async readSome(bytes_maximum: number, position = 0): Promise<Buffer> {
    const left = Number(this.stats.size) - position;
    // Files in /proc report the size 0 although they have content.
    const length = Math.max(0, Math.min(bytes_maximum, this.stats.size === 0n ? bytes_maximum : left));
    const parts: Buffer[] = [];
    let at = 0;
    while (at < length) {
      const part = await this.#readInto(Buffer.allocUnsafe(Math.min(CHUNK_BYTES, length - at)), position + at);
      if (part.length === 0) break;
      parts.push(part);
      at += part.length;
    }
    return Buffer.concat(parts);
  }

  async #readInto(buffer: Buffer, position: number): Promise<Buffer> {
    const { bytesRead } = await timely(() => this.#handle.read(buffer, 0, buffer.length, position));
    return buffer.subarray(0, bytesRead);
  }

  /** Yields the file in chunks, up to the size that it had when it was opened. Each chunk overwrites the previous one, so that memory does not grow with the file. */
  async *chunks(): AsyncGenerator<Buffer> {
    const size = Number(this.stats.size);
    const buffer = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, size));
    for (let at = 0; at < size; ) {
      const part = await this.#readInto(buffer.subarray(0, Math.min(buffer.length, size - at)), at);
      if (part.length === 0) return;
      at += part.length;
      yield part;
    }
  }

  /** The file's current stats. */
  async statNow(): Promise<BigIntStats> {
    return await timely(() => this.#handle.stat({ bigint: true }));
  }

  /** Whether size and times are unchanged since the file was opened. */
  async isUnchanged(): Promise<boolean> {
    return isSameContent(await this.statNow(), this.stats);
  }

  async close(): Promise<void> {
    await this.#handle.close();
  }
}

/** Whether both are one inode. */
export const isSameFile = (a: BigIntStats, b: BigIntStats): boolean => a.dev === b.dev && a.ino === b.ino;
/** Whether both are one inode with the same size and time of change. */
export const isSameContent = (a: BigIntStats, b: BigIntStats): boolean =>
  isSameFile(a, b) && a.size === b.size && a.mtimeNs === b.mtimeNs;

/** Opens a regular file by its absolute path, with the folders opened as in `Folder.open`. */
export async function openForeign(path: string | Buffer): Promise<ForeignFile> {
  const { folder, name } = splitPath(Buffer.from(path));
  const opened = await Folder.open(folder);
  try {
    return await opened.file(name);
  } finally {
    await opened.close();
  }
}

/**
 * The stats of a path, without following a link at its end; undefined if it is missing or the path contains another user's
 * link.
 */
export async function statForeign(path: string | Buffer): Promise<BigIntStats | undefined> {
  try {
    const bytes = Buffer.from(path);
    if (bytes.equals(SLASH)) return await timely(() => lstat(SLASH, { bigint: true }));
    const { folder, name } = splitPath(bytes);
    const opened = await Folder.open(folder);
    try {
      return await opened.stat(name);
    } finally {
      await opened.close();
    }
  } catch {
    return undefined;
  }
}

/** The text of a small regular file; `''` if it is missing, too large, or cannot be read in time. */
export async function foreignText(path: string | Buffer, bytes_maximum: number): Promise<string> {
  try {
    const file = await openForeign(path);
    try {
      return (await file.read(bytes_maximum)).toString('utf8');
    } finally {
      await file.close();
    }
  } catch {
    return '';
  }
}
