import { withoutPlacedJoiners } from '@palisade/contract/joiners';
import { isUniqueViolation } from '#platform/database.ts';
import { lookAlikeKey } from '#platform/look-alikes.ts';
import { Problem } from '#platform/problem.ts';
import { refuse, refuseField } from './auth.refusals.ts';

/** The username normalized for comparison: a zero-width joiner makes no new name. */
export function usernameKey(username: string): string {
  return username
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/\p{Default_Ignorable_Code_Point}/gu, '');
}

/** Invisible characters, characters that change the direction of text, and unassigned ones: default ignorable ones include zero-width characters, fillers, tags and variation selectors. */
const HIDDEN = /[\p{Default_Ignorable_Code_Point}\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\u2800]/u;
/** A combining mark without a base, twice the same, or more than four on one letter (UTS 39, section 5.4). */
const PILED_MARKS = /(?:^| )\p{M}|(\p{Mn})\1|\p{Mn}{5}/u;
const NO_SPACE = /[^\S ]/u;

/** Scripts of living languages (UAX 31, tables 5 and 7); those of East Asia are below. */
const SCRIPTS = [
  ...['Latin', 'Greek', 'Cyrillic', 'Armenian', 'Hebrew', 'Arabic', 'Thaana', 'Devanagari', 'Bengali', 'Gurmukhi', 'Gujarati'],
  ...['Oriya', 'Tamil', 'Telugu', 'Kannada', 'Malayalam', 'Sinhala', 'Thai', 'Lao', 'Tibetan', 'Myanmar', 'Georgian', 'Ethiopic'],
  ...[
    'Khmer',
    'Adlam',
    'Balinese',
    'Bamum',
    'Batak',
    'Canadian_Aboriginal',
    'Chakma',
    'Cham',
    'Cherokee',
    'Javanese',
    'Kayah_Li',
  ],
  ...[
    'Lepcha',
    'Limbu',
    'Lisu',
    'Mandaic',
    'Meetei_Mayek',
    'Miao',
    'Mongolian',
    'New_Tai_Lue',
    'Newa',
    'Nko',
    'Ol_Chiki',
    'Osage',
  ],
  ...['Saurashtra', 'Sundanese', 'Syloti_Nagri', 'Syriac', 'Tai_Le', 'Tai_Tham', 'Tai_Viet', 'Tifinagh', 'Vai', 'Wancho', 'Yi'],
];
/** Scripts that are commonly mixed: UTS 39's level "highly restrictive" (section 5.2). */
const TOGETHER = [
  ['Latin', 'Han', 'Hiragana', 'Katakana'],
  ['Latin', 'Han', 'Bopomofo'],
  ['Latin', 'Han', 'Hangul'],
];
// Common and inherited characters go with every script: digits, punctuation, emoji, combining marks.
const ONE_WRITING = [...SCRIPTS.map((script) => [script]), ...TOGETHER].map(
  (scripts) => new RegExp(`^[\\p{scx=Common}\\p{scx=Inherited}${scripts.map((script) => `\\p{scx=${script}}`).join('')}]*$`, 'u'),
);

/** In UTF-16 units; the compatibility form of one character can be long. */
const LENGTH_MAXIMUM = 64;

/** A username in its stored form: NFKC, with single spaces, and without characters that disguise it. @throws Problem `invalid_field` on `username`. */
export function storedUsername(given: string): string {
  const username = given.normalize('NFKC').replaceAll(/ {2,}/g, ' ').trim();
  const fault =
    (username === '' && 'empty') ||
    ((HIDDEN.test(withoutPlacedJoiners(given)) || HIDDEN.test(withoutPlacedJoiners(username)) || NO_SPACE.test(username)) &&
      'hidden') ||
    (PILED_MARKS.test(username.normalize('NFD')) && 'marks') ||
    (!ONE_WRITING.some((writing) => writing.test(username)) && 'mixed') ||
    (username.length > LENGTH_MAXIMUM && 'long');
  if (fault) throw refuseField('username', `username.${fault}`);
  return username;
}

/** The columns of a username that `storedUsername` made. */
export function usernameColumns(username: string) {
  return { username, username_key: usernameKey(username), username_skeleton: lookAlikeKey(username) };
}

/** The refusal of a taken name, or of one that looks like it. */
export function nameTaken(is_same: boolean): Problem {
  return is_same ? new Problem('username_taken') : refuse('username.looks_taken');
}

/** The problem for a name that the database refused; other errors unchanged. */
export function usernameRefusal(error: unknown): unknown {
  if (isUniqueViolation(error, 'username_key')) return nameTaken(true);
  return isUniqueViolation(error, 'username_skeleton') ? nameTaken(false) : error;
}
