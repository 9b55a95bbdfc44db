import { join } from 'node:path';
import { type ScanProgressOnDevice, scanProgressOnDeviceSchema } from '@palisade/contract/agent';
import { idSchema } from '@palisade/contract/fields';
import { z } from 'zod';
import { createStore } from '#agent/store.ts';

const standingSchema = z.object({ job_id: idSchema, progress: scanProgressOnDeviceSchema });

/**
 * How far a job had come, kept on the disk. The agent may be killed in the middle: the scan then walks past what it has verdicts of, and until it is where it stood,
 * that is what is shown.
 */
export interface Standing {
  read(job_id: string): Promise<ScanProgressOnDevice | undefined>;
  write(job_id: string, progress: ScanProgressOnDevice): Promise<void>;
  remove(): Promise<void>;
}

export function createStanding(folder: string): Standing {
  const store = createStore(join(folder, 'scan-standing.json'), standingSchema);
  return {
    async read(job_id) {
      const kept = await store.read();
      return kept?.job_id === job_id ? kept.progress : undefined;
    },
    write: (job_id, progress) => store.write({ job_id, progress }),
    remove: () => store.remove(),
  };
}

const seenOf = ({ files_read, files_known, files_pending }: ScanProgressOnDevice) => files_read + files_known + files_pending;

/** What is shown of a scan that goes on: where it stood, until it is there again. */
export function shownOf(now: ScanProgressOnDevice, stood: ScanProgressOnDevice | undefined): ScanProgressOnDevice {
  if (stood === undefined || seenOf(now) >= seenOf(stood)) return { ...now };
  return {
    ...stood,
    files_total: Math.max(stood.files_total, now.files_total),
    is_counted: now.is_counted,
    ...{ bytes_per_second: 0, seconds_left: null, path: now.path },
  };
}
