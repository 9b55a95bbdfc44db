import type { BigIntStats } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { writeWhole } from '#agent/store.ts';

/**
 * Files that were read whole and found clean, so that the next scan reads only what changed: by file system and inode, with size, times of change and the edition of
 * engine and signatures. The time of the last status change (ctime) cannot be set by a program, so that nobody can put other bytes under a known verdict.
 */
export interface Verdicts {
  isKnown(stats: BigIntStats): boolean;
  remember(stats: BigIntStats): void;
  save(): Promise<void>;
}

const ENTRIES_MAXIMUM = 2_000_000;
const keyOf = ({ dev, ino }: BigIntStats) => `${dev.toString(36)}:${ino.toString(36)}`;
const marksOf = ({ size, mtimeNs, ctimeNs }: BigIntStats) =>
  `${size.toString(36)}:${mtimeNs.toString(36)}:${ctimeNs.toString(36)}`;

/** @param edition of engine and signatures: another one knows nothing of what this one read */
export async function openVerdicts(folder: string, edition: string): Promise<Verdicts> {
  const path = join(folder, 'verdicts.txt');
  const text = await readFile(path, 'utf8').catch(() => '');
  const [first = '', ...lines] = text.split('\n');
  const known = new Map<string, string>();
  if (first === edition) {
    for (const line of lines) {
      const at = line.indexOf(' ');
      if (at > 0) known.set(line.slice(0, at), line.slice(at + 1));
    }
  }
  let is_changed = false;
  return {
    isKnown: (stats) => known.get(keyOf(stats)) === marksOf(stats),
    remember(stats) {
      if (known.size >= ENTRIES_MAXIMUM) return;
      known.set(keyOf(stats), marksOf(stats));
      is_changed = true;
    },
    async save() {
      if (!is_changed) return;
      is_changed = false;
      const all = [...known].map(([key, marks]) => `${key} ${marks}`).join('\n');
      // What cannot be kept is read again the next time.
      await writeWhole(path, `${edition}\n${all}\n`).catch(() => rm(path, { force: true }));
    },
  };
}
