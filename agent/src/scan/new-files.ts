import { FairQueue } from './fair-queue.ts';
import type { FoundFile } from './walk.ts';

/** Scans files that were just written, in turns between their owners. */
export interface NewFiles {
  /** Queues a file. False if this user's queue is full. */
  offer(file: FoundFile, person: number): boolean;
  /** Like `offer`, but waits until the queue has room. */
  add(file: FoundFile, person: number): Promise<void>;
  /** Resolves when no file waits or is being read. */
  whenRead(): Promise<void>;
  state(): NewFilesState;
  close(): void;
}

export interface NewFilesState {
  waiting: number;
  /** Time of the last progress while files wait or are being read, by the clock `now`; null while there are none. */
  waiting_since: number | null;
  /** Number of files since the start that could not be read completely. */
  unread: number;
}

export interface NewFilesParts {
  /** Scans one file. Large files have their own lane, so that they do not delay small ones. */
  read: (file: FoundFile, lane: Lane) => Promise<'read' | 'unread' | 'gone'>;
  onRoom: (person: number) => void;
  log: (line: string) => void;
  now?: () => number;
  /** Maximum waiting files of one user in each lane. */
  bound?: number;
}

export type Lane = 'small' | 'large';

/** Larger files go to the lane `large`. In bytes. */
const SMALL_BYTES = 16n * 1024n ** 2n;
const BOUND = 200;
/** Files that are read concurrently in each lane, each of a different user. */
const AT_ONCE: Record<Lane, number> = { small: 2, large: 1 };
/** Maximum files whose scanned state is remembered, because reading a folder again offers all its files again. */
const KNOWN_MAXIMUM = 20_000;

const keyOf = ({ stats }: FoundFile) => `${stats.dev}:${stats.ino}`;
const marksOf = ({ stats }: FoundFile) => `${stats.size}:${stats.ctimeNs}`;

export function createNewFiles(parts: NewFilesParts): NewFiles {
  return new FileTurns(parts);
}

class FileTurns implements NewFiles {
  readonly #parts: Required<NewFilesParts>;
  readonly #lanes: Record<Lane, { waiting: FairQueue<FoundFile>; busy: Set<number> }>;
  readonly #known = new Map<string, string>();
  /** Files that wait or are being read, by inode, so that a file is not read twice concurrently. */
  readonly #under_way = new Map<string, string>();
  /** Files of `#under_way` that have changed since. */
  readonly #later = new Map<string, { file: FoundFile; person: number }>();
  readonly #callers = new Map<number, (() => void)[]>();
  #idle: (() => void)[] = [];
  #came_on_at = 0;
  #unread = 0;
  #is_closed = false;

  constructor(parts: NewFilesParts) {
    this.#parts = { bound: BOUND, now: () => performance.now(), ...parts };
    const laneOf = () => ({ waiting: new FairQueue<FoundFile>(this.#parts.bound), busy: new Set<number>() });
    this.#lanes = { small: laneOf(), large: laneOf() };
  }

  offer(file: FoundFile, person: number): boolean {
    const key = keyOf(file);
    if (this.#is_closed || this.#known.get(key) === marksOf(file)) return true;
    if (this.#under_way.has(key)) {
      if (this.#under_way.get(key) !== marksOf(file)) this.#later.set(key, { file, person });
      return true;
    }
    const lane: Lane = file.stats.size > SMALL_BYTES ? 'large' : 'small';
    if (!this.#isBusy()) this.#came_on_at = this.#parts.now();
    if (!this.#lanes[lane].waiting.offer(person, file)) return false;
    this.#under_way.set(key, marksOf(file));
    this.#begin(lane);
    return true;
  }

  async add(file: FoundFile, person: number): Promise<void> {
    while (!this.offer(file, person))
      await new Promise<void>((resolve) => this.#callers.set(person, [...(this.#callers.get(person) ?? []), resolve]));
  }

  whenRead(): Promise<void> {
    return this.#isBusy() ? new Promise((resolve) => this.#idle.push(resolve)) : Promise.resolve();
  }

  state(): NewFilesState {
    const waiting = this.#under_way.size;
    return { waiting, waiting_since: waiting === 0 ? null : this.#came_on_at, unread: this.#unread };
  }

  close(): void {
    this.#is_closed = true;
    for (const { waiting } of Object.values(this.#lanes)) waiting.clear();
    this.#later.clear();
    for (const callers of this.#callers.values()) for (const resume of callers) resume();
    this.#callers.clear();
  }

  #isBusy(): boolean {
    return this.#under_way.size > 0;
  }

  #begin(lane: Lane): void {
    const { waiting, busy } = this.#lanes[lane];
    while (busy.size < AT_ONCE[lane]) {
      const next = waiting.take((person) => busy.has(person));
      if (next === undefined) return;
      busy.add(next.person);
      void this.#readOne(next.item, next.person, lane);
    }
  }

  async #readOne(file: FoundFile, person: number, lane: Lane): Promise<void> {
    const key = keyOf(file);
    try {
      const outcome = await this.#parts.read(file, lane);
      if (outcome === 'unread') this.#unread += 1;
      if (outcome !== 'gone') this.#remember(key, marksOf(file));
    } catch (error) {
      this.#unread += 1;
      this.#parts.log(`a new file could not be scanned: ${String(error)}`);
    }
    this.#under_way.delete(key);
    this.#came_on_at = this.#parts.now();
    const { waiting, busy } = this.#lanes[lane];
    busy.delete(person);
    const later = this.#later.get(key);
    this.#later.delete(key);
    if (later !== undefined && !this.offer(later.file, later.person))
      this.#parts.log('a new file was written to again and again: the next scan reads it');
    this.#begin(lane);
    if (waiting.sizeOf(person) <= this.#parts.bound / 2) {
      for (const resume of this.#callers.get(person)?.splice(0) ?? []) resume();
      this.#parts.onRoom(person);
    }
    if (!this.#isBusy()) for (const resume of this.#idle.splice(0)) resume();
  }

  #remember(key: string, marks: string): void {
    this.#known.delete(key);
    this.#known.set(key, marks);
    if (this.#known.size <= KNOWN_MAXIMUM) return;
    for (const [oldest] of this.#known) {
      this.#known.delete(oldest);
      return;
    }
  }
}
