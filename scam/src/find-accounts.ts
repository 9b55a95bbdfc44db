import { createHash } from 'node:crypto';

/** A bank account or a wallet that a text names. */
export interface FoundAccount {
  kind: 'iban' | 'crypto';
  account: string;
  /** The country of an IBAN. */
  country: string | undefined;
  /** Whether its check digits hold. */
  isValid: boolean;
  start: number;
  end: number;
}

/**
 * The length of an IBAN by country (SWIFT, IBAN registry, release 98), for the countries whose payments reach a household by
 * SEPA, and those that scams name.
 */
const IBAN_LENGTHS: Readonly<Record<string, number>> = {
  ...{
    AD: 24,
    AE: 23,
    AL: 28,
    AT: 20,
    AZ: 28,
    BA: 20,
    BE: 16,
    BG: 22,
    BH: 22,
    BR: 29,
    BY: 28,
    CH: 21,
    CR: 22,
    CY: 28,
    CZ: 24,
    DE: 22,
    DK: 18,
    DO: 28,
  },
  ...{
    EE: 20,
    EG: 29,
    ES: 24,
    FI: 18,
    FO: 18,
    FR: 27,
    GB: 22,
    GE: 22,
    GI: 23,
    GL: 18,
    GR: 27,
    GT: 28,
    HR: 21,
    HU: 28,
    IE: 22,
    IL: 23,
    IQ: 23,
    IS: 26,
  },
  ...{
    IT: 27,
    JO: 30,
    KW: 30,
    KZ: 20,
    LB: 28,
    LI: 21,
    LT: 20,
    LU: 20,
    LV: 21,
    LY: 25,
    MC: 27,
    MD: 24,
    ME: 22,
    MK: 19,
    MR: 27,
    MT: 31,
    MU: 30,
    NL: 18,
  },
  ...{
    NO: 15,
    PK: 24,
    PL: 28,
    PS: 29,
    PT: 25,
    QA: 29,
    RO: 24,
    RS: 22,
    SA: 24,
    SE: 24,
    SI: 19,
    SK: 24,
    SM: 27,
    TN: 24,
    TR: 26,
    UA: 29,
    VA: 22,
    XK: 20,
  },
};

const IBAN = /(?<![\p{L}\p{N}])[A-Z]{2}\d{2}(?: ?[A-Z0-9]){11,30}(?![\p{L}\p{N}])/giu;
/** Bitcoin (Base58Check; Bech32), Ethereum and its kin, Tron. */
const BITCOIN_OLD = /(?<![\p{L}\p{N}])[13][1-9A-HJ-NP-Za-km-z]{25,34}(?![\p{L}\p{N}])/gu;
const BITCOIN_NEW = /(?<![\p{L}\p{N}])bc1[02-9ac-hj-np-z]{11,71}(?![\p{L}\p{N}])/giu;
const ETHEREUM = /(?<![\p{L}\p{N}])0x[0-9a-f]{40}(?![\p{L}\p{N}])/giu;
const TRON = /(?<![\p{L}\p{N}])T[1-9A-HJ-NP-Za-km-z]{33}(?![\p{L}\p{N}])/gu;

/** ISO 13616: the remainder of 97 is 1. */
export function isIban(account: string): boolean {
  const compact = account.replaceAll(' ', '').toUpperCase();
  if (IBAN_LENGTHS[compact.slice(0, 2)] !== compact.length) return false;
  let remainder = 0;
  for (const sign of `${compact.slice(4)}${compact.slice(0, 4)}`)
    for (const digit of Number.parseInt(sign, 36).toString()) remainder = (remainder * 10 + Number(digit)) % 97;
  return remainder === 1;
}

const BASE58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';

/** Base58Check: the last four bytes are the beginning of the double SHA-256 of the rest. */
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

/** IBANs and wallets of a text. A run of signs that begins like an IBAN and has another length is skipped. */
export function findAccounts(text: string): FoundAccount[] {
  const found: FoundAccount[] = [];
  for (const match of text.matchAll(IBAN)) {
    const compact = match[0].replaceAll(' ', '').toUpperCase();
    const length = IBAN_LENGTHS[compact.slice(0, 2)];
    if (length === undefined || compact.length < length) continue;
    // Words after the number are no part of it.
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
