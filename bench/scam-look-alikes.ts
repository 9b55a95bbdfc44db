// Generates look-alike domains of brands, and lists honest domains. The generator has its own table of similar letters, independent of the one in scam/.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { domainToASCII } from 'node:url';
import { BRANDS } from '@palisade/scam/brands';

/** Deterministic random numbers between 0 and 1 (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const LETTERS = 'abcdefghijklmnopqrstuvwxyz';
/** Parses a table from a letter to its replacements. */
const tableOf = (rows: string): Readonly<Record<string, readonly string[]>> =>
  Object.fromEntries(rows.split('; ').map((row) => [row.charAt(0), row.slice(2).split(' ')]));
const DRAWN_ALIKE = tableOf('o 0; l 1 i; i 1 l; m rn; w vv; d cl; e 3; a 4; s 5; b 8; g 9 q; t 7');
const OTHER_SCRIPTS = tableOf('a а ɑ α; c с; e е; i і ı; o о ο; p р; s ѕ; x х; y у');
/** Letters, and their neighbours on the keyboard. */
const KEYS = tableOf(
  'q w a; w q e s; e w r d; r e t f; t r y g; y t u h; u y i j; i u o k; o i p l; p o l; a q s z; s a d w x; d s f e c; f d g r v; ' +
    'g f h t b; h g j y n; j h k u m; k j l i; l k o p; z a s x; x z c d; c x v f; v c b g; b v n h; n b m j; m n k',
);
const WORDS =
  'login secure support verify account parcel update pay billing help refund delivery service customer alert online'.split(' ');
const ENDINGS = ['com', 'net', 'info', 'org', 'online', 'top', 'co', 'site', 'app', 'eu'];
const STRANGERS = ['secure-check.net', 'confirm-id.info', 'portal-24.com', 'web-session.online', 'verify-now.top'];

const WAYS = [
  'substitution',
  'insertion',
  'homoglyph',
  'other_script',
  'transposition',
  'keyboard',
  'subdomain',
  'path',
  'combined',
  'ending',
] as const;
export type Way = (typeof WAYS)[number];

export interface LookAlike {
  url: string;
  way: Way;
  brand: string;
}

/** The first distinctive word of a brand with at least six letters; undefined if there is none. */
const wordOf = (brand: (typeof BRANDS)[number]) =>
  brand.words.find(({ text, isOrdinary }) => !isOrdinary && /^[a-z]{6,}$/u.test(text))?.text;

/** The first 200 brands with such a word. In a shorter word, one changed letter often gives another honest name. */
export const MEASURED = BRANDS.flatMap((brand) => {
  const word = wordOf(brand);
  return word === undefined ? [] : [{ brand: brand.name, word, domain: brand.domains[0] ?? '' }];
}).slice(0, 200);

function edited(way: Way, word: string, random: () => number): string | undefined {
  const any = <T>(list: ArrayLike<T>) => list[Math.floor(random() * list.length)];
  const at = Math.floor(random() * word.length);
  const letter = word[at] ?? '';
  const put = (text: string | undefined) => (text === undefined ? undefined : word.slice(0, at) + text + word.slice(at + 1));
  const edits: Partial<Record<Way, () => string | undefined>> = {
    substitution: () => put(any(LETTERS)),
    insertion: () => put(letter + any(LETTERS)),
    homoglyph: () => put(any(DRAWN_ALIKE[letter] ?? [])),
    other_script: () => put(any(OTHER_SCRIPTS[letter] ?? [])),
    transposition: () => word.slice(0, at) + (word[at + 1] ?? '') + letter + word.slice(at + 2),
    keyboard: () => put(any(KEYS[letter] ?? [])),
  };
  return edits[way]?.();
}

function urlOf(way: Way, word: string, domain: string, random: () => number): string | undefined {
  const any = (list: readonly string[]) => list[Math.floor(random() * list.length)] ?? '';
  const bait = any(WORDS);
  const stranger = any(STRANGERS);
  const whole: Partial<Record<Way, () => string>> = {
    subdomain: () => `${any([`${domain}.${stranger}`, `${word}.${stranger}`, `${word}-${bait}.${stranger}`])}/`,
    path: () => `${stranger}/${any([`${word}/login`, `${domain}/signin`, `${word}-${bait}/verify`])}`,
    combined: () =>
      `${any([`${word}-${bait}`, `${bait}-${word}`, `${word}${bait}`, `${bait}${word}`, `${bait}-${word}-${any(WORDS)}`])}.${any(ENDINGS)}/`,
    ending: () => `${word}.${any(['top', 'info', 'online', 'site', 'xyz', 'shop', 'live', 'vip'])}/`,
  };
  const made = whole[way]?.();
  if (made !== undefined) return `https://${made}`;
  const changed = edited(way, word, random);
  const host = changed === undefined || changed === word ? '' : domainToASCII(`${changed}.${any(ENDINGS)}`);
  return host === '' ? undefined : `https://${host}/`;
}

/** At least `count` different look-alikes, evenly distributed over brands and methods. */
export function generateLookAlikes(count: number): LookAlike[] {
  const random = seeded(36);
  const found = new Map<string, LookAlike>();
  const own = new Set(BRANDS.flatMap(({ domains }) => domains));
  for (let round = 0; found.size < count && round < 100; round += 1)
    for (const { brand, word, domain } of MEASURED)
      for (const way of WAYS) {
        const url = urlOf(way, word, domain, random);
        if (url !== undefined && !own.has(new URL(url).hostname)) found.set(url, { url, way, brand });
      }
  return [...found.values()];
}

/** Hosts used by honest sites according to the HTTP Archive, most frequent first: `domain-map.csv` of the package third-party-web (MIT). */
export function honestHosts(): string[] {
  const main = createRequire(import.meta.url).resolve('third-party-web');
  const rows = readFileSync(join(dirname(main), '../dist/domain-map.csv'), 'utf8').split('\n');
  return rows.flatMap((row) => row.split(',')[0] || []);
}
