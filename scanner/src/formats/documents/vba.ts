import { format, oneOf, spelled } from '#scanner/formats/format.ts';
import { type Content, openSource } from '#scanner/reading/content.ts';
import type { Budget } from '#scanner/reading/limits.ts';
import { type Member, type ReadContext, Unreadable } from '#scanner/reading/member.ts';

/** Maximum unpacked size of a chunk (MS-OVBA 2.4.1.1.3). Bytes. */
const CHUNK_BYTES = 4096;
/** Maximum size of a source; handwritten macros are shorter. Bytes. */
const SOURCE_BYTES_MAXIMUM = 8 * 1024 ** 2;
/** Minimum size of a source; the empty modules of every document are longer. Bytes. */
const SOURCE_BYTES_LEAST = 32;
const TEXT_SHARE_LEAST = 0.95;
const OFFSET_BITS_LEAST = 4;

/** Unpacks one chunk (MS-OVBA 2.4.1.3.5 to 2.4.1.3.12) into `target`. Returns the number of bytes written, and whether the chunk is valid. */
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
  /** Size of the compressed source. Bytes. */
  packed_bytes: number;
  /** Whether more data follows that was not unpacked. */
  is_cut: boolean;
}

/** Unpacks the compressed container at `start` (MS-OVBA 2.4.1.1.1) up to the first invalid chunk; undefined if there is none or its content is not text. */
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
    // Charged for input and output.
    budget.spend(chunk.length + done);
    if (!is_whole) break;
    const piece = Buffer.from(target.subarray(0, done));
    // A macro is text, so the first chunk decides.
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

/** The macro sources in a stream of an OLE file. They are found by their structure, because documents that hide macros change the directory that lists them. */
export function* macroSources(stream: Buffer, budget: Budget): Generator<Source> {
  budget.spend(stream.length);
  const target = Buffer.alloc(CHUNK_BYTES);
  for (let at = stream.indexOf(1); at >= 0 && at + 3 < stream.length; ) {
    // Upper four bits of the header of a compressed first chunk: the compression flag and the signature.
    const found = ((stream[at + 2] ?? 0) & 0xf0) === 0xb0 ? unpackContainer(stream, at, target, budget) : undefined;
    if (found !== undefined) yield found;
    at = stream.indexOf(1, at + (found?.packed_bytes ?? 1));
  }
}

/** Maximum compressed size of a source. Bytes. */
const MACRO_BYTES_MAXIMUM = 4 * 1024 ** 2;

/** A macro source found inside other data, such as a stream of an Office document. */
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
      // MS-OVBA 2.4.1: a compressed container whose first chunk begins with the literals `Attribute VB_`.
      pattern: `01 ?? ${oneOf(0xb0, 0xbf)} 00 ${spelled('Attribut')} 00 65 20`,
      is_own: true,
    },
  ],
  limits: 'Nothing of a macro is run.',
  open: macroMembers,
});
