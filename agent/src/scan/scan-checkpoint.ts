import { join } from 'node:path';
import { type ScanProgressOnDevice, scanProgressOnDeviceSchema } from '@palisade/contract/agent';
import { idSchema } from '@palisade/contract/fields';
import { z } from 'zod';
import { createStore } from '#agent/store.ts';

const checkpointSchema = z.object({ job_id: idSchema, progress: scanProgressOnDeviceSchema });

/** The progress of a job, stored on disk, so that a scan of a killed agent continues from it. */
export interface ScanCheckpoint {
  /** Undefined if no progress of this job is stored. */
  read(job_id: string): Promise<ScanProgressOnDevice | undefined>;
  write(job_id: string, progress: ScanProgressOnDevice): Promise<void>;
  remove(): Promise<void>;
}

export function createScanCheckpoint(folder: string): ScanCheckpoint {
  const store = createStore(join(folder, 'scan-standing.json'), checkpointSchema);
  return {
    async read(job_id) {
      const kept = await store.read();
      return kept?.job_id === job_id ? kept.progress : undefined;
    },
    write: (job_id, progress) => store.write({ job_id, progress }),
    remove: () => store.remove(),
  };
}
