import { Folder, type ForeignFile, joinPath, openForeign, type Stats, statForeign } from '#files/foreign.ts';
import { kernelText } from '#files/kernel.ts';

/** A file to scan. Paths are bytes. */
export interface FoundFile {
  path: Buffer;
  stats: Stats;
  /** Opens the file relative to the folder that the walk holds open. To be called before the walk continues. */
  open(): Promise<ForeignFile>;
}

/** The roots of a walk, and the folders that it does not enter. */
export interface WalkOptions {
  roots: readonly Buffer[];
  exclusions: readonly Buffer[];
  /** Awaited repeatedly during the walk; `false` ends the walk. */
  goOn: () => Promise<boolean>;
  /** Called for an existing file or folder that cannot be read. */
  onUnread?: (path: Buffer, kind: 'file' | 'folder') => void;
  /** Called for a root that is missing or a symbolic link. */
  onMissing?: (root: Buffer) => void;
}

/** Maximum files with several hard links that are remembered, so that each is read once. */
const LINKS_MAXIMUM = 100_000;
/** Maximum folders that wait to be walked; more are reported as unread. */
const FOLDERS_MAXIMUM = 100_000;

/** File systems on local disks and in memory. Network and pseudo file systems are left out. */
const LOCAL_FILE_SYSTEMS =
  /^(?:ext[234]|xfs|btrfs|zfs|f2fs|jfs|reiserfs|bcachefs|vfat|exfat|ntfs3?|fuseblk|hfsplus|apfs|overlay|tmpfs|ramfs|squashfs|iso9660|udf)$/u;
const NEVER = ['/proc', '/sys', '/dev', '/run'];

interface Mount {
  path: string;
  device: string;
  root: string;
}

/** Decodes the octal escapes of /proc/self/mountinfo (proc(5)). */
const unescaped = (text: string) =>
  text.replaceAll(/\\([0-7]{3})/gu, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));

/** Mount points of local file systems, without those that show the same content as another one (bind mounts). */
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

export function localRoots(): Buffer[] {
  return readMounts(kernelText('/proc/self/mountinfo'))
    .sort()
    .map((path) => Buffer.from(path));
}

/** A path as a map key: one character per byte. */
const keyOf = (path: Buffer) => path.toString('latin1').replace(/(?<=.)\/+$/u, '');
const leftOut = (exclusions: readonly Buffer[]) => new Set([...NEVER.map((path) => Buffer.from(path)), ...exclusions].map(keyOf));
const isGone = (error: unknown) =>
  error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'link' || error.code === 'not_regular');

/** Opens the file or folder at a root; neither if it cannot be read. */
async function topOf(root: Buffer, { onUnread, onMissing }: WalkOptions): Promise<{ file?: Stats; folder?: Folder }> {
  const stats = root.length === 1 ? undefined : await statForeign(root);
  if (stats?.isFile()) return { file: stats };
  try {
    return { folder: await Folder.open(root) };
  } catch (error) {
    if (stats?.isDirectory() || !isGone(error)) onUnread?.(root, 'folder');
    else onMissing?.(root);
    return {};
  }
}

/** Yields each folder below a root; it is open until the next one. `enter` adds a subfolder to the walk. */
async function* foldersBelow(
  top: Folder,
  { roots, exclusions, goOn, onUnread }: WalkOptions,
): AsyncGenerator<{ folder: Folder; enter: (name: Buffer) => void }> {
  const left_out = leftOut(exclusions);
  const others = new Set(roots.map(keyOf));
  const paths: Buffer[] = [];
  for (let folder: Folder | undefined = top; folder !== undefined; ) {
    try {
      if (!(await goOn())) return;
      const here: Folder = folder;
      yield {
        folder: here,
        enter(name) {
          const path = joinPath(here.path, name);
          if (left_out.has(keyOf(path)) || others.has(keyOf(path))) return;
          if (paths.length < FOLDERS_MAXIMUM) paths.push(path);
          else onUnread?.(path, 'folder');
        },
      };
    } finally {
      await folder.close();
    }
    folder = undefined;
    for (
      let path = paths.pop();
      path !== undefined && folder === undefined;
      path = folder === undefined ? paths.pop() : undefined
    ) {
      const opened: Folder | undefined = await Folder.open(path).catch((error: unknown) => {
        if (!isGone(error)) onUnread?.(path, 'folder');
        return undefined;
      });
      // Other file systems are not entered; they can be separate roots.
      if (opened?.stats.dev === top.stats.dev) folder = opened;
      else await opened?.close();
    }
  }
}

/**
 * Counts approximately the files of a walk with the same options: a file with several hard links counts several times. Calls `tell` with the sum after each
 * folder.
 * @returns whether the count is complete
 */
export async function countFiles(options: WalkOptions, tell: (files: number) => void): Promise<boolean> {
  let is_ended = false;
  const goOn = async () => {
    is_ended ||= !(await options.goOn());
    return !is_ended;
  };
  const { roots, exclusions } = options;
  let files = 0;
  for (const root of roots) {
    if (is_ended) return false;
    const top = await topOf(root, { roots, exclusions, goOn });
    if (top.file !== undefined) files += 1;
    if (top.folder === undefined) continue;
    for await (const { folder, enter } of foldersBelow(top.folder, { roots, exclusions, goOn })) {
      try {
        for await (const { name, kind } of folder.entries()) {
          if (kind === 'file') files += 1;
          else if (kind === 'folder') enter(name);
        }
      } catch {
        // The walk itself reports an unreadable folder.
      }
      tell(files);
    }
  }
  if (is_ended) return false;
  tell(files);
  return true;
}

/**
 * Yields the regular files below the roots, one at a time. Links are not followed, a file with several hard links comes once, only the file systems of the roots are entered,
 * and entries that vanish meanwhile are skipped. Unreadable files and folders are reported.
 */
export async function* walk(options: WalkOptions): AsyncGenerator<FoundFile> {
  const links = new Set<string>();
  for (const root of options.roots) {
    const top = await topOf(root, options);
    if (top.file !== undefined) yield { path: root, stats: top.file, open: () => openForeign(root) };
    if (top.folder === undefined) continue;
    for await (const { folder, enter } of foldersBelow(top.folder, options)) yield* filesOf(folder, enter, links, options);
  }
}

async function* filesOf(
  folder: Folder,
  enter: (name: Buffer) => void,
  links: Set<string>,
  { onUnread }: WalkOptions,
): AsyncGenerator<FoundFile> {
  try {
    for await (const { name, kind } of folder.entries()) {
      if (kind === 'folder') enter(name);
      if (kind !== 'file') continue;
      const path = joinPath(folder.path, name);
      let stats: Stats;
      try {
        stats = await folder.stat(name);
      } catch (error) {
        if (!isGone(error)) onUnread?.(path, 'file');
        continue;
      }
      if (!stats.isFile()) continue;
      if (stats.nlink > 1n) {
        const key = `${stats.dev}:${stats.ino}`;
        if (links.has(key)) continue;
        if (links.size < LINKS_MAXIMUM) links.add(key);
      }
      yield { path, stats, open: () => folder.file(name) };
    }
  } catch (error) {
    if (!isGone(error)) onUnread?.(folder.path, 'folder');
  }
}
