import type { InputKind, ScamAnswer, ScamVerdict } from '@palisade/contract/scam-check';
import { adviceFor } from './advice.ts';
import { type Coverage, checkedList, hasChecked, hasUnread, mergeCoverage } from './coverage.ts';
import { findSigns } from './detectors.ts';
import { chooseReasons, judge } from './judge.ts';
import { type Message, messageOfPiece, takeMessageApart } from './message.ts';
import { partsOf } from './parts.ts';
import { PictureReader } from './picture-reader.ts';
import { InputReader, type Reading } from './read-input.ts';
import { HEADLINES, type NotCheckedCode, REASON_SENTENCES } from './sentences.ts';
import type { Sign } from './signs.ts';
import { type Options, type Person, type Surroundings, surroundingsFor, surroundingsOf } from './surroundings.ts';

const PHONE = /^\+?[\d ()./-]{5,25}$/u;
const LONE_LINK = /^\S{4,2048}$/u;

/**
 * Checks a message and returns a verdict with reasons. It opens no connections except the DNS queries of `options.resolve`, and
 * stores nothing.
 */
export class ScamCheck {
  readonly #surroundings: Surroundings;
  readonly #pictures: PictureReader;

  constructor(options: Options = {}, shared?: { surroundings: Surroundings; pictures: PictureReader }) {
    this.#surroundings = shared?.surroundings ?? surroundingsOf(options);
    this.#pictures = shared?.pictures ?? new PictureReader();
  }

  /** Returns the check for one person. It shares the tables and the child processes. */
  forPerson(person: Person): ScamCheck {
    return new ScamCheck({}, { surroundings: surroundingsFor(this.#surroundings, person), pictures: this.#pictures });
  }

  /** Ends the child processes. */
  close(): void {
    this.#pictures.close();
  }

  /** Checks a text: a message, a link, a phone number or the pasted source of an email. A text above the maximum length is truncated. */
  async checkText(text: string): Promise<ScamAnswer> {
    if (text.trim() === '') return this.#answer('empty');
    return this.#answer(await this.#reader().readText(text, kindOfText(text)));
  }

  /** Checks a file by its content: a picture, an email, a contact card, a calendar entry, a text, a page or a document. */
  async checkFile(name: string, content: Uint8Array): Promise<ScamAnswer> {
    return this.#answer(await this.#reader().readFile(name, content));
  }

  #reader(): InputReader {
    return new InputReader(this.#surroundings, this.#pictures);
  }

  /** Makes the result from the parsed input, or from the reason why nothing was read. */
  #answer(read: Reading | NotCheckedCode): ScamAnswer {
    const reading: Reading =
      typeof read === 'string' ? { kind: 'unknown', pieces: [], attachments: [], coverage: { words: read } } : read;
    const message = takeMessageApart(reading.kind, reading.pieces, reading.attachments, this.#surroundings);
    // Each piece is also judged separately, so that a file gets at least the same verdict inside a mail as alone.
    const alone = reading.pieces.length < 2 ? [] : reading.pieces.map((_, at) => messageOfPiece(message, reading.pieces, at));
    const judged = [message, ...alone].map((one) => {
      const signs = findSigns(one, this.#surroundings);
      return { signs, verdict: judge(one, signs) };
    });
    const signs = judged.flatMap((one) => one.signs);
    const found = VERDICTS.find((verdict) => judged.some((one) => one.verdict === verdict)) ?? 'nothing_found';
    const coverage = mergeCoverage([reading.coverage, message.coverage, this.#linkCoverage(message)]);
    const isUnread = found === 'nothing_found' && (hasUnread(coverage) || !hasChecked(coverage));
    const verdict: ScamVerdict = isUnread ? 'not_checked' : found;
    return {
      verdict,
      headline: HEADLINES[isUnread && hasChecked(coverage) ? 'partly_checked' : verdict],
      kind: message.kind,
      reasons: chooseReasons(signs).map((sign) => reasonOf(sign)),
      parts: partsOf(message),
      advice: adviceFor(verdict, message, signs),
      checked: checkedList(coverage),
    };
  }

  #linkCoverage({ links }: Message): Coverage {
    if (links.length === 0) return {};
    const { lists = [] } = this.#surroundings;
    return { domain_lists: lists.length === 0 ? 'no_lists' : 'checked', link_target: 'never_visited' };
  }
}

/** Verdicts of a parsed input, worst first. */
const VERDICTS = ['dangerous', 'suspicious', 'nothing_found'] as const;

function kindOfText(text: string): InputKind {
  const bare = text.trim();
  if (PHONE.test(bare)) return 'phone';
  return LONE_LINK.test(bare) && /[.:/]/u.test(bare) ? 'link' : 'text';
}

function reasonOf({ code, params, span, weight }: Sign): ScamAnswer['reasons'][number] {
  return { code, params, sentence: REASON_SENTENCES[code](params), span: span ?? null, weight };
}
