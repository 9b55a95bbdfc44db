// Rewrites the objects of a PDF in the form that rules expect: names without escapes (ISO 32000-1, 7.3.5), and all strings as decrypted, unescaped bytes in
// parentheses (7.3.4). Writers vary in escapes, hexadecimal strings and the order of keys.

import { ESCAPES } from './pdf-texts.ts';

/** Maximum size of a document that is rewritten. Bytes. */
const PLAIN_BYTES_MAXIMUM = 8 * 1024 ** 2;
/** Maximum number of strings that are decrypted, since each needs a key of its own. */
const OPENINGS_MAXIMUM = 50_000;
const BACKSLASH = 0x5c;
const OPEN = 0x28;
const CLOSE = 0x29;
const LESS = 0x3c;
const GREATER = 0x3e;
const PERCENT = 0x25;
const SLASH = 0x2f;
const HASH = 0x23;
const NEWLINE = 0x0a;
const RETURN = 0x0d;
const LETTER_J = 0x6a;
const OBJECT = /(?:^|\D)(\d{1,10}) \d{1,5} ob$/;
const OBJECT_BYTES = 24;
/** Whitespace and delimiters, which end a name. */
export const ENDS_NAME: ReadonlySet<number> = new Set([0, 9, 10, 12, 13, 32, ...Buffer.from('()<>[]{}/%')]);

/** The bytes of the literal string that begins at `open`, and its end. `room` is a buffer as large as `bytes`. */
export function literalAt(bytes: Buffer, open: number, room: Buffer): { value: Buffer; end: number } {
  let length = 0;
  let depth = 1;
  let at = open + 1;
  for (; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte === BACKSLASH) {
      at += 1;
      const next = bytes[at] ?? 0;
      if (next >= 0x30 && next <= 0x37) {
        let code = 0;
        const first = at;
        for (; at < first + 3 && (bytes[at] ?? 0) >= 0x30 && (bytes[at] ?? 0) <= 0x37; at += 1)
          code = code * 8 + (bytes[at] ?? 0) - 0x30;
        at -= 1;
        room[length++] = code & 0xff;
      } else if (next === RETURN && bytes[at + 1] === NEWLINE) at += 1;
      else if (next !== NEWLINE && next !== RETURN) room[length++] = ESCAPES.get(next) ?? next;
      continue;
    }
    if (byte === OPEN) depth += 1;
    if (byte === CLOSE) depth -= 1;
    if (depth === 0) break;
    room[length++] = byte;
  }
  return { value: Buffer.from(room.subarray(0, length)), end: Math.min(at + 1, bytes.length) };
}

/** The bytes of the hexadecimal string that begins at `open`, and its end. */
export function digitsAt(bytes: Buffer, open: number): { value: Buffer; end: number } {
  const found = bytes.indexOf(GREATER, open + 1);
  const end = found < 0 ? bytes.length : found;
  const digits = bytes.toString('latin1', open + 1, end).replaceAll(/[^0-9a-f]/gi, '');
  return { value: Buffer.from(digits.length % 2 === 0 ? digits : `${digits}0`, 'hex'), end: Math.min(end + 1, bytes.length) };
}

/** Converts a string in UTF-16 to UTF-8; other strings are returned unchanged. */
function asText(value: Buffer): Buffer {
  const is_wide = value.length >= 2 && value.readUInt16BE(0) === 0xfeff;
  return is_wide ? Buffer.from(new TextDecoder('utf-16be').decode(value)) : value;
}

/** Rewrites the bytes between streams and the content of object streams. Each byte is read once. */
export class PlainObjects {
  private readonly written: Buffer[] = [];
  private taken = 0;
  private openings = 0;
  /** Whether the output differs from the input. */
  is_changed = false;

  /** Rewrites bytes. `opened` decrypts a string of an object. */
  add(bytes: Buffer, opened?: (value: Buffer, number: number | undefined) => Buffer): void {
    const room = PLAIN_BYTES_MAXIMUM - this.taken;
    if (room <= 0) return;
    this.taken += bytes.length;
    this.write(bytes.subarray(0, room), opened);
  }

  private write(bytes: Buffer, opened?: (value: Buffer, number: number | undefined) => Buffer): void {
    let object: number | undefined;
    let from = 0;
    const room = Buffer.allocUnsafe(bytes.length);
    const put = (value: Buffer, start: number, end: number) => {
      this.written.push(bytes.subarray(from, start), Buffer.from('('), value, Buffer.from(')'));
      this.is_changed ||= end - start !== value.length + 2 || opened !== undefined;
      from = end;
    };
    for (let at = 0; at < bytes.length; at += 1) {
      const byte = bytes[at];
      if (byte === PERCENT) {
        while (at + 1 < bytes.length && bytes[at + 1] !== NEWLINE && bytes[at + 1] !== RETURN) at += 1;
      } else if (byte === OPEN || (byte === LESS && bytes[at + 1] !== LESS)) {
        const { value, end } = byte === OPEN ? literalAt(bytes, at, room) : digitsAt(bytes, at);
        const is_closed = opened !== undefined && value.length > 0 && this.openings < OPENINGS_MAXIMUM;
        if (is_closed) this.openings += 1;
        put(asText(is_closed ? opened(value, object) : value), at, end);
        at = end - 1;
      } else if (byte === LESS) at += 1;
      else if (byte === SLASH) {
        let end = at + 1;
        let has_escapes = false;
        for (; end < bytes.length && !ENDS_NAME.has(bytes[end] ?? 0); end += 1) has_escapes ||= bytes[end] === HASH;
        if (has_escapes) {
          const name = bytes
            .toString('latin1', at, end)
            .replaceAll(/#([0-9a-f]{2})/gi, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)));
          this.written.push(bytes.subarray(from, at), Buffer.from(name, 'latin1'));
          this.is_changed = true;
          from = end;
        }
        at = end - 1;
      } else if (byte === LETTER_J && opened !== undefined) {
        const number = OBJECT.exec(bytes.toString('latin1', Math.max(0, at - OBJECT_BYTES), at))?.[1];
        if (number !== undefined) object = Number(number);
      }
    }
    this.written.push(bytes.subarray(from), Buffer.from('\n'));
  }

  /** The rewritten objects. */
  bytes(): Buffer {
    return Buffer.concat(this.written);
  }
}
