import { join } from 'node:path';
import { idSchema } from '@palisade/contract/fields';
import { z } from 'zod';
import { createStore } from '#agent/store.ts';
import { ownNames, removeOwn } from '#files/own-state.ts';

const recordSchema = z.object({
  /** Base64, because a name may be invalid UTF-8. */
  path: z.base64(),
  file_hash: z.string(),
  size: z.int(),
});
type FoundRecord = z.infer<typeof recordSchema>;

/** Records of this device's findings by id, one file each. They prove that a file was found here. */
export interface FoundFiles {
  keep(id: string, file: { path: Buffer; file_hash: string; size: number }): Promise<void>;
  find(id: string): Promise<FoundRecord | undefined>;
  forget(id: string): Promise<void>;
}

/** Maximum records; the server keeps the same number of findings of one device. */
const KEPT = 5_000;

export function createFoundFiles(folder: string, most = KEPT): FoundFiles {
  const record = (id: string) => createStore(join(folder, `${id}.json`), recordSchema);
  return {
    async keep(id, { path, file_hash, size }) {
      await record(id).write({ path: path.toString('base64'), file_hash, size });
      // The ids begin with their creation time, so the first names are the oldest.
      const names = (await ownNames(folder)).filter((name) => idSchema.safeParse(name.replace(/\.json$/u, '')).success).sort();
      for (const name of names.slice(0, Math.max(0, names.length - most))) await removeOwn(join(folder, name));
    },
    find: (id) => record(id).read(),
    forget: (id) => record(id).remove(),
  };
}
