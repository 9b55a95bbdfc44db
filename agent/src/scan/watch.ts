import { type FSWatcher, watch } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { foreignText } from '#files/foreign.ts';
import { homesOf, peopleHere } from '#files/people.ts';

/**
 * Tells of files that were written in watched folders, after the write: one watch of the kernel per folder. It sees what happens and blocks nothing. A burst of more
 * files than are kept in mind, or more folders than the kernel watches, is not lost silently: the first is looked for by reading the folders, the second is said.
 */
export interface Watch {
  /** Watches these folders and all below them, but for those that are left out; none where the list is empty. */
  want(folders: readonly string[], exclusions: readonly string[]): Promise<void>;
  state(): { folders: number; reason: string | null };
  close(): void;
}

export interface WatchParts {
  /** Files, or whole folders after a burst, that are to be looked at now. */
  onWritten: (paths: readonly string[]) => void;
  /** A file is told of once nothing has been written to it for so long, in ms. */
  settle_ms?: number;
  /** Files that wait to be told of; beyond them their folders are told of. */
  files_maximum?: number;
  folders_maximum?: number;
}

const SETTLE_MS = 1_000;
/** Of a file that is written without an end. ms. */
const SETTLE_MOST_MS = 30_000;
const FILES_MAXIMUM = 2_000;
/** A watch takes 1 kB of the kernel's memory and as much here. */
const FOLDERS_MAXIMUM = 20_000;

const KERNELS_LIMIT = 'The kernel watches no more folders (fs.inotify.max_user_watches)';
const codeOf = (error: unknown) => (error instanceof Error && 'code' in error ? String(error.code) : '');
const isWithin = (path: string, folder: string) => path === folder || path.startsWith(folder === sep ? sep : `${folder}${sep}`);

export function createWatch({
  onWritten,
  settle_ms = SETTLE_MS,
  files_maximum = FILES_MAXIMUM,
  folders_maximum = FOLDERS_MAXIMUM,
}: WatchParts): Watch {
  const watches = new Map<string, FSWatcher>();
  /** Since when, and when last, something was written to a file. */
  const written = new Map<string, { first: number; last: number }>();
  let overflowed = false;
  let roots: readonly string[] = [];
  let left_out: readonly string[] = [];
  let unwatched = 0;
  let reason: string | null = null;
  let timer: NodeJS.Timeout | undefined;
  let wanting = Promise.resolve();

  const isWanted = (path: string) => roots.some((root) => isWithin(path, root)) && !left_out.some((out) => isWithin(path, out));

  function tellLater(): void {
    timer ??= setTimeout(() => {
      timer = undefined;
      tell();
    }, settle_ms);
  }

  function tell(): void {
    if (overflowed) {
      // What came meanwhile cannot be named: all that is watched is looked at, and what has not changed is known there.
      overflowed = false;
      written.clear();
      if (roots.length > 0) onWritten(roots);
      return;
    }
    const now = performance.now();
    const due = [...written].filter(([, { first, last }]) => now - last >= settle_ms || now - first >= SETTLE_MOST_MS);
    for (const [path] of due) written.delete(path);
    if (due.length > 0) onWritten(due.map(([path]) => path));
    if (written.size > 0) tellLater();
  }

  function note(path: string): void {
    const now = performance.now();
    const before = written.get(path);
    if (before === undefined && written.size >= files_maximum) overflowed = true;
    else written.set(path, { first: before?.first ?? now, last: now });
    tellLater();
  }

  async function look(path: string): Promise<void> {
    const stats = await lstat(path).catch(() => undefined);
    if (stats?.isFile()) note(path);
    // What was written into a new folder before it was watched is looked at as well.
    else if (stats?.isDirectory() && !watches.has(path)) await add(path, note);
  }

  function unwatch(folder: string): void {
    watches.get(folder)?.close();
    watches.delete(folder);
  }

  /** Watches a folder and those below it. Links are not followed. */
  async function add(folder: string, onFile: (path: string) => void): Promise<void> {
    const folders = [folder];
    for (let next = folders.pop(); next !== undefined; next = folders.pop()) {
      if (watches.has(next) || !isWanted(next)) continue;
      const path = next;
      if (watches.size >= folders_maximum || !begin(path)) {
        unwatched += 1;
        reason ??= `More than ${folders_maximum.toLocaleString('en')} folders are not watched`;
      }
      for (const entry of await readdir(path, { withFileTypes: true }).catch(() => [])) {
        const inner = join(path, entry.name);
        if (entry.isDirectory()) folders.push(inner);
        else if (entry.isFile()) onFile(inner);
      }
    }
  }

  /** False where the kernel refuses one more. */
  function begin(folder: string): boolean {
    try {
      const watcher = watch(folder, { persistent: false }, (_event, name) => {
        // Events without a name, and those about the folder itself, say that it is gone or moved.
        if (name === null) return;
        const path = join(folder, name);
        if (isWanted(path)) void look(path);
      });
      watcher.on('error', () => unwatch(folder));
      watches.set(folder, watcher);
      return true;
    } catch (error) {
      if (!['ENOSPC', 'EMFILE', 'ENFILE'].includes(codeOf(error))) return true;
      reason = KERNELS_LIMIT;
      return false;
    }
  }

  async function change(folders: readonly string[], exclusions: readonly string[]): Promise<void> {
    roots = folders.map((folder) => (folder.length > 1 ? folder.replace(/\/$/u, '') : folder));
    left_out = exclusions.map((folder) => (folder.length > 1 ? folder.replace(/\/$/u, '') : folder));
    unwatched = 0;
    reason = null;
    for (const folder of [...watches.keys()]) {
      // A watch of a folder that was removed sees nothing of the one that has its name now.
      if (!isWanted(folder) || (await lstat(folder).catch(() => undefined)) === undefined) unwatch(folder);
    }
    for (const root of roots) {
      const stats = await lstat(root).catch(() => undefined);
      if (stats?.isDirectory()) await add(root, () => {});
    }
  }

  return {
    want(folders, exclusions) {
      wanting = wanting.then(() => change(folders, exclusions)).catch(() => {});
      return wanting;
    },
    state: () => ({
      folders: watches.size,
      reason: reason === null ? null : `${reason}: ${unwatched === 1 ? '1 folder is' : `${unwatched} folders are`} not watched.`,
    }),
    close() {
      clearTimeout(timer);
      roots = [];
      for (const folder of [...watches.keys()]) unwatch(folder);
    },
  };
}

const USUAL = ['DOWNLOAD', 'DESKTOP', 'DOCUMENTS'] as const;
const ENGLISH: Record<(typeof USUAL)[number], string> = { DOWNLOAD: 'Downloads', DESKTOP: 'Desktop', DOCUMENTS: 'Documents' };
const SETTINGS_LENGTH = 16_384;

/** Where a desktop keeps downloads and documents: as the person's own settings say (xdg-user-dirs), else by the English names. */
export function usualFolders(home: string, settings: string): string[] {
  const named = new Map<string, string>();
  for (const line of settings.slice(0, SETTINGS_LENGTH).split('\n')) {
    const [name = '', value = ''] = line.trim().split('=');
    const path = value.replaceAll('"', '').replace('$HOME', home);
    // One that is the home itself is switched off.
    if (path.startsWith(`${home}/`) && path.length > home.length + 1) named.set(name, path);
  }
  return USUAL.map((name) => named.get(`XDG_${name}_DIR`) ?? join(home, ENGLISH[name]));
}

/** Of a person's own settings file. */
const SETTINGS_BYTES = 64 * 1024;

/** The usual folders of everybody who has a home here. */
export async function everybodysFolders(passwd_file = '/etc/passwd'): Promise<string[]> {
  const homes = homesOf(await peopleHere(passwd_file));
  const folders = await Promise.all(
    homes.map(async (home) => usualFolders(home, await foreignText(join(home, '.config/user-dirs.dirs'), SETTINGS_BYTES))),
  );
  return folders.flat();
}
