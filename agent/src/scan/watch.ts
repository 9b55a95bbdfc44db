import { formatNumber, plural } from '@palisade/contract/intl';
import { Folder, joinPath, openForeign, type Stats } from '#files/foreign.ts';
import type { FoundFile } from './walk.ts';

/**
 * Reports files that were written in watched folders, with one inotify watch per folder. Writes are not blocked.
 *
 * Any user can cause more events than the agent can handle. So an event only marks its folder. A folder with many events is not watched for a
 * while; then it is watched again and all its files are checked. One loop per user checks marked folders, so that one user's folders do not delay another's. Names
 * beyond the memory limits are dropped: their folder is read again later, and `state` reports it.
 */
export interface Watch {
  /** Watches these folders and their subfolders, without the exclusions. Replaces the earlier set. */
  want(folders: readonly Buffer[], exclusions: readonly Buffer[]): Promise<void>;
  state(): WatchState;
  /** To be called when the queue has room again for files of this user. */
  roomFor(person: number): void;
  close(): void;
}

export interface WatchState {
  folders: number;
  reason: string | null;
  /** Time of the last overflow of the limits, and the number of folders that still have to be read again. */
  overflow: { at: number; folders: number } | null;
  /** Time of the last progress of the slowest running loop; null if none runs. */
  waiting_since: number | null;
}

export interface WatchParts {
  /** Called for a written file. Returns false if the queue of its user is full; the file is reported again after `roomFor`. */
  onFile: (file: FoundFile, person: number) => boolean;
  /** Maps a user id to the user that it belongs to. */
  personOf?: (uid: number) => number;
  /** A file is reported after this time without a further write, in ms. */
  settle_ms?: number;
  /** Maximum changed names that are kept for one folder. Beyond it, the whole folder is read. */
  names_maximum?: number;
  folders_maximum?: number;
  /** Maximum events of one folder within `EVENTS_MS`. Beyond it, the folder is not watched for a while. */
  events_maximum?: number;
  now?: () => number;
}

const SETTLE_MS = 1_000;
/** Longest delay for a file that is written continuously, in ms. */
const SETTLE_MOST_MS = 10_000;
const NAMES_MAXIMUM = 32;
/** Maximum watched folders. A watch takes about 1 kB in the kernel and 1 kB here. */
const FOLDERS_MAXIMUM = 20_000;
/** One of several users may have at most this fraction of the folders: a quarter. */
const PART_OF_FOLDERS = 4;
const PATHS_BYTES = 2 * 1024 ** 2;
const EVENTS_MAXIMUM = 256;
const EVENTS_MS = 1_000;
/** Maximum events of all folders in one turn of the event loop. The kernel queues 16,384 (fs.inotify.max_queued_events) and drops more, which Node does not report. */
const TURN_EVENTS = 4_000;
/** Interval at which all watched folders are read while events may be lost, in ms. */
const REREAD = { least_ms: 2_000, most_ms: 16_000, forgotten_ms: 60_000 };
const REST = { least_ms: 1_000, most_ms: 8_000, forgotten_ms: 30_000 };
/** Maximum folders that wait to be watched. */
const WAITING_MAXIMUM = 20_000;
const UNWATCHED_MAXIMUM = 1_000;
/** Maximum folders of one user that wait to be read again. */
const AGAIN_MAXIMUM = 500;

const KERNELS_LIMIT = 'The kernel watches no more folders (fs.inotify.max_user_watches)';
const SLASH = 0x2f;
const codeOf = (error: unknown) => (error instanceof Error && 'code' in error ? String(error.code) : '');
const keyOf = (path: Buffer) => path.toString('latin1');
function describeUnwatched(reason: string, count: number): string {
  return plural(count, {
    one: `${reason}: 1 folder is not watched.`,
    other: `${reason}: ${formatNumber(count)} folders are not watched.`,
  });
}

const trimmed = (path: Buffer) => (path.length > 1 && path.at(-1) === SLASH ? path.subarray(0, -1) : path);

function isWithin(path: Buffer, folder: Buffer): boolean {
  if (!path.subarray(0, folder.length).equals(folder)) return false;
  return path.length === folder.length || folder.length === 1 || path[folder.length] === SLASH;
}

/** Changes in a folder: names with the times of their first and last event; undefined `names` means the whole folder. */
interface Dirty {
  names: Map<string, { first: number; last: number }> | undefined;
  first: number;
  last: number;
}

interface Watched {
  path: Buffer;
  person: number;
  /** Undefined while the folder is not watched. */
  watcher: ReturnType<Folder['watch']> | undefined;
  events: number;
  events_since: number;
  rest_ms: number;
  rested_at: number;
  rest_until: number;
  dirty: Dirty | undefined;
}

/** A user's watched folders, and the state of the loop that checks them. */
interface Part {
  folders: number;
  bytes: number;
  dirty: Set<Watched>;
  /** Folders with files that the queue had no room for. */
  again: Map<string, Buffer>;
  /** `again` overflowed: all folders of this user are read when there is room. */
  is_lost: boolean;
  is_running: boolean;
  /** The loop has to run again, because `roomFor` was called while it ran. */
  runs_again: boolean;
  came_on_at: number;
}

export function createWatch(parts: WatchParts): Watch {
  return new FolderWatch(parts);
}

class FolderWatch implements Watch {
  readonly #parts: Required<WatchParts>;
  readonly #watched = new Map<string, Watched>();
  readonly #persons = new Map<number, Part>();
  #roots: readonly Buffer[] = [];
  #left_out: readonly Buffer[] = [];
  #unwatched = 0;
  #reason: string | null = null;
  #overflow_at: number | undefined;
  #turn_events = 0;
  #reread_at = Number.NEGATIVE_INFINITY;
  #reread_ms = REREAD.least_ms;
  #timer: NodeJS.Timeout | undefined;
  #wanting = Promise.resolve();
  #is_closed = false;

  constructor(parts: WatchParts) {
    this.#parts = {
      personOf: (uid: number) => uid,
      settle_ms: SETTLE_MS,
      names_maximum: NAMES_MAXIMUM,
      now: () => performance.now(),
      folders_maximum: FOLDERS_MAXIMUM,
      events_maximum: EVENTS_MAXIMUM,
      ...parts,
    };
  }

  want(folders: readonly Buffer[], exclusions: readonly Buffer[]): Promise<void> {
    this.#wanting = this.#wanting.then(() => this.#change(folders, exclusions)).catch(() => {});
    return this.#wanting;
  }

  state(): WatchState {
    let again = 0;
    let since: number | null = null;
    for (const part of this.#persons.values()) {
      again += part.again.size;
      if (part.is_running) since = Math.min(since ?? part.came_on_at, part.came_on_at);
    }
    return {
      folders: this.#watched.size,
      reason: this.#reason === null ? null : describeUnwatched(this.#reason, this.#unwatched),
      overflow: this.#overflow_at === undefined ? null : { at: this.#overflow_at, folders: again },
      waiting_since: since,
    };
  }

  roomFor(person: number): void {
    const part = this.#persons.get(person);
    if (part === undefined || part.again.size === 0) return;
    if (part.is_running) part.runs_again = true;
    else this.#run(part);
  }

  close(): void {
    this.#is_closed = true;
    clearTimeout(this.#timer);
    this.#roots = [];
    for (const folder of [...this.#watched.values()]) this.#unwatch(folder);
    this.#persons.clear();
  }

  #isWanted(path: Buffer): boolean {
    return this.#roots.some((root) => isWithin(path, root)) && !this.#left_out.some((out) => isWithin(path, out));
  }

  #partOf(person: number): Part {
    let part = this.#persons.get(person);
    if (part === undefined) {
      part = {
        folders: 0,
        bytes: 0,
        dirty: new Set(),
        again: new Map(),
        is_lost: false,
        is_running: false,
        runs_again: false,
        came_on_at: 0,
      };
      this.#persons.set(person, part);
    }
    return part;
  }

  async #change(folders: readonly Buffer[], exclusions: readonly Buffer[]): Promise<void> {
    this.#roots = folders.map(trimmed);
    this.#left_out = exclusions.map(trimmed);
    this.#unwatched = 0;
    this.#reason = null;
    for (const folder of [...this.#watched.values()]) {
      if (!this.#isWanted(folder.path)) this.#unwatch(folder);
      else if (folder.watcher !== undefined && this.#roots.some((root) => root.equals(folder.path))) await this.#verify(folder);
    }
    await Promise.all(this.#roots.map((root) => this.#add(root, false)));
  }

  /** Drops the watch of a removed folder, which would not see a new folder of the same name. */
  async #verify(folder: Watched): Promise<void> {
    const opened = await Folder.open(folder.path).catch(() => undefined);
    await opened?.close();
    if (opened === undefined) this.#unwatch(folder);
  }

  #unwatch(folder: Watched): void {
    folder.watcher?.close();
    folder.watcher = undefined;
    if (!this.#watched.delete(keyOf(folder.path))) return;
    const part = this.#partOf(folder.person);
    part.folders -= 1;
    part.bytes -= folder.path.length;
    part.dirty.delete(folder);
  }

  /** Watches a folder and its subfolders. With `are_new`, it also reports the files in them. */
  async #add(path: Buffer, are_new: boolean): Promise<void> {
    const paths = [path];
    let refused = 0;
    for (let next = paths.pop(); next !== undefined; next = paths.pop()) {
      if (this.#is_closed || this.#watched.has(keyOf(next)) || !this.#isWanted(next)) continue;
      const opened = await Folder.open(next).catch(() => undefined);
      if (opened === undefined) continue;
      try {
        if (this.#watched.has(keyOf(next))) continue;
        if (!this.#begin(opened)) {
          this.#unwatched += 1;
          refused += 1;
          if (refused > UNWATCHED_MAXIMUM) return;
        }
        // Watched before it is read, so that no write in between is missed.
        for await (const { name, kind } of opened.entries()) {
          if (kind === 'folder' && paths.length < WAITING_MAXIMUM) paths.push(joinPath(next, name));
          else if (kind === 'folder') this.#unwatched += 1;
          else if (kind === 'file' && are_new) await this.#tell(opened, name);
        }
      } catch {
        // The folder vanished or its file system does not answer. A later check finds it.
      } finally {
        await opened.close();
      }
    }
  }

  /** Starts the watch of a folder. False if a limit is reached. */
  #begin(opened: Folder): boolean {
    const { path } = opened;
    const person = this.#parts.personOf(Number(opened.stats.uid));
    const part = this.#partOf(person);
    const { folders_maximum } = this.#parts;
    const is_much = part.folders >= Math.max(1, Math.floor(folders_maximum / PART_OF_FOLDERS)) || part.bytes >= PATHS_BYTES;
    const is_full = this.#watched.size >= folders_maximum;
    if (is_full || (is_much && this.#persons.size > 1)) {
      this.#reason ??= `More than ${formatNumber(folders_maximum)} folders are not watched`;
      return false;
    }
    const folder: Watched = {
      path,
      person,
      watcher: undefined,
      events: 0,
      events_since: 0,
      dirty: undefined,
      rest_ms: 0,
      rested_at: 0,
      rest_until: 0,
    };
    if (!this.#watch(folder, opened)) return false;
    this.#watched.set(keyOf(path), folder);
    part.folders += 1;
    part.bytes += path.length;
    return true;
  }

  #watch(folder: Watched, opened: Folder): boolean {
    try {
      folder.watcher = opened.watch(
        (name) => this.#hear(folder, name),
        () => this.#hear(folder, undefined),
      );
      return true;
    } catch (error) {
      if (!['ENOSPC', 'EMFILE', 'ENFILE'].includes(codeOf(error))) return true;
      this.#reason = KERNELS_LIMIT;
      return false;
    }
  }

  /** Handles an event. It must be cheap, because any user can cause events at any rate. */
  #hear(folder: Watched, name: Buffer | undefined): void {
    if (folder.watcher === undefined) return;
    const now = this.#parts.now();
    if (this.#turn_events === 0)
      setImmediate(() => {
        this.#turn_events = 0;
      });
    this.#turn_events += 1;
    if (now - folder.events_since > EVENTS_MS) {
      folder.events = 0;
      folder.events_since = now;
    }
    folder.events += 1;
    // The folder itself was moved or removed. A new folder at its path is watched when the path is read.
    if (name === undefined) {
      folder.watcher.close();
      folder.watcher = undefined;
    }
    if (folder.events > this.#parts.events_maximum || this.#turn_events > TURN_EVENTS) this.#rest(folder, now);
    this.#note(folder, folder.watcher === undefined ? undefined : name, now);
  }

  /**
   * Stops watching a folder for a while; then it is read completely. With so many events the kernel may also have dropped events of other folders, which
   * Node does not report: so all watched folders are read, at intervals that double while the overload lasts.
   */
  #rest(folder: Watched, now: number): void {
    folder.watcher?.close();
    folder.watcher = undefined;
    const is_again = folder.rested_at > 0 && now - folder.rested_at < REST.forgotten_ms;
    folder.rest_ms = is_again ? Math.min(REST.most_ms, folder.rest_ms * 2) : REST.least_ms;
    folder.rested_at = now;
    folder.rest_until = now + folder.rest_ms;
    // A single burst, such as unpacking an archive, does not count as an overflow.
    if (is_again || this.#turn_events > TURN_EVENTS) this.#overflow_at = now;
    if (now < this.#reread_at + this.#reread_ms) return;
    this.#reread_ms =
      now < this.#reread_at + REREAD.forgotten_ms ? Math.min(REREAD.most_ms, this.#reread_ms * 2) : REREAD.least_ms;
    this.#reread_at = now;
    for (const other of this.#watched.values()) this.#note(other, undefined, now);
  }

  #note(folder: Watched, name: Buffer | undefined, now: number): void {
    const dirty: Dirty = folder.dirty ?? { names: new Map(), first: now, last: now };
    folder.dirty = dirty;
    dirty.last = now;
    if (name === undefined) dirty.names = undefined;
    else if (dirty.names !== undefined) {
      const key = keyOf(name);
      const first = dirty.names.get(key)?.first ?? now;
      dirty.names.set(key, { first, last: now });
      if (dirty.names.size > this.#parts.names_maximum) dirty.names = undefined;
    }
    this.#partOf(folder.person).dirty.add(folder);
    this.#timer ??= setTimeout(() => this.#tick(), this.#parts.settle_ms);
  }

  #tick(): void {
    this.#timer = undefined;
    let is_left = false;
    for (const part of this.#persons.values()) {
      if (part.dirty.size > 0) {
        is_left = true;
        this.#run(part);
      }
    }
    if (is_left && !this.#is_closed) this.#timer ??= setTimeout(() => this.#tick(), this.#parts.settle_ms);
  }

  /** Starts the loop of one user. */
  #run(part: Part): void {
    if (part.is_running) return;
    part.is_running = true;
    part.runs_again = false;
    part.came_on_at = this.#parts.now();
    void this.#lookThrough(part)
      .catch(() => {})
      .finally(() => {
        part.is_running = false;
        if (part.runs_again && !this.#is_closed) this.#run(part);
      });
  }

  async #lookThrough(part: Part): Promise<void> {
    for (const [key, path] of [...part.again]) {
      if (this.#is_closed) return;
      part.again.delete(key);
      await this.#read(path, undefined).catch(() => {});
      part.came_on_at = this.#parts.now();
      // The queue is full again: the rest waits for `roomFor`.
      if (part.again.has(key)) break;
    }
    if (part.is_lost && part.again.size === 0) {
      part.is_lost = false;
      for (const folder of this.#watched.values())
        if (this.#persons.get(folder.person) === part) this.#note(folder, undefined, this.#parts.now());
    }
    for (const folder of [...part.dirty]) {
      if (this.#is_closed) return;
      await this.#look(folder, part).catch(() => {});
      part.came_on_at = this.#parts.now();
    }
  }

  async #look(folder: Watched, part: Part): Promise<void> {
    const { dirty } = folder;
    const now = this.#parts.now();
    if (dirty === undefined || now < folder.rest_until) return;
    const isDue = ({ first, last }: { first: number; last: number }) =>
      now - last >= this.#parts.settle_ms || now - first >= SETTLE_MOST_MS;
    const names = dirty.names && [...dirty.names].filter(([, times]) => isDue(times)).map(([name]) => name);
    if (names === undefined ? !isDue(dirty) && folder.watcher !== undefined : names.length === 0) return;
    for (const name of names ?? []) dirty.names?.delete(name);
    if (names === undefined || dirty.names?.size === 0) {
      folder.dirty = undefined;
      part.dirty.delete(folder);
    }
    await this.#read(folder.path, names, folder);
  }

  /** Reports files of a folder, all or the named ones, and watches new subfolders. */
  async #read(path: Buffer, names: readonly string[] | undefined, folder?: Watched): Promise<void> {
    const opened = await Folder.open(path).catch(() => undefined);
    if (opened === undefined) {
      // The folder was moved or removed. After a move its content is found at the new path.
      if (folder !== undefined) this.#unwatch(folder);
      return;
    }
    try {
      // Watched before it is read.
      if (folder !== undefined && folder.watcher === undefined && this.#watched.has(keyOf(path))) this.#watch(folder, opened);
      if (names !== undefined) {
        for (const name of names) await this.#lookAt(opened, Buffer.from(name, 'latin1'));
        return;
      }
      for await (const { name, kind } of opened.entries()) {
        if (this.#is_closed) return;
        if (kind === 'file') await this.#tell(opened, name);
        else if (kind === 'folder') await this.#addNew(joinPath(path, name));
      }
    } finally {
      await opened.close();
    }
  }

  async #lookAt(opened: Folder, name: Buffer): Promise<void> {
    const stats = await opened.stat(name).catch(() => undefined);
    if (stats?.isFile()) this.#offer(opened, name, stats);
    else if (stats?.isDirectory()) await this.#addNew(joinPath(opened.path, name));
  }

  /** Watches a new folder, and reports files that were written into it before. */
  async #addNew(path: Buffer): Promise<void> {
    if (!this.#watched.has(keyOf(path))) await this.#add(path, true);
  }

  async #tell(opened: Folder, name: Buffer): Promise<void> {
    const stats = await opened.stat(name).catch(() => undefined);
    if (stats?.isFile()) this.#offer(opened, name, stats);
  }

  #offer(opened: Folder, name: Buffer, stats: Stats): void {
    const path = joinPath(opened.path, name);
    if (!this.#isWanted(path)) return;
    const person = this.#parts.personOf(Number(stats.uid));
    if (this.#parts.onFile({ path, stats, open: () => openForeign(path) }, person)) return;
    this.#overflow_at = this.#parts.now();
    const { again } = this.#partOf(person);
    if (again.size < AGAIN_MAXIMUM) again.set(keyOf(opened.path), opened.path);
    else this.#partOf(person).is_lost = true;
  }
}
