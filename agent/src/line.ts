/** Turns untrusted text into one well-formed line without control characters, of at most `most` UTF-16 code units (the unit that schemas count). */
export function lineOf(text: string, most: number): string {
  let line = '';
  // Iterates by code point: a surrogate pair is not split.
  for (const character of text.toWellFormed()) {
    if (character < ' ' || character === '\u007f') continue;
    if (line.length + character.length > most) break;
    line += character;
  }
  return line;
}
