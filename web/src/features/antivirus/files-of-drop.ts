/** Maximum number of files of one drop or choice; the page reports that it left out the rest. */
export const FILES_AT_ONCE = 2_000;
/** Maximum depth of nested folders, which also ends link cycles. */
const DEPTH_MAXIMUM = 32;

export interface ChosenFiles {
  files: File[];
  /** There were more files than the maximum. */
  is_cut: boolean;
  /** Number of folders and files that the browser could not open. */
  unread: number;
}

/** Collects files up to the maximum. */
class Collected {
  readonly files: File[] = [];
  is_cut = false;
  unread = 0;

  add(file: File): void {
    if (this.files.length < FILES_AT_ONCE) this.files.push(file);
    else this.is_cut = true;
  }
}

/** The files of a choice, up to the maximum. */
export function filesOfChoice(files: readonly File[]): ChosenFiles {
  return { files: files.slice(0, FILES_AT_ONCE), is_cut: files.length > FILES_AT_ONCE, unread: 0 };
}

/** The files of a drop, including all files in its folders. Entries are read before the first await, because the browser empties a drop after its event. */
export async function filesOfDrop(items: Iterable<DataTransferItem>): Promise<ChosenFiles> {
  const entries: FileSystemEntry[] = [];
  const collected = new Collected();
  for (const item of items) {
    if (item.kind !== 'file') continue;
    const entry = typeof item.webkitGetAsEntry === 'function' ? item.webkitGetAsEntry() : null;
    // Without entry support, or for a file without an entry, the file itself is available.
    const file = entry === null || entry.isFile ? item.getAsFile() : null;
    if (file !== null) collected.add(file);
    else if (entry !== null) entries.push(entry);
  }
  for (const entry of entries) await collect(entry, collected, 0);
  return collected;
}

async function collect(entry: FileSystemEntry, collected: Collected, depth: number): Promise<void> {
  if (collected.is_cut) return;
  try {
    if (isFileEntry(entry)) {
      collected.add(await new Promise<File>((resolve, reject) => entry.file(resolve, reject)));
    } else if (isDirectoryEntry(entry)) {
      if (depth >= DEPTH_MAXIMUM) {
        collected.unread += 1;
        return;
      }
      const reader = entry.createReader();
      // Each call returns a part of a folder; an empty part ends it.
      for (;;) {
        const part = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
        if (part.length === 0) return;
        for (const inner of part) await collect(inner, collected, depth + 1);
        if (collected.is_cut) return;
      }
    }
  } catch {
    collected.unread += 1;
  }
}

const isFileEntry = (entry: FileSystemEntry): entry is FileSystemFileEntry => entry.isFile;
const isDirectoryEntry = (entry: FileSystemEntry): entry is FileSystemDirectoryEntry => entry.isDirectory;
