import { z } from 'zod';
import { describeSize, describeWait, formatList, formatNumber, plural } from './intl.ts';

/**
 * A sentence of the server as data: the code of its template and a value for each placeholder, from which a page can write it in another language. The API
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

/**
 * The type of a placeholder's value: a text, a number as digits (`1200`) or grouped (`1,200`), a wait in seconds (rounded up: "20 minutes"), a size in bytes ("25 MB"), or
 * names separated by line breaks, which are written as a list in quotes.
 * A record is a set of choices: its keys are the values, each with its English text.
 */
type Parameter = 'text' | 'number' | 'grouped' | 'wait' | 'bytes' | 'names' | Readonly<Record<string, string>>;

/** The forms of a sentence for the plural of its parameter `count`. */
interface Plural {
  count: string;
  one: string;
  other: string;
}

/** One or more complete English sentences with placeholders (`{name}`) for parameters. */
export interface Template {
  english: string | Plural;
  params?: Readonly<Record<string, Parameter>>;
}

type ValueOf<P> = P extends 'text' | 'names' ? string : P extends string ? number : keyof P & string;
type ParametersOf<T extends Template> = T extends { readonly params: infer P } ? P : Record<never, never>;
/** The values that a template requires. */
export type ParamsOf<T extends Template> = { [Name in keyof ParametersOf<T>]: ValueOf<ParametersOf<T>[Name]> };

function valueInWords(parameter: Parameter | undefined, value: string | number): string {
  if (parameter === 'grouped') return formatNumber(Number(value));
  if (parameter === 'wait') return describeWait(Number(value));
  if (parameter === 'bytes') return describeSize(Number(value));
  const word = String(value);
  if (parameter === 'names') return formatList(word.split('\n').map((name) => `"${name}"`));
  if (typeof parameter !== 'object' || !Object.hasOwn(parameter, word)) return word;
  return parameter[word] ?? word;
}

/** Fills a template with values. A placeholder without a value stays. */
export function englishOf({ english, params = {} }: Template, values: Phrase['params']): string {
  const form = typeof english === 'string' ? english : plural(Number(values[english.count]), english);
  return form.replaceAll(/\{(\w+)\}/gu, (placeholder, name: string) => {
    const value = values[name];
    return value === undefined ? placeholder : valueInWords(params[name], value);
  });
}

/** Functions for the phrases of a catalog. Its templates declare the parameters of each code. */
export function phrasesOf<const Catalog extends { readonly [Code in keyof Catalog]: Template }>(catalog: Catalog) {
  type Code = keyof Catalog & string;
  return {
    make: <C extends Code>(code: C, params: ParamsOf<Catalog[C]>): Phrase<C> => ({ code, params }),
    english: ({ code, params }: Phrase<Code>): string => englishOf(catalog[code], params),
    /** Narrows a phrase from storage or another process to this catalog; undefined if this version does not know its code. */
    known: ({ code, params }: Phrase): Phrase<Code> | undefined => (isCode(code) ? { code, params } : undefined),
  };

  function isCode(code: string): code is Code {
    return Object.hasOwn(catalog, code);
  }
}
