import { formatNumber } from '@palisade/contract/intl';
import { z } from 'zod';
import type { Store } from '#agent/store.ts';
import { type FoundFile, walk } from './walk.ts';

/**
 * Reads files of watched folders that changed while the agent did not run. The time up to which watching was complete is stored on disk; files that changed after it
 * are read once after the start. A change is detected by the status change time (ctime), which programs cannot set.
 */
export interface CatchUp {
  /** Reads the changed files. Only the first call has an effect. */
  begin(folders: readonly Buffer[], exclusions: readonly Buffer[]): Promise<void>;
  /** Stores that watching is complete up to a margin before now. */
  note(): Promise<void>;
  /** The reason why some files are left to the next full scan; null if none are. */
  reason(): string | null;
}

export const seenSchema = z.object({ until: z.iso.datetime() });

export interface CatchUpParts {
  store: Store<z.infer<typeof seenSchema>>;
  /** Queues a file for reading; waits if its owner's queue is full. */
  look: (file: FoundFile) => Promise<void>;
  /** Resolves when all files given to `look` are read. */
  whenLooked: () => Promise<void>;
  log: (line: string) => void;
  now: () => number;
  /** Maximum files of one folder that are read; the rest is left to the next full scan. */
  files_maximum?: number;
  /** Maximum files of one folder whose ctime is checked. */
  walked_maximum?: number;
}

const FILES_MAXIMUM = 20_000;
const WALKED_MAXIMUM = 1_000_000;
/** Files that changed within this time may not be read yet: they wait to settle (watch.ts), and then for the engine. In ms. */
const MARGIN_MS = 120_000;

export function createCatchUp(parts: CatchUpParts): CatchUp {
  const { store, look, whenLooked, log, now, files_maximum = FILES_MAXIMUM, walked_maximum = WALKED_MAXIMUM } = parts;
  let begun: Promise<void> | undefined;
  let is_done = false;
  let reason: string | null = null;

  const keep = (until: number) =>
    store
      .write({ until: new Date(until).toISOString() })
      .catch(() => log('until when was watched could not be kept on the disk'));

  /** Handles one folder. The limits apply to each folder, so that one user's files do not displace another's. */
  async function catchUpIn(
    folder: Buffer,
    folders: readonly Buffer[],
    exclusions: readonly Buffer[],
    since: bigint,
  ): Promise<number> {
    let walked = 0;
    let changed = 0;
    const goOn = () => Promise.resolve(walked < walked_maximum && changed <= files_maximum);
    const others = folders.filter((other) => !other.equals(folder));
    for await (const file of walk({ roots: [folder], exclusions: [...exclusions, ...others], goOn })) {
      if (!(await goOn())) break;
      walked += 1;
      if (file.stats.ctimeNs <= since) continue;
      changed += 1;
      if (changed > files_maximum) break;
      await look(file);
    }
    if (changed > files_maximum || walked >= walked_maximum) {
      reason = `More files changed while the agent did not run than are read at its start (${formatNumber(files_maximum)}): a full scan reads the others.`;
      log(reason);
    }
    return Math.min(changed, files_maximum);
  }

  async function catchUp(folders: readonly Buffer[], exclusions: readonly Buffer[]): Promise<void> {
    const started = now();
    const kept = await store.read();
    // At the first start there is no stored time: existing files are left to a full scan.
    if (kept !== undefined) {
      const since = BigInt(Date.parse(kept.until)) * 1_000_000n;
      const changed = await Promise.all(folders.map((folder) => catchUpIn(folder, folders, exclusions, since)));
      await whenLooked();
      const files = changed.reduce((sum, some) => sum + some, 0);
      if (files > 0) log(`${files} files changed while the agent did not run, and were looked at`);
    }
    await keep(started);
    is_done = true;
  }

  return {
    begin(folders, exclusions) {
      if (folders.length === 0) return Promise.resolve();
      begun ??= catchUp(folders, exclusions).catch((error: unknown) =>
        log(`what changed before could not be looked at: ${String(error)}`),
      );
      return begun;
    },
    async note() {
      if (is_done) await keep(now() - MARGIN_MS);
    },
    reason: () => reason,
  };
}
