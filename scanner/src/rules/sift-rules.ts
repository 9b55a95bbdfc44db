import { type LeftOut, leftOut } from './left-out.ts';
import { compileSource, countRules } from './rules.ts';
import { parseYara, type YaraRule } from './yara-source.ts';

// Public sets of rules have many authors: some files do not compile, some rules are there twice. Keeps the valid part, and reports
// the rest.

/** A file of an archive of rules. */
export interface RuleFile {
  name: string;
  text: string;
}

/** Rules that compile together, and the rest of the set. */
export interface Sifted {
  source: string;
  left_out: LeftOut[];
}

/** The first line of the compiler's error; undefined if the source compiles. */
export function errorOf(source: string): string | undefined {
  try {
    compileSource(source).release();
    return undefined;
  } catch (error) {
    return (error instanceof Error ? error.message : String(error)).split('\n', 1)[0] ?? '';
  }
}

const rebuilt = (imports: readonly string[], rules: readonly YaraRule[]) =>
  [...new Set(imports), ...rules.map(({ source }) => source), ''].join('\n');

/** A file without the rules that do not compile or that the compiler rejects as slow. */
function withoutSlowKinds(file: RuleFile): { file: RuleFile; left_out: LeftOut[] } | undefined {
  const { imports, rules } = parseYara(file.text);
  const left_out: LeftOut[] = [];
  const good: YaraRule[] = [];
  for (const rule of rules) {
    const error = errorOf(rebuilt(imports, [...good, rule]));
    if (error === undefined) good.push(rule);
    else left_out.push(leftOut(rule.name, /slow (pattern|loop)/.test(error) ? 'slow' : 'does_not_compile', error));
  }
  return good.length === 0 ? undefined : { file: { ...file, text: rebuilt(imports, good) }, left_out };
}

/** The other files that define rules to which a file refers. */
function providersOf(file: RuleFile, by_rule: ReadonlyMap<string, RuleFile>): RuleFile[] {
  const words = parseYara(file.text).rules.flatMap((rule) => [...rule.words]);
  return [...new Set(words.flatMap((word) => by_rule.get(word) ?? []))].filter((other) => other !== file);
}

/** Adds files to those that compile already, in halves after an error: for errors that occur only between files. */
function takeTogether(files: readonly RuleFile[], taken: RuleFile[], left_out: LeftOut[]): void {
  const error = errorOf([...taken, ...files].map(({ text }) => text).join('\n'));
  if (error === undefined) {
    taken.push(...files);
    return;
  }
  const [only] = files;
  if (only === undefined) return;
  if (files.length === 1) {
    left_out.push(leftOut(only.name, 'does_not_compile', error));
    return;
  }
  const half = Math.ceil(files.length / 2);
  takeTogether(files.slice(0, half), taken, left_out);
  takeTogether(files.slice(half), taken, left_out);
}

/** Keeps the first of the rules with the same name, in the order of the files. */
function withoutTwice(files: readonly RuleFile[]): { files: RuleFile[]; left_out: LeftOut[] } {
  const seen = new Set<string>();
  const left_out: LeftOut[] = [];
  const kept = files.flatMap((file) => {
    const { imports, rules } = parseYara(file.text);
    const fresh = rules.filter(({ name }) => !seen.has(name));
    for (const { name } of rules) {
      if (seen.has(name)) left_out.push(leftOut(name, 'twice', `Another file of the feed has a rule of this name.`));
      seen.add(name);
    }
    if (fresh.length === rules.length) return [file];
    return fresh.length === 0 ? [] : [{ ...file, text: rebuilt(imports, fresh) }];
  });
  return { files: kept, left_out };
}

/** The files that compile, joined into one source in their order; the others are listed with the compiler's reason. */
export function siftFiles(files: readonly RuleFile[]): Sifted {
  const whole = files.map(({ text }) => text).join('\n');
  if (errorOf(whole) === undefined) return { source: whole, left_out: [] };
  const by_rule = new Map(files.flatMap((file) => parseYara(file.text).rules.map(({ name }) => [name, file] as const)));
  const left_out: LeftOut[] = [];
  const sound = files.flatMap((file) => {
    if (countRules(file.text) === 0 && errorOf(file.text) === undefined) return [];
    const error = errorOf(file.text);
    if (error === undefined) return [file];
    if (/slow (pattern|loop)/.test(error)) {
      const sifted = withoutSlowKinds(file);
      left_out.push(...(sifted?.left_out ?? [leftOut(file.name, 'slow', error)]));
      return sifted === undefined ? [] : [sifted.file];
    }
    const providers = /unknown identifier/.test(error) ? providersOf(file, by_rule) : [];
    if (providers.length > 0 && errorOf([...providers, file].map(({ text }) => text).join('\n')) === undefined) return [file];
    left_out.push(leftOut(file.name, 'does_not_compile', error));
    return [];
  });
  const once = withoutTwice(sound);
  left_out.push(...once.left_out);
  const taken: RuleFile[] = [];
  // Files that refer to others follow them.
  const alone = once.files.filter(({ text }) => errorOf(text) === undefined);
  const referring = once.files.filter((file) => !alone.includes(file));
  takeTogether(alone, taken, left_out);
  if (referring.length > 0) takeTogether(referring, taken, left_out);
  return { source: taken.map(({ text }) => text).join('\n'), left_out };
}

/** A source without the rules in `reasons`, and without those that need them. `reasons`: why each is left out, by the rule's name. */
export function withoutRules(source: string, reasons: ReadonlyMap<string, LeftOut>): Sifted {
  if (reasons.size === 0) return { source, left_out: [] };
  const { imports, rules } = parseYara(source);
  const left_out = new Map(reasons);
  // Each iteration finds rules that need those removed in the previous one.
  for (let before = -1; before !== left_out.size; ) {
    before = left_out.size;
    for (const { name, words } of rules) {
      const needed = left_out.has(name) ? undefined : [...words].find((word) => left_out.has(word));
      if (needed !== undefined) left_out.set(name, leftOut(name, 'needs_another', `It needs the rule ${needed}.`));
    }
  }
  return {
    source: rebuilt(
      imports,
      rules.filter(({ name }) => !left_out.has(name)),
    ),
    left_out: [...left_out.values()],
  };
}
