import { type Scan, UPLOAD_MAXIMUM } from '@palisade/contract/antivirus';
import { sentenceOf } from '#api/call.ts';
import { describeBytes } from '#ui/bytes.ts';

/** Uploads that run at the same time; the others wait. */
const RUNNING_MAXIMUM = 2;

export type UploadState =
  | { phase: 'waiting' }
  /** `share` is how much of the file has been sent, from 0 to 1. */
  | { phase: 'sending'; share: number }
  | { phase: 'scanning' }
  | { phase: 'done'; scan: Scan }
  | { phase: 'failed'; sentence: string; is_final: boolean }
  | { phase: 'cancelled' };

export interface Upload {
  id: number;
  file: File;
  state: UploadState;
}

interface UploadQueueParts {
  send: (file: File, options: { onProgress: (share: number) => void; signal: AbortSignal }) => Promise<Scan>;
  onScan: (scan: Scan) => void;
  /** Called once for a run of failures, not once for each: ten files over a lost connection are one piece of news. */
  onFailure: () => void;
}

export interface UploadQueue {
  subscribe: (listener: () => void) => () => void;
  /** The same array until something changes. */
  read: () => readonly Upload[];
  add: (files: readonly File[]) => void;
  cancel: (id: number) => void;
  retry: (id: number) => void;
  /** Takes everything that has ended off the list. */
  clearEnded: () => void;
  cancelAll: () => void;
}

export function isRunning({ state }: Upload): boolean {
  return state.phase === 'sending' || state.phase === 'scanning';
}

export function isEnded({ state }: Upload): boolean {
  return state.phase === 'done' || state.phase === 'failed' || state.phase === 'cancelled';
}

function firstState(file: File): UploadState {
  if (file.size <= UPLOAD_MAXIMUM) return { phase: 'waiting' };
  const sentence = `It has ${describeBytes(file.size)}, and the most that can be scanned is ${describeBytes(UPLOAD_MAXIMUM)}.`;
  return { phase: 'failed', sentence, is_final: true };
}

/** Sends files in turn, and tells of each where it stands. Lives outside of the screens, so that leaving one loses nothing. */
export function createUploadQueue({ send, onScan, onFailure }: UploadQueueParts): UploadQueue {
  const listeners = new Set<() => void>();
  const aborts = new Map<number, AbortController>();
  let uploads: readonly Upload[] = [];
  let lastId = 0;
  let hasToldFailure = false;

  function become(next: readonly Upload[]): void {
    uploads = next;
    for (const listener of listeners) listener();
  }

  function update(id: number, state: UploadState): void {
    become(uploads.map((upload) => (upload.id === id ? { ...upload, state } : upload)));
  }

  async function run({ id, file }: Upload): Promise<void> {
    const abort = new AbortController();
    aborts.set(id, abort);
    update(id, { phase: 'sending', share: 0 });
    const onProgress = (share: number) => update(id, share < 1 ? { phase: 'sending', share } : { phase: 'scanning' });
    try {
      const scan = await send(file, { onProgress, signal: abort.signal });
      hasToldFailure = false;
      update(id, { phase: 'done', scan });
      onScan(scan);
    } catch (error) {
      if (abort.signal.aborted) {
        update(id, { phase: 'cancelled' });
      } else {
        update(id, { phase: 'failed', sentence: sentenceOf(error), is_final: false });
        if (!hasToldFailure) onFailure();
        hasToldFailure = true;
      }
    } finally {
      aborts.delete(id);
      startNext();
    }
  }

  function startNext(): void {
    while (uploads.filter(isRunning).length < RUNNING_MAXIMUM) {
      const next = uploads.find(({ state }) => state.phase === 'waiting');
      if (!next) return;
      void run(next);
    }
  }

  function cancel(id: number): void {
    const running = aborts.get(id);
    if (running) running.abort();
    else update(id, { phase: 'cancelled' });
  }

  return {
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    read: () => uploads,
    add(files) {
      hasToldFailure = false;
      become([...uploads, ...files.map((file) => ({ id: ++lastId, file, state: firstState(file) }))]);
      startNext();
    },
    cancel,
    retry(id) {
      hasToldFailure = false;
      update(id, { phase: 'waiting' });
      startNext();
    },
    clearEnded: () => become(uploads.filter((upload) => !isEnded(upload))),
    cancelAll() {
      // The waiting ones first, or they would start in the places that become free.
      for (const { id, state } of uploads) if (state.phase === 'waiting') cancel(id);
      for (const abort of aborts.values()) abort.abort();
    },
  };
}
