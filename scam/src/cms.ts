// Cryptographic Message Syntax (RFC 5652) of S/MIME, in DER, and in BER with indefinite lengths.

const SEQUENCE = 0x30;
const IDENTIFIER = 0x06;
const EXPLICIT = 0xa0;
const OCTETS = 0x04;
const OCTETS_IN_PIECES = 0x24;
/** 1.2.840.113549.1.7 */
const PKCS7 = '2a864886f70d0107';
/** Encrypted content types: enveloped, signed-and-enveloped, encrypted, and authenticated-enveloped (1.2.840.113549.1.9.16.1.23). */
const LOCKED: ReadonlySet<string> = new Set([`${PKCS7}03`, `${PKCS7}04`, `${PKCS7}06`, '2a864886f70d0109100117']);
const SIGNED = `${PKCS7}02`;

interface Value {
  tag: number;
  start: number;
  /** End of the content; the end of all bytes if the length is indefinite. */
  end: number;
  isOpen: boolean;
}

function valueAt(bytes: Buffer, at: number): Value | undefined {
  const [tag, first] = [bytes[at], bytes[at + 1]];
  if (tag === undefined || first === undefined) return undefined;
  if (first === 0x80) return { tag, start: at + 2, end: bytes.length, isOpen: true };
  const count = first < 0x80 ? 0 : first - 0x80;
  if (count > 4 || at + 2 + count > bytes.length) return undefined;
  const start = at + 2 + count;
  const length = count === 0 ? first : bytes.readUIntBE(at + 2, count);
  return { tag, start, end: Math.min(start + length, bytes.length), isOpen: false };
}

/** Yields the consecutive values from `at` on. A value of indefinite length is the last one, because its end is not known. */
function* valuesFrom(bytes: Buffer, at: number, end: number): Generator<Value> {
  let next = at;
  while (next < end) {
    const value = valueAt(bytes, next);
    // Two zero bytes end a value of indefinite length.
    if (value === undefined || (value.tag === 0 && value.end === value.start)) return;
    yield value;
    if (value.isOpen) return;
    next = value.end;
  }
}

/** The bytes of an octet string, which may be constructed of parts; undefined if a part is itself constructed. */
function octetsOf(bytes: Buffer, { tag, start, end }: Value): Buffer | undefined {
  if (tag === OCTETS) return bytes.subarray(start, end);
  const pieces = tag === OCTETS_IN_PIECES ? [...valuesFrom(bytes, start, end)] : [];
  if (tag !== OCTETS_IN_PIECES || pieces.some((piece) => piece.tag !== OCTETS)) return undefined;
  return Buffer.concat(pieces.map((piece) => bytes.subarray(piece.start, piece.end)));
}

/** Decodes a message that may be base64, with the boundary lines of RFC 7468 or without. */
function decoded(content: Uint8Array): Buffer {
  const bytes = Buffer.from(content.buffer, content.byteOffset, content.byteLength);
  if (bytes[0] === SEQUENCE) return bytes;
  const text = bytes.toString('latin1').replaceAll(/^-----(?:BEGIN|END) (?:PKCS7|CMS|PKCS #7 SIGNED DATA)-----\r?$/gmu, '');
  return /^\s*MI[\w+/=\s]+$/u.test(text) ? Buffer.from(text, 'base64') : bytes;
}

/**
 * Returns the signed content. The signature is not verified. `detached`: the content is not included, or there are
 * only certificates. `damaged`: the content cannot be read. Undefined for other bytes.
 */
export function signedContent(content: Uint8Array): Buffer | 'encrypted' | 'detached' | 'damaged' | undefined {
  const bytes = decoded(content);
  const outer = bytes[0] === SEQUENCE ? valueAt(bytes, 0) : undefined;
  const [identifier, explicit] = outer === undefined ? [] : [...valuesFrom(bytes, outer.start, outer.end)];
  if (identifier?.tag !== IDENTIFIER) return undefined;
  const kind = bytes.toString('hex', identifier.start, identifier.end);
  if (LOCKED.has(kind)) return 'encrypted';
  const message = kind === SIGNED && explicit?.tag === EXPLICIT ? valueAt(bytes, explicit.start) : undefined;
  if (message?.tag !== SEQUENCE) return undefined;
  // The version and the algorithms come before the content.
  const enclosed = [...valuesFrom(bytes, message.start, message.end)].find(({ tag }) => tag === SEQUENCE);
  const [, wrapped] = enclosed === undefined ? [] : [...valuesFrom(bytes, enclosed.start, enclosed.end)];
  const octets = wrapped?.tag === EXPLICIT ? valueAt(bytes, wrapped.start) : undefined;
  return octets === undefined ? 'detached' : (octetsOf(bytes, octets) ?? 'damaged');
}
