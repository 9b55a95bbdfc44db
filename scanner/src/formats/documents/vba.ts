import { format, oneOf, spelled } from '#scanner/formats/format.ts';
import { type Content, openSource } from '#scanner/reading/content.ts';
import type { Budget } from '#scanner/reading/limits.ts';
import { type Member, type ReadContext, Unreadable } from '#scanner/reading/member.ts';

/** A chunk of a compressed container unpacks to at most so much (MS-OVBA 2.4.1.1.3). Bytes. */
const CHUNK_BYTES = 4096;
/** A longer macro is not handwritten. Bytes. */
const SOURCE_BYTES_MAXIMUM = 8 * 1024 ** 2;
/** A shorter source is ignored: the empty modules of every document are longer. */
const SOURCE_BYTES_LEAST = 32;
const TEXT_SHARE_LEAST = 0.95;
const OFFSET_BITS_LEAST = 4;

/** Unpacks one chunk (MS-OVBA 2.4.1.3.5 to 2.4.1.3.12) into `target`: how many bytes it gave, and whether it is such a chunk at all. */
function unpackChunk(chunk: Buffer, target: Buffer): { done: number; is_whole: boolean } {
  let done = 0;
  const broken = () => ({ done, is_whole: false });
  for (let at = 0; at < chunk.length; ) {
    const flags = chunk[at++] ?? 0;
    for (let bit = 0; bit < 8 && at < chunk.length; bit += 1) {
      if ((flags & (1 << bit)) === 0) {
        if (done === CHUNK_BYTES) return broken();
        target[done++] = chunk[at++] ?? 0;
        continue;
      }
      if (at + 2 > chunk.length) return broken();
      const token = chunk.readUInt16LE(at);
      at += 2;
      const offset_bits = Math.max(OFFSET_BITS_LEAST, Math.ceil(Math.log2(done)));
      const length = (token & (0xffff >> offset_bits)) + 3;
      const offset = (token >> (16 - offset_bits)) + 1;
      if (offset > done || done + length > CHUNK_BYTES) return broken();
      for (let copied = 0; copied < length; copied += 1, done += 1) target[done] = target[done - offset] ?? 0;
    }
  }
  return { done, is_whole: true };
}

function isText(bytes: Buffer): boolean {
  let text = 0;
  for (const byte of bytes) if (byte === 9 || byte === 10 || byte === 13 || byte >= 32) text += 1;
  return text >= bytes.length * TEXT_SHARE_LEAST;
}

interface Source {
  bytes: Buffer;
  /** Bytes that it came out of. */
  packed_bytes: number;
  /** It has more, which was not unpacked. */
  is_cut: boolean;
}

/** The compressed container that begins at `start` (MS-OVBA 2.4.1.1.1), as far as it goes; undefined when none does, or when it holds no text. */
function unpackContainer(stream: Buffer, start: number, target: Buffer, budget: Budget): Source | undefined {
  const pieces: Buffer[] = [];
  let size = 0;
  let at = start + 1;
  while (at + 2 <= stream.length && size < SOURCE_BYTES_MAXIMUM) {
    const header = stream.readUInt16LE(at);
    if ((header & 0x7000) !== 0x3000) break;
    const chunk = stream.subarray(at + 2, at + 2 + (header & 0x0fff) + 1);
    const is_packed = (header & 0x8000) !== 0;
    const { done, is_whole } = is_packed
      ? unpackChunk(chunk, target)
      : { done: chunk.copy(target, 0, 0, CHUNK_BYTES), is_whole: true };
    // Twice: for input and output.
    budget.spend(chunk.length + done);
    if (!is_whole) break;
    const piece = Buffer.from(target.subarray(0, done));
    // The first chunk decides; other data than text is no macro.
    if (size === 0 && (done < SOURCE_BYTES_LEAST || !isText(piece))) return undefined;
    pieces.push(piece);
    size += done;
    at += 2 + chunk.length;
  }
  if (size === 0) return undefined;
  return {
    bytes: Buffer.concat(pieces),
    packed_bytes: Math.min(at, stream.length) - start,
    is_cut: size >= SOURCE_BYTES_MAXIMUM,
  };
}

/**
 * The macro sources in a stream of an OLE file, one after the other. They are found by their form, not by the directory that says where they are: a
 * document that hides a macro changes the directory first.
 */
export function* macroSources(stream: Buffer, budget: Budget): Generator<Source> {
  budget.spend(stream.length);
  const target = Buffer.alloc(CHUNK_BYTES);
  for (let at = stream.indexOf(1); at >= 0 && at + 3 < stream.length; ) {
    // Signature bits and "compressed" of the first chunk's header; a macro is compressed.
    const found = ((stream[at + 2] ?? 0) & 0xf0) === 0xb0 ? unpackContainer(stream, at, target, budget) : undefined;
    if (found !== undefined) yield found;
    at = stream.indexOf(1, at + (found?.packed_bytes ?? 1));
  }
}

/** A macro's packed source is shorter. Bytes. */
const MACRO_BYTES_MAXIMUM = 4 * 1024 ** 2;

/** A macro as it stands in a stream of an Office document, wherever that is. */
async function* macroMembers(content: Content, { budget, claim }: ReadContext): AsyncGenerator<Member> {
  using source = openSource(content);
  for (const { bytes, packed_bytes, is_cut } of macroSources(source.read(0, MACRO_BYTES_MAXIMUM), budget)) {
    budget.addUnpacked(bytes.length, bytes.length, packed_bytes);
    claim(0, packed_bytes);
    yield { name: 'macro', read: () => ({ content: { size: bytes.length, bytes }, damage: is_cut ? 'too_large' : undefined }) };
    return;
  }
  throw new Unreadable('damaged');
}

export const macro = format({
  id: 'vba',
  media_type: 'application/x-packed',
  carve: [
    {
      // MS-OVBA 2.4.1: a compressed container, and `Attribute VB_` as its first chunk's literals.
      pattern: `01 ?? ${oneOf(0xb0, 0xbf)} 00 ${spelled('Attribut')} 00 65 20`,
      is_own: true,
    },
  ],
  limits: 'Nothing of a macro is run.',
  open: macroMembers,
});
