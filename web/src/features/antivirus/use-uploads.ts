import { useQueryClient } from '@tanstack/react-query';
import { useSyncExternalStore } from 'react';
import { mergeScan, takeBack, uploadScan } from '#domain/scan/scans.ts';
import { createUploadQueue, type UploadQueue } from './upload-queue.ts';
import type { Upload } from './upload-state.ts';
import { useUploadsHolder } from './uploads.tsx';

/** The specification's text for a failed upload. */
const FAILURE_ALERT = 'Error scanning file. Please try again.';

export function useUploads(): { queue: UploadQueue; uploads: readonly Upload[] } {
  const queries = useQueryClient();
  const holder = useUploadsHolder();
  const queue = holder.queueOf(() =>
    createUploadQueue({
      send: uploadScan,
      takeBack,
      onScan: (scan) => mergeScan(queries, scan),
      // After the row shows the failure, because an alert blocks rendering.
      onFailure: () => setTimeout(() => window.alert(FAILURE_ALERT)),
    }),
  );
  return { queue, uploads: useSyncExternalStore(holder.subscribe, holder.read) };
}
