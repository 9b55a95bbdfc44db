import { type Scan, UPLOAD_MAXIMUM } from '@palisade/contract/antivirus';
import type { ScanProgress } from '@palisade/contract/events';
import { describeBytes } from '@palisade/contract/intl';
import type { ProblemCode } from '@palisade/contract/problem';
import { CallError, sentenceOf } from '#api/call.ts';
import { createListeners } from '#api/listeners.ts';
import { newUploadKey } from '#domain/scan/scans.ts';
import { isEnded, isRunning, type Upload, type UploadState, type UploadsRead } from './upload-state.ts';

/** Number of uploads that run at the same time. If all of them are big, one additional small file may run, because it would wait only for them. */
const RUNNING_MAXIMUM = 2;
const SMALL_BYTES = 1024 ** 2;
/** Pause when the server is busy, in ms. */
const BUSY_PAUSE = 5_000;

/** Longest wait between two attempts to cancel a file, in ms. */
const WAIT_MAXIMUM = 30_000;

interface UploadQueueParts {
  send: (file: File, options: { key: string; onProgress: (share: number) => void; signal: AbortSignal }) => Promise<Scan>;
  /** Cancels a file on the server. Rejects if the server is unreachable or the scan ended first. */
  takeBack: (key: string) => Promise<void>;
  onScan: (scan: Scan) => void;
  /** Called once for a series of failures, so that a lost connection during ten uploads gives one notice. */
  onFailure: () => void;
}

export interface UploadQueue extends UploadsRead {
  add: (files: readonly File[]) => void;
  cancel: (id: number) => void;
  /** Stores the progress that the server reports for a key. */
  report: (key: string, progress: ScanProgress) => void;
  retry: (id: number) => void;
  /** Sends all failed files again, except final failures. */
  retryFailed: () => void;
  /** Removes all ended files from the list. */
  clearEnded: () => void;
  /** Cancels all files that have not ended, also on the server. */
  cancelAll: () => void;
  /** Stops sending without a request to the server: the session may be over. */
  stop: () => void;
}

export function hasFailed({ state }: Upload): boolean {
  return state.phase === 'failed';
}

/** Whether sending the file again may succeed. */
export function canRetry({ state }: Upload): boolean {
  return state.phase === 'cancelled' || (state.phase === 'failed' && !state.is_final);
}

function codeOf(error: unknown): ProblemCode | undefined {
  return error instanceof CallError ? error.problem?.code : undefined;
}

/** Pause that a busy server requests, in ms; undefined for any other error. */
function waitOf(error: unknown): number | undefined {
  if (!(error instanceof CallError) || error.retry_after === undefined) return undefined;
  return Math.min(error.retry_after * 1_000, WAIT_MAXIMUM);
}

function firstState(file: File): UploadState {
  if (file.size <= UPLOAD_MAXIMUM) return { phase: 'waiting' };
  const sentence = `This file has ${describeBytes(file.size)}. We scan files up to ${describeBytes(UPLOAD_MAXIMUM)}.`;
  return { phase: 'failed', sentence, is_final: true };
}

/** The upload that starts next, if a slot is free. */
function nextOf(uploads: readonly Upload[]): Upload | undefined {
  const running = uploads.filter(isRunning);
  const hasPlace = running.length < RUNNING_MAXIMUM;
  const hasSmallPlace = running.length === RUNNING_MAXIMUM && running.every(({ file }) => file.size > SMALL_BYTES);
  return uploads.find(
    ({ state, file }) => state.phase === 'waiting' && (hasPlace || (hasSmallPlace && file.size <= SMALL_BYTES)),
  );
}

/** Sends files in turn and reports the state of each. Lives outside of the screens, so that leaving a screen loses no upload. */
export function createUploadQueue(parts: UploadQueueParts): UploadQueue {
  return new FileUploads(parts);
}

class FileUploads implements UploadQueue {
  readonly #parts: UploadQueueParts;
  readonly #listeners = createListeners();
  readonly #aborts = new Map<number, AbortController>();
  #uploads: readonly Upload[] = [];
  #lastId = 0;
  #batch = 0;
  #hasToldFailure = false;
  #pause: ReturnType<typeof setTimeout> | undefined;

  constructor(parts: UploadQueueParts) {
    this.#parts = parts;
  }

  // Stable functions, as `useSyncExternalStore` needs them.
  readonly subscribe = this.#listeners.subscribe;

  readonly read = () => this.#uploads;

  add(files: readonly File[]): void {
    this.#hasToldFailure = false;
    const isNewBatch = this.#uploads.every(isEnded);
    if (isNewBatch) this.#batch += 1;
    const added_at = Date.now();
    const added = files.map((file) => ({
      id: ++this.#lastId,
      key: '',
      file,
      batch: this.#batch,
      added_at,
      state: firstState(file),
    }));
    // The history has earlier results, but failures are listed only here.
    this.#become([...(isNewBatch ? this.#uploads.filter(hasFailed) : this.#uploads), ...added]);
    this.#startNext();
  }

  cancel(id: number): void {
    const upload = this.#uploads.find((other) => other.id === id);
    const running = this.#aborts.get(id);
    if (upload?.state.phase === 'scanning') {
      void this.#cancelScan(upload, upload.state.progress);
    } else if (upload && running) {
      running.abort();
      // The server may already have received the last byte.
      this.#parts.takeBack(upload.key).catch(() => undefined);
    } else {
      this.#update(id, { phase: 'cancelled' });
    }
  }

  report(key: string, progress: ScanProgress): void {
    const upload = this.#uploads.find((other) => other.key === key);
    if (!upload || !isRunning(upload) || (upload.state.phase === 'scanning' && upload.state.is_cancelling)) return;
    this.#update(upload.id, { phase: 'scanning', progress });
  }

  retry(id: number): void {
    this.#hasToldFailure = false;
    this.#update(id, { phase: 'waiting' });
    this.#startNext();
  }

  retryFailed(): void {
    this.#hasToldFailure = false;
    this.#become(
      this.#uploads.map((upload) =>
        hasFailed(upload) && canRetry(upload) ? { ...upload, state: { phase: 'waiting' } as const } : upload,
      ),
    );
    this.#startNext();
  }

  clearEnded(): void {
    this.#become(this.#uploads.filter((upload) => !isEnded(upload)));
  }

  cancelAll(): void {
    this.#cancelWaiting();
    for (const upload of this.#uploads) if (isRunning(upload)) this.cancel(upload.id);
  }

  stop(): void {
    this.#cancelWaiting();
    for (const abort of this.#aborts.values()) abort.abort();
  }

  /** Cancels waiting files first, so that they do not start in the freed slots. */
  #cancelWaiting(): void {
    clearTimeout(this.#pause);
    this.#pause = undefined;
    this.#become(
      this.#uploads.map((upload) =>
        upload.state.phase === 'waiting' ? { ...upload, state: { phase: 'cancelled' } as const } : upload,
      ),
    );
  }

  #become(next: readonly Upload[]): void {
    this.#uploads = next;
    this.#listeners.tell();
  }

  #update(id: number, state: UploadState): void {
    this.#become(this.#uploads.map((upload) => (upload.id === id ? { ...upload, state } : upload)));
  }

  #stateOf(id: number): UploadState | undefined {
    return this.#uploads.find((upload) => upload.id === id)?.state;
  }

  #startNext(): void {
    while (this.#pause === undefined) {
      const next = nextOf(this.#uploads);
      if (!next) return;
      void this.#run(next);
    }
  }

  async #run({ id, file }: Upload): Promise<void> {
    const key = newUploadKey();
    const abort = new AbortController();
    this.#aborts.set(id, abort);
    this.#become(
      this.#uploads.map((upload) => (upload.id === id ? { ...upload, key, state: { phase: 'sending', share: 0 } } : upload)),
    );
    const onProgress = (share: number) => {
      // The server may report the complete file before the browser does.
      if (this.#stateOf(id)?.phase !== 'sending') return;
      this.#update(id, share < 1 ? { phase: 'sending', share } : { phase: 'scanning' });
    };
    try {
      const scan = await this.#parts.send(file, { key, onProgress, signal: abort.signal });
      this.#hasToldFailure = false;
      this.#update(id, { phase: 'done', scan });
      this.#parts.onScan(scan);
    } catch (error) {
      if (abort.signal.aborted) this.#update(id, { phase: 'cancelled' });
      else this.#fail(id, error);
    } finally {
      this.#aborts.delete(id);
      this.#startNext();
    }
  }

  #fail(id: number, error: unknown): void {
    const code = codeOf(error);
    if (code === 'upload_cancelled') {
      this.#update(id, { phase: 'cancelled' });
    } else if (code === 'too_many_requests') {
      this.#update(id, { phase: 'waiting', is_refused: true });
      this.#pause ??= setTimeout(() => {
        this.#pause = undefined;
        this.#startNext();
      }, BUSY_PAUSE);
    } else {
      this.#update(id, { phase: 'failed', sentence: sentenceOf(error), is_final: false });
      if (!this.#hasToldFailure) this.#parts.onFailure();
      this.#hasToldFailure = true;
    }
  }

  /** Cancels a completely sent file. Only the server can stop the scan; its reply to the upload says whether it did. */
  async #cancelScan({ id, key }: Upload, progress: ScanProgress | undefined): Promise<void> {
    const scanning = (is_cancelling: boolean) =>
      this.#update(id, { phase: 'scanning', ...(progress && { progress }), is_cancelling });
    scanning(true);
    for (;;) {
      try {
        await this.#parts.takeBack(key);
        return;
      } catch (error) {
        if (this.#stateOf(id)?.phase !== 'scanning') return;
        const wait = waitOf(error);
        if (wait === undefined) {
          scanning(false);
          return;
        }
        await new Promise((resolve) => setTimeout(resolve, wait));
        // The scan may have ended meanwhile.
        if (this.#stateOf(id)?.phase !== 'scanning') return;
      }
    }
  }
}
