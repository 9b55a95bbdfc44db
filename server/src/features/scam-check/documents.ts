import { documentMembers } from '@palisade/scanner/document-members';

/** Letters of a document that are checked. */
const TEXT_MAXIMUM = 20_000;
const LINKS_MAXIMUM = 100;
const PAGES = 'text of the pages';
/** Share of letters and digits. Text that was decoded with another font's map has fewer. */
const LETTERS_LEAST = 0.5;

/** Control characters, apart from blanks: a text that was read with the wrong letters has many. */
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

/** The text and the links of a PDF; undefined for another file, and for one without either. */
export async function readPdf(content: Uint8Array): Promise<string | undefined> {
  const bytes = Buffer.from(content);
  if (!bytes.subarray(0, 1_024).includes('%PDF-')) return undefined;
  const texts: string[] = [];
  const links = new Set(linksIn(bytes));
  for await (const member of documentMembers(bytes)) {
    if (member.name === PAGES) texts.push(member.bytes.toString('utf8'));
    else if (links.size < LINKS_MAXIMUM) for (const link of linksIn(member.bytes)) links.add(link);
  }
  // Each map of letters was tried on all texts: lines that several of them agree on are the same line.
  const lines = new Set(texts.filter(isReadable).flatMap((text) => text.split('\n')));
  const written = [...lines].join('\n').slice(0, TEXT_MAXIMUM - 2_000);
  const all = [written, ...[...links].slice(0, LINKS_MAXIMUM).filter((link) => !written.includes(link))].join('\n').trim();
  return all === '' ? undefined : all.slice(0, TEXT_MAXIMUM);
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
const FILE_NAME = '3707';
const FILE_SHORT_NAME = '3704';
const FILE_CONTENT = '3701';
const ATTACHMENTS_MAXIMUM = 20;

const oneLine = (text: string) => text.replaceAll(/[\r\n\0]+/g, ' ').trim();
const base64 = (bytes: Buffer) => bytes.toString('base64').replaceAll(/.{76}/g, '$&\r\n');
const encodedWord = (text: string) => `=?utf-8?B?${Buffer.from(oneLine(text).slice(0, 900)).toString('base64')}?=`;

interface Letter {
  first: Map<string, Buffer>;
  names: string[];
  files: Buffer[];
}

async function lettersOf(bytes: Buffer): Promise<Letter> {
  const letter: Letter = { first: new Map(), names: [], files: [] };
  for await (const { name, bytes: value } of documentMembers(bytes)) {
    const [, id = '', type] = PROPERTY.exec(name) ?? [];
    if (id === '') continue;
    const text = type === '001F' ? Buffer.from(value.toString('utf16le')) : value;
    if (id === FILE_NAME || (id === FILE_SHORT_NAME && letter.names.length < letter.files.length))
      letter.names.push(text.toString());
    else if (id === FILE_CONTENT) {
      if (letter.files.length < ATTACHMENTS_MAXIMUM) letter.files.push(value);
    } else if (!letter.first.has(id)) letter.first.set(id, text);
  }
  return letter;
}

/** The source of an email with what a letter of Outlook (`.msg`) holds; undefined for another file. Its signature cannot be verified: the bytes that were signed are gone. */
export async function readOutlookLetter(content: Uint8Array): Promise<Uint8Array | undefined> {
  const bytes = Buffer.from(content);
  if (!bytes.subarray(0, OLE.length).equals(OLE)) return undefined;
  const { first, names, files } = await lettersOf(bytes);
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
  return Buffer.from(
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
}
