import { decodePage } from '@palisade/scanner/code-pages';
import iconv from 'iconv-lite';

// Decodes mails whose parts name no charset, or an unknown one: the header is rewritten with a single-byte charset that preserves every byte, and the bytes are decoded again after parsing.

/** Maps all 256 bytes to distinct characters in the WHATWG Encoding Standard. */
const APART = 'windows-1252';
const HEADER_LINES_MAXIMUM = 20_000;
const META_LOOKED_AT = 4_096;

/** The legacy charset of mails in each language, before UTF-8. */
const OF_LANGUAGE: Readonly<Record<string, string>> = {
  ...{ ru: 'windows-1251', uk: 'windows-1251', bg: 'windows-1251', be: 'windows-1251', sr: 'windows-1251', mk: 'windows-1251' },
  ...{
    pl: 'windows-1250',
    cs: 'windows-1250',
    sk: 'windows-1250',
    hu: 'windows-1250',
    sl: 'windows-1250',
    hr: 'windows-1250',
    ro: 'windows-1250',
  },
  ...{
    el: 'windows-1253',
    tr: 'windows-1254',
    he: 'windows-1255',
    ar: 'windows-1256',
    fa: 'windows-1256',
    lt: 'windows-1257',
    lv: 'windows-1257',
  },
  ...{ et: 'windows-1257', vi: 'windows-1258', th: 'windows-874', ja: 'shift_jis', ko: 'euc-kr', zh: 'gbk' },
};

function isKnown(label: string): boolean {
  try {
    new TextDecoder(label);
    return true;
  } catch {
    return false;
  }
}

/** Charsets that iconv or the scanner support, and browsers do not: DOS code pages, ISO-2022-KR and -CN. */
const isReadable = (label: string) => iconv.encodingExists(label) || decodePage(label, Buffer.of()) !== undefined;
const decode = (bytes: Buffer, label: string) =>
  iconv.encodingExists(label) ? iconv.decode(bytes, label) : (decodePage(label, bytes) ?? bytes.toString('latin1'));

/** Escape sequences that select Japanese characters in a 7-bit text. */
const ISO_2022_JP = ['\u001b$@', '\u001b$B', '\u001b(J', '\u001b(I'].map((choice) => Buffer.from(choice, 'latin1'));
/** Escape sequences that select Korean and Chinese characters (RFC 1557, RFC 1922). */
const ISO_2022: readonly [RegExp, string][] = [
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it is what is looked for
  [/\u001b\$\)C/u, 'iso-2022-kr'],
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it is what is looked for
  [/\u001b\$\)[AEG]/u, 'iso-2022-cn'],
];

interface Prepared {
  raw: Uint8Array;
  /** Whether the text must be decoded again, and by which label: null if none was given. */
  again: { label: string | null; language: string | undefined } | undefined;
}

/** One header field of a part, with its folded lines. */
function rewritten(field: string, note: (label: string | null) => void): string {
  const type = /^content-type:\s*([\w.+-]+\/[\w.+-]+)/iu.exec(field)?.[1]?.toLowerCase();
  if (type !== 'text/plain' && type !== 'text/html') return field;
  const said = /;\s*charset\s*=\s*("?)([^\s";]{1,60})\1/iu.exec(field);
  const label = said?.[2]?.toLowerCase();
  if (label !== undefined && (isKnown(label) || !isReadable(label))) return field;
  note(label ?? null);
  const end = field.endsWith('\r\n') ? '\r\n' : '\n';
  const without = said === null ? field.trimEnd() : field.replace(said[0], '').trimEnd();
  return `${without.replace(/;$/u, '')};${end} charset=${APART}${end}`;
}

/** Rewrites the headers of a mail's texts without a known charset. */
export function prepareCharsets(raw: Uint8Array): Prepared {
  const text = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength).toString('latin1');
  const lines = text.split(/(?<=\n)/u);
  const said: (string | null)[] = [];
  let isHeader = true;
  let hasType = false;
  let isRoot = true;
  let language: string | undefined;
  let left = HEADER_LINES_MAXIMUM;
  const written: string[] = [];
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? '';
    if (!isHeader) {
      written.push(line);
      if (line.startsWith('--') && line.trimEnd().length > 2) {
        isHeader = true;
        hasType = false;
      }
      continue;
    }
    left -= 1;
    if (line.trim() === '' || left <= 0) {
      // The default type is plain text (RFC 2045 section 5.2); parts of an invalid boundary are left unchanged.
      if (!hasType && isRoot && left > 0) {
        said.push(null);
        written.push(`Content-Type: text/plain; charset=${APART}\r\n`);
      }
      isHeader = false;
      isRoot = false;
      written.push(line);
      continue;
    }
    let field = line;
    while (/^[ \t]/u.test(lines[at + 1] ?? '') && left > 0) {
      at += 1;
      left -= 1;
      field += lines[at] ?? '';
    }
    if (/^content-type\s*:/iu.test(field)) hasType = true;
    language ??= /^content-language:\s*([a-z]{2})/iu.exec(field)?.[1]?.toLowerCase();
    written.push(rewritten(field, (label) => said.push(label)));
  }
  if (said.length === 0) return { raw, again: undefined };
  return { raw: Buffer.from(written.join(''), 'latin1'), again: { label: said.find((one) => one !== null) ?? null, language } };
}

/** The original bytes of a text that was decoded with the single-byte charset; undefined if it was not. */
function bytesOf(text: string): Buffer | undefined {
  const bytes = iconv.encode(text, APART);
  const controls = Buffer.from(text, 'latin1');
  // iconv writes `?` for the five bytes that the code page leaves undefined; browsers preserve them.
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code >= 0x80 && code < 0xa0) bytes[at] = controls[at] ?? 0;
  }
  return bytes.length === text.length && new TextDecoder(APART).decode(bytes) === text ? bytes : undefined;
}

function decodedAs(bytes: Uint8Array, label: string): string | undefined {
  try {
    return new TextDecoder(label, { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** Decodes the text of a mail again, if `prepareCharsets` preserved its bytes. */
export function readAgain(text: string, again: Prepared['again']): string {
  if (again === undefined) return text;
  const bytes = bytesOf(text);
  if (bytes === undefined) return text;
  if (again.label !== null) return decode(bytes, again.label);
  const beginning = bytes.subarray(0, META_LOOKED_AT).toString('latin1');
  // ISO 2022 is recognizable by its escape sequences (RFC 1468).
  if (ISO_2022_JP.some((choice) => bytes.includes(choice))) return new TextDecoder('iso-2022-jp').decode(bytes);
  const shifting = ISO_2022.find(([choice]) => choice.test(beginning))?.[1];
  if (shifting !== undefined) return decode(bytes, shifting);
  const utf8 = decodedAs(bytes, 'utf-8');
  if (utf8 !== undefined) return utf8;
  const meta = /<meta[^>]{0,200}\bcharset\s*=\s*["']?\s*([\w:.-]{1,40})/iu.exec(beginning)?.[1];
  const label = meta ?? OF_LANGUAGE[again.language ?? ''];
  if (label !== undefined && isKnown(label)) return new TextDecoder(label).decode(bytes);
  if (label !== undefined && isReadable(label)) return decode(bytes, label);
  // Parts of a mail may differ: text that is valid UTF-8 is rarely in another charset.
  return text
    .split('\n')
    .map((line) => decodedAs(bytesOf(line) ?? new Uint8Array([0xff]), 'utf-8') ?? line)
    .join('\n');
}
