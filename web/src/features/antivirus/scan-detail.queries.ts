import {
  deleteFile,
  deleteScan,
  readScan,
  reportFalseAlarm,
  restoreFile,
  type ScanDetail,
  unlockFile,
} from '@palisade/contract/quarantine';
import { queryOptions, useQueryClient } from '@tanstack/react-query';
import { call, download } from '#api/call.ts';
import { useChange } from '#api/change.ts';
import { putRecord } from '#api/change-list.ts';
import { invalidateScans, isWaiting, removeScan, WAITING_INTERVAL } from '#domain/scan/scans.ts';
import { saveFile } from '#ui/save-file.ts';

export const scanDetailQuery = (id: string) =>
  queryOptions({
    queryKey: ['scan', id],
    queryFn: ({ signal }) => call(readScan, { params: { id }, signal }),
    refetchInterval: ({ state }) => (state.data && isWaiting(state.data) ? WAITING_INTERVAL : false),
  });

/** Deletes a scan from the history. */
export function useDeleteScan(id: string) {
  const queries = useQueryClient();
  return useChange({
    of: deleteScan,
    mutationFn: () => call(deleteScan, { params: { id } }),
    onSuccess: () => removeScan(queries, id),
  });
}

/** Stores a changed scan in the cache. */
function useChanged() {
  const queries = useQueryClient();
  return (changed: ScanDetail) => {
    putRecord(queries, scanDetailQuery(changed.id).queryKey, changed);
    invalidateScans(queries);
  };
}

/** Scans an encrypted file again with its password. */
export function useUnlockFile(id: string) {
  return useChange({
    mutationFn: (password: string) => call(unlockFile, { params: { id }, body: { password } }),
    onSuccess: useChanged(),
    // Mutation variables stay in memory until garbage collection; a password must not outlive the screen.
    gcTime: 0,
  });
}

export function useReportFalseAlarm(id: string) {
  return useChange({
    mutationFn: (reason: string) => call(reportFalseAlarm, { params: { id }, body: { reason } }),
    onSuccess: useChanged(),
  });
}

/** Deletes the stored copy; the scan record stays. */
export function useDeleteFile(id: string) {
  return useChange({ of: deleteFile, mutationFn: () => call(deleteFile, { params: { id } }) });
}

/** Downloads the stored copy. */
export function useRestoreFile({ id, filename }: ScanDetail) {
  return useChange({
    mutationFn: () => download(restoreFile, { params: { id } }),
    onSuccess: (bytes) => saveFile(filename, bytes),
  });
}
