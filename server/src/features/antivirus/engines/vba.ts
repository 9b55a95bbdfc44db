/** A chunk of a compressed container unpacks to at most so much (MS-OVBA 2.4.1.1.3). Bytes. */
const CHUNK_BYTES = 4096;
const SOURCE_BYTES_MAXIMUM = 8 * 1024 ** 2;
/** What unpacks to less says nothing: the empty modules of every document are longer. */
const SOURCE_BYTES_LEAST = 32;
const TEXT_SHARE_LEAST = 0.95;

/** Unpacks one chunk (MS-OVBA 2.4.1.3.5 to 2.4.1.3.12) onto `target`; false when it is none. */
function unpackChunk(chunk: Buffer, target: number[]): boolean {
  const begin = target.length;
  for (let at = 0; at < chunk.length; ) {
    const flags = chunk[at++] ?? 0;
    for (let bit = 0; bit < 8 && at < chunk.length; bit += 1) {
      if ((flags & (1 << bit)) === 0) {
        target.push(chunk[at++] ?? 0);
        continue;
      }
      if (at + 2 > chunk.length) return false;
      const token = chunk.readUInt16LE(at);
      at += 2;
      const done = target.length - begin;
      const offset_bits = Math.max(4, Math.ceil(Math.log2(done)));
      const length = (token & (0xffff >> offset_bits)) + 3;
      const offset = (token >> (16 - offset_bits)) + 1;
      if (offset > done || done + length > CHUNK_BYTES) return false;
      for (let copied = 0; copied < length; copied += 1) target.push(target[target.length - offset] ?? 0);
    }
    if (target.length - begin > CHUNK_BYTES) return false;
  }
  return true;
}

function isText(bytes: readonly number[]): boolean {
  let text = 0;
  for (const byte of bytes) if (byte === 9 || byte === 10 || byte === 13 || byte >= 32) text += 1;
  return text >= bytes.length * TEXT_SHARE_LEAST;
}

/** The compressed container that begins at `start` (MS-OVBA 2.4.1.1.1), as far as it goes; undefined when none does, or when it holds no text. */
function unpackContainer(stream: Buffer, start: number): { source: Buffer; end: number } | undefined {
  const source: number[] = [];
  let at = start + 1;
  while (at + 2 <= stream.length && source.length < SOURCE_BYTES_MAXIMUM) {
    const header = stream.readUInt16LE(at);
    if ((header & 0x7000) !== 0x3000) break;
    const size = (header & 0x0fff) + 1;
    const chunk = stream.subarray(at + 2, at + 2 + size);
    const before = source.length;
    if ((header & 0x8000) === 0) for (const byte of chunk) source.push(byte);
    else if (!unpackChunk(chunk, source)) {
      source.length = before;
      break;
    }
    // The first chunk decides; what is no text is no macro.
    if (before === 0 && (source.length < SOURCE_BYTES_LEAST || !isText(source))) return undefined;
    at += 2 + size;
  }
  return source.length === 0 ? undefined : { source: Buffer.from(source), end: Math.min(at, stream.length) };
}

/**
 * The macro sources in a stream of an OLE file. They are found by their form, not by the directory that says where they are: a document that hides a
 * macro changes the directory first.
 */
export function macroSources(stream: Buffer): Buffer[] {
  const sources: Buffer[] = [];
  for (let at = stream.indexOf(1); at >= 0 && at + 3 < stream.length; ) {
    // Signature bits and "compressed" of the first chunk's header; a macro is compressed.
    const found = ((stream[at + 2] ?? 0) & 0xf0) === 0xb0 ? unpackContainer(stream, at) : undefined;
    if (found !== undefined) sources.push(found.source);
    at = stream.indexOf(1, found?.end ?? at + 1);
  }
  return sources;
}
