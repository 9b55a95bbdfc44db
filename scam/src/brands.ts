import { type BrandKind, type BrandRow, MONEY_AND_PARCEL_ROWS } from './brand-rows.ts';
import { OTHER_ROWS } from './brand-rows-other.ts';
import { comparable } from './readable.ts';

export interface Brand {
  name: string;
  kind: BrandKind;
  /** The brand's registrable domains, the main one first. */
  domains: string[];
  words: BrandWord[];
}

/** A word that identifies a brand in addresses and texts. */
export interface BrandWord {
  brand: Brand;
  text: string;
  /** An ordinary word or a common name, which does not identify the brand alone. */
  isOrdinary: boolean;
}

const SIGNS = /[^\p{L}\p{N}]+/gu;

/** Converts a name to the form in addresses: only lower-case letters and digits. */
export const addressWord = (name: string) => comparable(name).replaceAll(SIGNS, '');

function brandOf([name, kind, , domains, words]: BrandRow): Brand {
  const brand: Brand = { name, kind, domains: domains.split(' '), words: [] };
  const written = words?.split(' ') ?? [addressWord(name)];
  brand.words = written.map((word) => ({ brand, text: word.replace('!', ''), isOrdinary: word.endsWith('!') }));
  return brand;
}

export const BRANDS: readonly Brand[] = [...MONEY_AND_PARCEL_ROWS, ...OTHER_ROWS].map(brandOf);

/** Makes a brand of the installation's provider, so that its name and domains are protected like those of other brands. */
export function providerBrand(name: string, domains: readonly string[]): Brand {
  const brand: Brand = { name, kind: 'provider', domains: [...domains], words: [] };
  const labels = domains.map((domain) => domain.split('.')[0] ?? '');
  const words = new Set([addressWord(name), ...labels.map(addressWord)].filter((word) => word.length >= 3));
  brand.words = [...words].map((text) => ({ brand, text, isOrdinary: false }));
  return brand;
}
