import { getCountries, getCountryCallingCode } from 'libphonenumber-js/min';
import { patternOf } from './boundaries.ts';
import type { Brand } from './brands.ts';
import type { FoundAccount } from './find-accounts.ts';
import type { FoundLink } from './find-links.ts';
import { comparable, type Readable } from './readable.ts';

/** Patterns that occur in texts of only one country. Euro, dollar and krone are used in several. */
const SIGNS: readonly (readonly [country: string, pattern: RegExp])[] = [
  ['GB', /[£￡]|\b(?:gbp|pounds?|quid|pence)\b/iu],
  // Pence and a postcode: 150p, 10ppm, CR9 5WB.
  ['GB', /(?<![\w.])\d{1,3}p(?:pm|\b)|\b[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2}\b/u],
  ['PL', /zł|\bpln\b/iu],
  ['CH', /\b(?:chf|sfr)\b/iu],
  ['BR', /R\$/u],
  ['JP', /¥|円/u],
  ['US', /\bUSD?\s?\$|\b(?:IRS|USPS|SSN)\b/u],
];
/** Country-code domains that are used worldwide because of their letters. */
const GENERIC_ENDINGS = new Set('ai am be cc co fm gg io is it.com la li ly me sh so st to tv ws'.split(' '));
const LANGUAGES = ['en', 'de', 'es', 'fr', 'it', 'pt', 'nl', 'pl'];
const OTHER_NAMES: readonly (readonly [name: string, country: string])[] = [
  ...(['uk', 'britain', 'great britain', 'england', 'scotland', 'wales'] as const).map((name) => [name, 'GB'] as const),
  ['usa', 'US'],
  ['holland', 'NL'],
];
/** Country names in the eight languages; the longest has four words. */
const NAMES: ReadonlyMap<string, string> = new Map([
  ...LANGUAGES.flatMap((language) => {
    const names = new Intl.DisplayNames([language], { type: 'region' });
    return getCountries().map((country) => [comparable(names.of(country) ?? country), country] as const);
  }),
  ...OTHER_NAMES,
]);
const NAME_WORDS = 4;

function namedCountries({ words }: Readable): string[] {
  return words.flatMap((_, at) =>
    Array.from({ length: NAME_WORDS }, (_unused, more) =>
      words
        .slice(at, at + more + 1)
        .map(({ text }) => text)
        .join(' '),
    ).flatMap((name) => NAMES.get(name) ?? []),
  );
}

const CALLING_CODES = new Map(getCountries().map((country) => [getCountryCallingCode(country), country]));
const WITH_CODE = patternOf('gu', String.raw`(?<!\d)(?:\+|\b00)(\d{1,3})`);

function prefixCountries(text: string): string[] {
  return [...text.matchAll(WITH_CODE)].flatMap(([, digits = '']) => {
    const code = [3, 2, 1].map((length) => digits.slice(0, length)).find((one) => CALLING_CODES.has(one));
    // Thirty countries share +1 and its number format; they count as US.
    const country = code === '1' ? 'US' : code === '44' ? 'GB' : CALLING_CODES.get(code ?? '');
    return country ?? [];
  });
}

/** The country of a brand whose country-code domains all belong to one country; undefined for other brands. */
function brandCountry({ domains }: Brand): string | undefined {
  const endings = new Set(domains.map((domain) => domain.slice(domain.lastIndexOf('.') + 1)).filter((one) => one.length === 2));
  const [only] = endings;
  return endings.size === 1 ? countryOfEnding(only) : undefined;
}

function countryOfEnding(ending: string | undefined): string | undefined {
  const last = ending?.split('.').at(-1) ?? '';
  if (last.length !== 2 || GENERIC_ENDINGS.has(last)) return undefined;
  return last === 'uk' ? 'GB' : last.toUpperCase();
}

/** The countries that a text indicates: by currency, country name, phone number, account, brand, or the domain of a link. */
export function countriesSaid(
  text: string,
  readable: Readable,
  { links, accounts, brands }: { links: readonly FoundLink[]; accounts: readonly FoundAccount[]; brands: readonly Brand[] },
): Set<string> {
  return new Set(
    [
      ...SIGNS.filter(([, pattern]) => pattern.test(text)).map(([country]) => country),
      ...namedCountries(readable),
      ...prefixCountries(text),
      ...accounts.map(({ country }) => country),
      ...brands.map(brandCountry),
      ...links.map(({ address }) => countryOfEnding(address.ending)),
    ].filter((country) => country !== undefined),
  );
}
