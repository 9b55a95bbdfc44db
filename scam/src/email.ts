import PostalMime, { type Address, type Email, type Mailbox } from 'postal-mime';
import { readHtml } from './html-text.ts';
import type { Attachment, RawText, Sender } from './message.ts';
import { checkSignature, type SignatureCheck } from './signature.ts';
import type { Surroundings } from './surroundings.ts';

/** An email, parsed and its signature verified. */
export interface ReadEmail {
  texts: RawText[];
  sender: Sender | undefined;
  attachments: Attachment[];
  /** Pictures within it, whose codes are read. */
  pictures: Uint8Array[];
  signature: SignatureCheck;
}

const PARTS = { maxNestingDepth: 50, maxHeadersSize: 256 * 1024, maxRfc822NestingDepth: 3 } as const;
const ATTACHMENTS_MAXIMUM = 50;
const PICTURES_MAXIMUM = 5;
const BODY_MAXIMUM = 20_000;

const BEGINNING = /^(?:[\w-]{2,40}:[^\n]{0,998}\r?\n(?:[ \t][^\n]{0,998}\r?\n)*){2}/u;
const KNOWN_FIELD =
  /^(?:received|return-path|delivered-to|mime-version|message-id|dkim-signature|authentication-results|x-[\w-]+|subject|date|to|reply-to|content-type):/imu;

/** Whether a text is the source of an email: fields with an author and a subject or the like, then an empty line. */
export function isEmailSource(text: string): boolean {
  const head = text.trimStart().slice(0, 20_000);
  return BEGINNING.test(head) && /^from:/imu.test(head) && KNOWN_FIELD.test(head) && /\r?\n\r?\n/u.test(head);
}

const mailboxes = (address: Address | undefined): Mailbox[] =>
  address === undefined ? [] : address.group === undefined ? [address] : address.group;

function bytesOf(content: ArrayBuffer | Uint8Array | string): Uint8Array {
  return typeof content === 'string' ? new TextEncoder().encode(content) : new Uint8Array(content);
}

function textsOf(email: Email, sender: Sender | undefined): RawText[] {
  const html = email.html === undefined ? undefined : readHtml(email.html);
  const texts: RawText[] = [];
  if (sender !== undefined) texts.push({ source: 'sender', text: `${sender.name} <${sender.address}>` });
  if (sender?.replyTo !== undefined) texts.push({ source: 'reply_to', text: sender.replyTo });
  if (email.subject !== undefined && email.subject !== '') texts.push({ source: 'subject', text: email.subject.slice(0, 1_000) });
  // Both bodies are read: programs show one, and a scam may be in the other.
  if (email.text !== undefined && email.text.trim() !== '')
    texts.push({ source: 'text', text: email.text.slice(0, BODY_MAXIMUM) });
  if (html !== undefined) texts.push({ source: 'text', text: html.text.slice(0, BODY_MAXIMUM), links: html.links });
  return texts;
}

/** Reads an email. `isPasted`: its bytes are no longer those that were signed. @throws where it is no email. */
export async function readEmail(raw: Uint8Array, isPasted: boolean, surroundings: Surroundings): Promise<ReadEmail> {
  const email = await PostalMime.parse(raw, PARTS);
  const [author] = mailboxes(email.from);
  const [replyTo] = (email.replyTo ?? []).flatMap(mailboxes);
  const domain = author?.address?.slice(author.address.lastIndexOf('@') + 1).toLowerCase() ?? '';
  const signatures = email.headers.filter(({ key }) => key === 'dkim-signature').length;
  const signature: SignatureCheck = isPasted
    ? { proof: 'not_checked', code: 'pasted' }
    : await checkSignature(raw, domain, signatures, surroundings.resolve);
  const sender: Sender | undefined =
    author === undefined || !author.address
      ? undefined
      : {
          name: author.name.slice(0, 300),
          address: author.address.slice(0, 320),
          replyTo:
            replyTo?.address === undefined || replyTo.address === author.address ? undefined : replyTo.address.slice(0, 320),
          proof: signature.proof,
        };
  const attachments: Attachment[] = [];
  const pictures: Uint8Array[] = [];
  for (const { filename, mimeType, content } of email.attachments.slice(0, ATTACHMENTS_MAXIMUM)) {
    const [name, bytes] = [filename ?? '', bytesOf(content)];
    if (mimeType.startsWith('image/') && pictures.length < PICTURES_MAXIMUM) pictures.push(bytes);
    const verdict = await surroundings.scanAttachment?.(name, bytes).catch(() => 'not_checked' as const);
    attachments.push({ name: name.slice(0, 300), mediaType: mimeType, verdict });
  }
  return { texts: textsOf(email, sender), sender, attachments, pictures, signature };
}
