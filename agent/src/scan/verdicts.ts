import { join } from 'node:path';
import { writeWhole } from '#agent/store.ts';
import type { Stats } from '#files/foreign.ts';
import { openOwn, ownText, removeOwn } from '#files/own-state.ts';

/**
 * Cache of files that were completely read and found clean, so that the next scan reads only changed files. The key is file system and inode; size, mtime and ctime and the edition of
 * engine and signatures must match. Programs cannot set the ctime, so changed bytes never match.
 */
export interface Verdicts {
  isKnown(stats: Stats): boolean;
  remember(stats: Stats): void;
  /** Writes new entries to disk, where a scan finds them after a kill. */
  save(): Promise<void>;
}

const ENTRIES_MAXIMUM = 2_000_000;
/** Average lines per entry above which the file is rewritten: a changed entry is appended as a new line. */
const LINES_FOR_ENTRY = 2;
const keyOf = ({ dev, ino }: Stats) => `${dev.toString(36)}:${ino.toString(36)}`;
const marksOf = ({ size, mtimeNs, ctimeNs }: Stats) => `${size.toString(36)}:${mtimeNs.toString(36)}:${ctimeNs.toString(36)}`;

/** Appends lines if the file belongs to this edition. If another scan replaces the file meanwhile, the lines are lost with the old file. */
async function append(path: string, edition: string, lines: string): Promise<boolean> {
  const file = await openOwn(path, 'r+').catch(() => undefined);
  if (file === undefined) return false;
  try {
    const head = Buffer.from(`${edition}\n`);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(head.length), 0, head.length, 0);
    if (!buffer.subarray(0, bytesRead).equals(head)) return false;
    const { size } = await file.stat();
    // The leading newline separates the lines from a partial line that a crash may have left.
    await file.write(`\n${lines}\n`, size);
    return true;
  } finally {
    await file.close();
  }
}

/** @param edition of engine and signatures; verdicts of another edition are not used */
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
    // Files whose verdict cannot be stored are scanned again next time.
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
