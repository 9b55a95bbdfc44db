import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isOnlyNames, namesAround } from './password-names.ts';

const names = namesAround({ provider_name: 'Northwind Internet', username: 'mark', email: 'm.lópez77@green-fields.co.uk' });

// proves: asvs-6.2.11
test.each([
  ['palisade2026!'],
  ['Palisade'],
  ['P@L1S4D3***'],
  ['!!2026palisade'],
  ['palisadepalisade'],
  ['northwind-2026'],
  ['Northwind Internet'],
  ['InternetNorthwind1'],
  ['mark1234'],
  ['1234mark'],
  ['MÁRK.1990'],
  ['m4rk@palisade'],
  ['mark mark mark'],
  ['m.lopez77@green-fields.co.uk'],
  ['mlopez77'],
  ['lopez77lopez77'],
  ['l0p3z77!'],
  ['greenfields#1'],
  ['mark@greenfields'],
])('%j is nothing but names', (password) => {
  expect(isOnlyNames(password, names)).toBe(true);
});

test.each([
  ['my-mark-keeps-twelve-geese'],
  ['markx1234'],
  ['xmark1234'],
  ['palisades are made of wood'],
  ['m'],
  [''],
  ['12345678'],
  ['4177-0077-1190'],
  ['ukukukuk'],
  ['a long enough password'],
  ['мой пароль длинный'],
])('%j is more, or something else', (password) => {
  expect(isOnlyNames(password, names)).toBe(false);
});

test('a name without letters counts as it is, and not within other digits', () => {
  const digits = namesAround({ username: '5550-1234' });
  expect(isOnlyNames('55501234', digits)).toBe(true);
  expect(isOnlyNames('9555012349', digits)).toBe(false);
});

test('names of other alphabets count', () => {
  expect(isOnlyNames('Москва-2026', ['москва'])).toBe(true);
  expect(isOnlyNames('𐐀𐐁𐐂 2026', ['𐐨𐐩𐐪'])).toBe(true);
  expect(isOnlyNames('東京タワー2026', ['東京タワー'])).toBe(true);
});

describe('for any names', () => {
  const name = fc.stringMatching(/^[a-pA-P]{3,12}$/);
  const around = fc.stringMatching(/^[0-9 .,;:_#%&/()=?*-]{0,6}$/);
  const unlike = fc.stringMatching(/^[q-yQ-Y]{1,4}$/);

  test('a password of some of them with decoration is nothing else', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(around, name), { minLength: 1, maxLength: 4 }),
        fc.array(name),
        around,
        (parts, others, end) => {
          const names = [...others, ...parts.map(([, word]) => word.toLowerCase())];
          expect(isOnlyNames(parts.flat().join('') + end, names)).toBe(true);
        },
      ),
    );
  });

  test('letters of none of them make it more', () => {
    fc.assert(
      fc.property(fc.array(name), around, name, unlike, around, (others, before, first, letters, after) => {
        expect(isOnlyNames(`${before}${first}${letters}${after}`, [first, ...others])).toBe(false);
      }),
    );
  });

  test('and any text, what stands around it does not change the answer', () => {
    const text = fc.string({ unit: 'binary', maxLength: 128 });
    fc.assert(
      fc.property(text, fc.array(text, { maxLength: 4 }), (password, names) => {
        for (const tried of [password, ...names]) expect(isOnlyNames(` ${tried}.`, names)).toBe(isOnlyNames(tried, names));
      }),
    );
  });
});
