import { z } from 'zod';

/**
 * A sentence of the server as data: the code of its template, and a value for each placeholder, from which a page can say it in another language. The API
 * description lists all templates under `x-phrases`.
 */
export const phraseSchema = z.object({
  code: z.string().describe('A code of `x-phrases` in this document.'),
  params: z.record(z.string(), z.union([z.string(), z.number()])),
});
export interface Phrase<Code extends string = string> {
  code: Code;
  params: Record<string, string | number>;
}

/** The value of a placeholder. `bytes` and `seconds` are said as a size and as a time. A record is a choice: its keys are the values, beside their English. */
type Parameter = 'text' | 'number' | 'bytes' | 'seconds' | Readonly<Record<string, string>>;

/** The forms of a sentence by the plural of its parameter `count`. */
interface Plural {
  count: string;
  one: string;
  other: string;
}

/** One or more whole English sentences, with `{name}` where the value of a parameter stands. */
export interface Template {
  english: string | Plural;
  params: Readonly<Record<string, Parameter>>;
}

type ValueOf<P> = P extends 'text' ? string : P extends string ? number : keyof P & string;
/** The values that a template takes. */
export type ParamsOf<T extends Template> = { [Name in keyof T['params']]: ValueOf<T['params'][Name]> };

const MIB = 1024 ** 2;
const GIB = 1024 ** 3;

/** A size for people: whole and half gigabytes, whole megabytes, and bytes below one. `bytes` is a whole number. */
function sizeInWords(bytes: number): string {
  if (bytes >= GIB) return `${Math.round((bytes / GIB) * 10) / 10} GB`;
  return bytes >= MIB ? `${Math.round(bytes / MIB)} MB` : `${bytes} bytes`;
}

/** From how much on a time is told in which unit, so that no more than two digits are to be read. */
const UNITS = [
  { name: 'day', seconds: 86_400, from: 172_800 },
  { name: 'hour', seconds: 3_600, from: 7_200 },
  { name: 'minute', seconds: 60, from: 60 },
] as const;

/** "45 seconds", "10 minutes", "3 hours": never less than it is. */
function timeInWords(seconds: number): string {
  const { name, seconds: unit } = UNITS.find(({ from }) => seconds >= from) ?? { name: 'second', seconds: 1 };
  const count = Math.ceil(seconds / unit);
  return `${count} ${name}${count === 1 ? '' : 's'}`;
}

function valueInWords(parameter: Parameter | undefined, value: string | number): string {
  if (typeof parameter === 'object') return parameter[String(value)] ?? String(value);
  if (parameter === 'bytes') return sizeInWords(Number(value));
  return parameter === 'seconds' ? timeInWords(Number(value)) : String(value);
}

const ENGLISH_PLURALS = new Intl.PluralRules('en');

/** The English of a template with these values. A placeholder without a value stays as it is. */
export function englishOf({ english, params }: Template, values: Phrase['params']): string {
  const form =
    typeof english === 'string'
      ? english
      : ENGLISH_PLURALS.select(Number(values[english.count])) === 'one'
        ? english.one
        : english.other;
  return form.replaceAll(/\{(\w+)\}/gu, (placeholder, name: string) => {
    const value = values[name];
    return value === undefined ? placeholder : valueInWords(params[name], value);
  });
}

/** Makes the phrases of a catalog. Its templates name the parameters that each code takes. */
export function phrasesOf<const Catalog extends { readonly [Code in keyof Catalog]: Template }>(catalog: Catalog) {
  type Code = keyof Catalog & string;
  return {
    make: <C extends Code>(code: C, params: ParamsOf<Catalog[C]>): Phrase<C> => ({ code, params }),
    english: ({ code, params }: Phrase<Code>): string => englishOf(catalog[code], params),
    /** A phrase of this catalog, read from storage or another process; undefined where this version does not know its code. */
    known: ({ code, params }: Phrase): Phrase<Code> | undefined => (isCode(code) ? { code, params } : undefined),
  };

  function isCode(code: string): code is Code {
    return Object.hasOwn(catalog, code);
  }
}
