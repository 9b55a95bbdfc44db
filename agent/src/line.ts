/** One line of foreign text in the contract's form: well formed, without control characters, of at most `most` UTF-16 units, which a schema counts. */
export function lineOf(text: string, most: number): string {
  let line = '';
  // A character may be two units, and is not cut in two.
  for (const character of text.toWellFormed()) {
    if (character < ' ' || character === '\u007f') continue;
    if (line.length + character.length > most) break;
    line += character;
  }
  return line;
}
