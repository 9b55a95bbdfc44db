import { decompress } from '#scanner/decompression/decompress.ts';
import { format, withBits } from '#scanner/formats/format.ts';
import { type Content, standsAt } from '#scanner/reading/content.ts';
import { type Member, type ReadContext, Unreadable } from '#scanner/reading/member.ts';
import { openReader, type Reader } from '#scanner/reading/reader.ts';
import { struct } from '#scanner/reading/struct.ts';

// Virtual disks in stream-optimised form (VMware's Virtual Disk Format 5.0, "Stream-Optimized Compressed Sparse Extents"): a sequence of grains, each
// compressed with zlib after a marker with its position on the disk. 7-Zip opens only those of some programs.

const SECTOR_BYTES = 512;
/** SparseExtentHeader of the Virtual Disk Format. */
const HEADER = struct('little', {
  magic: 4,
  version: 'u32',
  flags: 'u32',
  sectors: 'u64',
  grain_sectors: 'u64',
  descriptor_at: 'u64',
  descriptor_sectors: 'u64',
  entries_per_table: 'u32',
  spare_directory_at: 'u64',
  directory_at: 'u64',
  overhead_sectors: 'u64',
  unclean: 'u8',
  line_ends: 4,
  packing: 'u16',
});
const HEADER_BYTES = HEADER.bytes;
const MARKER = struct('little', { value: 'u64', packed_bytes: 'u32', kind: 'u32' });
/** Flags for compressed grains and for markers. */
const FLAGS = 0x30000;
const MARKER_BYTES = 12;
/** Maximum unpacked size of a grain. The default is 128 sectors. Bytes. */
const GRAIN_BYTES_MAXIMUM = 2 ** 20;
const MARKS = { end: 0, table: 1, directory: 2, footer: 3 } as const;
const ZEROS = Buffer.alloc(64 * 1024);

/** Magic of all sparse disks of VMware. */
export const VMDK_MARK = Buffer.from('KDMV');

function isStreamDisk(head: Buffer): boolean {
  const fields = standsAt(head, VMDK_MARK, 0) ? HEADER.read(head) : undefined;
  return fields !== undefined && (fields.flags & FLAGS) === FLAGS;
}

interface Grain {
  /** Position on the disk. Bytes. */
  at: number;
  from: number;
  packed_bytes: number;
}

function headerOf(reader: Reader) {
  const header = HEADER.read(reader.at(0, HEADER_BYTES));
  if (header === undefined) throw new Unreadable('damaged');
  return header;
}

/** The grains in the order of the file. Returns the end of the sparse extent. */
function* grainsOf(reader: Reader): Generator<Grain, number> {
  let at = headerOf(reader).overhead_sectors * SECTOR_BYTES;
  while (at < reader.size) {
    const marker = MARKER.read(reader.at(at, MARKER.bytes));
    if (marker === undefined) throw new Unreadable('damaged');
    const { value, packed_bytes, kind } = marker;
    if (packed_bytes > 0) yield { at: value * SECTOR_BYTES, from: at + MARKER_BYTES, packed_bytes };
    else if (value > 0 && (kind < MARKS.table || kind > MARKS.footer)) throw new Unreadable('damaged');
    else if (value === 0) return Math.min(reader.size, at + SECTOR_BYTES);
    at += packed_bytes > 0 ? Math.ceil((MARKER_BYTES + packed_bytes) / SECTOR_BYTES) * SECTOR_BYTES : (1 + value) * SECTOR_BYTES;
  }
  return reader.size;
}

/** The disk as a member. Gaps between grains are filled with zeros. */
async function* streamDiskMembers(content: Content, name: string, context: ReadContext): AsyncGenerator<Member> {
  using reader = openReader(content, context.budget);
  // A claimed size; the unpacked bytes are counted against the budget.
  const size = headerOf(reader).sectors * SECTOR_BYTES;
  function* zeros(from: number, to: number): Generator<Buffer> {
    for (let at = from; at < to; at += ZEROS.length) yield ZEROS.subarray(0, to - at);
  }
  async function* disk(): AsyncGenerator<Buffer> {
    let written = 0;
    const grains = grainsOf(reader);
    for (let next = grains.next(); ; next = grains.next()) {
      if (next.done) {
        context.claim(0, next.value);
        yield* zeros(written, size);
        return;
      }
      const { at, from, packed_bytes } = next.value;
      const packed = reader.at(from, Math.min(packed_bytes, GRAIN_BYTES_MAXIMUM));
      if (packed.length < packed_bytes || at < written) throw new Unreadable('damaged');
      yield* zeros(written, at);
      const answer = decompress('zlib', packed, context.budget, { most: GRAIN_BYTES_MAXIMUM });
      if (answer.kind !== 'whole') throw new Unreadable('damaged');
      const grain = answer.plain;
      yield grain;
      written = at + grain.length;
    }
  }
  yield { name: name.replace(/\.vmdk$/i, '') || 'disk', read: () => ({ stream: disk(), packed_bytes: content.size }) };
}

export const streamDisk = format({
  id: 'stream-disk',
  media_type: 'application/x-packed',
  recognise: withBits(48, isStreamDisk),
  traits: { is_disk: true },
  limits: null,
  open: (content, context) => streamDiskMembers(content, context.name, context),
});
