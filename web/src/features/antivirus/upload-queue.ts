import { type Scan, UPLOAD_MAXIMUM } from '@palisade/contract/antivirus';
import type { ScanProgress } from '@palisade/contract/events';
import type { ProblemCode } from '@palisade/contract/problem';
import { CallError, sentenceOf } from '#api/call.ts';
import { newUploadKey } from '#domain/scan/scans.ts';
import { describeBytes } from '#ui/bytes.ts';

/** Uploads that run at the same time; the others wait. Where all of them are big, one more may be small: it would wait for nothing but them. */
const RUNNING_MAXIMUM = 2;
const SMALL_BYTES = 1024 ** 2;
/** Pause for a busy server, in ms. */
const BUSY_PAUSE = 5_000;

/** The longest wait between two tries to take a file back, in ms. */
const WAIT_MAXIMUM = 30_000;

export type UploadState =
  /** `is_refused`: the server has too much to do just now. */
  | { phase: 'waiting'; is_refused?: boolean }
  /** `share` is how much of the file has been sent, from 0 to 1. */
  | { phase: 'sending'; share: number }
  /** `progress` is what the server told last, if it did. */
  | { phase: 'scanning'; progress?: ScanProgress; is_cancelling?: boolean }
  | { phase: 'done'; scan: Scan }
  | { phase: 'failed'; sentence: string; is_final: boolean }
  | { phase: 'cancelled' };

export interface Upload {
  id: number;
  /** Its name at the server; a new one for each attempt. */
  key: string;
  file: File;
  /** The files that were on their way together. */
  batch: number;
  state: UploadState;
}

interface UploadQueueParts {
  send: (file: File, options: { key: string; onProgress: (share: number) => void; signal: AbortSignal }) => Promise<Scan>;
  /** Has the server forget a file. Fails when it could not be reached, or the verdict was faster. */
  takeBack: (key: string) => Promise<void>;
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
  /** The server tells how far the file of a key is. */
  report: (key: string, progress: ScanProgress) => void;
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

function codeOf(error: unknown): ProblemCode | undefined {
  return error instanceof CallError ? error.problem?.code : undefined;
}

/** Pause that a busy server asks for, in ms; undefined for any other refusal. */
function waitOf(error: unknown): number | undefined {
  if (!(error instanceof CallError) || error.retry_after === undefined) return undefined;
  return Math.min(error.retry_after * 1_000, WAIT_MAXIMUM);
}

function firstState(file: File): UploadState {
  if (file.size <= UPLOAD_MAXIMUM) return { phase: 'waiting' };
  const sentence = `It has ${describeBytes(file.size)}, and the most that can be scanned is ${describeBytes(UPLOAD_MAXIMUM)}.`;
  return { phase: 'failed', sentence, is_final: true };
}

/** Sends files in turn, and tells of each where it stands. Lives outside of the screens, so that leaving one loses nothing. */
export function createUploadQueue({ send, takeBack, onScan, onFailure }: UploadQueueParts): UploadQueue {
  const listeners = new Set<() => void>();
  const aborts = new Map<number, AbortController>();
  let uploads: readonly Upload[] = [];
  let lastId = 0;
  let batch = 0;
  let hasToldFailure = false;
  let pause: ReturnType<typeof setTimeout> | undefined;

  function become(next: readonly Upload[]): void {
    uploads = next;
    for (const listener of listeners) listener();
  }

  function update(id: number, state: UploadState): void {
    become(uploads.map((upload) => (upload.id === id ? { ...upload, state } : upload)));
  }

  function stateOf(id: number): UploadState | undefined {
    return uploads.find((upload) => upload.id === id)?.state;
  }

  function failed(id: number, error: unknown): void {
    const code = codeOf(error);
    if (code === 'upload_cancelled') {
      update(id, { phase: 'cancelled' });
    } else if (code === 'too_many_requests') {
      update(id, { phase: 'waiting', is_refused: true });
      pause ??= setTimeout(() => {
        pause = undefined;
        startNext();
      }, BUSY_PAUSE);
    } else {
      update(id, { phase: 'failed', sentence: sentenceOf(error), is_final: false });
      if (!hasToldFailure) onFailure();
      hasToldFailure = true;
    }
  }

  async function run({ id, file }: Upload): Promise<void> {
    const key = newUploadKey();
    const abort = new AbortController();
    aborts.set(id, abort);
    become(uploads.map((upload) => (upload.id === id ? { ...upload, key, state: { phase: 'sending', share: 0 } } : upload)));
    const onProgress = (share: number) => {
      // The server may tell that it has everything before the browser does.
      if (stateOf(id)?.phase === 'sending') update(id, share < 1 ? { phase: 'sending', share } : { phase: 'scanning' });
    };
    try {
      const scan = await send(file, { key, onProgress, signal: abort.signal });
      hasToldFailure = false;
      update(id, { phase: 'done', scan });
      onScan(scan);
    } catch (error) {
      if (abort.signal.aborted) update(id, { phase: 'cancelled' });
      else failed(id, error);
    } finally {
      aborts.delete(id);
      startNext();
    }
  }

  function startNext(): void {
    while (pause === undefined) {
      const running = uploads.filter(isRunning);
      const hasPlace = running.length < RUNNING_MAXIMUM;
      const hasSmallPlace = running.length === RUNNING_MAXIMUM && running.every(({ file }) => file.size > SMALL_BYTES);
      const next = uploads.find(
        ({ state, file }) => state.phase === 'waiting' && (hasPlace || (hasSmallPlace && file.size <= SMALL_BYTES)),
      );
      if (!next) return;
      void run(next);
    }
  }

  /** The server has the whole file: it alone can stop, and says so, or that it was done before, in its answer to the upload. */
  async function cancelScan({ id, key }: Upload, progress: ScanProgress | undefined): Promise<void> {
    const scanning = (is_cancelling: boolean) => update(id, { phase: 'scanning', ...(progress && { progress }), is_cancelling });
    scanning(true);
    for (;;) {
      try {
        await takeBack(key);
        return;
      } catch (error) {
        if (stateOf(id)?.phase !== 'scanning') return;
        const wait = waitOf(error);
        if (wait === undefined) {
          scanning(false);
          return;
        }
        await new Promise((resolve) => setTimeout(resolve, wait));
        // The verdict may have come meanwhile.
        if (stateOf(id)?.phase !== 'scanning') return;
      }
    }
  }

  function cancel(id: number): void {
    const upload = uploads.find((other) => other.id === id);
    const running = aborts.get(id);
    if (upload?.state.phase === 'scanning') {
      void cancelScan(upload, upload.state.progress);
    } else if (upload && running) {
      running.abort();
      // Its last byte may have been on its way.
      takeBack(upload.key).catch(() => undefined);
    } else {
      update(id, { phase: 'cancelled' });
    }
  }

  return {
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    read: () => uploads,
    add(files) {
      hasToldFailure = false;
      if (uploads.every(isEnded)) batch += 1;
      become([...uploads, ...files.map((file) => ({ id: ++lastId, key: '', file, batch, state: firstState(file) }))]);
      startNext();
    },
    cancel,
    report(key, progress) {
      const upload = uploads.find((other) => other.key === key);
      if (!upload || !isRunning(upload) || (upload.state.phase === 'scanning' && upload.state.is_cancelling)) return;
      update(upload.id, { phase: 'scanning', progress });
    },
    retry(id) {
      hasToldFailure = false;
      update(id, { phase: 'waiting' });
      startNext();
    },
    clearEnded: () => become(uploads.filter((upload) => !isEnded(upload))),
    cancelAll() {
      // The waiting ones first, or they would start in the places that become free.
      clearTimeout(pause);
      for (const { id, state } of uploads) if (state.phase === 'waiting') cancel(id);
      for (const abort of aborts.values()) abort.abort();
    },
  };
}
