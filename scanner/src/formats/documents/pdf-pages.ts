import { trimmed } from '#scanner/text/text-pieces.ts';
import { digitsAt, ENDS_NAME, literalAt } from './pdf-plain.ts';

// The text of PDF pages as viewers copy it (ISO 32000-1, 9.4): strings at the same height form a line, and the ToUnicode maps of the fonts (9.10.3) convert
// codes to characters. This joins scripts whose lines are separate strings, and fonts whose codes differ from the characters.

/** Maximum size of the collected text, with an overhead of `STRING_BYTES` for each string. Bytes. */
const SHOWN_BYTES_MAXIMUM = 4 * 1024 ** 2;
const STRING_BYTES = 32;
const STRINGS_MAXIMUM = 65_536;
const MAP_BYTES_MAXIMUM = 1024 ** 2;
/** Maximum number of maps. The font of a string is not looked up; each map is applied to all strings. */
const MAPS_MAXIMUM = 16;
/** Maximum total size of the texts made with maps. Of long texts, fewer maps are applied. Bytes. */
const TEXTS_BYTES_MAXIMUM = 16 * 1024 ** 2;
/** Text is built in pieces, because appending single characters takes much more memory. Bytes. */
const PIECE_BYTES = 4096;
const MAP_ENTRIES_MAXIMUM = 65_536;
const OPERANDS_MAXIMUM = 64;
const OPEN = 0x28;
const LESS = 0x3c;
const GREATER = 0x3e;
const PERCENT = 0x25;
const SLASH = 0x2f;
const NEWLINE = 0x0a;
const RETURN = 0x0d;
const BEGIN_TEXT = Buffer.from('BT');
const BEGIN_MAP = Buffer.from('begincmap');
const IMAGE_END = Buffer.from('EI');
/** Minimum gap within a line that viewers copy as a space. Thousandths of the font size. */
const GAP_LEAST = 200;
const NUMBER = /^[-+]?\d{0,10}(?:\.\d{0,10})?$/;
const TOKEN_BYTES_MAXIMUM = 24;

/** Whether a stream may show text or contain a character map. */
export function isOfPages(head: Buffer): boolean {
  return head.includes(BEGIN_TEXT) || head.includes(BEGIN_MAP);
}

/** Maps character codes of `bytes` bytes each to text. */
interface LetterMap {
  bytes: 1 | 2;
  letters: Map<number, string>;
}

const codeOf = (digits: string) => Number.parseInt(digits, 16);
const lettersOf = (digits: string) => {
  const bytes = Buffer.from(digits.length % 4 === 0 ? digits : digits.padStart(4, '0'), 'hex');
  return bytes.swap16().toString('utf16le');
};

const PAIR = /<([0-9a-f]{1,4})>\s{0,8}<([0-9a-f]{2,32})>/gi;
const RANGE = /<([0-9a-f]{1,4})>\s{0,8}<([0-9a-f]{1,4})>\s{0,8}(?:<([0-9a-f]{2,32})>|\[([^[\]]{0,8192})\])/gi;

/** The lists of a map, between the keywords that begin and end them. */
function* listsIn(text: string, kind: 'bfchar' | 'bfrange'): Generator<string> {
  for (let at = text.indexOf(`begin${kind}`); at >= 0; ) {
    const end = text.indexOf(`end${kind}`, at);
    if (end < 0) return;
    yield text.slice(at, end);
    at = text.indexOf(`begin${kind}`, end);
  }
}

function mapOf(text: string): LetterMap | undefined {
  const letters = new Map<number, string>();
  let digits = 0;
  let entries = 0;
  const put = (code: number, letter: string) => {
    entries += 1;
    letters.set(code, letter);
  };
  for (const list of listsIn(text, 'bfchar')) {
    for (const [, code = '', letter = ''] of list.matchAll(PAIR)) {
      if (entries === MAP_ENTRIES_MAXIMUM) break;
      digits = Math.max(digits, code.length);
      put(codeOf(code), lettersOf(letter));
    }
  }
  for (const list of listsIn(text, 'bfrange')) {
    for (const [, first = '', last = '', letter = '', each = ''] of list.matchAll(RANGE)) {
      digits = Math.max(digits, first.length);
      const base = lettersOf(letter);
      const end = base.charCodeAt(base.length - 1);
      for (let code = codeOf(first); letter !== '' && code <= codeOf(last) && entries < MAP_ENTRIES_MAXIMUM; code += 1)
        put(code, base.slice(0, -1) + String.fromCharCode((end + code - codeOf(first)) & 0xffff));
      for (const [index, [, one = '']] of [...each.matchAll(/<([0-9a-f]{2,32})>/gi)].entries())
        if (entries < MAP_ENTRIES_MAXIMUM) put(codeOf(first) + index, lettersOf(one));
      if (entries === MAP_ENTRIES_MAXIMUM) break;
    }
  }
  return letters.size === 0 ? undefined : { bytes: digits > 2 ? 2 : 1, letters };
}

/** A shown string; undefined for a space, null for a line break. */
type Shown = Buffer | undefined | null;

/** Collects the text from the streams of a document. Each byte is read once. */
export class PageTexts {
  private readonly shown: Shown[] = [];
  private readonly maps: LetterMap[] = [];
  private bytes = 0;

  add(stream: Buffer): void {
    if (stream.includes(BEGIN_MAP)) {
      const map = this.maps.length < MAPS_MAXIMUM ? mapOf(stream.toString('latin1', 0, MAP_BYTES_MAXIMUM)) : undefined;
      if (map !== undefined) this.maps.push(map);
    } else if (stream.includes(BEGIN_TEXT)) this.read(stream);
  }

  /** The text with each byte as a character, and the text converted with each map. */
  *texts(): Generator<Buffer> {
    if (this.bytes === 0) return;
    yield this.textBy((bytes) => bytes.toString('latin1'));
    const tried = Math.floor(TEXTS_BYTES_MAXIMUM / this.bytes);
    for (const { bytes: width, letters } of this.maps.slice(0, tried)) {
      yield this.textBy((bytes) => {
        let text = '';
        for (let at = 0; at + width <= bytes.length; at += width)
          text += letters.get(width === 1 ? (bytes[at] ?? 0) : bytes.readUInt16BE(at)) ?? '';
        return text;
      });
    }
  }

  private textBy(lettersIn: (bytes: Buffer) => string): Buffer {
    const pieces: Buffer[] = [];
    let text = '';
    for (const one of this.shown) {
      if (one === null || one === undefined) text += one === null ? '\n' : ' ';
      for (let at = 0; one && at < one.length; at += PIECE_BYTES) {
        text += lettersIn(one.subarray(at, at + PIECE_BYTES));
        if (text.length < PIECE_BYTES) continue;
        pieces.push(Buffer.from(text));
        text = '';
      }
    }
    return trimmed(Buffer.concat([...pieces, Buffer.from(text)]));
  }

  private read(stream: Buffer): void {
    const room = Buffer.allocUnsafe(stream.length);
    let strings: Shown[] = [];
    let numbers: number[] = [];
    let height = 0;
    let last_height: number | undefined;
    let is_new_line = true;
    let is_list = false;
    const show = () => {
      if (is_new_line || height !== last_height) this.shown.push(null);
      is_new_line = false;
      last_height = height;
      for (const one of strings) {
        this.shown.push(one);
        this.bytes += STRING_BYTES + (one?.length ?? 0);
      }
    };
    /** Runs an operator. Returns the next position to read. */
    const run = (operator: string, after: number): number => {
      if (operator === 'Tj' || operator === 'TJ') show();
      else if (operator === "'" || operator === '"') {
        is_new_line = true;
        show();
      } else if (operator === 'T*') is_new_line = true;
      else if (operator === 'BT') height = 0;
      else if (operator === 'Td' || operator === 'TD') height += numbers.at(-1) ?? 0;
      else if (operator === 'Tm') height = numbers.at(-1) ?? 0;
      else if (operator === 'ID') {
        // The data of an inline image is skipped.
        const end = stream.indexOf(IMAGE_END, after);
        return end < 0 ? stream.length : end + IMAGE_END.length;
      }
      return after;
    };
    for (let at = 0; at < stream.length && this.bytes < SHOWN_BYTES_MAXIMUM; ) {
      const byte = stream[at] ?? 0;
      if (byte === OPEN || (byte === LESS && stream[at + 1] !== LESS)) {
        const { value, end } = byte === OPEN ? literalAt(stream, at, room) : digitsAt(stream, at);
        if (strings.length < STRINGS_MAXIMUM) strings.push(value);
        at = end;
      } else if (byte === LESS || byte === GREATER) at += 1 + Number(stream[at + 1] === byte);
      else if (byte === PERCENT) {
        while (at < stream.length && stream[at] !== NEWLINE && stream[at] !== RETURN) at += 1;
      } else if (ENDS_NAME.has(byte) && byte !== SLASH) {
        if (byte === 0x5b) strings = [];
        if (byte === 0x5b || byte === 0x5d) is_list = byte === 0x5b;
        at += 1;
      } else {
        let end = at + 1;
        while (end < stream.length && !ENDS_NAME.has(stream[end] ?? 0)) end += 1;
        const token = end - at > TOKEN_BYTES_MAXIMUM || byte === SLASH ? '/' : stream.toString('latin1', at, end);
        at = end;
        if (token === '/') continue;
        if (NUMBER.test(token)) {
          const number = Number(token);
          if (!is_list) numbers.push(number);
          else if (number <= -GAP_LEAST && strings.length < STRINGS_MAXIMUM) strings.push(undefined);
          if (numbers.length > OPERANDS_MAXIMUM) numbers = numbers.slice(-OPERANDS_MAXIMUM / 2);
          continue;
        }
        at = run(token, at);
        strings = [];
        numbers = [];
      }
    }
    this.shown.push(null);
  }
}
