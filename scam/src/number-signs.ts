import { type Message, spanOf } from './message.ts';
import type { Detector } from './signs.ts';
import { conceptSpan } from './word-signs.ts';

/** Countries whose organisations write in each language, for claims such as "your bank". */
const HOME: Readonly<Record<string, readonly string[]>> = {
  de: ['DE', 'AT', 'CH', 'LI', 'LU', 'BE', 'IT'],
  fr: ['FR', 'BE', 'CH', 'LU', 'CA', 'MC'],
  es: ['ES', 'MX', 'AR', 'CO', 'CL', 'PE', 'EC', 'VE', 'UY', 'US'],
  it: ['IT', 'CH', 'SM', 'VA'],
  pt: ['PT', 'BR'],
  nl: ['NL', 'BE'],
  pl: ['PL'],
};

/** The countries of the brands that a message names; empty if one has an international domain, or more than two are named. */
function claimedCountries({ named }: Message): string[] {
  const endings = named.flatMap(({ brand }) => brand.domains.map((domain) => domain.slice(domain.lastIndexOf('.') + 1)));
  const [only] = named;
  if (only === undefined || named.length > 2) return [];
  const countries = endings
    .filter((ending) => ending.length === 2)
    .map((ending) => (ending === 'uk' ? 'GB' : ending.toUpperCase()));
  return endings.some((ending) => ending.length > 2)
    ? []
    : countries.flatMap((country) => [country, ...(HOME[country.toLowerCase()] ?? [])]);
}

export const NUMBER_DETECTORS: readonly Detector[] = [
  {
    id: 'premium_number',
    find: (message) =>
      message.numbers
        .filter(({ kind }) => kind === 'premium')
        .map((number) => ({
          code: 'premium_number',
          weight: 2,
          params: { number: number.shown },
          span: spanOf(number.text, number),
        })),
  },
  {
    id: 'foreign_number',
    find: (message) => {
      const claimed = claimedCountries(message);
      if (claimed.length === 0 || !message.evidence.has('call')) return [];
      return message.numbers
        .filter(({ country }) => country !== undefined && !claimed.includes(country))
        .map((number) => ({
          code: 'foreign_number',
          weight: 1,
          params: { number: number.shown, country: number.country ?? '' },
          span: spanOf(number.text, number),
        }));
    },
  },
  {
    id: 'account_wrong',
    find: (message) =>
      message.accounts
        .filter(({ kind, isValid }) => kind === 'iban' && !isValid)
        .map((account) => ({
          code: 'account_wrong',
          weight: 1,
          params: { account: account.account },
          span: spanOf(account.text, account),
        })),
  },
  {
    id: 'account_country',
    find: (message) => {
      const claimed = claimedCountries(message);
      return message.accounts
        .filter(
          ({ kind, country, isValid }) =>
            kind === 'iban' && isValid && claimed.length > 0 && country !== undefined && !claimed.includes(country),
        )
        .map((account) => ({
          code: 'account_country',
          weight: 2,
          params: { account: account.account, country: account.country ?? '' },
          span: spanOf(account.text, account),
        }));
    },
  },
  {
    id: 'code_payment',
    find: (message) =>
      message.codes
        .filter(({ kind }) => kind === 'payment')
        .map(({ facts }) => ({
          code: 'code_payment',
          weight: 1,
          params: Object.fromEntries(facts.map(({ name, value }) => [name, value])),
          span: conceptSpan(message, ['pay']),
        })),
  },
];
