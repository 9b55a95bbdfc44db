/** Files that one drop or one choice gives at most; the rest of a larger folder is left out, and the page says so. */
export const FILES_AT_ONCE = 2_000;
/** Folders inside folders that are opened. A link that leads back to itself ends here. */
const DEPTH_MAXIMUM = 32;

export interface ChosenFiles {
  files: File[];
  /** More files were there than are taken at once. */
  is_cut: boolean;
  /** Folders and files that the browser could not open. */
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

/** The files of a choice, as many as are taken at once. */
export function filesOfChoice(files: readonly File[]): ChosenFiles {
  return { files: files.slice(0, FILES_AT_ONCE), is_cut: files.length > FILES_AT_ONCE, unread: 0 };
}

/** The files of a drop. A folder gives every file in it and in its folders. Entries are taken before the first wait: the browser empties a drop after its event. */
export async function filesOfDrop(items: Iterable<DataTransferItem>): Promise<ChosenFiles> {
  const entries: FileSystemEntry[] = [];
  const collected = new Collected();
  for (const item of items) {
    if (item.kind !== 'file') continue;
    const entry = typeof item.webkitGetAsEntry === 'function' ? item.webkitGetAsEntry() : null;
    // A browser without entries, or a file that has none, still gives the file.
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
      // One call answers a part of a folder, and an empty part after the last.
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
