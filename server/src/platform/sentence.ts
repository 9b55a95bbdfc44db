import { englishOf, type ParamsOf, type Phrase, type Template } from '@palisade/contract/phrase';

/** A sentence for people that pages can translate. It is built from a template with a code, so that no text without a code becomes one. */
export class Sentence {
  readonly phrase: Phrase;
  readonly #template: Template;

  constructor(template: Template, phrase: Phrase) {
    this.#template = template;
    this.phrase = phrase;
  }

  get english(): string {
    return englishOf(this.#template, this.phrase.params);
  }
}

/** Values of a template, and more arguments. Values may be missing where the template takes none. */
export type With<Values, More extends unknown[]> =
  Record<never, never> extends Values ? [params?: Values, ...more: More] : [params: Values, ...more: More];

/** Functions that create a catalog's sentences. An unknown code or a missing value does not compile. */
export function sentencesFrom<const Catalog extends { readonly [Code in keyof Catalog]: Template }>(catalog: Catalog) {
  function sentence<C extends keyof Catalog & string>(code: C, ...rest: With<ParamsOf<Catalog[C]>, []>): Sentence;
  function sentence(code: keyof Catalog & string, params: Phrase['params'] = {}): Sentence {
    return new Sentence(catalog[code], { code, params });
  }
  return sentence;
}

/** Sentences from outside this server, which every language shows unchanged. */
export const AS_WRITTEN = {
  as_written: { english: '{sentence}', params: { sentence: 'text' } },
} as const satisfies Record<string, Template>;

/**
 * For a text from outside: a device's own reason, or the fault named by a contract schema, which a page with the same schema can translate itself. The server's own
 * sentences are in the catalogs of refusals.
 */
export function asWritten(sentence: string): Sentence {
  return new Sentence(AS_WRITTEN.as_written, { code: 'as_written', params: { sentence } });
}
