import { createHash } from 'node:crypto';
import { LISTED_MAXIMUM, type ListedMember, type ReadList } from '#scanner/formats/seven-zip/listed-members.ts';
import type { Reader } from '#scanner/reading/reader.ts';

// Lists the contents of a WIM archive from its resource table, to compare them with what 7-Zip extracts ("Windows Imaging File Format", Microsoft, 2007;
// wimlib, resource.h and blob_table.c). File names are in packed metadata; a content with several names is listed once.

const HEADER = { bytes: 208, table: 48, description: 72 } as const;
/** Size of a table entry (location, part number, reference count, SHA-1), and the position of its SHA-1. Bytes. */
const ENTRY = { bytes: 50, hash: 30 } as const;
const PLACE = { flags: 7, at: 8, plain: 16 } as const;
const FLAG = { free: 1, metadata: 2, packed: 4, spread: 8, solid: 16 } as const;
/** Plain size of an entry that is a group of contents and not a content. */
const HOLDS_SEVERAL = 2 ** 32;
/** Maximum size of the XML description. 7-Zip gives the description as a member. Bytes. */
const DESCRIPTION_MAXIMUM = 1024 ** 2;
/** The table also lists reparse points (links), which have at most this size (MAXIMUM_REPARSE_DATA_BUFFER_SIZE of Windows). Bytes. */
const LINK_MAXIMUM = 16 * 1024;

/** Reads a 7-byte little-endian number. */
const u56 = (bytes: Buffer, at: number) => bytes.readUIntLE(at, 6) + bytes.readUInt8(at + 6) * 2 ** 48;

/** An uncompressed part of the archive, located by a field of the header; undefined if it is compressed, cut off or longer than `most` bytes. */
function plainPart(reader: Reader, place: Buffer, most: number): Buffer | undefined {
  const size = u56(place, 0);
  if ((place.readUInt8(PLACE.flags) & FLAG.packed) !== 0 || size > most) return undefined;
  const bytes = Buffer.from(reader.at(Number(place.readBigUInt64LE(PLACE.at)), size));
  return bytes.length === size ? bytes : undefined;
}

/** The content that a table entry describes; undefined for free entries, metadata and groups of contents. */
function contentOf(entry: Buffer): ListedMember | undefined {
  const flags = entry.readUInt8(PLACE.flags);
  if ((flags & (FLAG.free | FLAG.metadata)) !== 0) return undefined;
  const plain = Number(entry.readBigUInt64LE(PLACE.plain));
  const is_solid = (flags & FLAG.solid) !== 0;
  if (is_solid && plain === HOLDS_SEVERAL) return undefined;
  const size = is_solid ? u56(entry, 0) : plain;
  const sha1 = entry.toString('hex', ENTRY.hash);
  return { size, crc: undefined, sha1, may_repeat: true, may_be_absent: size <= LINK_MAXIMUM };
}

/** Lists the contents; undefined if the table cannot be read or the archive is one part of several. */
export const listOfWim: ReadList = (reader) => {
  const head = Buffer.from(reader.at(0, HEADER.bytes));
  if (head.length < HEADER.bytes) return undefined;
  const table = plainPart(reader, head.subarray(HEADER.table), LISTED_MAXIMUM * ENTRY.bytes);
  const description = plainPart(reader, head.subarray(HEADER.description), DESCRIPTION_MAXIMUM);
  if (table === undefined || description === undefined || table.length % ENTRY.bytes !== 0) return undefined;
  const sha1 = createHash('sha1').update(description).digest('hex');
  const listed: ListedMember[] = [{ size: description.length, crc: undefined, sha1, may_be_absent: true }];
  for (let at = 0; at < table.length; at += ENTRY.bytes) {
    const entry = table.subarray(at, at + ENTRY.bytes);
    if ((entry.readUInt8(PLACE.flags) & FLAG.spread) !== 0) return undefined;
    const content = contentOf(entry);
    if (content !== undefined && content.size > 0) listed.push(content);
  }
  return listed;
};
