// Code pages: those that TextDecoder supports (WHATWG Encoding Standard), and DOS pages that Windows zip programs write, which it does not support. Their upper halves are from the Unicode
// Consortium (MAPPINGS/VENDORS/MICSFT/PC).

const UPPER_HALVES: Readonly<Record<string, string>> = {
  cp437:
    'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u00a0',
  cp850:
    'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒáíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐└┴┬├─┼ãÃ╚╔╩╦╠═╬¤ðÐÊËÈıÍÎÏ┘┌█▄¦Ì▀ÓßÔÒõÕµþÞÚÛÙýÝ¯´\u00ad±‗¾¶§÷¸°¨·¹³²■\u00a0',
  cp852:
    'ÇüéâäůćçłëŐőîŹÄĆÉĹĺôöĽľŚśÖÜŤťŁ×čáíóúĄąŽžĘę¬źČş«»░▒▓│┤ÁÂĚŞ╣║╗╝Żż┐└┴┬├─┼Ăă╚╔╩╦╠═╬¤đĐĎËďŇÍÎě┘┌█▄ŢŮ▀ÓßÔŃńňŠšŔÚŕŰýÝţ´\u00ad˝˛ˇ˘§÷¸°¨˙űŘř■\u00a0',
};

/** Other names of pages that mail programs and systems use. */
const ALIASES: Readonly<Record<string, string>> = {
  ibm437: 'cp437',
  '437': 'cp437',
  ibm850: 'cp850',
  cp858: 'cp850',
  '850': 'cp850',
  ibm852: 'cp852',
  '852': 'cp852',
  cp866: 'ibm866',
  '932': 'shift_jis',
  cp932: 'shift_jis',
  cp936: 'gbk',
  cp949: 'euc-kr',
  cp950: 'big5',
  cp874: 'windows-874',
  ...Object.fromEntries(Array.from({ length: 9 }, (_, index) => [`cp125${index}`, `windows-125${index}`])),
};

const SHIFT_OUT = 0x0e;
const SHIFT_IN = 0x0f;
const ESCAPE = 0x1b;

const LINE_END = 0x0a;
const DOLLAR = 0x24;
const [TILDE, BRACE, BRACE_END] = [0x7e, 0x7b, 0x7d];
/** Invalid in all double-byte pages, so it becomes U+FFFD. */
const NO_LETTER = 0xff;
/** Designators of the Taiwanese sets of ISO-2022-CN (CNS 11643), which are not supported. */
const TAIWAN = new Set([...'GHIJKLM'].map((letter) => letter.charCodeAt(0)));

/** Converts ISO-2022-KR and -CN (RFC 1557, RFC 1922) to the 8-bit page with the same characters: sets the high bit of bytes between two shifts. */
function unshifted(bytes: Buffer): Buffer {
  const plain: number[] = [];
  let is_out = false;
  let is_unknown = false;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0;
    // The character set is designated once before the characters: ESC $ ) and a letter.
    if (byte === ESCAPE && bytes[at + 1] === DOLLAR) {
      const is_long = bytes[at + 2] === 0x29 || bytes[at + 2] === 0x2a;
      if (bytes[at + 2] === 0x29) is_unknown = TAIWAN.has(bytes[at + 3] ?? 0);
      at += is_long ? 3 : 2;
    } else if (byte === SHIFT_OUT || byte === SHIFT_IN) is_out = byte === SHIFT_OUT;
    else if (byte === ESCAPE && (bytes[at + 1] === 0x4e || bytes[at + 1] === 0x4f)) {
      // A single character of another Taiwanese set.
      plain.push(NO_LETTER);
      at += 3;
    } else {
      if (byte === LINE_END) is_out = false;
      if (is_out && byte > 0x20 && is_unknown) {
        plain.push(NO_LETTER);
        at += 1;
      } else plain.push(is_out && byte > 0x20 ? byte | 0x80 : byte);
    }
  }
  return Buffer.from(plain);
}

/** Converts HZ (RFC 1843) to GBK: Chinese characters are between `~{` and `~}`, and `~~` is a tilde. */
function withoutTildes(bytes: Buffer): Buffer {
  const plain: number[] = [];
  let is_out = false;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0;
    const next = bytes[at + 1];
    if (byte === TILDE && (next === BRACE || next === BRACE_END)) {
      is_out = next === BRACE;
      at += 1;
    } else if (byte === TILDE && !is_out && (next === TILDE || next === LINE_END)) {
      if (next === TILDE) plain.push(TILDE);
      at += 1;
    } else {
      if (byte === LINE_END) is_out = false;
      plain.push(is_out && byte > 0x20 ? byte | 0x80 : byte);
    }
  }
  return Buffer.from(plain);
}

function nameOf(label: string): string {
  const plain = label.trim().toLowerCase();
  return ALIASES[plain] ?? plain;
}

/** Decodes bytes in a page; undefined for an unknown page. An invalid byte becomes U+FFFD. */
export function decodePage(label: string, bytes: Buffer): string | undefined {
  const page = nameOf(label);
  const upper = UPPER_HALVES[page];
  if (upper !== undefined)
    return [...bytes].map((byte) => (byte < 0x80 ? String.fromCharCode(byte) : (upper[byte - 0x80] ?? '\ufffd'))).join('');
  if (page === 'iso-2022-kr') return decodePage('euc-kr', unshifted(bytes));
  if (page.startsWith('iso-2022-cn')) return decodePage('gbk', unshifted(bytes));
  if (page === 'hz-gb-2312' || page === 'hz') return decodePage('gbk', withoutTildes(bytes));
  try {
    return new TextDecoder(page.startsWith('iso-2022-jp') ? 'iso-2022-jp' : page).decode(bytes);
  } catch {
    return undefined;
  }
}

/** Decodes bytes without a declared page: as ISO-2022-JP if they switch to it, as UTF-8 if valid, and otherwise in `page`. */
export function decodeBytes(bytes: Buffer, page: string): string {
  if (bytes.every((byte) => byte < 0x80) && !bytes.includes(ESCAPE)) return bytes.toString('latin1');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it is what is looked for
  if (/\x1b\$(?:[@B]|\(D)/.test(bytes.toString('latin1'))) return decodePage('iso-2022-jp', bytes) ?? '';
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return decodePage(page, bytes) ?? bytes.toString('latin1');
  }
}

/** Double-byte pages. */
const WIDE_PAGES: readonly string[] = ['shift_jis', 'gbk', 'euc-kr', 'big5'];

const inverses = new Map<string, ReadonlyMap<string, Buffer>>();

/** Every character of a page with its bytes, computed once. */
function lettersOf(page: string): ReadonlyMap<string, Buffer> {
  const known = inverses.get(page);
  if (known !== undefined) return known;
  const letters = new Map<string, Buffer>();
  const add = (bytes: Buffer) => {
    const text = decodePage(page, bytes) ?? '';
    if ([...text].length === 1 && text !== '\ufffd' && !letters.has(text)) letters.set(text, bytes);
  };
  for (let byte = 0; byte < 0x100; byte += 1) add(Buffer.from([byte]));
  if (WIDE_PAGES.includes(page))
    for (let first = 0x81; first < 0xff; first += 1)
      for (let second = 0x40; second < 0xff; second += 1) add(Buffer.from([first, second]));
  inverses.set(page, letters);
  return letters;
}

/** Encodes a text in a page; undefined if the page lacks one of its characters. */
export function encodePage(page: string, text: string): Buffer | undefined {
  const letters = lettersOf(nameOf(page));
  const pieces = [...text].map((letter) => letters.get(letter));
  return pieces.every((piece) => piece !== undefined) ? Buffer.concat(pieces) : undefined;
}

/** Pages in which Windows zip programs encode a password, the most common first: OEM (console) and ANSI pages, which depend on the system's language. */
const PASSWORD_PAGES = [
  'cp850',
  'cp437',
  'windows-1252',
  'shift_jis',
  'cp852',
  'windows-1250',
  'ibm866',
  'windows-1251',
  'gbk',
  'euc-kr',
  'big5',
  'windows-1253',
  'windows-1254',
  'windows-1255',
  'windows-1256',
  'windows-1257',
  'windows-1258',
  'koi8-r',
] as const;

/** Maximum number of forms of a password that are tried for one member. */
export const PASSWORD_FORMS_MAXIMUM = 24;

/** Possible bytes of a password when the archive was encrypted: as typed, composed and decomposed (Unicode NFC, NFD), and in the code pages of Windows. */
export function passwordForms(password: string): Buffer[] {
  const forms = new Map<string, Buffer>();
  const add = (bytes: Buffer | undefined) => {
    if (bytes !== undefined && forms.size < PASSWORD_FORMS_MAXIMUM) forms.set(bytes.toString('hex'), bytes);
  };
  add(Buffer.from(password));
  // biome-ignore lint/suspicious/noControlCharactersInRegex: a password of ASCII has one form
  if (/^[\x00-\x7f]*$/.test(password)) return [...forms.values()];
  const composed = password.normalize('NFC');
  add(Buffer.from(composed));
  add(Buffer.from(password.normalize('NFD')));
  for (const page of PASSWORD_PAGES) add(encodePage(page, composed));
  return [...forms.values()];
}
