import { createHash } from 'node:crypto';
import { ATTACHMENT_BYTES_MAXIMUM, ATTACHMENTS_MAXIMUM } from '@palisade/contract/chat';
import { canonicalEmail } from '@palisade/contract/email';
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
  /** The address of its one author, in small letters; empty where it names no one author. */
  from: string;
  /** Why it names no one author. */
  author_fault: Exclude<MailAuthor, { address: string }>['fault'] | undefined;
  /** Whether the domain of its author vouches for it. */
  proof: MailProof;
  /** The header fields with addresses that it went to. */
  recipients: string;
  /** The reason why it has no human author, in one word for the log; undefined for a person's mail. */
  automatic: string | undefined;
  /** Everything that was written, without our own notice. */
  text: string;
  /** Whether letters of it could not be read. */
  has_lost_letters: boolean;
  files: MailFile[];
  /** Files that are too many or too large. */
  left_out: number;
  /** The same for each copy of a mail, and for no other one. */
  key: string;
}

/** Parts in parts: what nests deeper is refused. */
const DEPTH_MAXIMUM = 32;
const HEADERS_MAXIMUM = 512 * 1024;
/** Characters of a body that are read. */
const BODY_MAXIMUM = 1_000_000;
/** A picture within the letter that is smaller is a logo, a line or a counter. Bytes. */
const DRAWN_LEAST = 4 * 1024;
const NAME_MAXIMUM = 255;

/** RFC 3834, RFC 5436, RFC 2919, and the marks of programs before these: such a mail has no human author, and an answer to it would be answered by a program. */
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
/** A file that is a mail is named as one: people and scanners know it by that. */
const nameOf = ({ filename, mimeType }: Attachment, at: number) =>
  (filename ?? (mimeType === 'message/rfc822' ? `forwarded-mail-${at + 1}.eml` : `file-${at + 1}`)).slice(0, NAME_MAXIMUM);

/**
 * Reads a mail. Everything in it is a claim of a stranger's: sizes and depths are bounded, HTML becomes text. It may still take long, or much memory; it is called in a
 * thread of its own (`mail-thread.ts`).
 */
export async function readMail(
  raw: Uint8Array,
  how: { authserv_id?: string | undefined; resolve?: Resolve | undefined } = {},
): Promise<ReadMail> {
  const prepared = prepareCharsets(raw);
  const mail = await PostalMime.parse(prepared.raw, {
    ...{ attachmentEncoding: 'arraybuffer', maxNestingDepth: DEPTH_MAXIMUM, maxHeadersSize: HEADERS_MAXIMUM },
    rfc822Attachments: true,
  });
  const headers = new Map<string, string>();
  for (const { key, value } of mail.headers.toReversed()) headers.set(key, value);
  const recipients = mail.headers.filter(({ key }) => RECIPIENT_HEADERS.includes(key)).map(({ value }) => value);
  const all = mail.attachments
    .map((file) => ({ file, bytes: bytesOf(file.content) }))
    .filter(({ file, bytes }) => bytes.byteLength > 0 && !isDrawn(file, bytes))
    .map(({ file, bytes }, at) => ({ name: nameOf(file, at), bytes }));
  // A text that could not be stored as it is could not be stored at all.
  const said = withoutNotice(bodyOf(mail, prepared.again)).replaceAll('\0', '').toWellFormed();
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
