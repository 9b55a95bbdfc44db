// Texts of IBM's large computers (code pages 37 and 1047, which differ in brackets alone). Their letters stand among the upper bytes, so that they look like any text of another
// alphabet until they are counted.

/** Bytes of the code, and what they are; brackets of both. */
const LETTERS: readonly (readonly [from: number, characters: string])[] = [
  [0x40, ' '],
  [0x4b, '.<(+|'],
  [0x50, '&'],
  [0x5a, '!$*);^'],
  [0x60, '-/'],
  [0x6b, ',%_>?'],
  [0x79, '`:#@\'="'],
  [0x81, 'abcdefghi'],
  [0x91, 'jklmnopqr'],
  [0xa1, '~stuvwxyz'],
  [0xad, '['],
  [0xb0, '^'],
  [0xba, '[]'],
  [0xbd, ']'],
  [0xc0, '{ABCDEFGHI'],
  [0xd0, '}JKLMNOPQR'],
  [0xe0, '\\'],
  [0xe2, 'STUVWXYZ'],
  [0xf0, '0123456789'],
  // Line ends: return, new line, line feed; and the tab.
  [0x0d, '\r'],
  [0x15, '\n'],
  [0x25, '\n'],
  [0x05, '\t'],
];

const CHARACTERS: readonly string[] = Array.from({ length: 256 }, (_, byte) => {
  const row = LETTERS.find(([from, characters]) => byte >= from && byte < from + characters.length);
  return row?.[1][byte - row[0]] ?? '\ufffd';
});
const KNOWN = Uint8Array.from(CHARACTERS, (character) => (character === '\ufffd' ? 0 : 1));
const IS_LETTER = Uint8Array.from(CHARACTERS, (character) => (/\w/.test(character) ? 1 : 0));
/** Fewer say nothing. Bytes. */
const LEAST = 40;
const QUICK_BYTES = 64;

function isOf(bytes: Buffer): boolean {
  let known = 0;
  let letters = 0;
  for (const byte of bytes) {
    known += KNOWN[byte] ?? 0;
    letters += IS_LETTER[byte] ?? 0;
  }
  // Of noise three bytes of eight are of the code; of any other text hardly a letter is.
  return known * 50 >= bytes.length * 49 && letters * 2 >= bytes.length;
}

/** Whether a text begins with these bytes. */
export function isEbcdic(head: Buffer): boolean {
  return head.length >= LEAST && isOf(head.subarray(0, QUICK_BYTES)) && isOf(head);
}

export function* fromEbcdic(pieces: Iterable<Buffer>): Generator<string> {
  for (const piece of pieces) yield Array.from(piece, (byte) => CHARACTERS[byte] ?? '').join('');
}
