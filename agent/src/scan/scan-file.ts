import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { Found } from '@palisade/contract/agent';
import type { YaraPool } from '@palisade/scanner/yara-pool';
import { newId } from '#agent/ids.ts';
import { lineOf } from '#agent/line.ts';
import { type ForeignFile, isSameFile, type Stats } from '#files/foreign.ts';
import { wirePath } from '#files/name-text.ts';
import type { FoundFiles } from './found-files.ts';
import type { Quarantine } from './quarantine.ts';
import type { FoundFile } from './walk.ts';

/** Larger files are not scanned on a device. The limit, in bytes, equals the server's upload limit. */
const FILE_BYTES_MAXIMUM = 2n * 1024n ** 3n;
/** Files of at most this many bytes are read into memory. */
const HELD_BYTES = 64n * 1024n;
/** Length of a report's text about a file, in characters. */
export const LINE_LENGTH = 300;
const MEMBER_LENGTH = 4_000;

/** Clean by an edition of engine and signatures, not fully read (pending), removed meanwhile (gone), or infected. */
export type FileOutcome = { clean_by: string } | 'pending' | 'gone' | Found;

export interface ScanFileParts {
  quarantine: Quarantine;
  found_files: FoundFiles;
  /** Folder for files that the engine unpacks. */
  work_folder: string;
  log: (line: string) => void;
}

/** Whether a file has the same inode, size and times in both stats. */
export const isUnchanged = (a: Stats, b: Stats): boolean =>
  a.ino === b.ino && a.size === b.size && a.mtimeNs === b.mtimeNs && a.ctimeNs === b.ctimeNs;

async function hashOf(file: ForeignFile, bytes: Buffer | undefined): Promise<string> {
  const hash = createHash('sha256');
  if (bytes !== undefined) return hash.update(bytes).digest('hex');
  for await (const part of file.chunks()) hash.update(part);
  return hash.digest('hex');
}

/**
 * Scans one file, and quarantines it if it is infected.
 * @param keepUnsent stores a finding on disk before its file is quarantined
 */
export async function scanFile(
  parts: ScanFileParts,
  pool: YaraPool,
  { path, stats, open }: FoundFile,
  keepUnsent: (file: Found) => Promise<void>,
): Promise<FileOutcome> {
  let file: ForeignFile | undefined;
  try {
    // The same open file is hashed, scanned and quarantined, even if its path changes.
    file = await open();
    if (!isSameFile(file.stats, stats)) return 'gone';
    if (file.stats.size > FILE_BYTES_MAXIMUM) return 'pending';
    const outcome = await examine(parts, pool, file, { path, stats });
    return typeof outcome === 'object' && 'id' in outcome ? await takeAway(parts, file, path, outcome, keepUnsent) : outcome;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'ENOENT' ? 'gone' : 'pending';
  } finally {
    await file?.close();
  }
}

/** Hashes a file and scans it with the engine. */
async function examine(
  { work_folder }: ScanFileParts,
  pool: YaraPool,
  file: ForeignFile,
  { path, stats }: Pick<FoundFile, 'path' | 'stats'>,
): Promise<FileOutcome> {
  const id = newId();
  const bytes = file.stats.size <= HELD_BYTES ? await file.read(Number(HELD_BYTES)) : undefined;
  const file_hash = await hashOf(file, bytes);
  const outcome = await pool.scan({
    id,
    // The engine needs the path as text. The path of the file's handle is ASCII, even if the file's name is not UTF-8.
    path: file.handlePath,
    bytes,
    sha256: file_hash,
    size: bytes?.length ?? Number(file.stats.size),
    name: wirePath(path).split('/').at(-1) ?? '',
    // The engine creates this folder when it unpacks large data, and removes it afterwards.
    folder: join(work_folder, id),
  });
  const after = await file.statNow();
  if (after.nlink === 0n) return 'gone';
  if (outcome.kind !== 'examined') return 'pending';
  const { threat, threat_member, unread } = outcome.examination;
  if (threat === null) return unread.length === 0 && isUnchanged(after, stats) ? { clean_by: outcome.edition } : 'pending';
  return {
    id,
    path: wirePath(path),
    file_hash,
    size: Number(file.stats.size),
    owner: Number(file.stats.uid),
    threat: lineOf(threat, LINE_LENGTH),
    found_at: new Date().toISOString(),
    member: threat_member === null ? null : lineOf(threat_member, MEMBER_LENGTH),
    outcome: 'quarantined',
    reason: null,
  };
}

/** Records a finding and quarantines its file. */
async function takeAway(
  { found_files, quarantine, log }: ScanFileParts,
  file: ForeignFile,
  path: Buffer,
  finding: Found,
  keepUnsent: (file: Found) => Promise<void>,
): Promise<Found> {
  const { id, file_hash, size } = finding;
  const logFailure = (error: unknown) => log(`what was found could not be noted: ${String(error)}`);
  await found_files.keep(id, { path, file_hash, size }).catch(logFailure);
  await keepUnsent(finding).catch(logFailure);
  const taken = await quarantine.take(id, path, file.stats);
  return taken.ok ? finding : { ...finding, outcome: 'left', reason: lineOf(taken.reason, LINE_LENGTH) };
}
