import { useQueryClient } from '@tanstack/react-query';
import { createContext, type ReactNode, useContext, useEffect, useState, useSyncExternalStore } from 'react';
import { onEvent } from '#api/events.ts';
import { currentSession } from '#api/session.ts';
import { mergeScan, takeBack, uploadScan } from '#domain/scan/scans.ts';
import { UploadAnnouncer } from './upload-announcer.tsx';
import { createUploadQueue, isEnded, isRunning, type Upload, type UploadQueue } from './upload-queue.ts';

const UploadsContext = createContext<UploadQueue | undefined>(undefined);

/** The specification's text for a failed upload. */
const FAILURE_ALERT = 'Error scanning file. Please try again.';

/** Holds the upload queue above the routes, so that uploads continue while the person visits other screens. */
export function UploadsProvider({ children }: { children: ReactNode }) {
  const queries = useQueryClient();
  const [queue] = useState(() =>
    createUploadQueue({
      send: uploadScan,
      takeBack,
      onScan: (scan) => mergeScan(queries, scan),
      // After the row shows the failure, because an alert blocks rendering.
      onFailure: () => setTimeout(() => window.alert(FAILURE_ALERT)),
    }),
  );

  useEffect(() => () => queue.stop(), [queue]);
  useEffect(
    () =>
      onEvent('scan_progress', ({ upload_key, progress }) => {
        if (upload_key !== null) queue.report(upload_key, progress);
      }),
    [queue],
  );

  return (
    <UploadsContext value={queue}>
      <UnloadGuard queue={queue} />
      {children}
      <UploadAnnouncer queue={queue} />
    </UploadsContext>
  );
}

/** Asks before the tab closes while uploads are running. */
function UnloadGuard({ queue }: { queue: UploadQueue }) {
  const isBusy = !useSyncExternalStore(queue.subscribe, queue.read).every(isEnded);
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

function useQueue(): UploadQueue {
  const queue = useContext(UploadsContext);
  if (!queue) throw new Error('There is no UploadsProvider above this component');
  return queue;
}

export function useUploads(): { queue: UploadQueue; uploads: readonly Upload[] } {
  const queue = useQueue();
  return { queue, uploads: useSyncExternalStore(queue.subscribe, queue.read) };
}

/** Returns only numbers, so that progress events do not render the components that show them. */
export function useUploadCounts(): { running: number } {
  const queue = useQueue();
  return { running: useSyncExternalStore(queue.subscribe, () => queue.read().filter(isRunning).length) };
}
