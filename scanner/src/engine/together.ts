// Small files in memory are read in batches: all waiting ones go to one process in one message. The process answers each separately, and starts no further one after a short time.

/** The most files that go to a process as one message. */
export const FILES_TOGETHER = 8;

/** A process starts no file of a batch later than this after the server sent it, in ms. */
const BEGUN_WITHIN_MS = 10;
/**
 * The server then takes back unstarted files, in ms. An answer is sent before the next file starts, so by this time the server has read all answers of the files done in
 * time, and knows the current one.
 */
export const TAKEN_BACK_AFTER_MS = 20;

/** The system's monotonic clock in ms, shared by all processes. */
export function systemTime(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

/** The time until which a process may start files of a batch sent now. */
export function lastBegin(): number {
  return systemTime() + BEGUN_WITHIN_MS;
}

/** Callbacks of a file that may be read in a batch. */
export interface Together {
  /** Called when the file takes longer than files of a batch should. */
  onLong: () => void;
  /** Called when the file was not started, because another one of its batch takes long. Its outcome is `failed`; submit it again without `together`. */
  onSetAside: () => void;
}

/** A file that waits for a process. */
interface Waits {
  job: { bytes?: Buffer | undefined; together?: Together | undefined };
  deaths: { count: number } | undefined;
}

/** Whether a file may be read in a batch: not after a process has crashed on it. */
export function isTogether({ job, deaths }: Waits): boolean {
  return job.together !== undefined && job.bytes !== undefined && (deaths?.count ?? 0) === 0;
}

/** Removes the files from a queue that may be batched with its first one. */
export function takeFollowing<W extends Waits>(queue: W[]): W[] {
  const taken: W[] = [];
  for (let at = 0; at < queue.length && taken.length < FILES_TOGETHER - 1; ) {
    const waiting = queue[at];
    if (waiting !== undefined && isTogether(waiting)) taken.push(...queue.splice(at, 1));
    else at += 1;
  }
  return taken;
}
