// Texts of one byte a letter within a text of two or four: a log that one program began in UTF-16 and another continued, as `>>` of two shells does.

/** In a text of another alphabet fewer bytes look like letters one behind the other. Bytes. */
const LEAST = 33;
const NEWLINE = 0x0a;

function isLetter(byte: number | undefined): boolean {
  return byte !== undefined && ((byte >= 0x20 && byte < 0x7f) || byte === 0x09 || byte === NEWLINE || byte === 0x0d);
}

/** The texts, one behind the other; undefined where there is none. One byte of so many is checked, and its neighbours where it may be of a text. */
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
