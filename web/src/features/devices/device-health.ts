import type { Device, DeviceScan } from '@palisade/contract/devices';

const count = new Intl.NumberFormat('en');
const number = (amount: number, one: string, many: string) => (amount === 1 ? `1 ${one}` : `${count.format(amount)} ${many}`);

/** Reasons that keep a device from checking its files, in plain sentences; empty where all is well. */
export function healthProblems({ state, health }: Pick<Device, 'state' | 'health'>): string[] {
  if (state === 'stalled') return ['The agent is connected but stopped working, so no files are checked. Restart the computer.'];
  if (state !== 'online' || health === null) return [];
  const { watcher, overflow, files_unread, workers_stuck } = health;
  return [
    ...(watcher === 'stalled' ? ['New files aren’t being checked. Restart the computer if this lasts.'] : []),
    ...(workers_stuck > 0 ? ['A disk or network drive doesn’t answer, so files on it can’t be checked.'] : []),
    ...(overflow !== null && overflow.folders > 0
      ? [`Too many files changed at once. The agent is checking ${number(overflow.folders, 'folder', 'folders')} again.`]
      : []),
    ...(files_unread > 0
      ? [`We couldn’t check ${number(files_unread, 'new file', 'new files')} completely. Run a full scan to try again.`]
      : []),
  ];
}

/** Past events worth knowing. */
export function healthNotes({ state, health }: Pick<Device, 'state' | 'health'>): string[] {
  const is_over = state === 'online' && health !== null && health.overflow !== null && health.overflow.folders === 0;
  return is_over ? ['Many files changed at once. The agent is checking the watched folders again.'] : [];
}

/** The unread part of a scan, such as `3 files and 1 folder`; undefined where it read everything. */
export function unreadOf({ files_unread, progress }: Pick<DeviceScan, 'files_unread' | 'progress'>): string | undefined {
  if (files_unread === 0) return undefined;
  const folders = progress?.folders_unread ?? 0;
  const files = files_unread - folders;
  return [
    ...(files > 0 ? [number(files, 'file', 'files')] : []),
    ...(folders > 0 ? [number(folders, 'folder', 'folders')] : []),
  ].join(' and ');
}
