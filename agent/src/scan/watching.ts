import type { AgentHealth } from '@palisade/contract/agent';
import type { z } from 'zod';
import type { Store } from '#agent/store.ts';
import { openForeign } from '#files/foreign.ts';
import { kernelText } from '#files/kernel.ts';
import { stuckOperations } from '#files/timely.ts';
import { createCatchUp, type seenSchema } from './catch-up.ts';
import { personOf, readSubordinates } from './fair-queue.ts';
import { createNewFiles, type Lane, type NewFilesState } from './new-files.ts';
import type { FoundFile } from './walk.ts';
import { createWatch, type WatchState } from './watch.ts';

/**
 * Combines watching, catching up after the start, and scanning in turns between users; reports its
 * health.
 */
export interface Watching {
  want(folders: readonly Buffer[], exclusions: readonly Buffer[]): Promise<void>;
  state(): { folders: number; reason: string | null };
  health(is_wanted: boolean): AgentHealth;
  /** Stores that watching is complete up to a margin before now, unless it is behind. */
  note(): Promise<void>;
  close(): void;
}

export interface WatchingParts {
  store: Store<z.infer<typeof seenSchema>>;
  read: (file: FoundFile, lane: Lane) => Promise<'read' | 'unread' | 'gone'>;
  log: (line: string) => void;
  /** The current time, in ms since 1970. */
  now: () => number;
}

/** A queue without progress for this time counts as stalled, in ms. */
const STALLED_MS = 120_000;
/** Time for which an overflow is reported after its end, in ms. */
const OVERFLOW_TOLD_MS = 10 * 60_000;

/**
 * The agent's health, from the states of its parts. Times in `states` use the clock `monotonic`; reported times use `time`.
 */
export function healthOf(
  states: { watch: Pick<WatchState, 'overflow' | 'waiting_since'>; files: NewFilesState; stuck: number; is_wanted: boolean },
  { monotonic, time }: { monotonic: number; time: number },
): AgentHealth {
  const { watch, files, stuck, is_wanted } = states;
  const is_stalled = [watch.waiting_since, files.waiting_since].some((since) => since !== null && monotonic - since > STALLED_MS);
  const { overflow } = watch;
  const is_told = overflow !== null && (overflow.folders > 0 || monotonic - overflow.at < OVERFLOW_TOLD_MS);
  return {
    watcher: is_stalled ? 'stalled' : is_wanted ? 'working' : 'off',
    overflow: is_told ? { at: new Date(time - (monotonic - overflow.at)).toISOString(), folders: overflow.folders } : null,
    files_unread: files.unread,
    workers_stuck: stuck,
  };
}

export function createWatching({ store, read, log, now }: WatchingParts): Watching {
  let ranges: ReturnType<typeof readSubordinates> = [];
  const ownerOf = (uid: number) => personOf(uid, ranges);
  const files = createNewFiles({ read, log, onRoom: (person) => watch.roomFor(person) });
  const watch = createWatch({ onFile: (file, person) => files.offer(file, person), personOf: ownerOf });
  const catchUp = createCatchUp({
    store,
    log,
    now,
    // Opened by path, because the walk may have left the folder when the file is read.
    look: (file) => files.add({ ...file, open: () => openForeign(file.path) }, ownerOf(Number(file.stats.uid))),
    whenLooked: () => files.whenRead(),
  });
  const healthNow = (is_wanted: boolean) =>
    healthOf(
      { watch: watch.state(), files: files.state(), stuck: stuckOperations(), is_wanted },
      { monotonic: performance.now(), time: now() },
    );
  return {
    async want(folders, exclusions) {
      ranges = readSubordinates(kernelText('/etc/subuid'), kernelText('/etc/passwd'));
      const each = [...new Map(folders.map((folder) => [folder.toString('latin1'), folder])).values()];
      await watch.want(each, exclusions);
      void catchUp.begin(each, exclusions);
    },
    state() {
      const { folders, reason } = watch.state();
      return { folders, reason: reason ?? catchUp.reason() };
    },
    health: healthNow,
    async note() {
      // Not while files have waited too long or folders must be read again: these files would be skipped after a restart.
      const { watcher, overflow } = healthNow(true);
      if (watcher !== 'stalled' && (overflow === null || overflow.folders === 0)) await catchUp.note();
    },
    close() {
      watch.close();
      files.close();
    },
  };
}
