import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ANSWER_ABOVE, splitForwarded, withoutNotice } from './quoted.ts';

const NOTICE = [
  ...[ANSWER_ABOVE, '', 'Hello Maria,', '', 'Ana replied to you in the support chat.', ''],
  ...['Read it here: https://help.example.com/chat', '', '-- ', 'Palisade', 'Support: +43 1 234'],
];
const letter = NOTICE.join('\n');
const quoted = NOTICE.map((line) => `> ${line}`).join('\n');

describe('an answer by mail is without our own notice', () => {
  test.each([
    ['below, marked', `It works.\n\n${quoted}`, 'It works.'],
    [
      'with an attribution',
      `It works.\n\nOn Sun, 22 Nov 2026 at 10:00, Palisade <support@example.com>\nwrote:\n\n${quoted}\n`,
      'It works.',
    ],
    ['with an attribution in German', `Es geht.\n\nAm 22.11.26 um 10:00 schrieb Palisade:\n${quoted}`, 'Es geht.'],
    ['above the words', `On Sun, 22 Nov 2026, Palisade wrote:\n${quoted}\n\nIt works.`, 'It works.'],
    [
      'with the header that Outlook writes',
      `It works.\n\n________________________________\nFrom: Palisade <support@example.com>\nSent: Sunday\nTo: Maria\nSubject: x\n\n${letter}`,
      'It works.',
    ],
    ['with a divider', `It works.\n\n-----Original Message-----\n${letter}`, 'It works.'],
    ['without marks', `It works.\n\n${letter}`, 'It works.'],
    ['marked twice', `It works.\n\n${quoted.replaceAll(/^/gmu, '> ')}`, 'It works.'],
    [
      'broken over lines',
      `It works.\n\n> To reply by email, write above\n> this line.\n>\n> Hello Maria,\n>\n> Ana replied to you in the\n> support chat.\n>\n> Read it here:\n> https://help.example.com/chat`,
      'It works.',
    ],
    ['alone', quoted, ''],
    [
      'written by an earlier version',
      `It works.\n\n> To answer by mail, write above this line.\n>\n> Hello Maria,\n>\n> Ana has answered you in the support chat.`,
      'It works.',
    ],
  ])('%s', (_how, text, own) => {
    expect(withoutNotice(text)).toBe(own);
  });

  test.each([
    ['lines that begin with >', 'The log says:\n> one\n> two\nWhat is that?'],
    ['quotes of somebody else', 'On Sun, 22 Nov 2026, Eve wrote:\n> Pay 99 at once.\n\nIs that from you?'],
    ['lines that look like a header', 'From: the first day on it fails.\nDate: 22 November\nTo: nobody\nSubject: none'],
    ['a divider', 'above\n-----Original Message-----\nbelow'],
    ['a signature', 'It works.\n--\nMaria Example\nExample Ltd'],
    ['a rule', 'one\n____________________\ntwo'],
    ['a colon at the end', 'These two:\n> one'],
    ['the words of the first line in a sentence', `What does "${ANSWER_ABOVE}" mean?`],
    ['a greeting like ours', 'Hello Maria,\n\nAna replied to you in the support chat.'],
  ])('and keeps everything else: %s', (_what, text) => {
    expect(withoutNotice(text)).toBe(text);
  });

  test('and keeps the text between and after a quoted notice', () => {
    const text = `First.\n\n> ${ANSWER_ABOVE}\n> \n> Hello Maria,\nIn between.\n> Ana says more\nLast.`;
    expect(withoutNotice(text)).toBe('First.\n\nIn between.\n> Ana says more\nLast.');
  });

  test('and loses no line of a text that has no notice in it', () => {
    const line = fc.oneof(
      fc.string({ maxLength: 40 }),
      fc.constantFrom(
        '> a',
        'From: x',
        'Date: y',
        'To: z',
        '-- ',
        '-----Original Message-----',
        '____________________',
        'wrote:',
        '',
        'On Sun a@b wrote:',
      ),
    );
    fc.assert(
      fc.property(fc.array(line, { maxLength: 30 }), (lines) => {
        const text = lines.join('\n');
        const words = (of: string) => of.split(/\s+/u).filter((word) => word !== '');
        expect(words(withoutNotice(text))).toEqual(words(text));
      }),
      { seed: 32, numRuns: 1_000 },
    );
  });
});

describe('a mail that is forwarded within another', () => {
  const header =
    'From: Bank <eve@example.net>\nDate: Sun, 22 Nov 2026\nSubject: Your account\nTo: maria@example.com\n\nPay at once.';

  test.each([
    ['Gmail', 'Is this real?', `---------- Forwarded message ---------\n${header}`],
    ['Apple Mail', 'Is this real?', `Begin forwarded message:\n\n${header}`],
    ['Thunderbird, German', 'Ist das echt?', `-------- Weitergeleitete Nachricht --------\n${header}`],
    ['nothing above it', '', `---------- Forwarded message ---------\n${header}`],
  ])('is apart from the words above it: %s', (_program, own, forwarded) => {
    expect(splitForwarded(`${own}\n\n${forwarded}`.trim())).toEqual({ own, forwarded });
  });

  test.each([['Forwarded message:\nplease read it'], ['It says "Begin forwarded message:" and nothing else'], [header]])(
    'is none where no mail begins: %s',
    (text) => {
      expect(splitForwarded(text)).toEqual({ own: text, forwarded: undefined });
    },
  );
});
