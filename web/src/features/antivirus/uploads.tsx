import { createContext, type ReactNode, useContext, useEffect, useState, useSyncExternalStore } from 'react';
import { onEvent } from '#api/events.ts';
import { createListeners } from '#api/listeners.ts';
import { currentSession } from '#api/session.ts';
import { UploadAnnouncer } from './upload-announcer.tsx';
import type { UploadQueue } from './upload-queue.ts';
import { isEnded, isRunning, type Upload, type UploadsRead } from './upload-state.ts';

const NO_UPLOADS: readonly Upload[] = [];

/** Holds the upload queue above the routes. The first screen that uploads creates it, so that its file is loaded there. */
export class UploadsHolder {
  readonly #listeners = createListeners();
  #queue: UploadQueue | undefined;

  // Stable functions, as `useSyncExternalStore` needs them.
  readonly subscribe = this.#listeners.subscribe;

  readonly read = () => this.#queue?.read() ?? NO_UPLOADS;

  get queue(): UploadQueue | undefined {
    return this.#queue;
  }

  /** Returns the queue, created with `make` if there is none. */
  queueOf(make: () => UploadQueue): UploadQueue {
    if (this.#queue) return this.#queue;
    this.#queue = make();
    this.#queue.subscribe(() => {
      this.#listeners.tell();
    });
    return this.#queue;
  }
}

const UploadsContext = createContext<UploadsHolder | undefined>(undefined);

/** Keeps uploads running while the person visits other screens. */
export function UploadsProvider({ children }: { children: ReactNode }) {
  const [holder] = useState(() => new UploadsHolder());

  useEffect(() => () => holder.queue?.stop(), [holder]);
  useEffect(
    () =>
      onEvent('scan_progress', ({ upload_key, progress }) => {
        if (upload_key !== null) holder.queue?.report(upload_key, progress);
      }),
    [holder],
  );

  return (
    <UploadsContext value={holder}>
      <UnloadGuard uploads={holder} />
      {children}
      <UploadAnnouncer queue={holder} />
    </UploadsContext>
  );
}

/** Asks before the tab closes while uploads are running. */
function UnloadGuard({ uploads }: { uploads: UploadsRead }) {
  const isBusy = !useSyncExternalStore(uploads.subscribe, uploads.read).every(isEnded);
  useEffect(() => {
    if (!isBusy) return;
    const warn = (event: BeforeUnloadEvent) => {
      // Signing out has already asked.
      if (currentSession()) event.preventDefault();
    };
    window.addEventListener('beforeunload', warn);
    return () => window.removeEventListener('beforeunload', warn);
  }, [isBusy]);
  return null;
}

export function useUploadsHolder(): UploadsHolder {
  const holder = useContext(UploadsContext);
  if (!holder) throw new Error('There is no UploadsProvider above this component');
  return holder;
}

/** Returns only numbers, so that progress events do not render the components that show them. */
export function useUploadCounts(): { running: number } {
  const { subscribe, read } = useUploadsHolder();
  return { running: useSyncExternalStore(subscribe, () => read().filter(isRunning).length) };
}
