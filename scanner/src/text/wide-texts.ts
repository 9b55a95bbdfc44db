// Finds ASCII texts in UTF-16 and UTF-32 among other bytes, as in shortcuts, registries and logs. Either byte order is found: both have zeros between the letters.

/** Shorter texts are ignored. Letters. */
const LETTERS_LEAST = 33;
/** One of this many bytes is checked: a text of the least length has a letter, or the zero after it, at one of these positions. */
const STRIDE = 2 * LETTERS_LEAST - 2;
const WIDTHS = [2, 4] as const;
const NEWLINE = Buffer.from('\n');

function isLetter(byte: number | undefined): boolean {
  return byte !== undefined && ((byte >= 0x20 && byte < 0x7f) || byte === 0x09 || byte === 0x0a || byte === 0x0d);
}

/** Whether a letter and its zeros are at `at`. */
function isUnit(bytes: Buffer, at: number, width: number): boolean {
  if (at < 0 || !isLetter(bytes[at])) return false;
  for (let zero = 1; zero < width; zero += 1) if (bytes[at + zero] !== 0) return false;
  return true;
}

/** The texts, a line each; undefined if there are none. */
export function wideTextsIn(bytes: Buffer): Buffer | undefined {
  const texts: Buffer[] = [];
  let done = 0;
  for (let at = STRIDE - 1; at < bytes.length; at += STRIDE) {
    if (at < done) continue;
    let letter = at;
    while (letter > done && at - letter < 3 && bytes[letter] === 0) letter -= 1;
    for (const width of WIDTHS) {
      if (!isUnit(bytes, letter, width)) continue;
      let start = letter;
      while (start - width >= done && isUnit(bytes, start - width, width)) start -= width;
      let end = letter + width;
      while (isUnit(bytes, end, width)) end += width;
      // The last letter of a big-endian text has no zeros after it.
      const last = isLetter(bytes[end]) ? 1 : 0;
      const count = (end - start) / width + last;
      if (count < LETTERS_LEAST) continue;
      const text = Buffer.allocUnsafe(count);
      for (let index = 0; index < count; index += 1) text[index] = bytes[start + index * width] ?? 0;
      texts.push(text, NEWLINE);
      done = end;
      break;
    }
  }
  return texts.length === 0 ? undefined : Buffer.concat(texts);
}
