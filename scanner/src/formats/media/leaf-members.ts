import type { LeafMember } from '#scanner/formats/format.ts';
import type { Reader } from '#scanner/reading/reader.ts';

// Finds data in image, sound and video files other than their main content: comments, descriptions, attached files. Each is a separate member, so that rules
// for whole files match it.

/** The members of a format, with their ranges as the file states them. */
type Members = Generator<LeafMember>;

const HEAD_BYTES = 300;

/** Position after `count` zero-terminated texts that begin at `at`. */
function afterZeros(bytes: Buffer, at: number, count: number): number {
  let next = at;
  for (let text = 0; text < count; text += 1) {
    const found = bytes.indexOf(0, next);
    if (found < 0) return bytes.length;
    next = found + 1;
  }
  return next;
}

/** Chunks that hold the image itself or numbers about it (PNG 3rd edition, 11). */
const PNG_OWN = 'IHDR PLTE IDAT IEND tRNS cHRM gAMA sBIT sRGB bKGD hIST pHYs sPLT tIME acTL fcTL fdAT MHDR MEND'.split(' ');

export function* pngMembers(reader: Reader): Members {
  for (let at = 8; at + 12 <= reader.size; ) {
    const head = reader.at(at, 8);
    const length = head.readUInt32BE(0);
    const type = head.toString('latin1', 4, 8);
    const start = at + 8;
    const end = Math.min(reader.size, start + length);
    at = start + length + 4;
    if (PNG_OWN.includes(type)) continue;
    const words = reader.at(start, Math.min(HEAD_BYTES, end - start));
    if (type === 'tEXt') yield { name: type, start: start + afterZeros(words, 0, 1), end };
    else if (type === 'zTXt' || type === 'iCCP')
      yield { name: type, start: start + afterZeros(words, 0, 1) + 1, end, packed: true };
    else if (type === 'iTXt') {
      const flag = afterZeros(words, 0, 1);
      const part = { name: type, start: start + afterZeros(words, flag + 2, 2), end };
      yield words[flag] === 1 ? { ...part, packed: true } : part;
    } else yield { name: type, start, end };
  }
}

export function* jpegMembers(reader: Reader): Members {
  for (let at = 2; at + 4 <= reader.size; ) {
    const head = reader.at(at, 4);
    const [first, mark = 0] = head;
    if (first !== 0xff || mark === 0xda) return;
    const length = head.readUInt16BE(2);
    if ((mark >= 0xe1 && mark <= 0xef) || mark === 0xfe)
      yield { name: mark === 0xfe ? 'comment' : `segment ${mark - 0xe0}`, start: at + 4, end: at + 2 + length };
    at += 2 + length;
  }
}

export function* gifMembers(reader: Reader): Members {
  const table = (flags: number) => ((flags & 0x80) === 0 ? 0 : 3 * 2 ** ((flags & 7) + 1));
  let at = 13 + table(reader.at(10, 1)[0] ?? 0);
  for (;;) {
    const [mark, kind = 0] = reader.at(at, 2);
    if (mark === 0x2c) at += 10 + table(reader.at(at + 9, 1)[0] ?? 0) + 1;
    else if (mark === 0x21) at += 2;
    else return;
    const blocks: { start: number; end: number }[] = [];
    for (;;) {
      const size = reader.at(at, 1)[0] ?? 0;
      at += 1;
      if (size === 0 || at >= reader.size) break;
      if (mark === 0x21) blocks.push({ start: at, end: at + size });
      at += size;
    }
    const [first, ...more] = blocks;
    if (first !== undefined && kind === 0xfe) yield { name: 'comment', ...first, more };
    // The first block of other extensions identifies the application.
    const [second, ...others] = more;
    if (second !== undefined && kind !== 0xfe && kind !== 0xf9) yield { name: 'extension', ...second, more: others };
  }
}

const RIFF_OWN = 'data VP8  VP8L VP8X ALPH ANIM ANMF fmt  movi idx1 avih strh strf fact COMM SSND'.split(/ (?! )/);
const RIFF_LISTS = 'RIFF RF64 LIST FORM'.split(' ');

/** Chunks of RIFF and IFF files, including those inside lists. */
export function* chunkMembers(reader: Reader, is_little: boolean): Members {
  for (let at = 0; at + 8 <= reader.size; ) {
    const head = reader.at(at, 12);
    const type = head.toString('latin1', 0, 4);
    const length = is_little ? head.readUInt32LE(4) : head.readUInt32BE(4);
    if (RIFF_LISTS.includes(type) && head.toString('latin1', 8, 12) !== 'movi') {
      at += 12;
      continue;
    }
    if (!RIFF_OWN.includes(type)) yield { name: type, start: at + 8, end: at + 8 + length };
    at += 8 + length + (length % 2);
  }
}

/** The frames of ID3v2 (id3.org, 2.3 and 2.4). In frames with an image or a file, texts precede the data. */
export function* id3Members(reader: Reader, head: Buffer): Members {
  const sevens = (bytes: Buffer) => bytes.reduce((sum, byte) => sum * 128 + (byte & 127), 0);
  const end = Math.min(reader.size, 10 + sevens(head.subarray(6, 10)));
  const version = head[3] ?? 0;
  if (version < 3) return;
  for (let at = 10; at + 10 <= end; ) {
    const frame = reader.at(at, 10);
    if (frame[0] === 0) return;
    const id = frame.toString('latin1', 0, 4);
    const length = version === 4 ? sevens(frame.subarray(4, 8)) : frame.readUInt32BE(4);
    const [start, stop] = [at + 10, Math.min(end, at + 10 + length)];
    const words = reader.at(start, Math.min(HEAD_BYTES, Math.max(0, stop - start)));
    const flags = frame[9] ?? 0;
    const is_packed = version === 4 ? (flags & 0x08) !== 0 : (flags & 0x80) !== 0;
    // A compressed frame begins with its unpacked size and a group number. In 2.4, flags show whether each is present.
    const before = version === 4 ? ((flags & 0x40) >> 6) + ((flags & 1) === 0 ? 0 : 4) : 4 + ((flags & 0x20) >> 5);
    if (is_packed) yield { name: id, start: start + before, end: stop, packed: true };
    else if (id === 'GEOB') yield { name: id, start: start + afterZeros(words, 1, 3), end: stop };
    else if (id === 'APIC') yield { name: id, start: start + afterZeros(words, afterZeros(words, 1, 1) + 1, 1), end: stop };
    else if (id === 'PRIV') yield { name: id, start: start + afterZeros(words, 0, 1), end: stop };
    else yield { name: id, start: start + 1, end: stop };
    at = start + length;
  }
}

/** Images and application data of FLAC (RFC 9639, 8). The type, media type, description and dimensions precede the image. */
export function* flacMembers(reader: Reader): Members {
  for (let at = 4; at + 4 <= reader.size; ) {
    const head = reader.at(at, 4);
    const [kind = 0] = head;
    const start = at + 4;
    at = start + head.readUIntBE(1, 3);
    if ((kind & 127) === 6) {
      const words = reader.at(start, HEAD_BYTES * 4);
      const type_bytes = words.length < 8 ? 0 : words.readUInt32BE(4);
      const told = 8 + type_bytes;
      const description = told + 4 <= words.length ? words.readUInt32BE(told) : 0;
      yield { name: 'picture', start: start + told + 4 + description + 20, end: at };
    } else if ((kind & 127) === 2) yield { name: 'application', start: start + 4, end: at };
    if ((kind & 128) !== 0) return;
  }
}

const MATROSKA_LISTS = ['18538067', '1941a469', '61a7'];

/** Reads an EBML number at `at`, whose leading zero bits give its length. */
function ebmlAt(bytes: Buffer, at: number): { value: number; length: number } | undefined {
  const first = bytes[at] ?? 0;
  const length = Math.clz32(first) - 23;
  if (first === 0 || at + length > bytes.length) return undefined;
  // Eight-byte numbers are common, because writers reserve them for sizes that are filled in later.
  if (length > 6) return { value: Number(bytes.readBigUInt64BE(at + length - 8) & (2n ** BigInt(7 * length) - 1n)), length };
  return { value: bytes.readUIntBE(at, length) - 2 ** (7 * length), length };
}

/** Attached files of Matroska (RFC 9559, 5.1.6). */
export function* matroskaMembers(reader: Reader): Members {
  for (let at = 0; at < reader.size; ) {
    const head = reader.at(at, 12);
    const id_bytes = Math.clz32(head[0] ?? 0) - 23;
    const size = id_bytes > 4 ? undefined : ebmlAt(head, id_bytes);
    if (size === undefined) return;
    const id = head.toString('hex', 0, id_bytes);
    const start = at + id_bytes + size.length;
    if (id === '465c') yield { name: 'attached file', start, end: start + size.value };
    at = MATROSKA_LISTS.includes(id) ? start : start + size.value;
  }
}

/** Boxes of MPEG-4 files with data of other programs (ISO 14496-12, 4.2 and 8.1.2), and with descriptions. */
export function* boxMembers(reader: Reader): Members {
  for (let at = 0; at + 8 <= reader.size; ) {
    const head = reader.at(at, 16);
    const type = head.toString('latin1', 4, 8);
    const short = head.readUInt32BE(0);
    const size = short === 1 && head.length === 16 ? Number(head.readBigUInt64BE(8)) : short === 0 ? reader.size - at : short;
    if (size < 8) return;
    if (type === 'uuid') yield { name: type, start: at + 24, end: at + size };
    else if (['free', 'skip', 'udta', 'meta', 'idat'].includes(type)) yield { name: type, start: at + 8, end: at + size };
    at += size;
  }
}

/** Comments of Windows metafiles (MS-EMF 2.3.3: type 70; MS-WMF 2.3.6.1: function 0x0626). */
export function* enhancedMembers(reader: Reader): Members {
  for (let at = 0; at + 12 <= reader.size; ) {
    const head = reader.at(at, 12);
    const size = head.readUInt32LE(4);
    if (size < 8) return;
    if (head.readUInt32LE(0) === 70)
      yield { name: 'comment', start: at + 12, end: Math.min(at + size, at + 12 + head.readUInt32LE(8)) };
    at += size;
  }
}

export function* metafileMembers(reader: Reader): Members {
  for (let at = 22 + 18; at + 10 <= reader.size; ) {
    const head = reader.at(at, 10);
    const size = head.readUInt32LE(0) * 2;
    if (size < 6) return;
    if (head.readUInt16LE(4) === 0x0626)
      yield { name: 'comment', start: at + 10, end: Math.min(at + size, at + 10 + head.readUInt16LE(8)) };
    at += size;
  }
}

/** Values in the directories of TIFF that are bytes or text (TIFF 6.0, 2). */
export function* tiffMembers(reader: Reader, head: Buffer): Members {
  const is_little = head[0] === 0x49;
  const u16 = (bytes: Buffer, at: number) => (is_little ? bytes.readUInt16LE(at) : bytes.readUInt16BE(at));
  const u32 = (bytes: Buffer, at: number) => (is_little ? bytes.readUInt32LE(at) : bytes.readUInt32BE(at));
  const seen = new Set<number>();
  for (let at = u32(head, 4); at > 0 && at + 6 <= reader.size && !seen.has(at); ) {
    seen.add(at);
    const count = u16(reader.at(at, 2), 0);
    const entries = reader.at(at + 2, count * 12 + 4);
    for (let next = 0; next + 12 <= entries.length - 4; next += 12) {
      const [kind, bytes] = [u16(entries, next + 2), u32(entries, next + 4)];
      if ([1, 2, 7].includes(kind))
        yield { name: `tag ${u16(entries, next)}`, start: u32(entries, next + 8), end: u32(entries, next + 8) + bytes };
    }
    at = entries.length < count * 12 + 4 ? 0 : u32(entries, count * 12);
  }
}

/** The metadata of a web font (WOFF 1.0, 7), and its private data. */
export function* fontMembers(_reader: Reader, head: Buffer): Members {
  if (head.length < 44) return;
  const [metadata, packed, , own, own_bytes] = [24, 28, 32, 36, 40].map((at) => head.readUInt32BE(at));
  if (metadata !== undefined && packed !== undefined)
    yield { name: 'metadata', start: metadata, end: metadata + packed, packed: true };
  if (own !== undefined && own_bytes !== undefined) yield { name: 'private data', start: own, end: own + own_bytes };
}

export function* iconMembers(reader: Reader, head: Buffer): Members {
  const list = reader.at(6, head.readUInt16LE(4) * 16);
  for (let at = 0; at + 16 <= list.length; at += 16) {
    const start = list.readUInt32LE(at + 12);
    yield { name: 'picture', start, end: start + list.readUInt32LE(at + 8) };
  }
}
