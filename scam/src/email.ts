import PostalMime, { type Address, type Mailbox } from 'postal-mime';
import { type Coverage, mergeCoverage } from './coverage.ts';
import { type HtmlText, readHtml } from './html-text.ts';
import { LIMITS } from './limits.ts';
import type { RawText, Sender } from './message.ts';

/** A parsed email. The content of its attachments is not parsed. */
export interface ParsedEmail {
  texts: RawText[];
  sender: Omit<Sender, 'proof'> | undefined;
  /** Number of authors in the From fields. */
  authors: number;
  /** Values of the fields `DKIM-Signature`. */
  signatures: string[];
  html: HtmlText | undefined;
  attachments: { name: string; mediaType: string; content: Uint8Array }[];
  coverage: Coverage;
}

const PARTS = {
  maxNestingDepth: LIMITS.nested_parts,
  maxHeadersSize: LIMITS.header_bytes,
  // Attached mails are treated as attachments and read as separate mails with their own senders.
  forceRfc822Attachments: true,
} as const;

/** A carriage return is matched as part of the line; a separate optional `\r` would make the pattern ambiguous. */
const BEGINNING = /^(?:[\w-]{2,40}:[^\n]{0,9999}\n(?:[ \t][^\n]{0,9999}\n)*){2}/u;
/** Header fields of which every email has at least one. */
const KNOWN_FIELDS = [
  ...['received', 'return-path', 'delivered-to', 'mime-version', 'message-id', 'dkim-signature', 'authentication-results'],
  ...['x-[\\w-]+', 'subject', 'date', 'to', 'reply-to', 'content-type'],
];
const KNOWN_FIELD = new RegExp(`^(?:${KNOWN_FIELDS.join('|')}):`, 'imu');

/** Whether a text is the source of an email: header fields with an author and one of the known fields, then an empty line. */
export function isEmailSource(text: string): boolean {
  const head = text.trimStart();
  return BEGINNING.test(head) && /^from:/imu.test(head) && KNOWN_FIELD.test(head) && /\r?\n\r?\n/u.test(head);
}

const mailboxes = (address: Address | undefined): Mailbox[] =>
  address === undefined ? [] : address.group === undefined ? [address] : address.group;

function bytesOf(content: ArrayBuffer | Uint8Array | string): Uint8Array {
  return typeof content === 'string' ? new TextEncoder().encode(content) : new Uint8Array(content);
}

/** Parses an email; undefined for other content. */
export async function parseEmail(raw: Uint8Array): Promise<ParsedEmail | undefined> {
  const email = await PostalMime.parse(raw, PARTS).catch(() => undefined);
  if (email === undefined) return undefined;
  const [author] = mailboxes(email.from);
  const [replyTo] = (email.replyTo ?? []).flatMap(mailboxes);
  const most = LIMITS.sender_letters;
  const sender = !author?.address
    ? undefined
    : {
        name: author.name.slice(0, most),
        address: author.address.slice(-most),
        replyTo: replyTo?.address === undefined || replyTo.address === author.address ? undefined : replyTo.address.slice(-most),
      };
  const html = email.html === undefined ? undefined : readHtml(email.html);
  const texts: RawText[] = [];
  if (sender !== undefined) texts.push({ source: 'sender', text: `${sender.name} <${sender.address}>` });
  if (sender?.replyTo !== undefined) texts.push({ source: 'reply_to', text: sender.replyTo });
  if (email.subject !== undefined && email.subject !== '') texts.push({ source: 'subject', text: email.subject });
  // Both bodies are read, because mail programs show only one, and a scam may be in either.
  if (email.text !== undefined && email.text.trim() !== '') texts.push({ source: 'text', text: email.text });
  if (html !== undefined) texts.push({ source: 'text', text: html.text, links: html.links });
  if (sender === undefined && texts.length === 0 && email.attachments.length === 0) return undefined;
  const isLong = [author?.name, author?.address, replyTo?.address].some((text) => (text?.length ?? 0) > most);
  const valuesOf = (field: string) => email.headers.filter(({ key }) => key === field).map(({ value }) => value);
  const isEncrypted =
    valuesOf('content-type').some((type) => /^\s*multipart\/encrypted/iu.test(type)) ||
    email.attachments.some(({ mimeType }) => mimeType === 'application/pgp-encrypted');
  return {
    texts,
    sender,
    authors: Math.max(valuesOf('from').length, mailboxes(email.from).length),
    signatures: valuesOf('dkim-signature'),
    html,
    attachments: email.attachments.map(({ filename, mimeType, content }) => ({
      name: filename ?? '',
      mediaType: mimeType,
      content: bytesOf(content),
    })),
    coverage: mergeCoverage([
      isEncrypted ? { words: 'encrypted' } : {},
      html?.isCut === true ? { words: 'text_cut' } : {},
      isLong ? { sender: 'sender_cut' } : {},
    ]),
  };
}
