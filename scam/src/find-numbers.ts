import { type CountryCode, parsePhoneNumberFromString } from 'libphonenumber-js/min';

/** A phone number of a text. `kind` says what a call costs or who answers, where the number alone shows it. */
export interface FoundNumber {
  /** The number as the text has it. */
  shown: string;
  /** In the form +49..., or the short number itself. */
  number: string;
  country: string | undefined;
  kind: 'ordinary' | 'premium' | 'short';
  start: number;
  end: number;
}

/**
 * Beginnings of numbers that cost more than a call, by country. United Kingdom: 09 and 087 (Ofcom, National Telephone Numbering
 * Plan); Germany: 0900, 0137 and 118
 * (Bundesnetzagentur); Austria: 0900, 0901, 0930, 0931 (RTR); Switzerland: 0900, 0901, 0906 (BAKOM); France: 081, 082, 089
 * (ARCEP); Spain: 803, 806, 807, 905 (CNMC);
 * Italy: 89x (AGCOM); Portugal: 601, 607, 608, 760, 761, 762 (ANACOM); Netherlands: 0900, 0906, 0909 (ACM); Poland: 70x (UKE);
 * North America: 900 (NANPA).
 */
const PREMIUM: Readonly<Record<string, RegExp>> = {
  GB: /^\+44(?:9|87)/u,
  DE: /^\+49(?:900|137|118)/u,
  AT: /^\+43(?:90[01]|93[01])/u,
  CH: /^\+41(?:90[016])/u,
  FR: /^\+33(?:81|82|89)/u,
  ES: /^\+34(?:80[367]|905)/u,
  IT: /^\+3989/u,
  PT: /^\+351(?:60[178]|76[0-2])/u,
  NL: /^\+31(?:900|906|909)/u,
  PL: /^\+4870/u,
  US: /^\+1900/u,
};

/**
 * The countries that a number without a country code may be of, the likely one first; the number decides among them by its length
 * and beginning.
 */
const COUNTRIES: readonly CountryCode[] = ['GB', 'DE', 'FR', 'ES', 'IT', 'PT', 'NL', 'PL', 'US'];

/** Numbers of old British advertisements are written in any grouping: 0906 170 1461, 09061701461. */
const BRITISH_PREMIUM = /(?<![\d+])0(?:9\d|87)[\d ]{7,11}(?!\d)/gu;
/** A short number that a message is to be sent to, or that is to be called. */
const SHORT =
  /\b(?:(?:text|txt|txting|send|sms|mms|call|reply|rply|envia|enviar|stuur|invia|wyslij)\b[^.\n]{0,60}?(?:to|\b(?:2|at|al|an|naar|au|na))|(?:call|text|txt))\s?:?\s?(?<![\d£$€])(\d{4,6})(?!\d|[.,:]\d| ?\d)/giu;

/**
 * A possible number: digits with single signs between. The package's own search takes seconds for a text of digits; it is asked
 * about each candidate instead.
 */
const CANDIDATE = /(?<![\p{L}\p{N}+.,/:-])(?:\+|00|\()?\d(?:[ ()./-]{0,2}\d){5,17}(?![\p{L}\p{N}])/gu;

const isPremium = (number: string) => Object.values(PREMIUM).some((pattern) => pattern.test(number));

/** The phone numbers of a text. A text without four digits has none and costs nothing. */
export function findNumbers(text: string, country?: string): FoundNumber[] {
  if (!/\d[\d ()./-]{2,}\d/u.test(text)) return [];
  const found: FoundNumber[] = [];
  const isFree = (start: number, end: number) => !found.some((other) => start < other.end && end > other.start);
  for (const match of text.matchAll(BRITISH_PREMIUM)) {
    const shown = match[0].trimEnd();
    const number = `+44${shown.replaceAll(' ', '').slice(1)}`;
    if (number.length === 13 || number.length === 12)
      found.push({ shown, number, country: 'GB', kind: 'premium', start: match.index, end: match.index + shown.length });
  }
  for (const match of text.matchAll(SHORT)) {
    const number = match[1] ?? '';
    const start = match.index + match[0].length - number.length;
    if (isFree(start, start + number.length))
      found.push({ shown: number, number, country: undefined, kind: 'short', start, end: start + number.length });
  }
  const preferred = COUNTRIES.find((one) => one === country);
  const countries = preferred === undefined ? COUNTRIES : [preferred, ...COUNTRIES];
  for (const { 0: match, index } of text.matchAll(CANDIDATE)) {
    if (!isFree(index, index + match.length)) continue;
    // With a country code the first country finds it; a national number is of the first country that it fits.
    for (const one of countries) {
      const number = parsePhoneNumberFromString(match, { defaultCountry: one, extract: false });
      if (number?.isValid() !== true) continue;
      const kind = isPremium(number.number) ? 'premium' : 'ordinary';
      found.push({ shown: match, number: number.number, country: number.country, kind, start: index, end: index + match.length });
      break;
    }
  }
  return found.sort((a, b) => a.start - b.start);
}
