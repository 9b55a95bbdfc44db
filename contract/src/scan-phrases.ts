import { MEDIA_TYPE_WORDS } from './media-type.ts';
import { type Phrase, phraseSchema, phrasesOf, type Template } from './phrase.ts';

/** All notes on a scanned file: unread parts, and facts that a person should know. A released code never changes its meaning or parameters. */
export const SCAN_PHRASES = {
  /** The description of a rule, in English, from its rule pack or feed. */
  rule: { english: '{description}', params: { description: 'text' } },

  'container.unopened': {
    english: 'At byte {at} there seems to be a container, which could not be opened.',
    params: { at: 'number' },
  },
  'container.unopened.format': {
    english: 'At byte {at} there seems to be a container in the format {format}, which could not be opened.',
    params: { at: 'number', format: 'text' },
  },
  unexplained: {
    english: 'The {bytes} bytes from byte {at} on belong to nothing in it and look like nothing known.',
    params: { bytes: 'number', at: 'number' },
  },
  'format.encrypted': { english: 'Its format is {format}, which is encrypted as a whole.', params: { format: 'text' } },
  'format.unsupported': { english: 'Its format is {format}, which nothing here opens.', params: { format: 'text' } },
  'archive.other_contents': { english: 'Its headers list other contents than were unpacked.' },
  'capture.cut_packets': {
    english: 'Of {count} of its packets only the first bytes were captured: what followed is not in it.',
    params: { count: 'number' },
  },
  'macro.without_source': {
    english:
      'A macro is there in its compiled form alone, without the text that it was made from: what it does could not be read.',
  },
  'macro.other_source': {
    english: 'The compiled form of a macro holds texts that are not in its source: what it does could not be read.',
  },
  'macro.old_form': { english: 'A macro was compiled by a Visual Basic before version 6, in a form that could not be read.' },
  'macro.word_basic': {
    english: 'It has macros of Word 6 or 95 (WordBasic): the texts in them were matched, what else they do could not be read.',
  },
  'macro.long_sheets': { english: 'It has so many macro sheets, or so long ones, that not all of them could be read.' },
  'script.unevaluated': { english: 'It runs commands that it makes while it runs. We couldn’t read these commands.' },
  disguise: {
    english: 'Its name ends in .{ending}, but its content is {media_type}.',
    params: { ending: 'text', media_type: MEDIA_TYPE_WORDS },
  },
  cleared: {
    english: 'On {day} it was called {threat}. We checked it again with newer threat definitions and found nothing.',
    params: { day: 'text', threat: 'text' },
  },
} as const satisfies Record<string, Template>;
type ScanCode = keyof typeof SCAN_PHRASES;
export type ScanPhrase = Phrase<ScanCode>;

export const { make: scanPhrase, english: scanEnglish, known: knownScanPhrase } = phrasesOf(SCAN_PHRASES);

/** A phrase of this catalog, such as an engine process sends. */
export const scanPhraseSchema = phraseSchema.transform((phrase, context): ScanPhrase => {
  const known = knownScanPhrase(phrase);
  if (known !== undefined) return known;
  context.addIssue({ code: 'custom', message: `There is no phrase ${phrase.code}.` });
  return scanPhrase('rule', { description: '' });
});

/** A note in English. `member` is the part of the file that it is about; null for the file itself. */
export function noteInEnglish({ member, phrase }: { member: string | null; phrase: ScanPhrase }): string {
  const english = scanEnglish(phrase);
  return member === null ? english : `${member}: ${english}`;
}
