import { decompress } from '#scanner/formats/compression/decompress.ts';
import { format, withBits } from '#scanner/formats/format.ts';
import { type Content, standsAt } from '#scanner/walk/content.ts';
import { type Member, type ReadContext, Unreadable } from '#scanner/walk/member.ts';
import { openReader, type Reader } from '#scanner/walk/reader.ts';

// Virtual disks as they are sent (VMware's Virtual Disk Format 5.0, "Stream-Optimized Compressed Sparse Extents"): grains, each packed by zlib and with its
// place on the disk before it, one behind the other. 7-Zip opens those of some programs only.

const SECTOR_BYTES = 512;
const HEADER_BYTES = 79;
/** Grains are packed, and each has a marker. */
const FLAGS = 0x30000;
const MARKER_BYTES = 12;
/** A grain has 128 sectors where nobody chose otherwise. Bytes. */
const GRAIN_BYTES_MAXIMUM = 2 ** 20;
const MARKS = { end: 0, table: 1, directory: 2, footer: 3 } as const;
const ZEROS = Buffer.alloc(64 * 1024);

/** Of all disks of VMware, the sparse ones. */
export const VMDK_MARK = Buffer.from('KDMV');

function isStreamDisk(head: Buffer): boolean {
  return head.length >= HEADER_BYTES && standsAt(head, VMDK_MARK, 0) && (head.readUInt32LE(8) & FLAGS) === FLAGS;
}

interface Grain {
  /** On the disk. Bytes. */
  at: number;
  from: number;
  packed_bytes: number;
}

/** The grains in the order in which they are written. Returns where what is known of the file ends. */
function* grainsOf(reader: Reader): Generator<Grain, number> {
  let at = Number(reader.at(64, 8).readBigUInt64LE(0)) * SECTOR_BYTES;
  while (at < reader.size) {
    const marker = reader.at(at, MARKER_BYTES + 4);
    if (marker.length < MARKER_BYTES + 4) throw new Unreadable('damaged');
    const value = Number(marker.readBigUInt64LE(0));
    const packed_bytes = marker.readUInt32LE(8);
    const kind = marker.readUInt32LE(12);
    if (packed_bytes > 0) yield { at: value * SECTOR_BYTES, from: at + MARKER_BYTES, packed_bytes };
    else if (value > 0 && (kind < MARKS.table || kind > MARKS.footer)) throw new Unreadable('damaged');
    else if (value === 0) return Math.min(reader.size, at + SECTOR_BYTES);
    at += packed_bytes > 0 ? Math.ceil((MARKER_BYTES + packed_bytes) / SECTOR_BYTES) * SECTOR_BYTES : (1 + value) * SECTOR_BYTES;
  }
  return reader.size;
}

/** The disk as a member; what no grain fills is zeros. */
async function* streamDiskMembers(content: Content, name: string, context: ReadContext): AsyncGenerator<Member> {
  const reader = openReader(content, context.budget);
  // A claim, as any: what is unpacked is counted.
  const size = Number(reader.at(12, 8).readBigUInt64LE(0)) * SECTOR_BYTES;
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
  try {
    yield { name: name.replace(/\.vmdk$/i, '') || 'disk', read: () => ({ stream: disk(), packed_bytes: content.size }) };
  } finally {
    reader.close();
  }
}

export const streamDisk = format({
  id: 'stream-disk',
  media_type: 'application/x-packed',
  recognise: withBits(48, isStreamDisk),
  traits: { is_disk: true },
  limits: null,
  open: (content, context) => streamDiskMembers(content, context.name, context),
});
