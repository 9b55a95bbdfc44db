/** The product's name, which attackers try early as a password. */
const PRODUCT_NAME = 'Palisade';
/** Minimum length of a name's part. Shorter parts are in too many passwords. */
const PART_LENGTH_MINIMUM = 3;

/** Look-alike characters in passwords: each character of a group counts as the first one. */
const ALIKE = new Map(
  ['a4@', 'b8', 'e3', 'g69', 'i1l!|', 'o0', 's5$', 't7+', 'z2'].flatMap(([first = '', ...others]) =>
    others.map((other) => [other, first] as const),
  ),
);
const LETTER = /\p{L}/u;

/** Lower-cases a text and removes accents and compatibility forms: `ＭＡＲÍＡ` becomes `maria`. */
function plain(text: string): string {
  return text.normalize('NFKD').toLowerCase().replaceAll(/\p{M}/gu, '');
}

function squeezed(text: string): string {
  return plain(text).replaceAll(/[^\p{L}\p{N}]/gu, '');
}

const folded = (text: string) => [...text].map((character) => ALIKE.get(character) ?? character);

/** The words of a name: its parts, and all parts joined. */
function wordsOf(name: string): string[] {
  const parts = plain(name).split(/[^\p{L}\p{N}]+/u);
  return [...parts, parts.join('')].filter((part) => [...part].length >= PART_LENGTH_MINIMUM && LETTER.test(part));
}

/** The names of an account that an attacker knows; unknown ones are left out. The two sides of an email address are separate names. */
export function namesAround({
  provider_name = '',
  username = '',
  email = '',
}: {
  provider_name?: string | undefined;
  username?: string | undefined;
  email?: string | undefined;
}): string[] {
  return [PRODUCT_NAME, provider_name, username, email, ...email.split('@')].filter((name) => name !== '');
}

/**
 * Whether a password consists only of names, in any case and with look-alike characters, with digits, punctuation and spaces around and between them:
 * `Palis4de-2026!` for the name Palisade. One letter outside the names makes it false (OWASP ASVS 5, 6.1.2 and 6.2.11; NIST SP 800-63B-4, 3.1.1.2).
 */
export function isOnlyNames(password: string, names: readonly string[]): boolean {
  const whole = squeezed(password);
  if (whole !== '' && names.some((name) => squeezed(name) === whole)) return true;
  if (!LETTER.test(whole)) return false;
  const words = [...new Set(names.flatMap(wordsOf))].map(folded);
  const characters = [...plain(password)];
  const alike = folded(plain(password));
  // Result for each prefix of the password: 0 no match, 1 match without a name, 2 match with a name.
  const read = new Uint8Array(characters.length + 1);
  read[0] = 1;
  for (const [place, character] of characters.entries()) {
    const here = read[place] ?? 0;
    if (here === 0) continue;
    if (!LETTER.test(character)) read[place + 1] = Math.max(here, read[place + 1] ?? 0);
    for (const word of words) {
      if (word.every((letter, offset) => alike[place + offset] === letter)) read[place + word.length] = 2;
    }
  }
  return read.at(-1) === 2;
}
