import { type Address, isBelow, suffixesOf } from './address.ts';
import { BRANDS, type Brand, providerBrand } from './brands.ts';
import type { Coverage } from './coverage.ts';
import { type BrandIndex, indexBrands } from './likeness.ts';
import { comparable, type Readable } from './readable.ts';
import type { NotCheckedCode } from './sentences.ts';

/** A DNS resolver with the interface of `node:dns/promises`. */
export type Resolve = (name: string, type: string) => Promise<string[] | string[][]>;

/** A list of dangerous domains or addresses. Downloading and storing it is not part of this package. */
interface DangerousList {
  name: string;
  /** `entry` is a host, a registrable domain or a full address without scheme and fragment. */
  has(entry: string): boolean;
}

/** The text of a picture and the installed languages (tesseract's codes); or the reason why it was not read. */
export type TextReading = { text: string; languages: readonly string[] } | { code: NotCheckedCode };

/** Services provided by the calling program. All are optional; without one, the result reports what was not checked. */
export interface Options {
  provider?: { name: string; domains: readonly string[] };
  /** Hosts that the provider or the person trusts. */
  trusted?: ReadonlySet<string>;
  lists?: readonly DangerousList[];
  /** The person's country (ISO 3166), for phone numbers without a country code. */
  country?: string;
  /** Resolver for signatures of emails, with at most two queries per email. Without it, signatures are not checked. */
  resolve?: Resolve | undefined;
  /** Reads the text of a picture. Without it, text in pictures is not checked. */
  readPictureText?: (picture: Uint8Array) => Promise<TextReading>;
  /** Scans an attachment for malware. */
  scanAttachment?: (name: string, content: Uint8Array) => Promise<'infected' | 'clean' | 'not_checked'>;
  /** Converts a mail in another format, such as `.msg`, to the source of an email; undefined for other files. */
  readLetter?: (name: string, content: Uint8Array) => Promise<{ source: Uint8Array; coverage: Coverage } | undefined>;
  /** Reads the text of a document such as a PDF; undefined for other files and for documents without text. */
  readDocument?: (name: string, content: Uint8Array) => Promise<{ text: string; coverage: Coverage } | undefined>;
}

export interface Surroundings extends Options {
  brands: BrandIndex;
  isTrusted(host: string): boolean;
  /** Returns the name of the list that contains the address. */
  isListed(address: Address): string | undefined;
  findNames(text: Readable): { brand: Brand; start: number; end: number }[];
}

/** Brand names that can be ordinary words in a sentence even when capitalized. */
const NOT_NAMES = new Set([
  'x',
  'free',
  'target',
  'wise',
  'discover',
  'sky',
  'hype',
  'nos',
  'otto',
  'orange',
  'tim',
  'argos',
  'ee',
  'bt',
  'steam',
  'post office',
  'continente',
  'subito',
  'halifax',
  'nationwide',
  'stripe',
  'ledger',
  'zoom',
  'dell',
  'aruba',
  'hermes',
  'allegro',
  'elster',
  'payback',
  'ideal',
  'visa',
  'bol',
  'impots',
  'nab',
  'anz',
  'outlook',
  'caf',
  'sda',
  'meo',
]);

interface NamePattern {
  brand: Brand;
  words: string[];
  needsCapital: boolean;
}

function namePatterns(brands: readonly Brand[]): Map<string, NamePattern[]> {
  const patterns = new Map<string, NamePattern[]>();
  for (const brand of brands) {
    const names = new Set([
      comparable(brand.name),
      ...brand.words.filter(({ isOrdinary }) => !isOrdinary).map(({ text }) => text),
    ]);
    const isOrdinary = brand.words.some((word) => word.isOrdinary);
    for (const name of names) {
      const words = name.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== '');
      const [first] = words;
      if (first === undefined || NOT_NAMES.has(name) || name.length < 3) continue;
      patterns.set(first, [...(patterns.get(first) ?? []), { brand, words, needsCapital: isOrdinary && words.length === 1 }]);
    }
  }
  return patterns;
}

/** Finds the brands named in a text, without duplicates. */
function findNames(patterns: ReadonlyMap<string, NamePattern[]>, { words, original }: Readable) {
  const found = new Map<string, { brand: Brand; start: number; end: number }>();
  for (const [at, word] of words.entries())
    for (const { brand, words: wanted, needsCapital } of patterns.get(word.text) ?? []) {
      const last = words[at + wanted.length - 1];
      if (found.has(brand.name) || last === undefined || !wanted.every((one, next) => words[at + next]?.text === one)) continue;
      if (needsCapital && !/^\p{Lu}/u.test(original.slice(word.start))) continue;
      found.set(brand.name, { brand, start: word.start, end: last.end });
    }
  return [...found.values()];
}

/** The person for whom a message is checked. */
export interface Person {
  /** Hosts that the person trusts. */
  trusted?: ReadonlySet<string>;
  /** The person's country (ISO 3166), for phone numbers without a country code. */
  country?: string | undefined;
  /** Whether the person allows DNS queries for this check. The default is no. */
  mayAskDns?: boolean;
}

/** The state of a check for one person. */
export function surroundingsFor(all: Surroundings, { trusted, country, mayAskDns = false }: Person): Surroundings {
  return {
    ...all,
    ...(country === undefined ? {} : { country }),
    resolve: mayAskDns ? all.resolve : undefined,
    isTrusted: (host) => all.isTrusted(host) || (trusted !== undefined && isBelow(host, trusted)),
  };
}

/** Builds the state that all checks of one program share. */
export function surroundingsOf(options: Options = {}): Surroundings {
  const { provider, trusted = new Set<string>(), lists = [] } = options;
  const brands = provider === undefined ? BRANDS : [...BRANDS, providerBrand(provider.name, provider.domains)];
  const patterns = namePatterns(brands);
  return {
    ...options,
    brands: indexBrands(brands),
    isTrusted: (host) => isBelow(host, trusted),
    isListed: ({ host, domain = host, url }) => {
      const path = `${host}${url.pathname}`;
      // The host and its parent domains up to the registrable domain, and the address itself.
      const above = suffixesOf(host).filter((name) => name.endsWith(domain));
      const entries = [...above, `${path}${url.search}`, path, path.replace(/\/$/u, '')];
      return lists.find((list) => entries.some((entry) => list.has(entry)))?.name;
    },
    findNames: (text) => findNames(patterns, text),
  };
}
