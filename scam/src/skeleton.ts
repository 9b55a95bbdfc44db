import confusables from 'unhomoglyph/data.json' with { type: 'json' };

/** Unicode's confusables.txt from the package `unhomoglyph`: characters, and their prototypes. */
const PROTOTYPES: ReadonlyMap<string, string> = new Map(Object.entries(confusables));

/**
 * The skeleton of a text: texts that look alike have the same skeleton (UTS 39, section 4). It is not for display. The package's own
 * function tries 6,000 alternatives at each
 * letter; this one looks each letter up.
 */
export function skeleton(text: string): string {
  let mapped = '';
  for (const letter of text.normalize('NFD')) mapped += PROTOTYPES.get(letter) ?? letter;
  return mapped.normalize('NFD');
}

/** Scripts that UTS 39 (section 5.1) allows together in one word: Latin with those of Japanese, Korean and Chinese. */
const TOGETHER: readonly (readonly string[])[] = [
  ['Latin', 'Han', 'Hiragana', 'Katakana'],
  ['Latin', 'Han', 'Hangul'],
  ['Latin', 'Han', 'Bopomofo'],
];
const SCRIPTS = [
  'Latin',
  'Cyrillic',
  'Greek',
  'Armenian',
  'Cherokee',
  'Lisu',
  'Han',
  'Hiragana',
  'Katakana',
  'Hangul',
  'Bopomofo',
  'Arabic',
  'Hebrew',
  'Devanagari',
  'Thai',
  'Georgian',
  'Ethiopic',
].map((name) => ({ name, pattern: new RegExp(`\\p{Script=${name}}`, 'u') }));

/** The scripts of a word's letters, without characters that all scripts share, such as digits. */
function scriptsOf(word: string): string[] {
  return SCRIPTS.filter(({ pattern }) => pattern.test(word)).map(({ name }) => name);
}

/** Whether a word mixes scripts that no language combines (not "highly restrictive", UTS 39 section 5.2). */
export function mixesScripts(word: string): boolean {
  const scripts = scriptsOf(word);
  return scripts.length > 1 && !TOGETHER.some((set) => scripts.every((script) => set.includes(script)));
}
