// Decodes base32 and base85.

export function fromBase32(text: string): Buffer {
  const bytes: number[] = [];
  let bits = 0;
  let value = 0;
  for (const letter of text) {
    const digit = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(letter);
    if (digit < 0) break;
    value = ((value << 5) | digit) & 0xfff;
    bits += 5;
    if (bits < 8) continue;
    bits -= 8;
    bytes.push((value >> bits) & 0xff);
  }
  return Buffer.from(bytes);
}

const RFC1924 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~';

/** Decodes base85, five characters for four bytes, in Adobe's alphabet or in that of RFC 1924. */
export function fromBase85(text: string, is_adobe: boolean): Buffer {
  const bytes: number[] = [];
  let digits: number[] = [];
  const flush = (count: number) => {
    const value = digits.reduce((sum, digit) => sum * 85 + digit, 0);
    for (let index = 0; index < count; index += 1) bytes.push(Math.floor(value / 2 ** (24 - 8 * index)) & 0xff);
    digits = [];
  };
  for (const letter of text) {
    if (is_adobe && letter === 'z' && digits.length === 0) bytes.push(0, 0, 0, 0);
    else {
      const digit = is_adobe ? letter.charCodeAt(0) - 33 : RFC1924.indexOf(letter);
      if (digit < 0 || digit > 84) continue;
      digits.push(digit);
      if (digits.length === 5) flush(4);
    }
  }
  if (digits.length > 1) {
    const count = digits.length - 1;
    while (digits.length < 5) digits.push(84);
    flush(count);
  }
  return Buffer.from(bytes);
}

const BASE85_END = '~>';
/** The text before the data: Adobe's mark, or the PostScript operator that reads the data after it. */
const BASE85_BEGINS = ['<~', 'exec', 'cvx', 'filter', 'run'] as const;
const BASE85_ENDS_MAXIMUM = 100;
const BASE85_BYTES_MAXIMUM = 64 * 1024;

/** Yields ASCII85 texts that end with `~>`, without their marks. */
export function* runsOfBase85(text: string): Generator<string> {
  let from = 0;
  for (let count = 0; count < BASE85_ENDS_MAXIMUM; count += 1) {
    const end = text.indexOf(BASE85_END, from);
    if (end < 0) return;
    const before = text.slice(Math.max(from, end - BASE85_BYTES_MAXIMUM), end);
    const begins = BASE85_BEGINS.map((word) => ({ word, at: before.lastIndexOf(word) })).filter(({ at }) => at >= 0);
    const adobe = begins.find(({ word }) => word === '<~');
    const starts = adobe === undefined ? begins : [adobe];
    for (const { word, at } of starts) yield before.slice(at + word.length);
    from = end + BASE85_END.length;
  }
}
