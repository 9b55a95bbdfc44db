import { type Address, isBelow, suffixesOf } from './address.ts';
import { BRANDS, type Brand, providerBrand } from './brands.ts';
import type { Coverage } from './coverage.ts';
import { type BrandIndex, indexBrands } from './likeness.ts';
import { comparable, type Readable } from './readable.ts';
import type { NotCheckedCode } from './sentences.ts';

/** Answers a question to the DNS as `node:dns/promises` does. */
export type Resolve = (name: string, type: string) => Promise<string[] | string[][]>;

/** A list of dangerous domains or addresses. The feeds themselves are fetched and kept elsewhere. */
interface DangerousList {
  name: string;
  /** A host, a registrable domain or a whole address (without scheme and fragment). */
  has(entry: string): boolean;
}

/** The text of a picture with the languages whose data is installed, as tesseract names them; or why it was not read. */
export type TextReading = { text: string; languages: readonly string[] } | { code: NotCheckedCode };

/** Services that a check uses of the program around it. All of it may be absent; the answer says what was not checked then. */
export interface Options {
  provider?: { name: string; domains: readonly string[] };
  /** Hosts that the provider or the person trusts. */
  trusted?: ReadonlySet<string>;
  lists?: readonly DangerousList[];
  /** The person's country (ISO 3166), for phone numbers without a country code. */
  country?: string;
  /** Absent: signatures of emails are not checked. With it, an email may ask at most two questions. */
  resolve?: Resolve | undefined;
  /** Reads the text of a picture. Absent: texts of pictures are not checked. */
  readPictureText?: (picture: Uint8Array) => Promise<TextReading>;
  /** Looks at an attachment with the engine. */
  scanAttachment?: (name: string, content: Uint8Array) => Promise<'infected' | 'clean' | 'not_checked'>;
  /** The source of an email with what a letter in another format holds, such as `.msg`; undefined for another file. */
  readLetter?: (name: string, content: Uint8Array) => Promise<{ source: Uint8Array; coverage: Coverage } | undefined>;
  /** Reads the texts of a document such as a PDF; undefined for another file, and for one without texts. */
  readDocument?: (name: string, content: Uint8Array) => Promise<{ text: string; coverage: Coverage } | undefined>;
}

export interface Surroundings extends Options {
  brands: BrandIndex;
  isTrusted(host: string): boolean;
  /** The name of the list that has the address. */
  isListed(address: Address): string | undefined;
  findNames(text: Readable): { brand: Brand; start: number; end: number }[];
}

/** Names of brands that are ordinary words in a sentence even with a capital letter. */
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

/** Brands named in a text, each once. */
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
  /** Whether they allow questions to the DNS for this check. Absent: no. */
  mayAskDns?: boolean;
}

/** The surroundings of a check for one person. */
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
      // The host and what it lies below, down to the registrable domain; and the address itself.
      const above = suffixesOf(host).filter((name) => name.endsWith(domain));
      const entries = [...above, `${path}${url.search}`, path, path.replace(/\/$/u, '')];
      return lists.find((list) => entries.some((entry) => list.has(entry)))?.name;
    },
    findNames: (text) => findNames(patterns, text),
  };
}
