import { join } from 'node:path';
import { writeWhole } from '#agent/store.ts';
import type { Stats } from '#files/foreign.ts';
import { openOwn, ownText, removeOwn } from '#files/own-state.ts';

/**
 * Files that were read whole and found clean, so that the next scan reads only what changed: by file system and inode, with size, times of change and the edition of
 * engine and signatures. The time of the last status change (ctime) cannot be set by a program, so that other bytes cannot get a known verdict.
 */
export interface Verdicts {
  isKnown(stats: Stats): boolean;
  remember(stats: Stats): void;
  /** Adds missing entries to the disk: a scan that is killed continues from there. */
  save(): Promise<void>;
}

const ENTRIES_MAXIMUM = 2_000_000;
/** Lines for one entry before the file is written again: an entry that changes is added once more. */
const LINES_FOR_ENTRY = 2;
const keyOf = ({ dev, ino }: Stats) => `${dev.toString(36)}:${ino.toString(36)}`;
const marksOf = ({ size, mtimeNs, ctimeNs }: Stats) => `${size.toString(36)}:${mtimeNs.toString(36)}:${ctimeNs.toString(36)}`;

/** Adds lines to a file that is of this edition. Another scan may put one of another edition in its place meanwhile: then they are lost with the file that it was. */
async function append(path: string, edition: string, lines: string): Promise<boolean> {
  const file = await openOwn(path, 'r+').catch(() => undefined);
  if (file === undefined) return false;
  try {
    const head = Buffer.from(`${edition}\n`);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(head.length), 0, head.length, 0);
    if (!buffer.subarray(0, bytesRead).equals(head)) return false;
    const { size } = await file.stat();
    // A line that was cut off, where the computer was, does not take the next one with it.
    await file.write(`\n${lines}\n`, size);
    return true;
  } finally {
    await file.close();
  }
}

/** @param edition of engine and signatures: another one knows nothing of what this one read */
export async function openVerdicts(folder: string, edition: string): Promise<Verdicts> {
  const path = join(folder, 'verdicts.txt');
  const text = (await ownText(path)) ?? '';
  const known = new Map<string, string>();
  let lines_read = 0;
  if (text.startsWith(`${edition}\n`)) {
    for (let from = edition.length + 1; from < text.length; ) {
      const end = text.indexOf('\n', from);
      const line = text.slice(from, end === -1 ? undefined : end);
      from = end === -1 ? text.length : end + 1;
      const at = line.indexOf(' ');
      if (at <= 0) continue;
      lines_read += 1;
      known.set(line.slice(0, at), line.slice(at + 1));
    }
  }
  let is_whole = lines_read <= known.size * LINES_FOR_ENTRY;
  let unsaved = new Set<string>();
  let saving = Promise.resolve();

  const linesOf = (keys: Iterable<string>) => [...keys].map((key) => `${key} ${known.get(key) ?? ''}`).join('\n');
  async function save(): Promise<void> {
    if (unsaved.size === 0) return;
    const fresh = linesOf(unsaved);
    unsaved = new Set();
    // A result that cannot be kept is read again the next time.
    if (is_whole && (await append(path, edition, fresh).catch(() => false))) return;
    await writeWhole(path, `${edition}\n${linesOf(known.keys())}\n`).catch(() => removeOwn(path));
    is_whole = true;
  }

  return {
    isKnown: (stats) => known.get(keyOf(stats)) === marksOf(stats),
    remember(stats) {
      if (known.size >= ENTRIES_MAXIMUM) return;
      const [key, marks] = [keyOf(stats), marksOf(stats)];
      if (known.get(key) === marks) return;
      known.set(key, marks);
      unsaved.add(key);
    },
    save: () => (saving = saving.then(save)),
  };
}
