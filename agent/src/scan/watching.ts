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
 * Watching as a whole: files that are written in watched folders, and those that were while the agent did not run, are read in turn between people; and its
 * health.
 */
export interface Watching {
  want(folders: readonly Buffer[], exclusions: readonly Buffer[]): Promise<void>;
  state(): { folders: number; reason: string | null };
  health(is_wanted: boolean): AgentHealth;
  /** Watching has seen everything until a little before now. */
  note(): Promise<void>;
  close(): void;
}

export interface WatchingParts {
  store: Store<z.infer<typeof seenSchema>>;
  read: (file: FoundFile, lane: Lane) => Promise<'read' | 'unread' | 'gone'>;
  log: (line: string) => void;
  /** The time of day, in ms. */
  now: () => number;
}

/** A queue that waits for so long without a file being read stands still. ms. */
const STALLED_MS = 120_000;
/** Time for which an overflow is reported after its end. ms. */
const OVERFLOW_TOLD_MS = 10 * 60_000;

/**
 * The agent's health, from the states of its parts. Times of `states` are of the clock `monotonic`; reported ones are of `time`.
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
    // Its turn may come after the walk has left the folder.
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
      // Files that have waited long, or whose folder is still to be read again, would be forgotten by an agent that ends now.
      const { watcher, overflow } = healthNow(true);
      if (watcher !== 'stalled' && (overflow === null || overflow.folders === 0)) await catchUp.note();
    },
    close() {
      watch.close();
      files.close();
    },
  };
}
