import type { Reader } from '#scanner/reading/reader.ts';
import { struct } from '#scanner/reading/struct.ts';

// Sectors and sector chains of an OLE file (MS-CFB).

/** The header (MS-CFB 2.2). */
export const HEADER = struct('little', {
  signature: 8,
  class_id: 16,
  minor_version: 'u16',
  major_version: 'u16',
  byte_order: 'u16',
  sector_shift: 'u16',
  mini_sector_shift: 'u16',
  reserved: 6,
  directory_sectors: 'u32',
  fat_sector_count: 'u32',
  first_directory_sector: 'u32',
  transaction: 'u32',
  mini_stream_below: 'u32',
  first_mini_fat_sector: 'u32',
  mini_fat_sectors: 'u32',
  first_difat_sector: 'u32',
  difat_sectors: 'u32',
  fat_sectors: 436,
});
type HeaderFields = NonNullable<ReturnType<typeof HEADER.read>>;
/** Sector numbers from here on are special values, such as end of chain and free (2.1). */
const SECTOR_MAXIMUM = 0xfffffffa;
const FREE = 0xffffffff;
/** Streams do not share sectors. If they do, the total that is read is limited to this multiple of the file size. */
export const SHARED_MAXIMUM = 4;

/** An allocation table: sectors of one size, and the successor of each. Sector numbers outside the file are invalid. */
interface Allocation {
  sector_bytes: number;
  /** Number of sectors. */
  sectors: number;
  /** The next sector in the chain, or a special value. */
  next(sector: number): number;
  /** Position of the sector in the file. */
  at(sector: number): number;
}

/** A chain of sectors as found: its ranges in the file, in order, and whether it is damaged. */
export interface Chain {
  runs: { position: number; length: number }[];
  size: number;
  damaged: boolean;
}

/** Follows a chain for at most `bytes`. It is damaged if it leaves the file or reaches a sector twice. */
export function chainOf(allocation: Allocation, start: number, bytes: number): Chain {
  const { sector_bytes, sectors } = allocation;
  const seen = new Set<number>();
  const runs: Chain['runs'] = [];
  let size = 0;
  let sector = start;
  while (size < bytes && sector < SECTOR_MAXIMUM) {
    if (sector >= sectors || seen.has(sector)) return { runs, size, damaged: true };
    seen.add(sector);
    const position = allocation.at(sector);
    const length = Math.min(sector_bytes, bytes - size);
    const last = runs.at(-1);
    if (last !== undefined && last.position + last.length === position) last.length += length;
    else runs.push({ position, length });
    size += length;
    sector = allocation.next(sector);
  }
  return { runs, size, damaged: false };
}

/** The bytes of a chain, as far as the file contains them. */
export function bytesOf(reader: Reader, { runs }: Chain): Buffer {
  const [only] = runs;
  if (only !== undefined && runs.length === 1) return reader.at(only.position, only.length);
  return Buffer.concat(runs.map(({ position, length }) => reader.at(position, length)));
}

/** Looks up the next sector in a table. */
function followedBy(table: Buffer): (sector: number) => number {
  return (sector) => (sector * 4 + 4 <= table.length ? table.readUInt32LE(sector * 4) : FREE);
}

/** The FAT (2.3). Its sectors are listed in the header, then in DIFAT sectors (2.5), whose last number is the next DIFAT sector. */
export function fatOf(
  reader: Reader,
  header: HeaderFields,
  sector_bytes: number,
): { fat: Allocation; own: Iterable<number>; known: number; damaged: boolean } {
  const at = (sector: number) => (sector + 1) * sector_bytes;
  // The header occupies the first sector.
  const sectors = Math.max(0, Math.ceil(reader.size / sector_bytes) - 1);
  /** A longer table would describe sectors outside the file. */
  const fat_sectors_maximum = Math.ceil((sectors * 4) / sector_bytes);
  const listed: number[] = [];
  const seen = new Set<number>();
  let damaged = false;
  /** False if the sector was seen before or is outside the file. */
  const isNew = (sector: number): boolean => {
    if (sector >= sectors || seen.has(sector)) damaged = true;
    else seen.add(sector);
    return !damaged;
  };
  const take = (list: Buffer) => {
    for (let index = 0; index + 4 <= list.length && listed.length < fat_sectors_maximum; index += 4) {
      const sector = list.readUInt32LE(index);
      if (sector >= SECTOR_MAXIMUM) continue;
      if (!isNew(sector)) return;
      listed.push(sector);
    }
  };
  take(header.fat_sectors);
  for (let next = header.first_difat_sector; next < SECTOR_MAXIMUM && listed.length < fat_sectors_maximum; ) {
    if (!isNew(next)) break;
    const list = reader.at(at(next), sector_bytes);
    if (list.length < sector_bytes) {
      damaged = true;
      break;
    }
    take(list.subarray(0, -4));
    next = list.readUInt32LE(sector_bytes - 4);
  }
  const table = Buffer.concat(listed.map((sector) => reader.at(at(sector), sector_bytes)));
  // `own` has the sectors of the tables themselves, `known` is the number of sectors that the FAT describes.
  return {
    fat: { sector_bytes, sectors, next: followedBy(table), at },
    own: seen,
    known: Math.min(sectors, Math.floor(table.length / 4)),
    damaged,
  };
}

/** The mini sectors (2.4), which are stored in the stream of the root entry. */
export function miniOf(reader: Reader, fat: Allocation, header: HeaderFields, root_start: number, mini_bytes: number) {
  const stream = chainOf(fat, root_start, reader.size);
  const list = chainOf(fat, header.first_mini_fat_sector, reader.size);
  const per_sector = fat.sector_bytes / mini_bytes;
  const places: number[] = [];
  for (const { position, length } of stream.runs)
    for (let within = 0; within < length; within += fat.sector_bytes) places.push(position + within);
  const mini: Allocation = {
    sector_bytes: mini_bytes,
    sectors: Math.floor(stream.size / mini_bytes),
    next: followedBy(bytesOf(reader, list)),
    at: (sector) => (places[Math.floor(sector / per_sector)] ?? reader.size) + (sector % per_sector) * mini_bytes,
  };
  return { mini, list, damaged: stream.damaged || list.damaged };
}

export function isZeros(reader: Reader, from: number, to: number): boolean {
  for (const chunk of reader.chunks(from, to)) if (chunk.some((byte) => byte !== 0)) return false;
  return true;
}

/** The bytes from `start` to `end` of a chain. */
export function partOfChain({ runs }: Chain, start: number, end: number): Chain {
  const part: Chain = { runs: [], size: 0, damaged: false };
  let at = 0;
  for (const { position, length } of runs) {
    const from = Math.max(start, at);
    const to = Math.min(end, at + length);
    if (from < to) {
      part.runs.push({ position: position + from - at, length: to - from });
      part.size += to - from;
    }
    at += length;
  }
  return part;
}
