import type { Scan } from '@palisade/contract/antivirus';
import type { ScanProgress } from '@palisade/contract/events';

export type UploadState =
  /** `is_refused`: the server is busy. */
  | { phase: 'waiting'; is_refused?: boolean }
  /** `share` of the file that has been sent, from 0 to 1. */
  | { phase: 'sending'; share: number }
  /** `progress` is the last one that the server reported. */
  | { phase: 'scanning'; progress?: ScanProgress; is_cancelling?: boolean }
  | { phase: 'done'; scan: Scan }
  | { phase: 'failed'; sentence: string; is_final: boolean }
  | { phase: 'cancelled' };

export interface Upload {
  id: number;
  /** Upload key on the server; new for each attempt. */
  key: string;
  file: File;
  /** Number of the batch: files that were queued while the queue was busy belong together. */
  batch: number;
  /** In ms. */
  added_at: number;
  state: UploadState;
}

export function isRunning({ state }: Upload): boolean {
  return state.phase === 'sending' || state.phase === 'scanning';
}

export function isEnded({ state }: Upload): boolean {
  return state.phase === 'done' || state.phase === 'failed' || state.phase === 'cancelled';
}

/** The upload queue without the functions that change it. */
export interface UploadsRead {
  subscribe: (listener: () => void) => () => void;
  /** Returns the same array until an entry changes. */
  read: () => readonly Upload[];
}
