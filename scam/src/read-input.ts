import type { CheckedCode, InputKind } from '@palisade/contract/scam-check';
import { patternOf } from './boundaries.ts';
import { signedContent } from './cms.ts';
import { explainCode, isCodeContents, plainContents, unfolded } from './code-contents.ts';
import { type Coverage, mergeCoverage } from './coverage.ts';
import { isEmailSource, type ParsedEmail, parseEmail } from './email.ts';
import { findLinks } from './find-links.ts';
import { readHtml } from './html-text.ts';
import { LIMITS } from './limits.ts';
import type { Attachment, Piece, RawText } from './message.ts';
import { pictureSize } from './picture-header.ts';
import type { PictureReader } from './picture-reader.ts';
import { TEXT_LANGUAGES } from './picture-text.ts';
import type { NotCheckedCode } from './sentences.ts';
import { checkSignature } from './signature.ts';
import type { Surroundings } from './surroundings.ts';

/** The parsed part of an input: its texts, the files in it, and its coverage. */
export interface Reading {
  kind: InputKind;
  pieces: Piece[];
  attachments: Attachment[];
  coverage: Coverage;
}

const NOTHING_READ: Reading = { kind: 'email', pieces: [], attachments: [], coverage: {} };

/** The reason why nothing of a file was read. */
type Unread = NotCheckedCode;

const TNEF = [0x78, 0x9f, 0x3e, 0x22];
const BEGINNING_BYTES = 64 * 1024;
const HTML = /^\s*(?:<\?xml[^>]{0,200}>\s*)?<(?:!doctype html|html|svg)\b/iu;
const HTML_NAME = /\.(?:x?html?|svg)$/iu;
/** Header of a MIME part, such as signed content. */
const ENTITY = /^(?:[\w-]{2,40}:[^\r\n]{0,9998}\r?\n(?:[ \t][^\r\n]{0,9998}\r?\n)*){1,100}\r?\n/u;
const ENCRYPTED = /^-----BEGIN PGP MESSAGE-----/mu;
/** An armored PGP signature or key (RFC 9580, section 6.2), which is not text for people. */
const ARMOUR = patternOf(
  'gmu',
  String.raw`(?<=^-----BEGIN PGP (?:SIGNATURE|PUBLIC KEY BLOCK)-----(?:\r?\n[A-Za-z]{1,20}: [^\r\n]{0,200})*\r?\n\r?\n)`,
  String.raw`(?:[\w+/]{60,80}\r?\n)+[\w+/=]{0,80}(?:\r?\n=[\w+/]{4})?`,
);
/** An embedded file in a vCard or iCalendar (RFC 6350, section 6.2.4; RFC 5545, section 3.8.1.1), after unfolding. */
const CARD_FILE = patternOf(
  'gimu',
  String.raw`^(?:[\w-]{1,40}\.)?(?:PHOTO|LOGO|ATTACH)(?:;[^:\r\n]{0,200})?:`,
  String.raw`(?:data:[\w.+/-]{1,60};base64,)?([A-Za-z0-9+/=]{60,})\r?$`,
);
/** A file encoded in a text (POSIX, uuencode; yEnc 1.3). */
const FILE_IN_TEXT = /^(?:begin(?:-base64)? [0-7]{3,4} \S|=ybegin )/mu;
const RTF = /^\s*\{\\rtf/u;
/** Media types whose text is a list of fields: reports of mail servers, and mail headers. */
const FIELDS_TYPE = /^(?:message\/|text\/rfc822-headers)/u;

const startsWith = (content: Uint8Array, bytes: readonly number[]) => bytes.every((byte, at) => content[at] === byte);
const isPdf = (name: string, content: Uint8Array) =>
  /\.pdf$/iu.test(name) || new TextDecoder('latin1').decode(content.subarray(0, 5)) === '%PDF-';

/** Whether the bytes contain no control characters. */
function isPlainText(content: Uint8Array): boolean {
  return !content.subarray(0, BEGINNING_BYTES).some((byte) => byte < 9 || (byte > 13 && byte < 32 && byte !== 27));
}

/** Reads one input with the files in it. Limits of numbers apply to the whole input. */
export class InputReader {
  readonly #surroundings: Surroundings;
  readonly #pictures: PictureReader;
  #attachments = 0;
  #picturesRead = 0;
  #letters = 0;

  constructor(surroundings: Surroundings, pictures: PictureReader) {
    this.#surroundings = surroundings;
    this.#pictures = pictures;
  }

  /** Reads a pasted text: a message, a link, or the source of an email. */
  async readText(text: string, kind: InputKind): Promise<Reading> {
    const pasted = text.slice(0, LIMITS.letters);
    const email = isEmailSource(pasted) ? await parseEmail(new TextEncoder().encode(pasted.trimStart())) : undefined;
    if (email === undefined) return this.#textReading(kind, text);
    const reading = await this.#readEmail(email, 'pasted', 0);
    return pasted === text ? reading : { ...reading, coverage: mergeCoverage([reading.coverage, { words: 'text_cut' }]) };
  }

  /** Reads a file by its content. `depth` is the number of enclosing files. */
  async readFile(name: string, content: Uint8Array, depth = 0, mediaType = ''): Promise<Reading | Unread> {
    if (content.length === 0) return 'empty';
    // A fragment of a mail that was split into several.
    if (mediaType === 'message/partial') return 'format_unknown';
    if (depth > LIMITS.nested_mails + 1) return 'more_mails';
    if (content.length > LIMITS.file_bytes) return 'file_too_large';
    if (pictureSize(content) !== undefined) return await this.#readPicture(content);
    if (startsWith(content, TNEF)) return 'tnef';
    const signed = signedContent(content);
    if (signed === 'damaged') return 'format_unknown';
    if (signed === 'encrypted') return { ...NOTHING_READ, coverage: { words: 'encrypted' } };
    if (signed === 'detached') return NOTHING_READ;
    if (signed !== undefined)
      return ENTITY.test(new TextDecoder('latin1').decode(signed.subarray(0, BEGINNING_BYTES)))
        ? await this.#readMail(signed, 'pasted', depth)
        : await this.readFile(name.replace(/\.p7m$/iu, ''), signed, depth + 1);
    const beginning = new TextDecoder().decode(content.subarray(0, LIMITS.header_bytes));
    if (isEmailSource(beginning) || /\.eml$/iu.test(name) || mediaType === 'message/rfc822')
      return await this.#readMail(content, depth === 0 ? content : 'pasted', depth);
    return (await this.#readDocument(name, content, depth)) ?? (await this.#readPlain(name, content, mediaType, depth));
  }

  async #readDocument(name: string, content: Uint8Array, depth: number): Promise<Reading | Unread | undefined> {
    const { readLetter, readDocument } = this.#surroundings;
    const letter = await readLetter?.(name, content).catch(() => undefined);
    if (letter !== undefined) {
      const mail = await this.#readMail(letter.source, 'pasted', depth);
      return typeof mail === 'string' ? mail : { ...mail, coverage: mergeCoverage([mail.coverage, letter.coverage]) };
    }
    const document = await readDocument?.(name, content).catch(() => undefined);
    return document === undefined ? undefined : this.#textReading('document', document.text, { coverages: [document.coverage] });
  }

  async #readPlain(name: string, content: Uint8Array, mediaType: string, depth: number): Promise<Reading | Unread> {
    if (!isPlainText(content)) return isPdf(name, content) ? 'no_document_reader' : 'format_unknown';
    const text = new TextDecoder().decode(content);
    if (HTML.test(text) || HTML_NAME.test(name) || mediaType === 'text/html') return await this.#readPage(text);
    const kind: InputKind = /^BEGIN:VCARD/iu.test(text) ? 'contact' : /^BEGIN:VCALENDAR/iu.test(text) ? 'calendar' : 'text';
    // Of rich text (RTF), only words that are readable in its source are checked.
    const coverages: Coverage[] = RTF.test(text) ? [{ words: 'no_document_reader' }] : [];
    if (kind === 'text') return this.#textReading(kind, text, { isFields: FIELDS_TYPE.test(mediaType), coverages });
    const readings: Reading[] = [];
    const plain = unfolded(text);
    for (const [, base64 = ''] of plain.matchAll(CARD_FILE)) {
      const file = await this.readFile('', Buffer.from(base64, 'base64'), depth + 1);
      readings.push(typeof file === 'string' ? { ...NOTHING_READ, coverage: unreadAttachment(file) } : file);
    }
    const card = this.#textReading(kind, plainContents(plain.replaceAll(CARD_FILE, '')), { isFields: true });
    return together(kind, [card, ...readings]);
  }

  /** Reads an HTML file. It opens in a browser, so addresses in its scripts count too. */
  async #readPage(source: string): Promise<Reading> {
    const html = readHtml(source);
    const links = findLinks(html.programs.slice(0, LIMITS.letters)).map(({ shown }) => ({ href: shown, label: shown }));
    const page = this.#textReading('document', html.text, {
      links: [...html.links, ...links],
      coverages: [html.isCut || html.programs.length > LIMITS.letters ? { words: 'text_cut' } : {}],
    });
    return together('document', [page, ...(await this.#readPagePictures(html))]);
  }

  async #readPagePictures(html: ReturnType<typeof readHtml>): Promise<Reading[]> {
    const readings: Reading[] = [];
    for (const base64 of html.pictures) readings.push(await this.#readPicture(Buffer.from(base64, 'base64')));
    if (html.hasRemotePictures) readings.push({ ...NOTHING_READ, coverage: { codes: 'remote_pictures' } });
    return readings;
  }

  /** Truncates a text to the limits. */
  #cut(text: string, most: number): { text: string; coverage: Coverage } {
    const room = Math.max(0, Math.min(most, LIMITS.letters_together - this.#letters));
    const plain = text.replaceAll(ARMOUR, '');
    const kept = plain.slice(0, room);
    this.#letters += kept.length;
    return {
      text: kept,
      coverage: mergeCoverage([
        ENCRYPTED.test(plain) ? { words: 'encrypted' } : {},
        FILE_IN_TEXT.test(plain) ? { attachments: 'attachment_unread' } : {},
        kept.length < plain.length ? { words: 'text_cut' } : {},
      ]),
    };
  }

  #textReading(
    kind: InputKind,
    whole: string,
    { coverages = [], ...rest }: Pick<RawText, 'links' | 'isFields'> & { coverages?: Coverage[] } = {},
  ): Reading {
    const { text, coverage } = this.#cut(whole, LIMITS.letters);
    const texts: RawText[] = [{ source: 'text', text, ...rest }];
    // Pasted content of a QR code.
    if (kind !== 'contact' && kind !== 'calendar' && isCodeContents(text))
      texts.push({ source: 'code', text: plainContents(text), isFields: true });
    return { kind, pieces: [{ texts, codes: [] }], attachments: [], coverage: mergeCoverage([coverage, ...coverages]) };
  }

  /** Reads the codes and the text of a picture. */
  async #readPicture(picture: Uint8Array): Promise<Reading> {
    if (this.#picturesRead >= LIMITS.pictures) return { ...NOTHING_READ, coverage: { codes: 'more_pictures' } };
    this.#picturesRead += 1;
    const { readPictureText } = this.#surroundings;
    // The readers are separate processes, so both run concurrently.
    const [reading, found] = await Promise.all([
      this.#pictures.read(picture),
      readPictureText?.(picture).catch(() => ({ code: 'picture_broken' }) as const),
    ]);
    const coverages: Coverage[] = [];
    const codes: CheckedCode[] = [];
    if ('codes' in reading) {
      codes.push(...reading.codes.slice(0, LIMITS.codes).map(({ format, text }) => explainCode(format, text)));
      coverages.push({ codes: reading.codes.length > LIMITS.codes ? 'more_codes' : 'checked' });
    } else coverages.push({ codes: reading.code });
    const texts: RawText[] = codes.map(({ text }) => ({ source: 'code', text: plainContents(text) }));
    if (found === undefined) coverages.push({ picture_text: 'no_text_reader' });
    else if ('code' in found) coverages.push({ picture_text: 'codes' in reading ? found.code : reading.code });
    else {
      const { text, coverage } = this.#cut(found.text, LIMITS.letters);
      if (text.trim() !== '') texts.push({ source: 'picture', text });
      const isWhole = TEXT_LANGUAGES.every((language) => found.languages.includes(language));
      coverages.push(coverage, { picture_text: isWhole ? 'checked' : 'text_language' });
    }
    return { kind: 'picture', pieces: [{ texts, codes }], attachments: [], coverage: mergeCoverage(coverages) };
  }

  async #readMail(content: Uint8Array, signedAs: Uint8Array | 'pasted', depth: number): Promise<Reading | Unread> {
    if (depth > LIMITS.nested_mails) return 'more_mails';
    const email = await parseEmail(content);
    return email === undefined ? 'broken_email' : await this.#readEmail(email, signedAs, depth);
  }

  /** Reads an email. `signedAs` is the original source, which the DKIM signature covers; `pasted` if it is not available. */
  async #readEmail(email: ParsedEmail, signedAs: Uint8Array | 'pasted', depth: number): Promise<Reading> {
    const { author, resolve } = { author: email.sender, resolve: this.#surroundings.resolve };
    const signature =
      signedAs === 'pasted'
        ? ({ proof: 'not_checked', code: 'pasted' } as const)
        : await checkSignature(signedAs, email, resolve);
    const texts: RawText[] = [];
    const readings: Reading[] = [];
    const coverages: Coverage[] = [email.coverage];
    // The signature of an attached mail is not checked.
    if (author !== undefined && depth === 0) coverages.push({ sender: 'checked', signature: signature.code ?? 'checked' });
    else if (author !== undefined) coverages.push({ sender: 'checked' });
    for (const { text: whole, ...raw } of email.texts) {
      const { text, coverage } = this.#cut(whole, raw.source === 'subject' ? LIMITS.subject_letters : LIMITS.letters);
      texts.push({ ...raw, text });
      coverages.push(coverage);
    }
    if (email.html !== undefined) readings.push(...(await this.#readPagePictures(email.html)));
    const attachments: Attachment[] = [];
    for (const { name, mediaType, content } of email.attachments) {
      if (this.#attachments >= LIMITS.attachments) {
        coverages.push({ attachments: 'more_attachments' });
        break;
      }
      this.#attachments += 1;
      const attachment: Attachment = { name, mediaType, verdict: await this.#scan(name, content, depth) };
      attachments.push(attachment);
      const reading = await this.readFile(name, content, depth + 1, mediaType);
      coverages.push(scanCoverage(attachment), ...(typeof reading === 'string' ? [unreadAttachment(reading)] : []));
      if (typeof reading !== 'string') readings.push(reading);
    }
    const proof = signature.proof;
    const sender = author === undefined ? undefined : { ...author, proof };
    const own: Reading = {
      kind: 'email',
      pieces: [{ texts, codes: [], sender }],
      attachments,
      coverage: mergeCoverage(coverages),
    };
    return together('email', [own, ...readings]);
  }

  /** Scans an attachment. The scanner also scans attachments of attached mails, so these are not scanned again. */
  async #scan(name: string, content: Uint8Array, depth: number): Promise<Attachment['verdict']> {
    if (depth > 0) return this.#surroundings.scanAttachment === undefined ? undefined : 'clean';
    return await this.#surroundings.scanAttachment?.(name, content).catch(() => 'not_checked' as const);
  }
}

function together(kind: InputKind, readings: readonly Reading[]): Reading {
  return {
    kind,
    pieces: readings.flatMap(({ pieces }) => pieces),
    attachments: readings.flatMap(({ attachments }) => attachments),
    coverage: mergeCoverage(readings.map(({ coverage }) => coverage)),
  };
}

function scanCoverage({ verdict }: Attachment): Coverage {
  if (verdict === undefined) return { attachments: 'no_engine' };
  return { attachments: verdict === 'not_checked' ? 'attachment_locked' : 'checked' };
}

function unreadAttachment(code: Unread): Coverage {
  if (code === 'empty') return {};
  return { attachments: code === 'format_unknown' || code === 'no_document_reader' ? 'attachment_unread' : code };
}
