import { afterAll, describe, expect, test } from 'vitest';
import { takeApart } from './address.ts';
import { isEmailSource } from './email.ts';
import { findAccounts } from './find-accounts.ts';
import { findLinks } from './find-links.ts';
import { findNumbers } from './find-numbers.ts';
import { readHtml } from './html-text.ts';
import { imitationOf } from './look-alike.ts';
import { readText } from './readable.ts';
import { ScamCheck } from './scam-check.ts';
import { surroundingsOf } from './surroundings.ts';
import { findConcepts } from './words/lists.ts';

/** Twenty times what the slowest reader took on two idle cores, for the longest text. ms. */
const PATIENCE_MS = 10_000;
const LONGEST = 20_000;
/** Beginnings, repetitions and ends of the readers' patterns. */
const PIECES = [
  ...[
    'a',
    '1',
    '.',
    '-',
    '@',
    ' ',
    '(',
    '[',
    '+',
    ':',
    '/',
    '\n',
    '\u0301',
    '\u200b',
    'a.',
    'a-',
    'a@',
    '1 ',
    '1.',
    '1(',
    '(1',
    'http://',
    'http:',
    'hxxp',
    'a [',
    'a [.',
    'a dot ',
  ],
  ...[
    'a.com/',
    'a@a.',
    'DE89',
    'DE8937 0400',
    '13AB',
    'bc1q',
    'T1AB',
    '$',
    '1,',
    '1.000',
    'your account ',
    'p a y ',
    'text to ',
    'X: y\n',
    'X: y\n z\n',
    '<a ',
    '<div style="',
    '&',
    'раy',
  ],
];

const surroundings = surroundingsOf();
const READERS: Readonly<Record<string, (text: string) => unknown>> = {
  readText,
  findLinks,
  findNumbers,
  findAccounts,
  isEmailSource,
  readHtml,
  findConcepts: (text) => findConcepts(readText(text)),
};
const check = new ScamCheck();
afterAll(() => check.close());

describe.each(Object.entries(READERS))('%s', (_, read) => {
  test.each(PIECES)('reads the longest text of %j in time', (piece) => {
    const text = piece.repeat(Math.ceil(LONGEST / piece.length)).slice(0, LONGEST);
    for (const one of [text, `${text}x`, `http://${text}`]) {
      const before = performance.now();
      read(one);
      expect(performance.now() - before).toBeLessThan(PATIENCE_MS);
    }
  });
});

test.each(['1'.repeat(60), '1-'.repeat(30), 'login'.repeat(12), 'login1'.repeat(10), 'a-'.repeat(30), 'pay'.repeat(20)])(
  'judges the label %jx in time',
  (label) => {
    const address = takeApart(`http://${`${label.slice(0, 62)}x`}.com/${`${label}/`.repeat(20)}`);
    const before = performance.now();
    if (address !== undefined) imitationOf(surroundings.brands, address);
    expect(performance.now() - before).toBeLessThan(1_000);
  },
);

test('a text of 20,000 combining marks is answered in time', async () => {
  const before = performance.now();
  await check.checkText(`a${'\u0323\u0301\u0345'.repeat(LONGEST / 3)}`);
  expect(performance.now() - before).toBeLessThan(PATIENCE_MS);
});
