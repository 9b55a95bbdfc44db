import { domainToUnicode } from 'node:url';
import { type Address, isBelow } from './address.ts';
import { addressWord, type Brand } from './brands.ts';
import { BAIT_WORDS, STRONG_BAIT, TENANT_HOSTS } from './host-rows.ts';
import { type BrandIndex, EDITED_LEAST, type Likeness, latin, likeness, ownerOf } from './likeness.ts';
import { LIMITS } from './limits.ts';
import { mixesScripts } from './skeleton.ts';

/** The method by which an address imitates a brand. */
type ImitationWay = 'same_shape' | 'one_letter' | 'other_ending' | 'with_words' | 'in_subdomain' | 'in_path';

export interface Imitation {
  brand: Brand;
  way: ImitationWay;
}

/** A brand word with the words combined with it: bait, strong bait (an account, money, a delivery), or others (`rest` is their number). */
interface Named extends Likeness {
  bait: 'none' | 'some' | 'strong';
  rest: number;
}

/** A name of at least this length belongs to only one organisation, so other text directly joined to it does not matter. */
const UNMISTAKABLE = 8;
const BAIT_LENGTH_MAXIMUM = 18;
/**
 * The bait words that a text consists of, with digits and separators between; undefined if it has other letters. It is processed from its end,
 * each position once, in linear time.
 */
function baitWords(text: string): string[] | undefined {
  const rests: (string[] | undefined)[] = [];
  rests[text.length] = [];
  for (let at = text.length - 1; at >= 0; at -= 1) {
    const isSign = /[\d-]/u.test(text[at] ?? '');
    rests[at] = isSign ? rests[at + 1] : undefined;
    for (let length = Math.min(text.length - at, BAIT_LENGTH_MAXIMUM); length > 1; length -= 1) {
      const [word, rest] = [text.slice(at, at + length), rests[at + length]];
      if (rest === undefined || !BAIT_WORDS.has(word)) continue;
      rests[at] = [word, ...rest];
      break;
    }
  }
  return rests[0];
}

function baitOf(texts: readonly string[]): Pick<Named, 'bait' | 'rest'> {
  const words = texts.map(baitWords);
  const known = words.flatMap((some) => some ?? []);
  const bait = known.some((word) => STRONG_BAIT.has(word)) ? 'strong' : known.length > 0 ? 'some' : 'none';
  return { bait, rest: words.filter((some) => some === undefined).length };
}

const tokensOf = (label: string) => label.split(/[-_.+~ ]+/u).filter((token) => token !== '');

function pathOf({ url }: Address): string[] {
  return `${url.pathname}/${url.search}`
    .slice(0, 2_000)
    .split(/[/?&=#;]+/u)
    .filter((part) => part !== '');
}

/** Whether an address contains words that ask to sign in, pay or confirm. `shop` and `info` do not count. */
export function hasRequest(address: Address): boolean {
  const words = [...address.subdomains, address.label, ...pathOf(address)].flatMap(tokensOf).map(addressWord);
  return (
    words.some((word) => STRONG_BAIT.has(word)) || words.some((word) => baitWords(word)?.some((one) => STRONG_BAIT.has(one)))
  );
}

/** `paypal-login`, `login-paypal-de`: a brand word between separators. */
function amongTokens(index: BrandIndex, tokens: readonly string[], isForeign: boolean): Named | undefined {
  for (let from = 0; from < tokens.length; from += 1)
    for (let to = Math.min(tokens.length, from + 4); to > from; to -= 1) {
      if (to - from === tokens.length) continue;
      const found = likeness(index, tokens.slice(from, to).join(''), isForeign);
      if (found === undefined) continue;
      const beside = baitOf([...tokens.slice(0, from), ...tokens.slice(to)]);
      if (found.way === 'one_letter' ? beside.rest === 0 && (beside.bait === 'strong' || !found.word.isOrdinary) : true)
        return { ...found, ...beside };
    }
  return undefined;
}

/** `paypalsecure`, `securepaypa1`: a brand word joined to others without a separator. */
function fused(index: BrandIndex, plain: string, isForeign: boolean): Named | undefined {
  for (const word of index.fused) {
    const at = plain.indexOf(word.text);
    if (at < 0 || plain.length === word.text.length) continue;
    const beside = baitOf([plain.slice(0, at), plain.slice(at + word.text.length)]);
    if (beside.rest === 0 || (!word.isOrdinary && word.text.length >= UNMISTAKABLE)) return { word, way: 'equal', ...beside };
  }
  for (let length = 3; length <= Math.min(14, plain.length - EDITED_LEAST); length += 1)
    for (const [bait, name] of [
      [plain.slice(0, length), plain.slice(length)],
      [plain.slice(-length), plain.slice(0, -length)],
    ] as const) {
      const beside = baitOf([bait]);
      if (beside.rest > 0 || beside.bait !== 'strong') continue;
      const found = likeness(index, name, isForeign);
      if (found !== undefined && found.word.text.length > EDITED_LEAST && !found.word.isOrdinary) return { ...found, ...beside };
    }
  return undefined;
}

/** The brand that a label contains or imitates, and the words combined with it. */
function named(index: BrandIndex, label: string): Named | undefined {
  const shown = domainToUnicode(label) || label;
  const isForeign = shown !== label;
  const tokens = tokensOf(shown).map((token) => (isForeign ? latin(token) : token));
  const plain = tokens.join('').replaceAll(/[^a-z0-9]/gu, '');
  const whole = likeness(index, plain, isForeign);
  // `pay-pal`: a brand word with separators is not the brand's domain.
  if (whole !== undefined && (!whole.word.isOrdinary || tokens.length === 1))
    return {
      ...whole,
      way: whole.way === 'equal' && tokens.length > 1 && !isHyphenated(whole) ? 'same_shape' : whole.way,
      bait: 'none',
      rest: 0,
    };
  return amongTokens(index, tokens, isForeign) ?? fused(index, plain, isForeign);
}

/** Whether the brand's own name has a hyphen. */
const isHyphenated = ({ word }: Likeness) =>
  word.brand.domains.some((domain) => domain.includes('-')) || word.brand.name.includes(' ');

/** Checks the registrable domain. */
function inDomain(index: BrandIndex, address: Address): Imitation | undefined {
  const found = address.label === '' ? undefined : named(index, address.label);
  if (found === undefined) return undefined;
  const { word, way, bait, rest } = found;
  const { brand } = word;
  const isWeak = word.isOrdinary || word.text.length < EDITED_LEAST;
  const isAlone = bait === 'none' && rest === 0;
  if (isAlone) {
    if (way !== 'equal') return word.isOrdinary && way === 'one_letter' ? undefined : { brand, way };
    // The exact word with another ending: with a country code it usually belongs to the brand.
    const isCountry = /(?:^|\.)[a-z]{2}$/u.test(address.ending) && !address.isThrowaway;
    const isAsking = baitOf(pathOf(address).flatMap(tokensOf)).bait === 'strong';
    if (word.isOrdinary) return address.isThrowaway && isAsking ? { brand, way: 'other_ending' } : undefined;
    if (isWeak) return address.isThrowaway || (isAsking && !isCountry) ? { brand, way: 'other_ending' } : undefined;
    return isCountry ? undefined : { brand, way: 'other_ending' };
  }
  // With an ordinary or short word, only strong bait indicates an imitation; other words may belong to a fan, a shop or a street.
  if (word.isOrdinary) return bait === 'strong' && rest === 0 ? { brand, way: 'with_words' } : undefined;
  if (isWeak) return bait !== 'none' && (rest === 0 || address.isThrowaway) ? { brand, way: 'with_words' } : undefined;
  if (way === 'one_letter') return rest === 0 && bait !== 'none' ? { brand, way: 'with_words' } : undefined;
  if (rest > 0) return bait === 'strong' || address.isThrowaway ? { brand, way: 'with_words' } : undefined;
  return { brand, way: 'with_words' };
}

/** Checks the subdomains: `paypal.com.example.net`, `paypal.example.net`, `paypal-login.example.net`. */
function inSubdomain(index: BrandIndex, address: Address): Imitation | undefined {
  const { subdomains } = address;
  if (subdomains.length === 0 || (isBelow(address.host, TENANT_HOSTS) && !address.isFreeHost)) return undefined;
  for (let from = 0; from < subdomains.length; from += 1)
    for (let to = subdomains.length; to > from + 1; to -= 1) {
      const brand = index.owners.get(subdomains.slice(from, to).join('.'));
      if (brand !== undefined) return { brand, way: 'in_subdomain' };
    }
  for (const label of subdomains) {
    const found = named(index, label);
    if (found === undefined || found.rest > 0) continue;
    const { word, way, bait } = found;
    const around = baitOf(
      [...subdomains.filter((other) => other !== label), address.label, ...pathOf(address)].flatMap(tokensOf),
    ).bait;
    const isStrong = bait === 'strong' || around === 'strong';
    if (way === 'one_letter' ? !(word.text.length > EDITED_LEAST && !word.isOrdinary && isStrong) : false) continue;
    if ((word.isOrdinary || word.text.length < EDITED_LEAST) && !isStrong) continue;
    return { brand: word.brand, way: 'in_subdomain' };
  }
  return undefined;
}

/** Whether the path of an address has more parts than are compared. Parts of the query come after the path and are less important. */
export const isLongPath = ({ url }: Address): boolean =>
  url.pathname.split('/').filter((part) => part !== '').length > LIMITS.path_parts;

/** Checks the path: `example.net/paypal/login`, `example.net/paypal.com`, with a request to sign in, or on an IP address. */
function inPath(index: BrandIndex, address: Address): Imitation | undefined {
  const isNameless = address.kind === 'number_address' || address.isThrowaway || address.isFreeHost;
  const parts = pathOf(address).slice(0, LIMITS.path_parts);
  const around = baitOf(
    [...address.subdomains, address.label, ...parts].flatMap(tokensOf).map((token) => token.toLowerCase()),
  ).bait;
  for (const part of parts) {
    const name = part.toLowerCase().slice(0, 60);
    const owned = index.owners.get(name.replace(/^www\./u, ''));
    if (owned !== undefined && (isNameless || around === 'strong')) return { brand: owned, way: 'in_path' };
    const found = named(index, name);
    if (found === undefined || found.rest > 0 || found.way === 'one_letter') continue;
    const asks = around === 'strong' || found.bait === 'strong';
    if (
      asks ? !found.word.isOrdinary || isNameless : isNameless && !found.word.isOrdinary && found.word.text.length >= EDITED_LEAST
    )
      return { brand: found.word.brand, way: 'in_path' };
  }
  return undefined;
}

/**
 * The brand that the message names and whose word is in an address of another owner. Because the message names the brand, the
 * meaning of the word is clear.
 */
export function namedInAddress(brands: readonly Brand[], address: Address): Imitation | undefined {
  const tokens = new Set([address.label, ...address.subdomains].flatMap(tokensOf));
  const brand = brands.find(({ words }) => words.some(({ text }) => text.length > 2 && tokens.has(text)));
  return brand === undefined ? undefined : { brand, way: 'with_words' };
}

/** The brand that an address imitates, and the method; undefined for the brand's own and for other addresses. */
export function imitationOf(index: BrandIndex, address: Address): Imitation | undefined {
  if (address.kind !== 'web' && address.kind !== 'number_address' && address.kind !== 'mail') return undefined;
  if (ownerOf(index, address.host) !== undefined) return undefined;
  return (
    inDomain(index, address) ?? inSubdomain(index, address) ?? (address.kind === 'mail' ? undefined : inPath(index, address))
  );
}

/** A label of the host that mixes scripts which no language combines. */
export function mixedLabel(address: Address): string | undefined {
  return address.hostShown.split('.').find((label) => mixesScripts(label));
}
