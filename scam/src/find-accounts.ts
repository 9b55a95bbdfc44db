import { createHash } from 'node:crypto';
import { BOUNDARY, patternOf } from './boundaries.ts';

/** A bank account or a cryptocurrency wallet in a text. */
export interface FoundAccount {
  kind: 'iban' | 'crypto';
  account: string;
  /** The country of an IBAN; undefined for a wallet. */
  country: string | undefined;
  /** Whether the check digits are correct. */
  isValid: boolean;
  start: number;
  end: number;
}

/**
 * IBAN lengths by country (SWIFT, IBAN registry, release 98), for the SEPA
 * countries and those that occur in scams.
 */
const IBAN_LENGTHS: Readonly<Record<string, number>> = Object.fromEntries(
  [
    '15 NO',
    '16 BE',
    '18 DK FI FO GL NL',
    '19 MK SI',
    '20 AT BA EE KZ LT LU XK',
    '21 CH HR LI LV',
    '22 BG BH CR DE GB GE IE ME RS VA',
    '23 AE GI IL IQ',
    '24 AD CZ ES MD PK RO SA SE SK TN',
    '25 LY PT',
    '26 IS TR',
    '27 FR GR IT MC MR SM',
    '28 AL AZ BY CY DO GT HU LB PL',
    '29 BR EG PS QA UA',
    '30 JO KW MU',
    '31 MT',
  ].flatMap((row) => {
    const [length, ...countries] = row.split(' ');
    return countries.map((country) => [country, Number(length)]);
  }),
);

const { begin, end } = BOUNDARY;
const IBAN = patternOf('giu', begin, String.raw`[A-Z]{2}\d{2}(?: ?[A-Z0-9]){11,30}`, end);
/** Wallet addresses: Bitcoin (Base58Check; Bech32), Ethereum and compatible ones, Tron. */
const BITCOIN_OLD = patternOf('gu', begin, '[13][1-9A-HJ-NP-Za-km-z]{25,34}', end);
const BITCOIN_NEW = patternOf('giu', begin, 'bc1[02-9ac-hj-np-z]{11,71}', end);
const ETHEREUM = patternOf('giu', begin, '0x[0-9a-f]{40}', end);
const TRON = patternOf('gu', begin, 'T[1-9A-HJ-NP-Za-km-z]{33}', end);

/** ISO 13616: the number modulo 97 is 1. */
export function isIban(account: string): boolean {
  const compact = account.replaceAll(' ', '').toUpperCase();
  if (IBAN_LENGTHS[compact.slice(0, 2)] !== compact.length) return false;
  let remainder = 0;
  for (const sign of `${compact.slice(4)}${compact.slice(0, 4)}`)
    for (const digit of Number.parseInt(sign, 36).toString()) remainder = (remainder * 10 + Number(digit)) % 97;
  return remainder === 1;
}

const BASE58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';

/** Base58Check: the last four bytes equal the first four bytes of the double SHA-256 of the rest. */
function isBase58Check(text: string): boolean {
  let value = 0n;
  for (const sign of text) value = value * 58n + BigInt(BASE58.indexOf(sign));
  const bytes = Buffer.from(value.toString(16).padStart(50, '0'), 'hex');
  if (bytes.length !== 25) return false;
  const hash = (part: Uint8Array) => createHash('sha256').update(part).digest();
  return hash(hash(bytes.subarray(0, 21)))
    .subarray(0, 4)
    .equals(bytes.subarray(21));
}

/** Finds IBANs and wallets in a text. A match with a wrong length for its country is skipped. */
export function findAccounts(text: string): FoundAccount[] {
  const found: FoundAccount[] = [];
  for (const match of text.matchAll(IBAN)) {
    const compact = match[0].replaceAll(' ', '').toUpperCase();
    const length = IBAN_LENGTHS[compact.slice(0, 2)];
    if (length === undefined || compact.length < length) continue;
    // Words after the number are not part of it.
    let [end, taken] = [match.index, 0];
    while (taken < length) {
      if (text[end] !== ' ') taken += 1;
      end += 1;
    }
    const account = compact.slice(0, length);
    found.push({ kind: 'iban', account, country: account.slice(0, 2), isValid: isIban(account), start: match.index, end });
  }
  const wallets: [RegExp, (account: string) => boolean][] = [
    [BITCOIN_OLD, isBase58Check],
    [BITCOIN_NEW, () => true],
    [ETHEREUM, () => true],
    [TRON, isBase58Check],
  ];
  for (const [pattern, isValid] of wallets)
    for (const { 0: account, index } of text.matchAll(pattern))
      if (isValid(account) || pattern === BITCOIN_OLD)
        found.push({
          kind: 'crypto',
          account,
          country: undefined,
          isValid: isValid(account),
          start: index,
          end: index + account.length,
        });
  return found;
}
