// Finds single-byte texts within a text of UTF-16 or UTF-32: a log that one program began in UTF-16 and another continued, as with `>>` of two shells.

/** In texts of other scripts shorter sequences of bytes look like letters. Bytes. */
const LEAST = 33;
const NEWLINE = 0x0a;

function isLetter(byte: number | undefined): boolean {
  return byte !== undefined && ((byte >= 0x20 && byte < 0x7f) || byte === 0x09 || byte === NEWLINE || byte === 0x0d);
}

/** The texts, a line each; undefined if there are none. Only one of LEAST bytes is checked, and its neighbours if it may be part of a text. */
export function narrowTextsIn(bytes: Buffer): Buffer | undefined {
  const texts: Buffer[] = [];
  let done = 0;
  for (let at = LEAST - 1; at < bytes.length; at += LEAST) {
    if (at < done || !isLetter(bytes[at])) continue;
    let start = at;
    while (start > done && isLetter(bytes[start - 1])) start -= 1;
    let end = at + 1;
    while (end < bytes.length && isLetter(bytes[end])) end += 1;
    done = end;
    if (end - start >= LEAST) texts.push(bytes.subarray(start, end), Buffer.from('\n'));
  }
  return texts.length === 0 ? undefined : Buffer.concat(texts);
}
