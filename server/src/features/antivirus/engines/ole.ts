import { type Content, MEMORY_BYTES_MAXIMUM, openSource, type Source } from './content.ts';
import { type Member, type MemberBody, memberOfBytes, Unreadable, type Workshop } from './member.ts';
import { macroSources } from './vba.ts';

// Own reader: Office opens files whose sectors end too early or whose directory is wrong, and documents with macros are made wrong on purpose.
// Every stream that an entry of the directory names is read, whether the tree leads to it or not. Numbers are sections of MS-CFB 12.0.

const HEADER_BYTES = 512;
const ENTRY_BYTES = 128;
/** Sector numbers from here on are marks: end of chain, free, and so on (2.1). */
const SECTOR_MAXIMUM = 0xfffffffa;
const ROOT = 5;
const STREAM = 2;
const HEADER_FAT_SECTORS = 109;
/** The stream of an Office document that a password protects (MS-OFFCRYPTO 2.3.4). */
const ENCRYPTED_PACKAGE = 'EncryptedPackage';

interface Allocation {
  table: Buffer;
  sector_bytes: number;
  at(sector: number): number;
}

/** The sectors of a chain. Ends where it leaves the table, or when it is longer than the table, which is a circle. */
function* chain({ table }: Allocation, start: number): Generator<number> {
  const sectors = table.length / 4;
  let sector = start;
  for (let count = 0; count < sectors && sector < SECTOR_MAXIMUM && sector < sectors; count += 1) {
    yield sector;
    sector = table.readUInt32LE(sector * 4);
  }
}

function readChain(source: Source, allocation: Allocation, start: number, size: number): Buffer {
  const pieces: Buffer[] = [];
  let left = size;
  for (const sector of chain(allocation, start)) {
    if (left <= 0) break;
    const piece = source.read(allocation.at(sector), Math.min(left, allocation.sector_bytes));
    pieces.push(piece);
    left -= piece.length;
  }
  return Buffer.concat(pieces);
}

function fatOf(source: Source, header: Buffer, sector_bytes: number): Allocation {
  const at = (sector: number) => (sector + 1) * sector_bytes;
  const sectors_maximum = Math.ceil(source.size / sector_bytes);
  const fat_sectors: number[] = [];
  const take = (list: Buffer) => {
    for (let index = 0; index + 4 <= list.length; index += 4) {
      const sector = list.readUInt32LE(index);
      if (sector < SECTOR_MAXIMUM && fat_sectors.length < sectors_maximum) fat_sectors.push(sector);
    }
  };
  take(header.subarray(76, 76 + HEADER_FAT_SECTORS * 4));
  // The list goes on in sectors of its own (2.5), the last number of each being the next one.
  let next = header.readUInt32LE(68);
  for (let count = 0; count < sectors_maximum && next < SECTOR_MAXIMUM; count += 1) {
    const list = source.read(at(next), sector_bytes);
    if (list.length < sector_bytes) break;
    take(list.subarray(0, -4));
    next = list.readUInt32LE(sector_bytes - 4);
  }
  const table = Buffer.concat(fat_sectors.map((sector) => source.read(at(sector), sector_bytes)));
  return { table: table.subarray(0, table.length - (table.length % 4)), sector_bytes, at };
}

/** Streams of an OLE file; after each that holds macros their source. */
export async function* oleMembers(content: Content, workshop: Workshop): AsyncGenerator<Member> {
  const source = openSource(content);
  try {
    const header = source.read(0, HEADER_BYTES);
    const shift = header.length === HEADER_BYTES ? header.readUInt16LE(30) : 0;
    const mini_shift = header.length === HEADER_BYTES ? header.readUInt16LE(32) : 0;
    if (shift < 7 || shift > 16 || mini_shift < 4 || mini_shift >= shift) throw new Unreadable('damaged');
    const fat = fatOf(source, header, 1 << shift);
    const directory = readChain(source, fat, header.readUInt32LE(48), source.size);
    const entries = Array.from({ length: Math.floor(directory.length / ENTRY_BYTES) }, (_, index) => {
      const entry = directory.subarray(index * ENTRY_BYTES, (index + 1) * ENTRY_BYTES);
      const name_bytes = Math.min(64, Math.max(0, entry.readUInt16LE(64) - 2));
      return {
        name: entry.toString('utf16le', 0, name_bytes),
        type: entry[66],
        start: entry.readUInt32LE(116),
        size: entry.readUInt32LE(120) + (shift > 9 ? entry.readUInt32LE(124) * 2 ** 32 : 0),
      };
    });
    const root = entries.find((entry) => entry.type === ROOT);
    if (root === undefined) throw new Unreadable('damaged');
    const mini_sectors = [...chain(fat, root.start)];
    const mini: Allocation = {
      table: readChain(source, fat, header.readUInt32LE(60), header.readUInt32LE(64) * fat.sector_bytes),
      sector_bytes: 1 << mini_shift,
      at(sector) {
        const within = sector << mini_shift;
        return fat.at(mini_sectors[within >> shift] ?? Number.MAX_SAFE_INTEGER) + (within % fat.sector_bytes);
      },
    };
    const cutoff = header.readUInt32LE(56);

    async function* pieces(start: number, size: number): AsyncGenerator<Buffer> {
      let left = size;
      for (const sector of chain(fat, start)) {
        if (left <= 0) return;
        const piece = source.read(fat.at(sector), Math.min(left, fat.sector_bytes));
        left -= piece.length;
        yield piece;
      }
      if (left > 0) throw new Unreadable('damaged');
    }

    for (const { name, type, start, size } of entries) {
      if (type !== STREAM || size === 0) continue;
      if (name === ENCRYPTED_PACKAGE) {
        yield { name, closed: 'encrypted', read: () => ({ content: { size: 0, bytes: Buffer.alloc(0) } }) };
        continue;
      }
      if (size > MEMORY_BYTES_MAXIMUM) {
        yield { name, read: () => ({ stream: pieces(start, size), packed_bytes: size }) };
        continue;
      }
      const bytes = readChain(source, size < cutoff ? mini : fat, start, size);
      workshop.budget.addUnpacked(bytes.length, bytes.length, bytes.length);
      const body: MemberBody = { content: { size: bytes.length, bytes }, damage: bytes.length < size ? 'damaged' : undefined };
      yield { name, read: () => body };
      for (const macro of macroSources(bytes)) yield memberOfBytes(workshop, `${name} (macro)`, macro, bytes.length);
    }
  } finally {
    source.close();
  }
}
