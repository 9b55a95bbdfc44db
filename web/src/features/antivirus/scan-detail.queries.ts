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

/** Takes a record out of the history. */
export function useDeleteScan(id: string) {
  const queries = useQueryClient();
  return useChange({
    of: deleteScan,
    mutationFn: () => call(deleteScan, { params: { id } }),
    onSuccess: () => removeScan(queries, id),
  });
}

/** Puts a changed record where the screens read it. */
function useChanged() {
  const queries = useQueryClient();
  return (changed: ScanDetail) => {
    putRecord(queries, scanDetailQuery(changed.id).queryKey, changed);
    invalidateScans(queries);
  };
}

/** Has a locked file read with its password. */
export function useUnlockFile(id: string) {
  return useChange({
    mutationFn: (password: string) => call(unlockFile, { params: { id }, body: { password } }),
    onSuccess: useChanged(),
    // A password is not kept for longer than the screen.
    gcTime: 0,
  });
}

export function useReportFalseAlarm(id: string) {
  return useChange({
    mutationFn: (reason: string) => call(reportFalseAlarm, { params: { id }, body: { reason } }),
    onSuccess: useChanged(),
  });
}

/** Removes the kept copy; the record stays. */
export function useDeleteFile(id: string) {
  return useChange({ of: deleteFile, mutationFn: () => call(deleteFile, { params: { id } }) });
}

/** Gives the kept copy to the browser as a download. */
export function useRestoreFile({ id, filename }: ScanDetail) {
  return useChange({
    mutationFn: () => download(restoreFile, { params: { id } }),
    onSuccess: (bytes) => saveFile(filename, bytes),
  });
}
