import { createHash } from 'node:crypto';
import { ATTACHMENT_BYTES_MAXIMUM, ATTACHMENTS_MAXIMUM } from '@palisade/contract/chat';
import { canonicalEmail } from '@palisade/contract/email';
import { signedContent } from '@palisade/scam/cms';
import PostalMime, { type Attachment, type Email } from 'postal-mime';
import { textOfHtml } from './html-text.ts';
import { authorOf, type MailAuthor } from './mail-author.ts';
import { prepareCharsets, readAgain } from './mail-charset.ts';
import { type MailProof, proveAuthor, type Resolve } from './mail-proof.ts';
import { RECIPIENT_HEADERS } from './mailbox.ts';
import { splitForwarded, withoutNotice } from './quoted.ts';

/** A file of a mail. */
interface MailFile {
  name: string;
  bytes: Uint8Array;
}

/** An answer by mail, parsed. */
export interface ReadMail {
  /** The address of its single author, in lower case; empty if there is none. */
  from: string;
  /** The reason why there is no single author. */
  author_fault: Exclude<MailAuthor, { address: string }>['fault'] | undefined;
  /** Whether the author's domain authenticates it. */
  proof: MailProof;
  /** The header fields with the recipients' addresses. */
  recipients: string;
  /** The reason why it is an automatic mail, in one word for the log; undefined for a person's mail. */
  automatic: string | undefined;
  /** The whole text without this server's own notice. */
  text: string;
  /** Whether characters could not be decoded. */
  has_lost_letters: boolean;
  files: MailFile[];
  /** Number of files left out because they are too many or too large. */
  left_out: number;
  /** Identifies the mail: the same for all copies of it. */
  key: string;
}

/** Maximum nesting of parts; deeper mails are refused. */
const DEPTH_MAXIMUM = 32;
const HEADERS_MAXIMUM = 512 * 1024;
/** Maximum characters of a body that are read. */
const BODY_MAXIMUM = 1_000_000;
/** Inline pictures below this size in bytes are logos, lines or tracking pixels. */
const DRAWN_LEAST = 4 * 1024;
const NAME_MAXIMUM = 255;

/** RFC 3834, RFC 5436, RFC 2919, and the marks of older programs: such a mail has no human author, and an answer to it would be answered by a program. */
function automaticOf(headers: ReadonlyMap<string, string>): string | undefined {
  const is = (name: string, pattern: RegExp) => pattern.test(headers.get(name) ?? '');
  if (headers.has('auto-submitted') && !is('auto-submitted', /^\s*no\b/i)) return 'auto-submitted';
  if (is('precedence', /\b(?:bulk|junk|list|auto_reply)\b/i)) return 'precedence';
  for (const name of ['list-id', 'x-autoreply', 'x-autorespond', 'x-auto-response-suppress-reply', 'x-failed-recipients'])
    if (headers.has(name)) return name;
  if (is('return-path', /^\s*<\s*>\s*$/)) return 'return-path';
  if (is('content-type', /^\s*multipart\/report\b/i)) return 'report';
  return is('from', /\b(?:mailer-daemon|postmaster)@/i) ? 'from' : undefined;
}

function bytesOf(content: Attachment['content']): Uint8Array {
  if (typeof content === 'string') return Buffer.from(content, 'utf8');
  return content instanceof Uint8Array ? content : new Uint8Array(content);
}

const isDrawn = ({ mimeType, disposition, related }: Attachment, { byteLength }: Uint8Array) =>
  mimeType.startsWith('image/') && (related === true || disposition === 'inline') && byteLength < DRAWN_LEAST;

function bodyOf({ text, html }: Email, again: Parameters<typeof readAgain>[1]): string {
  const plain = readAgain((text ?? '').slice(0, BODY_MAXIMUM), again);
  return plain.trim() !== '' || html === undefined ? plain : textOfHtml(readAgain(html.slice(0, BODY_MAXIMUM), again));
}

const FORWARDED_NAME = 'forwarded-mail.txt';
/** Extensions of types whose name differs from it. */
const ENDINGS: Readonly<Record<string, string>> = {
  'application/gzip': 'gz',
  'application/msword': 'doc',
  'application/vnd.ms-excel': 'xls',
  'application/vnd.ms-outlook': 'msg',
  'application/vnd.ms-powerpoint': 'ppt',
  'application/vnd.oasis.opendocument.presentation': 'odp',
  'application/vnd.oasis.opendocument.spreadsheet': 'ods',
  'application/vnd.oasis.opendocument.text': 'odt',
  'application/vnd.openxmlformats-officedocument.presentationml.presentation': 'pptx',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': 'xlsx',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': 'docx',
  'application/vnd.rar': 'rar',
  'application/x-7z-compressed': '7z',
  'application/x-zip-compressed': 'zip',
  'application/pkcs7-mime': 'p7m',
  'application/pkcs7-signature': 'p7s',
  'application/pgp-signature': 'asc',
  'audio/mpeg': 'mp3',
  'audio/mp4': 'm4a',
  'image/jpeg': 'jpg',
  'image/svg+xml': 'svg',
  'image/tiff': 'tif',
  'message/rfc822': 'eml',
  'text/calendar': 'ics',
  'text/markdown': 'md',
  'text/plain': 'txt',
  'text/x-vcard': 'vcf',
  'text/vcard': 'vcf',
  'video/quicktime': 'mov',
  'video/x-msvideo': 'avi',
};
/** Types that say nothing about the content. */
const UNTYPED = new Set(['application/octet-stream', 'application/binary', 'application/unknown']);

/** The extension of a type, with the dot: the type's own name if it is short enough. */
function endingOf(mimeType: string): string {
  const [, named] = /^[a-z]+\/(?:x-)?([a-z0-9]{2,5})$/u.exec(mimeType) ?? [];
  const ending = UNTYPED.has(mimeType) ? undefined : (ENDINGS[mimeType] ?? named);
  return ending === undefined ? '' : `.${ending}`;
}

/** A file without a name gets the extension of its type, by which people and scanners recognize it. */
function nameOf({ filename, mimeType }: Attachment, at: number): string {
  if (filename?.trim()) return filename.slice(0, NAME_MAXIMUM);
  return `${mimeType === 'message/rfc822' ? 'forwarded-mail' : 'file'}-${at + 1}${endingOf(mimeType.toLowerCase())}`;
}

/** Maximum nesting of signatures that are opened. */
const SIGNATURES_MAXIMUM = 3;
/** The beginning of a MIME part: header fields, and an empty line. */
const ENTITY = /^(?:[\w-]{2,40}:[^\r\n]{0,998}\r?\n(?:[ \t][^\r\n]{0,998}\r?\n)*){1,50}\r?\n/u;

/** The content of an opaque signature, if it is a MIME part. */
function enclosed({ mimeType, filename, content }: Attachment): Uint8Array | undefined {
  if (!/^application\/(?:x-)?pkcs7-mime$/iu.test(mimeType) && !/\.p7m$/iu.test(filename ?? '')) return undefined;
  const signed = signedContent(bytesOf(content));
  if (typeof signed === 'string' || signed === undefined) return undefined;
  return ENTITY.test(signed.toString('latin1', 0, HEADERS_MAXIMUM)) ? signed : undefined;
}

/** The text and the files of a mail, including those in an opaque signature (RFC 8551, section 3.5.2). */
async function contentOf(raw: Uint8Array, depth = 0): Promise<{ mail: Email; body: string; files: Attachment[] }> {
  const prepared = prepareCharsets(raw);
  const mail = await PostalMime.parse(prepared.raw, {
    ...{ attachmentEncoding: 'arraybuffer', maxNestingDepth: DEPTH_MAXIMUM, maxHeadersSize: HEADERS_MAXIMUM },
    rfc822Attachments: true,
  });
  const bodies = [bodyOf(mail, prepared.again)];
  const files: Attachment[] = [];
  for (const file of mail.attachments) {
    const signed = depth < SIGNATURES_MAXIMUM ? enclosed(file) : undefined;
    if (signed === undefined) files.push(file);
    else {
      const inner = await contentOf(signed, depth + 1);
      bodies.push(inner.body);
      files.push(...inner.files);
    }
  }
  return { mail, body: bodies.filter((body) => body.trim() !== '').join('\n\n'), files };
}

/** Reads a mail. All its content is untrusted: sizes and depths are limited, HTML becomes text. It may still take long, or much memory; call it in a separate thread (`mail-thread.ts`). */
export async function readMail(
  raw: Uint8Array,
  how: { authserv_id?: string | undefined; resolve?: Resolve | undefined } = {},
): Promise<ReadMail> {
  const { mail, body, files: parts } = await contentOf(raw);
  const headers = new Map<string, string>();
  for (const { key, value } of mail.headers.toReversed()) headers.set(key, value);
  const recipients = mail.headers.filter(({ key }) => RECIPIENT_HEADERS.includes(key)).map(({ value }) => value);
  const all = parts
    .map((file) => ({ file, bytes: bytesOf(file.content) }))
    .filter(({ file, bytes }) => bytes.byteLength > 0 && !isDrawn(file, bytes))
    .map(({ file, bytes }, at) => ({ name: nameOf(file, at), bytes }));
  // Remove characters that no database can store.
  const said = withoutNotice(body).replaceAll('\0', '').toWellFormed();
  const { own: text, forwarded } = splitForwarded(said);
  if (forwarded !== undefined) all.unshift({ name: FORWARDED_NAME, bytes: Buffer.from(forwarded, 'utf8') });
  const files = all.filter(({ bytes }) => bytes.byteLength <= ATTACHMENT_BYTES_MAXIMUM).slice(0, ATTACHMENTS_MAXIMUM);
  const author = authorOf(mail.headers);
  const key = createHash('sha256').update(
    JSON.stringify([mail.messageId ?? '', mail.date ?? '', mail.from?.address ?? '', text]),
  );
  for (const { name, bytes } of files) key.update(`${name}\n${bytes.byteLength}\n`).update(bytes);
  return {
    from: canonicalEmail(author.address ?? '') ?? '',
    author_fault: author.address === undefined ? author.fault : undefined,
    proof: author.address === undefined ? 'not_aligned' : await proveAuthor(raw, author.address, mail.headers, how),
    recipients: recipients.join('\n'),
    automatic: automaticOf(headers),
    text,
    has_lost_letters: said.includes('\ufffd'),
    files,
    left_out: all.length - files.length,
    key: `mail-${key.digest('hex').slice(0, 40)}`,
  };
}
