import fc from 'fast-check';
import { expect, test } from 'vitest';
import { canonicalEmail } from './email.ts';
import { shownEmail } from './shown-email.ts';

test.each([
  ['name@xn--bcher-kva.example', 'name@bücher.example'],
  ['name@xn--r8jz45g.xn--zckzah', 'name@例え.テスト'],
  ['name@xn--fa-hia.example', 'name@faß.example'],
  ['name@mail.xn--mgbh0fb.xn--kgbechtv', 'name@mail.مثال.إختبار'],
  ['name@xn--h2brj9c', 'name@भारत'],
  ['name@xn--e1afmkfd.xn--p1ai', 'name@пример.рф'],
  ['name@example.com', 'name@example.com'],
  ['name@localhost', 'name@localhost'],
  ['no address', 'no address'],
])('%s is shown as %s', (email, shown) => {
  expect(shownEmail(email)).toBe(shown);
});

// A domain that looks like another one stays in the form that cannot be mistaken.
test.each([
  ['apple in Cyrillic', 'name@xn--80ak6aa92e.com'],
  ['a Cyrillic a among Latin letters', 'name@xn--pypal-4ve.com'],
  ['a Greek omicron among Latin letters', 'name@xn--ggle-0nda.com'],
  ['what is no Punycode', 'name@xn--a-b-c-.com'],
  ['what IDNA would write in another way', 'name@xn--BCHER-KVA-.example'],
  ['nothing behind the mark', 'name@xn--.com'],
])('%s is shown as it is', (_, email) => {
  expect(shownEmail(email)).toBe(email);
});

test('the shown form is the same address', () => {
  const letters = fc.constantFrom(...'abcüößéñчжשאبت日本ไทยक한글αβ'.split(''));
  fc.assert(
    fc.property(fc.string({ unit: letters, minLength: 1, maxLength: 12 }), (label) => {
      const email = canonicalEmail(`name@${label}.example`);
      if (email !== undefined) expect(canonicalEmail(shownEmail(email))).toBe(email);
    }),
    { seed: 32, numRuns: 1_000 },
  );
});

test('any text is shown', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...'abz019-@.xn'.split('')), maxLength: 30 }), (text) => {
      expect(typeof shownEmail(`a@xn--${text}`)).toBe('string');
    }),
    { seed: 32, numRuns: 2_000 },
  );
});
