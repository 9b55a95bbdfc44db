import type { Coverage } from '@palisade/scam/coverage';
import { documentMembers } from '@palisade/scanner/document-members';

const PAGES = 'text of the pages';
const ATTACHED = 'attached file';
/** Share of letters and digits. Text that was decoded with another font's map has fewer. */
const LETTERS_LEAST = 0.5;

/** Control characters other than whitespace: text decoded with the wrong map has many. */
const isControl = (character: string) => character < ' ' && !'\n\r\t'.includes(character);

function isReadable(text: string): boolean {
  const characters = [...text.slice(0, 4_000)];
  const letters = characters.filter((character) => /[\p{L}\p{N}\s]/u.test(character)).length;
  return characters.length > 0 && !characters.some(isControl) && letters / characters.length > LETTERS_LEAST;
}

/** Addresses of the links of a PDF: `/URI (…)` (ISO 32000-1, 12.6.4.7). */
function* linksIn(bytes: Buffer): Generator<string> {
  for (const [, address = ''] of bytes.toString('latin1').matchAll(/\/URI\s{0,4}\(((?:[^()\\]|\\.){1,2048})\)/g))
    yield address.replaceAll(/\\(.)/g, '$1');
}

const PICTURE = /\/Subtype\s{0,4}\/Image\b/;

/** The text and the links of a PDF; undefined for another file, and for one without either. */
export async function readPdf(content: Uint8Array): Promise<{ text: string; coverage: Coverage } | undefined> {
  const bytes = Buffer.from(content);
  if (!bytes.subarray(0, 1_024).includes('%PDF-')) return undefined;
  const texts: string[] = [];
  const links = new Set(linksIn(bytes));
  let has_pictures = PICTURE.test(bytes.toString('latin1'));
  let is_cut = false;
  let has_files = false;
  for await (const member of documentMembers(bytes)) {
    is_cut ||= member.is_cut;
    has_files ||= member.name === ATTACHED;
    if (member.name === PAGES) texts.push(member.bytes.toString('utf8'));
    else {
      has_pictures ||= PICTURE.test(member.bytes.toString('latin1'));
      for (const link of linksIn(member.bytes)) links.add(link);
    }
  }
  // Each character map was tried on all texts: equal lines from several maps are one line.
  const lines = new Set(texts.filter(isReadable).flatMap((text) => text.split('\n')));
  const written = [...lines].join('\n');
  // Links come first, so that a long text does not push them out of the limit.
  const text = [...[...links].filter((link) => !written.includes(link)), written].join('\n').trim();
  if (text === '') return undefined;
  return {
    text,
    coverage: {
      ...(is_cut ? { words: 'text_cut' } : {}),
      ...(has_pictures ? { codes: 'document_pictures' } : {}),
      ...(has_files ? { attachments: 'attachment_unread' } : {}),
    },
  };
}

const OLE = Buffer.from('d0cf11e0a1b11ae1', 'hex');
const PROPERTY = /^__substg1\.0_([0-9A-F]{4})(001F|001E|0102)$/;

/** Properties of a letter ([MS-OXPROPS]) that an email has as well. */
const SUBJECT = '0037';
const HEADERS = '007D';
const SENDER_NAME = '0C1A';
const SENDER_EMAIL = '0C1F';
const SENDER_SMTP = '5D01';
const BODY = '1000';
const HTML = '1013';
const COMPRESSED_RTF = '1009';
const FILE_NAME = '3707';
const FILE_SHORT_NAME = '3704';
const FILE_CONTENT = '3701';

const oneLine = (text: string) => text.replaceAll(/[\r\n\0]+/g, ' ').trim();
const base64 = (bytes: Buffer) => bytes.toString('base64').replaceAll(/.{76}/g, '$&\r\n');
const encodedWord = (text: string) => `=?utf-8?B?${Buffer.from(oneLine(text).slice(0, 10_000)).toString('base64')}?=`;

interface Letter {
  first: Map<string, Buffer>;
  names: string[];
  files: Buffer[];
  is_cut: boolean;
  is_file_cut: boolean;
}

async function lettersOf(bytes: Buffer): Promise<Letter> {
  const letter: Letter = { first: new Map(), names: [], files: [], is_cut: false, is_file_cut: false };
  for await (const { name, bytes: value, is_cut } of documentMembers(bytes)) {
    letter.is_cut ||= is_cut;
    const [, id = '', type] = PROPERTY.exec(name) ?? [];
    if (id === '') continue;
    const text = type === '001F' ? Buffer.from(value.toString('utf16le')) : value;
    if (id === FILE_NAME || (id === FILE_SHORT_NAME && letter.names.length < letter.files.length))
      letter.names.push(text.toString());
    else if (id === FILE_CONTENT) {
      letter.files.push(value);
      letter.is_file_cut ||= is_cut;
    } else if (!letter.first.has(id)) letter.first.set(id, text);
  }
  return letter;
}

/** Converts an Outlook message (`.msg`) to email source; undefined for another file. Its signature cannot be verified, because the signed bytes are not stored in it. */
export async function readOutlookLetter(content: Uint8Array): Promise<{ source: Uint8Array; coverage: Coverage } | undefined> {
  const bytes = Buffer.from(content);
  if (!bytes.subarray(0, OLE.length).equals(OLE)) return undefined;
  const { first, names, files, is_cut, is_file_cut } = await lettersOf(bytes);
  const textOf = (id: string) => first.get(id)?.toString() ?? '';
  const address = [textOf(SENDER_SMTP), textOf(SENDER_EMAIL)].map(oneLine).find((one) => one.includes('@'));
  const [body, html, headers] = [textOf(BODY), first.get(HTML), textOf(HEADERS)];
  if (address === undefined && body === '' && html === undefined) return undefined;
  const replyTo = /^reply-to:[ \t]*([^\r\n]{1,500})/imu.exec(headers)?.[1];
  const boundary = 'palisade-letter';
  const parts = [
    ...(body === ''
      ? []
      : [`Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n\r\n${base64(Buffer.from(body))}`]),
    ...(html === undefined
      ? []
      : [`Content-Type: text/html; charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n\r\n${base64(html)}`]),
    ...files.map((file, index) => {
      const name = encodedWord(names[index] ?? `attachment ${index + 1}`);
      return `Content-Type: application/octet-stream; name="${name}"\r\nContent-Disposition: attachment; filename="${name}"\r\nContent-Transfer-Encoding: base64\r\n\r\n${base64(file)}`;
    }),
  ];
  const is_unread = body === '' && html === undefined && first.has(COMPRESSED_RTF);
  const coverage: Coverage = {
    ...(is_unread ? { words: 'no_document_reader' } : is_cut ? { words: 'text_cut' } : {}),
    ...(is_file_cut ? { attachments: 'attachment_unread' } : {}),
  };
  const source = Buffer.from(
    [
      `From: ${encodedWord(textOf(SENDER_NAME))} <${address ?? ''}>`,
      ...(replyTo === undefined ? [] : [`Reply-To: ${oneLine(replyTo)}`]),
      `Subject: ${encodedWord(textOf(SUBJECT))}`,
      'MIME-Version: 1.0',
      `Content-Type: multipart/mixed; boundary="${boundary}"`,
      '',
      ...parts.map((part) => `--${boundary}\r\n${part}`),
      `--${boundary}--`,
      '',
    ].join('\r\n'),
  );
  return { source, coverage };
}
