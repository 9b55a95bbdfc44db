import {
  type InputKind,
  SCAM_FILE_MAXIMUM,
  SCAM_TEXT_MAXIMUM,
  type ScamAnswer,
  type ScamVerdict,
} from '@palisade/contract/scam-check';
import { adviceFor } from './advice.ts';
import { type Coverage, checkedList } from './checked.ts';
import { explainCode } from './code-contents.ts';
import { findSigns } from './detectors.ts';
import { isEmailSource, readEmail } from './email.ts';
import { chooseReasons, judge } from './judge.ts';
import { type Message, type RawText, takeMessageApart } from './message.ts';
import { partsOf } from './parts.ts';
import { pictureSize } from './picture-header.ts';
import { PictureReader } from './picture-reader.ts';
import { TEXT_LANGUAGES } from './picture-text.ts';
import { HEADLINES, type NotCheckedCode, REASON_SENTENCES } from './sentences.ts';
import type { Sign } from './signs.ts';
import { type Options, type Person, type Surroundings, surroundingsFor, surroundingsOf } from './surroundings.ts';
import { isKnownLanguage } from './words/lists.ts';

const CODES_MAXIMUM = 20;
const PHONE = /^\+?[\d ()./-]{5,25}$/u;
const LONE_LINK = /^\S{4,2048}$/u;

/**
 * A message goes in, a verdict with reasons comes out. It opens no connection but the DNS questions of `options.resolve`, and
 * keeps nothing.
 */
export class ScamCheck {
  readonly #surroundings: Surroundings;
  readonly #pictures: PictureReader;

  constructor(options: Options = {}, shared?: { surroundings: Surroundings; pictures: PictureReader }) {
    this.#surroundings = shared?.surroundings ?? surroundingsOf(options);
    this.#pictures = shared?.pictures ?? new PictureReader();
  }

  /** The same check for one person. It shares the tables and the process that reads pictures. */
  forPerson(person: Person): ScamCheck {
    return new ScamCheck({}, { surroundings: surroundingsFor(this.#surroundings, person), pictures: this.#pictures });
  }

  /** Ends the process that reads pictures. */
  close(): void {
    this.#pictures.close();
  }

  /** Checks a text: a message, a link, a phone number or the pasted source of an email. A longer text is cut at the maximum. */
  async checkText(text: string): Promise<ScamAnswer> {
    const input = text.slice(0, SCAM_TEXT_MAXIMUM);
    if (input.trim() === '') return this.#unread('unknown', 'empty');
    if (isEmailSource(input)) {
      const answer = await this.#checkEmail(new TextEncoder().encode(input.trimStart()), true);
      if (answer !== undefined) return answer;
    }
    return this.#answer(this.#takeApart(kindOfText(input), [{ source: 'text', text: input }]), {});
  }

  /** Checks a file by its content: a picture, an email, a contact card, a calendar entry, a text or a document. */
  async checkFile(name: string, content: Uint8Array): Promise<ScamAnswer> {
    if (content.length === 0) return this.#unread('unknown', 'empty');
    if (content.length > SCAM_FILE_MAXIMUM) return this.#unread('unknown', 'too_large');
    if (pictureSize(content) !== undefined) return this.#checkPicture(content);
    const beginning = new TextDecoder('utf-8', { fatal: false }).decode(content.subarray(0, 64 * 1024));
    if (isEmailSource(beginning) || /\.eml$/iu.test(name))
      return (await this.#checkEmail(content, false)) ?? this.#unread('email', 'broken_email');
    const letter = await this.#surroundings.readLetter?.(name, content).catch(() => undefined);
    if (letter !== undefined) return (await this.#checkEmail(letter, true)) ?? this.#unread('email', 'broken_email');
    const document = await this.#surroundings.readDocument?.(name, content).catch(() => undefined);
    if (document !== undefined)
      return this.#answer(this.#takeApart('document', [{ source: 'text', text: document.slice(0, SCAM_TEXT_MAXIMUM) }]), {
        codes: 'document_pictures',
        picture_text: 'document_pictures',
      });
    if (!isPlainText(content)) return this.#unread('unknown', isPdf(name, content) ? 'no_document_reader' : 'format_unknown');
    const text = new TextDecoder().decode(content).slice(0, SCAM_TEXT_MAXIMUM);
    const kind: InputKind = /^BEGIN:VCARD/iu.test(text) ? 'contact' : /^BEGIN:VCALENDAR/iu.test(text) ? 'calendar' : 'text';
    // Long lines of both are folded: a line break and a space (RFC 5545, section 3.1).
    const unfolded =
      kind === 'text'
        ? text
        : text
            .replaceAll(/\r?\n[ \t]/gu, '')
            .replaceAll(/\\n/giu, '\n')
            .replaceAll(/\\([,;])/gu, '$1');
    return this.#answer(this.#takeApart(kind, [{ source: 'text', text: unfolded }]), {});
  }

  #takeApart(kind: InputKind, texts: readonly RawText[], rest: Parameters<typeof takeMessageApart>[3] = {}): Message {
    return takeMessageApart(kind, texts, this.#surroundings, rest);
  }

  async #checkEmail(raw: Uint8Array, isPasted: boolean): Promise<ScamAnswer | undefined> {
    const email = await readEmail(raw, isPasted, this.#surroundings).catch(() => undefined);
    if (email === undefined || (email.sender === undefined && email.texts.length === 0)) return undefined;
    const coverage: Coverage = {
      sender: 'checked',
      signature: email.signature.code ?? 'checked',
      ...(email.attachments.length === 0
        ? {}
        : {
            attachments: email.attachments.every(({ verdict }) => verdict === 'clean' || verdict === 'infected')
              ? 'checked'
              : 'no_engine',
          }),
    };
    const texts = [...email.texts];
    const codes: ReturnType<typeof explainCode>[] = [];
    for (const picture of email.pictures) {
      const read = await this.#readPicture(picture, coverage);
      codes.push(...read.codes);
      texts.push(...read.texts);
    }
    const message = this.#takeApart('email', texts, {
      sender: email.sender,
      attachments: email.attachments,
      codes: codes.slice(0, CODES_MAXIMUM),
    });
    return this.#answer(message, coverage);
  }

  /** The codes and the words of a picture. */
  async #readPicture(picture: Uint8Array, coverage: Coverage) {
    const { readPictureText } = this.#surroundings;
    // Each reader is a process of its own, so that both run at once.
    const [reading, found] = await Promise.all([
      this.#pictures.read(picture),
      readPictureText?.(picture).catch(() => ({ code: 'picture_broken' }) as const),
    ]);
    const codes =
      'codes' in reading ? reading.codes.slice(0, CODES_MAXIMUM).map(({ format, text }) => explainCode(format, text)) : [];
    coverage.codes = 'codes' in reading ? 'checked' : reading.code;
    const texts: RawText[] = codes.map(({ text }) => ({ source: 'code', text }));
    if (found === undefined) coverage.picture_text = 'no_text_reader';
    else if ('code' in found) coverage.picture_text = 'codes' in reading ? found.code : reading.code;
    else {
      if (found.text.trim() !== '') texts.push({ source: 'picture', text: found.text.slice(0, SCAM_TEXT_MAXIMUM) });
      const isWhole = TEXT_LANGUAGES.every((language) => found.languages.includes(language));
      coverage.picture_text = isWhole ? 'checked' : 'text_language';
    }
    return { codes, texts };
  }

  async #checkPicture(picture: Uint8Array): Promise<ScamAnswer> {
    const coverage: Coverage = {};
    const { codes, texts } = await this.#readPicture(picture, coverage);
    const message = this.#takeApart('picture', texts, { codes });
    return this.#answer(message, coverage);
  }

  /** An answer for an input that could not be read. */
  #unread(kind: InputKind, code: NotCheckedCode): ScamAnswer {
    const message = this.#takeApart(kind, []);
    return { ...this.#answer(message, { words: code }), verdict: 'not_checked', headline: HEADLINES.not_checked };
  }

  #answer(message: Message, read: Coverage): ScamAnswer {
    const signs = findSigns(message, this.#surroundings);
    const coverage: Coverage = { ...this.#coverage(message), ...read };
    const wasRead = Object.values(coverage).includes('checked');
    const verdict: ScamVerdict = signs.length === 0 && !wasRead ? 'not_checked' : judge(message, signs);
    return {
      verdict,
      headline: HEADLINES[verdict],
      kind: message.kind,
      reasons: chooseReasons(signs).map((sign) => reasonOf(sign)),
      parts: partsOf(message),
      advice: adviceFor(verdict, message, signs),
      checked: checkedList(coverage),
    };
  }

  #coverage({ texts, links, numbers, accounts }: Message): Coverage {
    const { lists = [] } = this.#surroundings;
    const worded = texts.filter(
      ({ source, readable }) => (source === 'text' || source === 'picture' || source === 'subject') && readable.words.length > 0,
    );
    return {
      ...(worded.length === 0
        ? {}
        : { words: worded.some(({ readable }) => isKnownLanguage(readable)) ? 'checked' : 'language_unknown' }),
      ...(links.length === 0
        ? {}
        : { links: 'checked', domain_lists: lists.length === 0 ? 'no_lists' : 'checked', link_target: 'never_visited' }),
      ...(numbers.length === 0 ? {} : { numbers: 'checked' }),
      ...(accounts.length === 0 ? {} : { accounts: 'checked' }),
    };
  }
}

function kindOfText(text: string): InputKind {
  const bare = text.trim();
  if (PHONE.test(bare)) return 'phone';
  return LONE_LINK.test(bare) && /[.:/]/u.test(bare) ? 'link' : 'text';
}

const isPdf = (name: string, content: Uint8Array) =>
  /\.pdf$/iu.test(name) || new TextDecoder('latin1').decode(content.subarray(0, 5)) === '%PDF-';

/** Bytes without control characters, in UTF-8. */
function isPlainText(content: Uint8Array): boolean {
  const head = content.subarray(0, 64 * 1024);
  return !head.some((byte) => byte < 9 || (byte > 13 && byte < 32 && byte !== 27));
}

function reasonOf({ code, params, span, weight }: Sign): ScamAnswer['reasons'][number] {
  return { code, params, sentence: REASON_SENTENCES[code](params), span: span ?? null, weight };
}
