import { format, mark, oneOf, patternOf, withBits } from '#scanner/formats/format.ts';
import { type Content, standsAt, streamOf } from '#scanner/reading/content.ts';
import { LimitReached } from '#scanner/reading/limits.ts';
import { decodeName, type Member, type ReadContext, Unreadable } from '#scanner/reading/member.ts';
import { openReader, type Reader } from '#scanner/reading/reader.ts';
import { struct } from '#scanner/reading/struct.ts';

// Packs of the Godot engine (godotengine/godot, core/io/file_access_pack.cpp): a header, a list of files with their places, and the files. A game carries its pack beside its program or behind it.

const MAGIC = mark('GDPC');
/** Version 1 is of Godot 3, version 2 of Godot 4. Version 3 keeps the list elsewhere. */
const VERSION = { first: 1, with_flags: 2, last: 3 } as const;
const RESERVED_BYTES = 16 * 4;
const FLAG = { encrypted_list: 1, relative_places: 2, encrypted_file: 1, removed: 2 } as const;
const NAME_BYTES_MAXIMUM = 4096;
const MD5_BYTES = 16;

const HEAD = struct('little', { magic: MAGIC.bytes.length, version: 'u32', major: 'u32', minor: 'u32', patch: 'u32' });
const FLAGS = struct('little', { flags: 'u32', files_at: 'u64' });
const COUNT = struct('little', { count: 'u32' });
const NAME = struct('little', { bytes: 'u32' });
const PLACE = struct('little', { at: 'u64', size: 'u64', md5: MD5_BYTES });
const FILE_FLAGS = struct('little', { flags: 'u32' });

type Header = NonNullable<ReturnType<typeof HEAD.read>>;

/** The fields at `at`. @throws Unreadable `damaged` where the file ends before them */
function fieldsAt<Values>(
  reader: Reader,
  at: number,
  fields: { bytes: number; read(bytes: Buffer): Values | undefined },
): Values {
  const values = fields.read(reader.at(at, fields.bytes));
  if (values === undefined) throw new Unreadable('damaged');
  return values;
}

function hasKnownVersion({ version }: Header): boolean {
  return version === VERSION.first || version === VERSION.with_flags;
}

/** Other versions are of no pack: a text may begin with the same letters. */
function isPack(head: Buffer): boolean {
  const fields = standsAt(head, MAGIC.bytes, 0) ? HEAD.read(head) : undefined;
  return fields !== undefined && fields.version >= VERSION.first && fields.version <= VERSION.last;
}

/** The engine's first versions have one digit, and the list follows 64 bytes of zeros. */
function provesPack(reader: Reader, at: number): boolean {
  const head = HEAD.read(reader.at(at, HEAD.bytes));
  return (
    head !== undefined && hasKnownVersion(head) && head.major >= 2 && head.major < 10 && head.minor < 100 && head.patch < 100
  );
}

interface Entry {
  name: string;
  start: number;
  size: number;
  is_encrypted: boolean;
}

/** The list: where it ends, and the files in it that were not removed. @throws Unreadable */
function listOf(reader: Reader): { end: number; entries: Entry[] } {
  const head = fieldsAt(reader, 0, HEAD);
  if (!hasKnownVersion(head)) throw new Unreadable('unsupported');
  const has_flags = head.version === VERSION.with_flags;
  const { flags, files_at } = has_flags ? fieldsAt(reader, HEAD.bytes, FLAGS) : { flags: 0, files_at: 0 };
  if ((flags & FLAG.encrypted_list) !== 0) throw new Unreadable('encrypted');
  const base = (flags & FLAG.relative_places) === 0 ? 0 : files_at;
  let at = HEAD.bytes + (has_flags ? FLAGS.bytes : 0) + RESERVED_BYTES;
  const { count } = fieldsAt(reader, at, COUNT);
  at += COUNT.bytes;
  const entries: Entry[] = [];
  for (let index = 0; index < count; index += 1) {
    const { bytes } = fieldsAt(reader, at, NAME);
    if (bytes > NAME_BYTES_MAXIMUM) throw new Unreadable('damaged');
    const name = decodeName(reader.at(at + NAME.bytes, bytes)).replace(/\0+$/, '');
    at += NAME.bytes + bytes;
    const place = fieldsAt(reader, at, PLACE);
    at += PLACE.bytes;
    const file_flags = has_flags ? fieldsAt(reader, at, FILE_FLAGS).flags : 0;
    if (has_flags) at += FILE_FLAGS.bytes;
    if ((file_flags & FLAG.removed) !== 0) continue;
    entries.push({ name, start: base + place.at, size: place.size, is_encrypted: (file_flags & FLAG.encrypted_file) !== 0 });
  }
  return { end: at, entries };
}

/** The files of a pack. @throws Unreadable `encrypted` where its list is, `damaged` where it names what is not there */
async function* packMembers(content: Content, { budget, claim }: ReadContext): AsyncGenerator<Member> {
  const reader = openReader(content, budget);
  try {
    const { end, entries } = listOf(reader);
    claim(0, end);
    budget.announce(entries.length);
    let is_damaged = false;
    let named_bytes = 0;
    for (const { name, start, size, is_encrypted } of entries) {
      const to = Math.min(start + size, reader.size);
      is_damaged ||= start + size > reader.size;
      if (start >= to) continue;
      claim(start, to);
      named_bytes += to - start;
      // Files do not share their bytes: what several of them name is read no more than once for each byte of the pack.
      if (named_bytes > 2 * reader.size) throw new LimitReached('bomb');
      if (is_encrypted) yield { name, closed: 'encrypted', read: () => ({ content: { size: 0, bytes: Buffer.alloc(0) } }) };
      else yield { name, read: () => ({ stream: streamOf(content, start, to), packed_bytes: to - start }) };
    }
    if (is_damaged) throw new Unreadable('damaged');
  } finally {
    reader.close();
  }
}

export const godotPack = format({
  id: 'godot-pack',
  media_type: 'application/x-packed',
  recognise: withBits(62, isPack),
  carve: [{ pattern: `${patternOf(MAGIC)} (01|02) 00 00 00 ${oneOf(2, 9)} 00 00 00`, proves: provesPack }],
  limits: 'Packs of version 3 and encrypted ones are not read.',
  open: packMembers,
});
