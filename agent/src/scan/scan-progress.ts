import type { ScanProgressOnDevice } from '@palisade/contract/agent';

/** Counters of one scan. */
export interface ScanTally {
  progress: ScanProgressOnDevice;
  /** Files that the walk has reached, read or not. */
  files_seen: number;
  /** Files found so far by the concurrent count. */
  files_counted: number;
}

export const EMPTY_PROGRESS: ScanProgressOnDevice = {
  files_read: 0,
  files_known: 0,
  files_pending: 0,
  folders_unread: 0,
  files_total: 0,
  is_counted: false,
  bytes_read: 0,
  bytes_per_second: 0,
  seconds_left: null,
  path: null,
};

export const EMPTY_TALLY: ScanTally = { progress: EMPTY_PROGRESS, files_seen: 0, files_counted: 0 };

function withProgress(tally: ScanTally, progress: Partial<ScanProgressOnDevice>): ScanTally {
  return { ...tally, progress: { ...tally.progress, ...progress } };
}

/** Updates the counters after the walk has reached a file. */
export const afterSeen = (tally: ScanTally): ScanTally => ({ ...tally, files_seen: tally.files_seen + 1 });

/** Updates the counters after the walk could not open a folder. */
export const afterUnreadFolder = (tally: ScanTally): ScanTally =>
  withProgress(tally, { folders_unread: tally.progress.folders_unread + 1 });

/** Updates the counters after a file: read, known to be clean, not fully read (pending), or removed meanwhile (gone). */
export function afterFile(tally: ScanTally, outcome: 'read' | 'known' | 'pending' | 'gone', bytes: number): ScanTally {
  const { files_read, files_known, files_pending, bytes_read } = tally.progress;
  switch (outcome) {
    case 'read':
      return withProgress(tally, { files_read: files_read + 1, bytes_read: bytes_read + bytes });
    case 'known':
      return withProgress(tally, { files_known: files_known + 1 });
    case 'pending':
      return withProgress(tally, { files_pending: files_pending + 1 });
    case 'gone':
      return { ...tally, files_seen: tally.files_seen - 1, files_counted: tally.files_counted - 1 };
  }
}

export const withPath = (tally: ScanTally, path: string): ScanTally => withProgress(tally, { path });

/** Updates the counters after the concurrent count. Only a complete count is the total. */
export const afterCount = (tally: ScanTally, is_whole: boolean): ScanTally =>
  withProgress(tally, { is_counted: tally.progress.is_counted || is_whole });

/** Adds the total, the speed, and the remaining time at the average speed so far. @param active_ms duration of the scan without pauses */
export function withEstimate(tally: ScanTally, active_ms: number): ScanTally {
  const { files_seen, files_counted } = tally;
  const { is_counted, bytes_read } = tally.progress;
  const files_total = Math.max(files_seen, files_counted);
  return withProgress(tally, {
    files_total,
    seconds_left: is_counted && files_seen > 0 ? Math.round(((files_total - files_seen) * active_ms) / files_seen / 1_000) : null,
    bytes_per_second: active_ms > 0 ? Math.round((bytes_read / active_ms) * 1_000) : 0,
  });
}

/** Final counters after the last file. */
export const atEnd = (tally: ScanTally): ScanTally =>
  withProgress(tally, { path: null, files_total: tally.files_seen, is_counted: true, seconds_left: 0 });

const seenOf = ({ files_read, files_known, files_pending }: ScanProgressOnDevice) => files_read + files_known + files_pending;

/** The progress to show: the checkpoint's until the resumed scan has reached it. */
export function shownProgress(now: ScanProgressOnDevice, checkpoint: ScanProgressOnDevice | undefined): ScanProgressOnDevice {
  if (checkpoint === undefined || seenOf(now) >= seenOf(checkpoint)) return { ...now };
  return {
    ...checkpoint,
    files_total: Math.max(checkpoint.files_total, now.files_total),
    is_counted: now.is_counted,
    bytes_per_second: 0,
    seconds_left: null,
    path: now.path,
  };
}
