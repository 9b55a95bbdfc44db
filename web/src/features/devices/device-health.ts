import type { Device, DeviceScan } from '@palisade/contract/devices';
import { formatList, formatNumber, plural } from '@palisade/contract/intl';

/** Reasons why a device cannot check its files, as sentences; empty if it can. */
export function healthProblems({ state, health }: Pick<Device, 'state' | 'health'>): string[] {
  if (state === 'stalled') return ['The agent is connected but stopped working, so no files are checked. Restart its agent.'];
  if (state !== 'online' || health === null) return [];
  const { watcher, overflow, files_unread, workers_stuck } = health;
  return [
    ...(watcher === 'stalled' ? ['New files aren’t being checked. Restart the computer if this lasts.'] : []),
    ...(workers_stuck > 0 ? ['A disk or network drive doesn’t answer, so files on it can’t be checked.'] : []),
    ...(overflow !== null && overflow.folders > 0
      ? [
          plural(overflow.folders, {
            one: 'Too many files changed at once. The agent is checking 1 folder again.',
            other: `Too many files changed at once. The agent is checking ${formatNumber(overflow.folders)} folders again.`,
          }),
        ]
      : []),
    ...(files_unread > 0
      ? [
          plural(files_unread, {
            one: 'We couldn’t check 1 new file completely. Run a full scan to try again.',
            other: `We couldn’t check ${formatNumber(files_unread)} new files completely. Run a full scan to try again.`,
          }),
        ]
      : []),
  ];
}

/** Sentences about past events. */
export function healthNotes({ state, health }: Pick<Device, 'state' | 'health'>): string[] {
  const is_over = state === 'online' && health !== null && health.overflow !== null && health.overflow.folders === 0;
  return is_over ? ['Many files changed at once. The agent is checking the watched folders again.'] : [];
}

/** The unread part of a scan, such as `3 files and 1 folder`; undefined if it read everything. */
export function unreadOf({ files_unread, progress }: Pick<DeviceScan, 'files_unread' | 'progress'>): string | undefined {
  if (files_unread === 0) return undefined;
  const folders = progress?.folders_unread ?? 0;
  const files = files_unread - folders;
  return formatList([
    ...(files > 0 ? [plural(files, { one: '1 file', other: `${formatNumber(files)} files` })] : []),
    ...(folders > 0 ? [plural(folders, { one: '1 folder', other: `${formatNumber(folders)} folders` })] : []),
  ]);
}
