import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compareNames, findFolded, foldText, normalPassword, PLAIN_LETTERS, typedCode } from './text.ts';

describe('the fold of a text', () => {
  test('leaves nothing to fold', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(foldText(foldText(text))).toBe(foldText(text));
      }),
      { seed: 32, numRuns: 300 },
    );
  });

  test('is the same of each normal form', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        for (const form of ['NFD', 'NFKC', 'NFKD'] as const) expect(foldText(text.normalize(form))).toBe(foldText(text));
      }),
      { seed: 32, numRuns: 300 },
    );
  });

  test('of the plain letters is what folding gives beside a letter that is not plain', () => {
    const plain = new RegExp(`^[${PLAIN_LETTERS}]$`, 'u');
    for (let point = 1; point < 0x10000; point += 1) {
      const letter = String.fromCharCode(point);
      if (plain.test(letter)) expect(foldText(`ß${letter}`)).toBe(`ss${foldText(letter)}`);
    }
  });

  test.each([
    ['Die STRASSE', 'straße', 'STRASSE'],
    ['cafe\u0301 au lait', 'CAFÉ', 'cafe\u0301'],
    ['ﬁlet', 'fi', 'ﬁ'],
    ['İstanbul', 'istan', 'İstan'],
    ['a👨‍👩‍👧b', 'B', 'b'],
  ])('in %j the words %j stand as %j', (text, words, found) => {
    const place = findFolded(text, words);
    expect(text.slice(place?.start, place?.end)).toBe(found);
  });

  test('finds nothing where the words are not', () => {
    expect(findFolded('report', 'x')).toBeUndefined();
    expect(findFolded('report', '')).toBeUndefined();
  });

  test('orders names by their letters first, and by code points', () => {
    expect(['b', 'Ä', '😀', 'a', '\uffee', 'á', 'B2'].toSorted(compareNames)).toEqual(['a', 'á', 'Ä', 'b', 'B2', '\uffee', '😀']);
  });
});

test.each([
  ['Zu\u0308rich \u212b', 'Zürich Å'],
  ['ｐａｓｓｗｏｒｄ', 'password'],
])('the password %j is %j', (typed, normal) => {
  expect(normalPassword(typed)).toBe(normal);
});

test.each([
  ['１２３ ４５６', '123456'],
  ['123\u2013456', '123-456'],
  ['\u200b123\u00a0456\ufeff', '123456'],
  ['١٢٣٤٥٦', '123456'],
  ['१२३४५६', '123456'],
  ['𝟷𝟸𝟹', '123'],
  ['ＡＢＣＤ－ＥＦＧＨ', 'ABCD-EFGH'],
  ['abcd‐efgh—ijkl−mnop', 'abcd-efgh-ijkl-mnop'],
  ['\u{116d0}\u{116db}\u{116e3}', '019'],
])('the typed code %j is %j', (typed, code) => {
  expect(typedCode(typed)).toBe(code);
});
