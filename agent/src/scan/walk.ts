import type { BigIntStats } from 'node:fs';
import { lstat, opendir, readFile } from 'node:fs/promises';

/** A file to read. Its path is bytes: a name may be no UTF-8. */
export interface FoundFile {
  path: Buffer;
  stats: BigIntStats;
}

/** A folder to walk, and folders in it that are not entered. */
export interface WalkOptions {
  roots: readonly string[];
  exclusions: readonly string[];
  /** Asked now and then; what it waits for is waited for, and `false` ends the walk. */
  goOn: () => Promise<boolean>;
}

const SLASH = Buffer.from('/');
/** Files with several names that are remembered, so that each is read once. */
const LINKS_MAXIMUM = 1_000_000;
/** Names of a folder that are asked for at once where they are only counted. */
const NAMES_AT_ONCE = 256;

/** File systems of this computer's own disks, and its temporary ones. What comes over a network or is no storage at all is none of them. */
const LOCAL_FILE_SYSTEMS =
  /^(?:ext[234]|xfs|btrfs|zfs|f2fs|jfs|reiserfs|bcachefs|vfat|exfat|ntfs3?|fuseblk|hfsplus|apfs|overlay|tmpfs|ramfs|squashfs|iso9660|udf)$/u;
const NEVER = ['/proc', '/sys', '/dev', '/run'];

interface Mount {
  path: string;
  device: string;
  root: string;
}

/** Octal escapes of /proc/self/mountinfo (proc(5)). */
const unescaped = (text: string) =>
  text.replaceAll(/\\([0-7]{3})/gu, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));

/** Where local file systems are mounted, each part of one once: a bind mount shows what another mount shows already. */
export function readMounts(mountinfo: string): string[] {
  const mounts = mountinfo.split('\n').flatMap((line): Mount[] => {
    const [, , device = '', root = '', path = '', ...rest] = line.split(' ');
    const type = rest[rest.indexOf('-') + 1] ?? '';
    const is_never = NEVER.some((never) => path === never || path.startsWith(`${never}/`));
    return path === '' || is_never || !LOCAL_FILE_SYSTEMS.test(type)
      ? []
      : [{ device, root: unescaped(root), path: unescaped(path) }];
  });
  const within = (inner: string, outer: string) => inner === outer || outer === '/' || inner.startsWith(`${outer}/`);
  return mounts
    .filter(
      (mount, index) =>
        !mounts.some(
          (other, at) =>
            at !== index &&
            other.device === mount.device &&
            within(mount.root, other.root) &&
            (other.root !== mount.root || at < index),
        ),
    )
    .map(({ path }) => path);
}

export async function localRoots(): Promise<string[]> {
  return readMounts(await readFile('/proc/self/mountinfo', 'utf8').catch(() => '')).sort();
}

const leftOut = (exclusions: readonly string[]) =>
  new Set([...NEVER, ...exclusions].map((path) => path.replace(/(?<=.)\/+$/u, '')));

/** The path of an entry of a folder, of whose name each byte is one character. */
function pathIn(folder: Buffer, name: string): Buffer {
  const bytes = Buffer.from(name, 'latin1');
  return folder.equals(SLASH) ? Buffer.concat([SLASH, bytes]) : Buffer.concat([folder, SLASH, bytes]);
}

/**
 * About how many files a walk of the same folders comes to, by their names alone: a file with several names counts as often. Tells the sum after each folder.
 * @returns whether it came to its end
 */
export async function countFiles({ roots, exclusions, goOn }: WalkOptions, tell: (files: number) => void): Promise<boolean> {
  const left_out = leftOut(exclusions);
  const others = new Set(roots);
  let files = 0;
  for (const root of roots) {
    const top = await lstat(root, { bigint: true }).catch(() => undefined);
    if (top?.isFile()) files += 1;
    const folders: Buffer[] = top?.isDirectory() ? [Buffer.from(root)] : [];
    for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
      if (!(await goOn())) return false;
      const opened = await opendir(folder, { encoding: 'latin1', bufferSize: NAMES_AT_ONCE }).catch(() => undefined);
      if (opened === undefined) continue;
      for await (const entry of opened) {
        if (entry.isFile()) files += 1;
        if (!entry.isDirectory()) continue;
        const path = pathIn(folder, entry.name);
        const text = path.toString();
        if (left_out.has(text) || others.has(text)) continue;
        const stats = await lstat(path, { bigint: true }).catch(() => undefined);
        if (stats?.dev === top?.dev) folders.push(path);
      }
      tell(files);
    }
  }
  tell(files);
  return true;
}

/**
 * Ordinary files below folders, one at a time: links are not followed, a file with several names comes once, no other file system is entered than those of the
 * roots, and what vanishes meanwhile or may not be read is left out.
 */
export async function* walk({ roots, exclusions, goOn }: WalkOptions): AsyncGenerator<FoundFile> {
  const left_out = leftOut(exclusions);
  const others = new Set(roots);
  const links = new Set<string>();
  for (const root of roots) {
    const top = await lstat(root, { bigint: true }).catch(() => undefined);
    if (top?.isFile()) yield { path: Buffer.from(root), stats: top };
    if (top === undefined || !top.isDirectory()) continue;
    const folders: Buffer[] = [Buffer.from(root)];
    for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
      if (!(await goOn())) return;
      const opened = await opendir(folder, { encoding: 'latin1' }).catch(() => undefined);
      if (opened === undefined) continue;
      for await (const entry of opened) {
        const path = pathIn(folder, entry.name);
        if (entry.isDirectory()) {
          const text = path.toString();
          if (left_out.has(text) || others.has(text)) continue;
          const stats = await lstat(path, { bigint: true }).catch(() => undefined);
          if (stats?.dev === top.dev) folders.push(path);
          continue;
        }
        if (!entry.isFile()) continue;
        const stats = await lstat(path, { bigint: true }).catch(() => undefined);
        if (!stats?.isFile()) continue;
        if (stats.nlink > 1n) {
          const key = `${stats.dev}:${stats.ino}`;
          if (links.has(key)) continue;
          if (links.size < LINKS_MAXIMUM) links.add(key);
        }
        yield { path, stats };
      }
    }
  }
}
