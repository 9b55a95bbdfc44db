// Small files in memory are read together: as many as wait go to one process as one message. The process answers each one separately, and begins no further one after a short time.

/** The most files that go to a process as one message. */
export const FILES_TOGETHER = 8;

/** A process begins no further file of a message so long after the server sent it. ms. */
const BEGUN_WITHIN_MS = 10;
/**
 * Then the server takes the files back that are not begun. A file is begun after the answer for the one before is sent, so that by this time the server has read the answers to all files that were done
 * in time, and knows which file the process is at. ms.
 */
export const TAKEN_BACK_AFTER_MS = 20;

/** The system's own clock, which all processes share: it has no date, and does not jump. ms. */
export function systemTime(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

/** Until when a process may begin the files of a message that is sent now. */
export function lastBegin(): number {
  return systemTime() + BEGUN_WITHIN_MS;
}

/** Callbacks of a file that may be read with others. */
export interface Together {
  /** Called when the file takes longer than files that are read together do. */
  onLong: () => void;
  /** Called when the file was not begun, because one that came with it takes long. Its outcome is `failed` then, and it is to be given again, without `together`. */
  onSetAside: () => void;
}

/** A file that waits for a process. */
interface Waits {
  job: { bytes?: Buffer | undefined; together?: Together | undefined };
  deaths: { count: number } | undefined;
}

/** A file may be read with others unless a process has died over it: that one is read alone. */
export function isTogether({ job, deaths }: Waits): boolean {
  return job.together !== undefined && job.bytes !== undefined && (deaths?.count ?? 0) === 0;
}

/** Takes the files out of a queue that may be read with its first one. */
export function takeFollowing<W extends Waits>(queue: W[]): W[] {
  const taken: W[] = [];
  for (let at = 0; at < queue.length && taken.length < FILES_TOGETHER - 1; ) {
    const waiting = queue[at];
    if (waiting !== undefined && isTogether(waiting)) taken.push(...queue.splice(at, 1));
    else at += 1;
  }
  return taken;
}
