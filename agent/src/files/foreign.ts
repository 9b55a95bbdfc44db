import { type BigIntStats, constants, type FSWatcher, watch } from 'node:fs';
import { type FileHandle, lstat, open, opendir, readlink } from 'node:fs/promises';
import { FileRefused, timely } from './timely.ts';

/**
 * Files and folders that other people of this computer can write to. Each folder of a path is opened relative to the handle of the one before, and no link of another
 * person is followed: renames and exchanges by such a person do not change which folders are held. Names are bytes.
 */
export type { BigIntStats as Stats } from 'node:fs';

/** `open` without the right to read or write: a held folder can be inspected and entered (open(2); the same number on x86-64 and arm64). */
const O_PATH = 0o10000000;
const FOLDER = O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW;
/** Opening a FIFO without a writer, or a file with a lease, does not block. */
const FILE = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY;
/** Links of root that one path may lead through (Linux: MAXSYMLINKS). */
const LINKS_MAXIMUM = 40;
/** Components of one path: a path of 64 KB, sixteen times PATH_MAX. */
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
 * The accounts that can change the entries of a folder or of a folder above it: root alone, others too but not those of root (sticky), or
 * others too.
 */
type Writers = 'root' | 'sticky' | 'others';

const codeOf = (error: unknown) => (error instanceof Error && 'code' in error ? String(error.code) : '');

/** Names of a path from the root on. @throws FileRefused `bad_path` for one that is not absolute, or holds NUL, `.` or `..` */
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

/** The path of an entry of a folder, for showing and for remembering. */
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
  // The bits of the group include the rights of an access list (acl(5)).
  if ((stats.mode & WRITABLE_BY_OTHERS) === 0n) return above;
  return (stats.mode & STICKY) === 0n ? 'others' : 'sticky';
}

/** An open folder. It stays the same folder if its path changes. */
export class Folder {
  /** The path that was asked for: shown and remembered, never opened. */
  readonly path: Buffer;
  readonly stats: BigIntStats;
  readonly writers: Writers;
  /** Whether root alone can write to it and can exchange it or a folder above it. */
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
   * Opens an absolute path, one component at a time. Links of root in folders that only root can write to are followed, as a system may have them (`/home` on some); others are not.
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

  /** The target of a link of root that only root can have made. */
  async #rootsLink(name: Buffer): Promise<Buffer | undefined> {
    if (!this.isRootsAlone || (await this.stat(name)).uid !== 0n) return undefined;
    const target = await this.readLink(name);
    if (target[0] === SLASH[0]) return target;
    // Relative ones as systems have them: `usr/lib`, `../run`.
    const parts = this.path.toString('latin1').split('/').filter(Boolean);
    for (const part of target.toString('latin1').split('/')) {
      if (part === '..') parts.pop();
      else if (part !== '' && part !== '.') parts.push(part);
    }
    return Buffer.from(`/${parts.join('/')}`, 'latin1');
  }

  /** Path of an entry through the handle: only its last component can change. For this module alone. */
  entryPath(name: Buffer): Buffer {
    return Buffer.concat([Buffer.from(`/proc/self/fd/${this.#handle.fd}/`), checkedName(name)]);
  }

  /** @throws FileRefused `link` where it is a link, or no folder */
  async folder(name: Buffer): Promise<Folder> {
    try {
      return await Folder.#take(this.entryPath(name), joinPath(this.path, name), this.writers);
    } catch (error) {
      if (codeOf(error) === 'ENOTDIR' || codeOf(error) === 'ELOOP')
        throw new FileRefused('link', 'it is a link, or no folder, where a folder is expected');
      throw error;
    }
  }

  /** Opens a plain file for reading. @throws FileRefused `not_regular`, `link`, `deadline`; or the system's error */
  async file(name: Buffer): Promise<ForeignFile> {
    return await ForeignFile.open(this.entryPath(name), joinPath(this.path, name));
  }

  /** The stats of an entry. A link is not followed. */
  async stat(name: Buffer): Promise<BigIntStats> {
    return await timely(() => lstat(this.entryPath(name), { bigint: true }));
  }

  async readLink(name: Buffer): Promise<Buffer> {
    return await timely(() => readlink(this.entryPath(name), { encoding: 'buffer' }));
  }

  /** Entries in the order of the file system, without being held in memory together. Stop the loop to cap them. */
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
   * Watches this folder, not a later one at its path; the handle may be closed meanwhile. `onName` gets the name of an entry that was written, made, moved or removed.
   * @throws the system's error at once, ENOSPC where the kernel watches no more folders
   */
  watch(onName: (name: Buffer) => void, onGone: () => void): FSWatcher {
    const watcher = watch(`/proc/self/fd/${this.#handle.fd}/.`, { persistent: false, encoding: 'buffer' }, (_event, name) => {
      // The name of the folder itself, as it was given above, says that it is gone or moved.
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

/** An open plain file of another person. It stays the same file if its path changes. */
export class ForeignFile {
  readonly path: Buffer;
  /** Its state when it was opened. */
  readonly stats: BigIntStats;
  readonly #handle: FileHandle;

  private constructor(path: Buffer, handle: FileHandle, stats: BigIntStats) {
    this.path = path;
    this.#handle = handle;
    this.stats = stats;
  }

  /** For this module alone: others come here by a folder or `openForeign`. */
  static async open(at: Buffer, path: Buffer): Promise<ForeignFile> {
    let handle: FileHandle;
    try {
      handle = await timely(
        () => open(at, FILE),
        (late) => late.close(),
      );
    } catch (error) {
      if (codeOf(error) === 'ELOOP') throw new FileRefused('link', 'it is a link');
      // A socket, or a device that is not there.
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

  /** Path of exactly this file for programs that the agent starts, as long as it is open here. Plain ASCII, for any name. */
  get handlePath(): string {
    return `/proc/${process.pid}/fd/${this.#handle.fd}`;
  }

  /** All of it, where it has at most `bytes_maximum` bytes. @throws FileRefused `too_large` before anything is read, `deadline` */
  async read(bytes_maximum: number): Promise<Buffer> {
    if (this.stats.size > BigInt(bytes_maximum)) throw new FileRefused('too_large', `it has more than ${bytes_maximum} bytes`);
    return await this.readSome(bytes_maximum);
  }

  /** At most so many bytes from its beginning, or from `position`. A file that grows meanwhile is not read further. */
  async readSome(bytes_maximum: number, position = 0): Promise<Buffer> {
    const left = Number(this.stats.size) - position;
    // Files of the kernel say that they are empty, and are not.
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

  /** Its bytes in parts, at most as many as it had when it was opened. The next part overwrites the one before: a large file takes no more memory than a small one. */
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

  /** Its present stats. */
  async statNow(): Promise<BigIntStats> {
    return await timely(() => this.#handle.stat({ bigint: true }));
  }

  /** Whether it has the bytes that it had when it was opened, as far as times and sizes tell. */
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

/** Opens a plain file by its absolute path: folders as `Folder.open`. */
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
 * The stats of a path, without following a link at its end; undefined for a missing one, or if the way there leads through another person's
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

/** A small plain file as text, or `''` where there is none, it is too large, or cannot be read in time. */
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
