// Decodes texts of IBM mainframes. Their letters are bytes above 0x80, so a text is recognised by counting them. Letters and digits are the same on all code pages, brackets
// and other punctuation are not. A text does not state its page, so it is decoded with each page that gives another result.

/** Characters of code pages 37 and 1047, which differ only in brackets and the caret; includes both forms. */
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
  // Line ends (carriage return, new line, line feed) and the tab.
  [0x0d, '\r'],
  [0x15, '\n'],
  [0x25, '\n'],
  [0x05, '\t'],
];

/** Differences of other pages: the byte in hexadecimal digits, and its character (from iconv of glibc 2.36). */
const PAGES: readonly string[] = [
  // 37 and 1047.
  '',
  // 500 (international), 875 (Greek), 880 and 1025 (Cyrillic).
  '4a[ 4f! 5a] 5f^ bb|',
  // 273: Germany and Austria.
  '43{ 4f! 59~ 5f^ 63[ b5@ bb| dc} ec\\ fc]',
  // 277: Denmark and Norway.
  '47} 4a# 4f! 5f^ 67$ 80@ 9c{ 9e[ 9f] bb| dc~',
  // 278: Finland and Sweden.
  '43{ 47} 4f! 51` 5f^ 63# 67$ 9f] b5[ bb| dc~ ec@',
  // 280: Italy.
  '44{ 48\\ 4f! 51] 54} 58~ 5f^ 90[ b1# b5@ bb| dd`',
  // 284: Spain.
  '4a[ 5a] 69# ba^ bb! bd~',
  // 285: United Kingdom.
  '4a$ b1[ ba^ bc~',
  // 297: France.
  '44@ 48\\ 4f! 51{ 54} 5f^ 90[ a0` b1# b5] bb| bd~',
  // 871: Iceland.
  '4f! 8c` 8e{ 9c} 9e] ac@ ae[ bb| be\\ cc~ ec^',
  // 1026: Turkey.
  '48{ 4f! 5f^ 68[ 8c} 8d` ac] ad$ ae@ bb| cc~ dc\\ ec# fc"',
];

const UNKNOWN = '\ufffd';
const FIRST: readonly string[] = Array.from({ length: 256 }, (_, byte) => {
  const row = LETTERS.find(([from, characters]) => byte >= from && byte < from + characters.length);
  return row?.[1][byte - row[0]] ?? UNKNOWN;
});
const CHARACTERS: readonly (readonly string[])[] = PAGES.map((page) => {
  const own = new Map(page.split(' ').map((entry) => [Number.parseInt(entry.slice(0, 2), 16), entry.slice(2)]));
  return FIRST.map((character, byte) => own.get(byte) ?? character);
});
const KNOWN = Uint8Array.from(FIRST, (_, byte) => (CHARACTERS.some((page) => page[byte] !== UNKNOWN) ? 1 : 0));
const IS_LETTER = Uint8Array.from(FIRST, (character) => (/\w/.test(character) ? 1 : 0));
/** Shorter texts are not recognised. Bytes. */
const LEAST = 24;
const QUICK_BYTES = 64;

function isOf(bytes: Buffer): boolean {
  let known = 0;
  let letters = 0;
  for (const byte of bytes) {
    known += KNOWN[byte] ?? 0;
    letters += IS_LETTER[byte] ?? 0;
  }
  // In noise three of eight bytes are known characters; in other encodings hardly any byte is a letter.
  return known * 50 >= bytes.length * 49 && letters * 5 >= bytes.length * 2;
}

/** Whether these bytes are the beginning of an EBCDIC text. */
export function isEbcdic(head: Buffer): boolean {
  return head.length >= LEAST && isOf(head.subarray(0, QUICK_BYTES)) && isOf(head);
}

/** For longer texts only the first pages are tried. Bytes. */
const ALL_PAGES_BYTES_MAXIMUM = 1024 ** 2;
const FIRST_PAGES = 2;

/** The numbers of the pages with which a text decodes differently than with earlier pages. */
export function pagesOf(pieces: Iterable<Buffer>, size: number): number[] {
  const used = new Uint8Array(256);
  for (const piece of pieces) for (let at = 0; at < piece.length; at += 1) used[piece[at] ?? 0] = 1;
  const most = size <= ALL_PAGES_BYTES_MAXIMUM ? CHARACTERS.length : FIRST_PAGES;
  const known = new Set<string>();
  return CHARACTERS.slice(0, most).flatMap((page, number) => {
    const spelled = page.filter((_, byte) => used[byte] === 1).join('');
    if (known.has(spelled)) return [];
    known.add(spelled);
    return [number];
  });
}

const UTF_16 = new TextDecoder('utf-16le');

export function* fromEbcdic(pieces: Iterable<Buffer>, page = 0): Generator<string> {
  const codes = Uint16Array.from(CHARACTERS[page] ?? FIRST, (character) => character.charCodeAt(0));
  for (const piece of pieces) {
    const text = new Uint16Array(piece.length);
    for (let at = 0; at < piece.length; at += 1) text[at] = codes[piece[at] ?? 0] ?? 0;
    yield UTF_16.decode(text);
  }
}
