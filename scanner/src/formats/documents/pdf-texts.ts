// Strings in the objects of a PDF (ISO 32000-1, 7.3.4 and 7.9.2.2), such as field values, notes and titles. They may be in UTF-16, hexadecimal or escaped,
// where rules could not match them.

/** Minimum length of a string; shorter ones contain nothing that rules look for. Bytes. */
const LEAST = 33;
/** Longer strings are split into pieces of this size. Bytes. */
const MOST = 1024 ** 2;
const BACKSLASH = 0x5c;
const OPEN = 0x28;
const CLOSE = 0x29;
const LESS = 0x3c;
const GREATER = 0x3e;
const PERCENT = 0x25;
const NEWLINE = 0x0a;
const RETURN = 0x0d;
const BLANK = 0x20;
const LETTER_J = 0x6a;
const RECENT_BYTES = 24;
const OBJECT = /(?:^|\D)(\d{1,10}) \d{1,5} obj$/;
/** Meanings of escape letters in a string; other letters stand for themselves. */
export const ESCAPES: ReadonlyMap<number, number> = new Map([
  [0x6e, NEWLINE],
  [0x72, RETURN],
  [0x74, 0x09],
  [0x62, 0x08],
  [0x66, 0x0c],
]);

type State = 'between' | 'less' | 'comment' | 'literal' | 'escape' | 'octal' | 'hex';

/** A string with its escapes decoded, and the number of its object if known. */
interface PdfString {
  bytes: Buffer;
  number: number | undefined;
}

function digitOf(byte: number): number | undefined {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const letter = byte | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : undefined;
}

/** Extracts strings from the bytes between streams, or from object streams, in pieces. Each byte is read once. */
export class PdfStrings {
  private state: State = 'between';
  private depth = 0;
  private digits = 0;
  private value = 0;
  private bytes: number[] = [];
  private found: PdfString[] = [];
  private object: number | undefined;
  /** Ring buffer of the last bytes. An object header inside a string shows that the string was not terminated. */
  private readonly recent = Buffer.alloc(RECENT_BYTES);
  private count = 0;

  push(piece: Buffer): PdfString[] {
    for (let at = 0; at < piece.length; at += 1) this.take(piece[at] ?? 0);
    const { found } = this;
    this.found = [];
    return found;
  }

  /** The remaining strings. An unterminated string ends with the data. */
  end(): PdfString[] {
    if (this.state !== 'between' && this.state !== 'comment' && this.state !== 'less') this.finish();
    const { found } = this;
    this.found = [];
    this.state = 'between';
    return found;
  }

  private take(byte: number): void {
    this.watch(byte);
    switch (this.state) {
      case 'between':
        if (byte === OPEN) this.begin('literal');
        else if (byte === LESS) this.state = 'less';
        else if (byte === PERCENT) this.state = 'comment';
        return;
      case 'less':
        if (byte === LESS) this.state = 'between';
        else {
          this.begin('hex');
          this.hex(byte);
        }
        return;
      case 'comment':
        if (byte === NEWLINE || byte === RETURN) this.state = 'between';
        return;
      case 'hex':
        this.hex(byte);
        return;
      case 'escape':
        this.escaped(byte);
        return;
      case 'octal':
        if (byte >= 0x30 && byte <= 0x37 && this.digits < 3) {
          this.value = this.value * 8 + byte - 0x30;
          this.digits += 1;
          return;
        }
        this.put(this.value & 0xff);
        this.state = 'literal';
        this.literal(byte);
        return;
      case 'literal':
        this.literal(byte);
    }
  }

  private watch(byte: number): void {
    this.recent[this.count % RECENT_BYTES] = byte;
    this.count += 1;
    // The last letter of an object header such as `12 0 obj`.
    if (byte !== LETTER_J) return;
    const start = this.count % RECENT_BYTES;
    const recent = Buffer.concat([this.recent.subarray(start), this.recent.subarray(0, start)]).toString('latin1');
    const number = OBJECT.exec(recent)?.[1];
    if (number === undefined) return;
    if (this.state === 'literal' || this.state === 'hex') this.finish();
    this.object = Number(number);
    this.state = 'between';
  }

  private begin(state: State): void {
    this.state = state;
    this.depth = 1;
    this.bytes = [];
    this.digits = 0;
  }

  private put(byte: number): void {
    this.bytes.push(byte);
    if (this.bytes.length === MOST) this.give();
  }

  private give(): void {
    if (this.bytes.length >= LEAST) this.found.push({ bytes: Buffer.from(this.bytes), number: this.object });
    this.bytes = [];
  }

  private finish(): void {
    this.give();
    this.state = 'between';
  }

  private hex(byte: number): void {
    if (byte === GREATER) {
      if (this.digits === 1) this.put(this.value * 16);
      this.finish();
      return;
    }
    const digit = digitOf(byte);
    if (digit === undefined) return;
    this.value = this.digits === 0 ? digit : this.value * 16 + digit;
    this.digits += 1;
    if (this.digits < 2) return;
    this.put(this.value);
    this.digits = 0;
  }

  private escaped(byte: number): void {
    this.state = 'literal';
    if (byte >= 0x30 && byte <= 0x37) {
      this.state = 'octal';
      this.value = byte - 0x30;
      this.digits = 1;
    } else if (byte !== NEWLINE && byte !== RETURN) this.put(ESCAPES.get(byte) ?? byte);
  }

  private literal(byte: number): void {
    if (byte === BACKSLASH) {
      this.state = 'escape';
      return;
    }
    if (byte === OPEN) this.depth += 1;
    if (byte === CLOSE) {
      this.depth -= 1;
    }
    if (this.depth === 0) this.finish();
    else this.put(byte);
  }
}

/** The text of a string (7.9.2.2): UTF-16 or UTF-8 after a byte order mark, otherwise one byte for each character. Undefined if it is too short or not text. */
export function textOfString(bytes: Buffer): Buffer | undefined {
  const mark = bytes.toString('hex', 0, 3);
  const text =
    mark.startsWith('feff') || mark.startsWith('fffe')
      ? Buffer.from(new TextDecoder(mark.startsWith('feff') ? 'utf-16be' : 'utf-16le').decode(bytes))
      : mark === 'efbbbf'
        ? bytes.subarray(3)
        : bytes;
  let controls = 0;
  for (const byte of text) if (byte < 0x09 || (byte > RETURN && byte < BLANK && byte !== 0x1b)) controls += 1;
  return text.length < LEAST || controls * 32 > text.length ? undefined : text;
}
