import type { LiveEvent, ScanProgress } from '@palisade/contract/events';

type ProgressEvent = Extract<LiveEvent, { kind: 'scan_progress' }>;

/** Progress of the files that wait or are being read. */
export interface ProgressBoard {
  report(file: { id: string; user_id: string; key: string | undefined }, progress: ScanProgress): void;
  /** The file has its verdict, or was cancelled. */
  clear(id: string): void;
  /** The events that a newly connected page needs. */
  of(user_id: string): LiveEvent[];
}

export function createProgressBoard(tell: (user_id: string, event: LiveEvent) => void): ProgressBoard {
  const latest = new Map<string, { user_id: string; event: ProgressEvent }>();
  return {
    report({ id, user_id, key }, progress) {
      const event: ProgressEvent = { kind: 'scan_progress', scan_id: id, upload_key: key ?? null, progress };
      latest.set(id, { user_id, event });
      tell(user_id, event);
    },
    clear: (id) => void latest.delete(id),
    of: (user_id) => [...latest.values()].filter((entry) => entry.user_id === user_id).map(({ event }) => event),
  };
}
