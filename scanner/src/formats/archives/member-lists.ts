import { beginsStream } from '#scanner/decompression/decompress.ts';
import { type Format, format, withBits } from '#scanner/formats/format.ts';
import { dicomMembers, isDicom } from '#scanner/formats/media/dicom.ts';
import type { Content } from '#scanner/reading/content.ts';
import { type Member, type ReadContext, Unreadable } from '#scanner/reading/member.ts';
import { openReader, type Reader } from '#scanner/reading/reader.ts';
import { struct } from '#scanner/reading/struct.ts';

// Formats that consist of a list of members, each of which is a file or a value.

interface Place {
  name: string;
  start: number;
  end: number;
}

/** Recognises a format and lists its members. `known` receives the other ranges that belong to the format. */
interface MemberList {
  is: (head: Buffer) => boolean;
  members: (reader: Reader, known: (start: number, end: number) => void) => Generator<Place>;
}

/** Minimum size of a member; shorter ones are skipped. Bytes. */
const LEAST = 32;
const MEMBERS_MAXIMUM = 10_000;

const crcTable = Uint16Array.from({ length: 256 }, (_, index) => {
  let crc = index << 8;
  for (let bit = 0; bit < 8; bit += 1) crc = (crc & 0x8000) === 0 ? crc << 1 : (crc << 1) ^ 0x1021;
  return crc & 0xffff;
});

/** CRC-16/XMODEM, which MacBinary uses. */
function crc16(bytes: Buffer): number {
  return bytes.reduce((crc, byte) => ((crc << 8) ^ (crcTable[(crc >> 8) ^ byte] ?? 0)) & 0xffff, 0);
}

const APPLE: readonly number[] = [0x00051600, 0x00051607];

const APPLE_HEAD = struct('big', { magic: 'u32', version: 'u32', filler: 16, entries: 'u16' });
const APPLE_ENTRY = struct('big', { kind: 'u32', start: 'u32', bytes: 'u32' });

/** AppleSingle and AppleDouble (RFC 1740, appendixes A and B): a list of forks with their positions. */
const apple: MemberList = {
  is(head) {
    const fields = head.length >= APPLE_HEAD.bytes + APPLE_ENTRY.bytes ? APPLE_HEAD.read(head) : undefined;
    return fields !== undefined && APPLE.includes(fields.magic) && [0x10000, 0x20000].includes(fields.version);
  },
  *members(reader, known) {
    const count = APPLE_HEAD.read(reader.at(0, APPLE_HEAD.bytes))?.entries ?? 0;
    const list = reader.at(APPLE_HEAD.bytes, count * APPLE_ENTRY.bytes);
    known(0, APPLE_HEAD.bytes + list.length);
    for (let at = 0; at < list.length; at += APPLE_ENTRY.bytes) {
      const entry = APPLE_ENTRY.read(list, at);
      if (entry !== undefined) yield { name: `fork ${entry.kind}`, start: entry.start, end: entry.start + entry.bytes };
    }
  },
};

const MAC_BINARY = struct('big', {
  version: 'u8',
  name_bytes: 'u8',
  name: 63,
  type: 9,
  zero: 'u8',
  place: 7,
  zero_too: 'u8',
  data_bytes: 'u32',
  resource_bytes: 'u32',
  dates: 29,
  second_header_bytes: 'u16',
  versions: 2,
  checksum: 'u16',
  unused: 2,
});
const toBlock = (bytes: number) => Math.ceil(bytes / MAC_BINARY.bytes) * MAC_BINARY.bytes;

/** MacBinary II and III (specifications of 1987 and 1996): a header with a checksum, then two forks, each padded to a multiple of 128 bytes. */
const macBinary: MemberList = {
  is(head) {
    const fields = MAC_BINARY.read(head);
    if (fields === undefined || fields.version !== 0 || fields.zero !== 0 || fields.zero_too !== 0) return false;
    const { name_bytes, checksum } = fields;
    return name_bytes > 0 && name_bytes < 64 && checksum > 0 && crc16(head.subarray(0, 124)) === checksum;
  },
  *members(reader, known) {
    const head = MAC_BINARY.read(reader.at(0, MAC_BINARY.bytes));
    if (head === undefined) return;
    const start = MAC_BINARY.bytes + toBlock(head.second_header_bytes);
    known(0, start);
    const { data_bytes, resource_bytes } = head;
    yield { name: head.name.toString('latin1', 0, head.name_bytes), start, end: start + data_bytes };
    const resources = start + toBlock(data_bytes);
    yield { name: 'resource fork', start: resources, end: resources + resource_bytes };
  },
};

/** The trailer of a binary property list (CFBinaryPList.c, CFBinaryPlistTrailer). */
const LIST_TRAILER = struct('big', {
  unused: 5,
  sort_version: 'u8',
  place_bytes: 'u8',
  reference_bytes: 'u8',
  objects: 'u64',
  top_object: 'u64',
  table_at: 'u64',
});
const BINARY_LIST = Buffer.from('bplist00');
const LIST_TRAILER_BYTES = LIST_TRAILER.bytes;

/** Apple's binary property list (CFBinaryPList.c): objects, a table of their offsets, and a trailer. Values of bytes or text are members. */
const propertyList: MemberList = {
  is: (head) => head.subarray(0, BINARY_LIST.length).equals(BINARY_LIST),
  *members(reader, known) {
    const trailer = LIST_TRAILER.read(reader.at(reader.size - LIST_TRAILER_BYTES, LIST_TRAILER_BYTES));
    if (trailer === undefined) throw new Unreadable('damaged');
    const { place_bytes, objects: count, table_at } = trailer;
    const table = reader.at(table_at, Math.min(count, MEMBERS_MAXIMUM) * place_bytes);
    known(0, reader.size);
    for (let index = 0; place_bytes > 0 && place_bytes <= 6 && (index + 1) * place_bytes <= table.length; index += 1) {
      const at = table.readUIntBE(index * place_bytes, place_bytes);
      const head = reader.at(at, 10);
      const [mark = 0, form = 0] = head;
      const kind = mark >> 4;
      // Types of values: 4 is bytes, 5 is ASCII, 6 is UTF-16.
      if (kind < 4 || kind > 6) continue;
      const is_long = (mark & 15) === 15;
      const size_bytes = is_long ? 2 ** (form & 15) : 0;
      if (size_bytes > 4 || head.length < 2 + size_bytes) continue;
      const size = is_long ? head.readUIntBE(2, size_bytes) : mark & 15;
      const start = at + 1 + (is_long ? 1 + size_bytes : 0);
      yield { name: `value ${index}`, start, end: start + size * (kind === 6 ? 2 : 1) };
    }
  },
};

const WEB_ARCHIVE = /^WARC\/\d\.\d\r?\n/;
const RECORD_HEAD_BYTES = 16 * 1024;

/**
 * WARC archives of web pages (ISO 28500): each record has a header and a body. If the body is an HTTP response, its content is also a member, without the HTTP
 * header.
 */
const webArchive: MemberList = {
  is: (head) => WEB_ARCHIVE.test(head.toString('latin1', 0, 16)),
  *members(reader, known) {
    for (let at = 0, number = 1; at < reader.size; number += 1) {
      const head = reader.at(at, RECORD_HEAD_BYTES).toString('latin1');
      const skipped = /^(?:\r?\n)*/.exec(head)?.[0].length ?? 0;
      const blank = /\r?\n\r?\n/.exec(head.slice(skipped));
      if (!WEB_ARCHIVE.test(head.slice(skipped)) || blank === null) return;
      const size = Number(
        /^Content-Length:\s{0,16}(\d{1,15})/im.exec(head.slice(skipped, skipped + blank.index))?.[1] ?? Number.NaN,
      );
      const start = at + skipped + blank.index + blank[0].length;
      if (!(start + size <= reader.size)) throw new Unreadable('damaged');
      known(at, start);
      yield { name: `record ${number}`, start, end: start + size };
      const answer = reader.at(start, Math.min(size, RECORD_HEAD_BYTES)).toString('latin1');
      const body = /^HTTP\/[\d.]{1,4} [\s\S]*?\r?\n\r?\n/.exec(answer)?.[0].length;
      if (body !== undefined) yield { name: `answer ${number}`, start: start + body, end: start + size };
      at = start + size;
    }
  },
};

const ACTIVE_MIME = Buffer.from('ActiveMime');
const ACTIVE_HEAD_BYTES = 128;

/** Compressed data that Office saves with a web page (`editdata.mso`): a header of about 50 bytes, then a zlib stream. */
const activeMime: MemberList = {
  is: (head) => head.subarray(0, ACTIVE_MIME.length).equals(ACTIVE_MIME),
  *members(reader, known) {
    const head = reader.at(0, ACTIVE_HEAD_BYTES + 64);
    for (let at = ACTIVE_MIME.length; at < ACTIVE_HEAD_BYTES && at + 2 < head.length; at += 1) {
      if (head[at] !== 0x78 || head.readUInt16BE(at) % 31 !== 0 || !beginsStream('zlib', head.subarray(at), reader.budget))
        continue;
      known(0, at);
      yield { name: 'packed part', start: at, end: reader.size };
      return;
    }
    throw new Unreadable('damaged');
  },
};

const GIT_OBJECT = /^(?:blob|tree|commit|tag) \d{1,15}\0/;

/** An unpacked object of git: its type, its length, a zero, and the content. */
const gitObject: MemberList = {
  is: (head) => GIT_OBJECT.test(head.toString('latin1', 0, 24)),
  *members(reader, known) {
    const start = GIT_OBJECT.exec(reader.at(0, 24).toString('latin1'))?.[0].length ?? 0;
    known(0, start);
    yield { name: 'object', start, end: reader.size };
  },
};

/** Archives of games: the position and count of the list, the size of an entry, and the positions of the offset, size and name within an entry. */
const GAME_FILES: readonly {
  mark: string;
  list: (head: Buffer) => { at: number; count: number };
  entry: number;
  place?: number;
  size: number;
  name: number;
}[] = [
  // Doom (the Unofficial Doom Specs, 2.1).
  ...['PWAD', 'IWAD'].map((mark) => ({
    mark,
    list: (head: Buffer) => ({ at: head.readUInt32LE(8), count: head.readUInt32LE(4) }),
    entry: 16,
    place: 0,
    size: 4,
    name: 8,
  })),
  // Quake.
  {
    mark: 'PACK',
    list: (head) => ({ at: head.readUInt32LE(4), count: head.readUInt32LE(8) / 64 }),
    entry: 64,
    place: 56,
    size: 60,
    name: 0,
  },
  // Build: the files follow the list in its order.
  { mark: 'KenSilverman', list: (head) => ({ at: 16, count: head.readUInt32LE(12) }), entry: 16, size: 12, name: 0 },
];
const GAME_NAME_BYTES = { short: 8, long: 56 } as const;

function gameFilesOf(head: Buffer) {
  return head.length < 16 ? undefined : GAME_FILES.find(({ mark }) => head.toString('latin1', 0, mark.length) === mark);
}

const game: MemberList = {
  is: (head) => gameFilesOf(head) !== undefined,
  *members(reader, known) {
    const head = reader.at(0, 16);
    const form = gameFilesOf(head);
    if (form === undefined) return;
    const { at, count } = form.list(head);
    const list = reader.at(at, Math.min(count, MEMBERS_MAXIMUM) * form.entry);
    // Text may begin with the same bytes as the magic.
    if (list.length === 0 || list.length % form.entry !== 0) return;
    known(0, 16);
    known(at, at + list.length);
    let next = at + list.length;
    for (let entry = 0; entry < list.length; entry += form.entry) {
      const start = form.place === undefined ? next : list.readUInt32LE(entry + form.place);
      const end = start + list.readUInt32LE(entry + form.size);
      const name_bytes = form.entry === 64 ? GAME_NAME_BYTES.long : GAME_NAME_BYTES.short;
      const name = list.toString('latin1', entry + form.name, entry + form.name + name_bytes).split('\0', 1)[0];
      next = end;
      yield { name: name || 'file', start, end };
    }
  },
};

/** Gives the members of a list with their names. @throws Unreadable `damaged` if the list is invalid */
async function* listedMembers({ members }: MemberList, content: Content, { budget, claim }: ReadContext): AsyncGenerator<Member> {
  using reader = openReader(content, budget);
  for (const { name, start, end: wanted } of members(reader, claim)) {
    budget.spend(LEAST);
    const end = Math.min(wanted, reader.size);
    claim(start, end);
    if (end - start < LEAST) continue;
    async function* bytes(): AsyncGenerator<Buffer> {
      yield* reader.chunks(start, end);
    }
    yield { name, read: () => ({ stream: bytes(), packed_bytes: end - start }) };
  }
}

function listFormat(id: string, bits: number, list: MemberList, limits: string | null = null): Format {
  return format({
    id,
    recognise: withBits(bits, (head: Buffer) => list.is(head)),
    limits,
    open: (content, context) => listedMembers(list, content, context),
  });
}

export const memberLists: readonly Format[] = [
  listFormat('git-object', 48, gitObject),
  listFormat('apple-double', 62, apple),
  listFormat('mac-binary', 40, macBinary),
  listFormat('property-list', 64, propertyList),
  listFormat('web-archive', 64, webArchive),
  listFormat('active-mime', 80, activeMime),
  listFormat('dicom', 32, { is: isDicom, members: dicomMembers }, 'Values that are packed are not unpacked.'),
  listFormat('game-files', 32, game),
];
