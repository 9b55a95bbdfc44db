import { changeUsername, register } from '@palisade/contract/auth';
import { describe, expect, test } from 'vitest';
import { lookAlikeKey } from '#platform/look-alikes.ts';
import { Problem } from '#platform/problem.ts';
import { problemOf, replyOf, startTestApp } from '#test/harness.ts';
import { storedUsername, usernameKey } from './username.ts';

function faultOf(username: string): string | undefined {
  try {
    storedUsername(username);
    return undefined;
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return error.errors?.[0]?.message;
  }
}

describe('a username', () => {
  test.each([
    'maria',
    'Maria Schäfer',
    'José-Luis_97',
    "O'Brien",
    'Ελένη',
    'Дмитрий 2',
    'محمد',
    'דנה',
    'प्रिया',
    'สมชาย',
    '山田 太郎',
    'やまだ Taro カナ',
    'ㄅㄆㄇ 王 Wang',
    '김민수 Kim',
    'nguyễn',
    'fox 🦊',
    '007',
    'ᏣᎳᎩ',
  ])('is any that somebody would have: %s', (username) => {
    expect(faultOf(username)).toBeUndefined();
  });

  // proves: attack-B.8-1
  test.each([
    ['zero-width space', 'mar\u200bia'],
    ['zero-width joiner', 'mar\u200dia'],
    ['byte order mark', '\ufeffmaria'],
    ['right-to-left override', 'maria\u202egnp'],
    ['right-to-left isolate', 'maria\u2067x'],
    ['left-to-right mark', 'maria\u200e'],
    ['Hangul filler', 'maria\u3164'],
    ['Hangul choseong filler', '\u115fmaria'],
    ['half-width Hangul filler', 'maria\uffa0'],
    ['Braille blank', 'maria\u2800'],
    ['variation selector', 'maria\ufe0f'],
    ['further variation selector', 'maria\u{e0101}'],
    ['tag', 'maria\u{e0041}'],
    ['soft hyphen', 'ma\u00adria'],
    ['combining grapheme joiner', 'ma\u034fria'],
    ['line separator', 'ma\u2028ria'],
    ['line feed', 'ma\nria'],
    ['C1 control character', 'ma\u0085ria'],
    ['lone surrogate', 'ma\ud800ria'],
    ['private use character', 'ma\ue000ria'],
    ['Ogham space', 'ma\u1680ria'],
    ['nothing but a filler', '\u3164'],
  ])('has no %s', (_, username) => {
    expect(faultOf(username)).toBe('This username has invisible characters. Type it instead of pasting it.');
  });

  // proves: attack-B.8-1
  test.each([
    ['Latin and Cyrillic', 'mаria'],
    ['Latin and Greek', 'mariα'],
    ['Latin and Armenian', 'mariaո'],
    ['Latin and Cherokee', 'Ꮇaria'],
    ['Cyrillic and Han', 'Дми王'],
    ['Hangul and Kana', '김カナ'],
    ['Latin and Hebrew', 'maria דנה'],
    ['a script of old', '𐎠𐎡'],
  ])('mixes no alphabets: %s', (_, username) => {
    expect(faultOf(username)).toMatch(/^Use letters from one alphabet/);
  });

  test.each(['\u0301maria', 'a \u0301', 'a\u0301\u0301', 'z\u0300\u0301\u0302\u0303\u0304'])(
    'has no accents without a letter, nor piled up: %j',
    (username) => {
      expect(faultOf(username)).toBe('Remove the extra accents from the username.');
    },
  );

  test.each([
    'می\u200cخواهم',
    'ශ්\u200dරී',
    'क्\u200dष',
    '👨\u200d👩\u200d👧',
    '❤\ufe0f\u200d🔥',
    '1\ufe0f\u20e3',
    '🏴\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}',
  ])('has the joiners that spelling and emoji need: %j', (username) => {
    expect(storedUsername(username)).toBe(username.normalize('NFKC'));
  });

  test.each([
    'ma\u200cria',
    'ma\u200dria',
    'می\u200c',
    '\u200cمی',
    'می\u200c\u200cخواهم',
    '👨\u200d',
    '👨\u200da',
    'a\ufe0f',
    '\u{e0067}',
    'می\u200dخواهم',
  ])('has none that hides: %j', (username) => {
    expect(faultOf(username)).toMatch(/^This username has invisible characters/);
  });

  test('is the same name with a joiner and without it', () => {
    for (const [one, other] of [
      ['می\u200cخواهم', 'میخواهم'],
      ['👨\u200d👩\u200d👧', '👨👩👧'],
      ['❤\ufe0f', '❤'],
    ] as const) {
      expect(usernameKey(one)).toBe(usernameKey(other));
      expect(lookAlikeKey(one)).toBe(lookAlikeKey(other));
    }
  });

  test('is stored in one form, with single spaces', () => {
    expect(storedUsername('  ｍａｒｉａ   lopez ')).toBe('maria lopez');
    expect(storedUsername('𝓶𝓪𝓻𝓲𝓪')).toBe('maria');
    expect(faultOf('\ufdfa'.repeat(4))).toMatch(/too long/);
    expect(faultOf('   ')).toBe('Enter a username.');
  });
});

test.each([
  ['palisade', 'paIisade'],
  ['Palisade', 'paIisade'],
  ['paypal', 'раураl'],
  ['paypal', 'раураӀ'],
  ['morning', 'moming'],
  ['user10', 'userlO'],
  ['admin', 'аdmіn'],
  ['scope', 'ѕсоре'],
  ['maria', 'ｍａｒｉａ'],
  ['Αlpha', 'Alpha'],
])('%s and %s look alike', (one, other) => {
  expect(lookAlikeKey(one)).toBe(lookAlikeKey(other));
});

test.each([
  ['maria', 'mario'],
  ['josé', 'jose'],
  ['anna', 'ana'],
  ['user1', 'user2'],
])('%s and %s do not', (one, other) => {
  expect(lookAlikeKey(one)).not.toBe(lookAlikeKey(other));
});

describe('two people', async () => {
  const { call, signIn } = await startTestApp();
  const ask = (username: string, email: string) =>
    call(register, { body: { email, username, password: 'a long enough password' } });

  // proves: attack-B.8-2, security-8
  test('have no names that look alike, in any order', async () => {
    await signIn('palisade');
    const { token } = await signIn('other');
    const refused = {
      status: 409,
      code: 'username_taken',
      detail: 'This username looks too much like an existing one. Choose another.',
    };
    for (const username of ['paIisade', 'PaIisade', 'pa1isade', 'pa|isade'])
      expect(problemOf(await ask(username, 'thief@example.com'))).toMatchObject(refused);
    expect(problemOf(await call(changeUsername, { token, body: { username: 'pa1isade' } }))).toMatchObject(refused);
    expect(problemOf(await ask('PALISADE', 'thief@example.com')).detail).toBe('This username is taken. Choose another.');
    const whole = 'раlіѕаdе'.replaceAll('d', 'ԁ').replaceAll('l', 'Ӏ');
    expect(problemOf(await ask(whole, 'thief@example.com'))).toMatchObject(refused);
  });

  test('of several at once one gets a name', async () => {
    const names = ['sailor', 'saiIor', 'SaiIor', 'sai1or', 'sai|or'];
    const answers = await Promise.all(names.map((name, place) => ask(name, `sailor-${place}@example.com`)));
    expect(answers.filter(({ ok }) => ok)).toHaveLength(1);
  });

  test('change their own name to what looks like it', async () => {
    const { token } = await signIn('ilse');
    for (const username of ['Ilse', 'lIse', 'ilse'])
      expect(replyOf(await call(changeUsername, { token, body: { username } }))).toMatchObject({ username });
  });
});
