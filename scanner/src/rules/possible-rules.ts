import { LiteralSearch, literalsOf } from './pattern-literals.ts';
import { bytesOf, partsOf, unwrapped } from './rules-by-content.ts';
import { parseYara, type YaraRule } from './yara-source.ts';

// Checks whether any rule could match a small content. Each call of the WebAssembly engine costs some milliseconds, and an archive has thousands of small members. A part of
// a condition that is not understood counts as possibly true, so that a content is skipped only if no rule can match it.

/** A rule, with the literals that each of its patterns needs, by their numbers. */
interface Prepared {
  rule: YaraRule;
  needs: ReadonlyMap<string, readonly (readonly number[])[]>;
}

/** Facts about one content. */
interface Facts {
  bytes: Buffer;
  /** Whether a pattern of the rule cannot match. */
  isAbsent: (pattern: string) => boolean;
  /** Whether a rule of this name cannot match. */
  isOut: (rule: string) => boolean;
  patterns: readonly string[];
}

const READ = /^(u?int)(8|16|32)(be)? \( (\d+) \) = = (0x[0-9a-fA-F]+|\d+)$/;

/** Whether a comparison such as `uint16(0) == 0x5a4d` is false. */
function differs(text: string, bytes: Buffer): boolean {
  const [, type, bits, big, at, value] = READ.exec(text) ?? [];
  if (type !== 'uint') return false;
  const length = Number(bits) / 8;
  const from = Number(at);
  // An integer beyond the end is undefined, so the comparison is false.
  if (from + length > bytes.length) return true;
  return Number(value) !== (big === undefined ? bytes.readUIntLE(from, length) : bytes.readUIntBE(from, length));
}

function isOfOtherSize(text: string, size: number): boolean {
  const [, sign, equals, number] = /^filesize ([<>]) (= )?(\w+)$/.exec(text) ?? [];
  const bytes = bytesOf(number);
  if (bytes === undefined) return false;
  if (sign === '<') return equals === undefined ? size >= bytes : size > bytes;
  return equals === undefined ? size <= bytes : size < bytes;
}

/** The patterns of a set such as `$a, $b*`; undefined if it names anything else. */
function patternsIn(set: string, patterns: readonly string[]): string[] | undefined {
  if (set === 'them') return [...patterns];
  const names = /^\( (\$[^()]*) \)$/.exec(set)?.[1]?.replaceAll(' *', '*').split(' , ');
  if (names?.every((name) => /^\$\w*\*?$/.test(name)) !== true) return undefined;
  const isIn = (pattern: string) =>
    names.some((name) => (name.endsWith('*') ? pattern.startsWith(name.slice(0, -1)) : pattern === name));
  return patterns.filter(isIn);
}

/** Whether a condition, or a part of one, is false for a content. A part that is not understood counts as possibly true. */
function isFalse(condition: readonly string[], facts: Facts): boolean {
  const tokens = unwrapped(condition);
  const either = partsOf(tokens, 'or');
  if (either.length > 1) return either.every((part) => isFalse(part, facts));
  const both = partsOf(tokens, 'and');
  if (both.length > 1) return both.some((part) => isFalse(part, facts));
  const [first = '', second] = tokens;
  const is_pattern = /^\$\w+$/.test(first);
  if (tokens.length === 1) return is_pattern ? facts.isAbsent(first) : facts.isOut(first);
  if (is_pattern && (second === 'at' || second === 'in')) return facts.isAbsent(first);
  const text = tokens.join(' ');
  const counted = /^#(\w+) > (= )?\d+$/.exec(text);
  if (counted !== null && !text.endsWith('= 0')) return facts.isAbsent(`$${counted[1]}`);
  const [, least = '', set = ''] = /^(any|all|\d+) of (.+)$/.exec(text) ?? [];
  if (least !== '') {
    const patterns = patternsIn(set, facts.patterns);
    if (patterns === undefined) return false;
    const possible = patterns.filter((pattern) => !facts.isAbsent(pattern)).length;
    return possible < (least === 'any' ? 1 : least === 'all' ? patterns.length : Number(least));
  }
  if (text === 'pe . is_pe') return facts.bytes.length < 2 || facts.bytes.readUInt16LE(0) !== 0x5a4d;
  return isOfOtherSize(text, facts.bytes.length) || differs(text, facts.bytes);
}

/** A content without its zero bytes, which turns UTF-16 into ASCII; undefined if it has none. */
function withoutNuls(bytes: Buffer): Buffer | undefined {
  if (!bytes.includes(0)) return undefined;
  const rest = Buffer.allocUnsafe(bytes.length);
  let length = 0;
  for (const byte of bytes) {
    if (byte === 0) continue;
    rest[length] = byte;
    length += 1;
  }
  return rest.subarray(0, length);
}

/**
 * Returns a function that checks whether any rule of a source could match a content. Undefined if that cannot be checked: the source has global rules, or too many literals.
 * `exactly` returns an expression, for bytes as Latin-1, of a rule that has one pattern and no other condition: it is tried if the pattern's literals are found.
 */
export function possibleRules(
  source: string,
  exactly: (rule: string) => RegExp | undefined = () => undefined,
): ((bytes: Buffer) => boolean) | undefined {
  const { rules } = parseYara(source);
  if (rules.some(({ is_global }) => is_global)) return undefined;
  const numbers = new Map<string, number>();
  const numberOf = (text: string) => {
    const number = numbers.get(text) ?? numbers.size;
    numbers.set(text, number);
    return number;
  };
  const prepared = rules.map((rule): Prepared => {
    // Patterns without a name are numbered.
    const keyOf = (name: string, index: number) => (name === '$' ? `$ ${index}` : name);
    const needs = new Map(
      rule.patterns.map(
        (pattern, index) => [keyOf(pattern.name, index), literalsOf(pattern).map((set) => set.map(numberOf))] as const,
      ),
    );
    return { rule, needs };
  });
  const expressions = new Map(rules.map(({ name }) => [name, exactly(name)] as const));
  const by_name = new Map(prepared.map((one) => [one.rule.name, one]));
  let search: LiteralSearch;
  try {
    search = new LiteralSearch([...numbers.keys()]);
  } catch {
    return undefined;
  }
  return (bytes) => {
    const found = new Uint8Array(numbers.size);
    search.mark(bytes, found);
    const narrow = withoutNuls(bytes);
    if (narrow !== undefined) search.mark(narrow, found);
    const known = new Map<string, boolean>();
    let letters: string | undefined;
    const isNowhere = (expression: RegExp | undefined) => {
      if (expression === undefined) return false;
      letters ??= bytes.toString('latin1');
      return letters.search(expression) < 0;
    };
    const isOut = (name: string): boolean => {
      const before = known.get(name);
      if (before !== undefined) return before;
      const one = by_name.get(name);
      if (one === undefined) return false;
      const isAbsent = (pattern: string) =>
        one.needs.get(pattern)?.some((set) => set.every((number) => found[number] === 0)) ?? false;
      const facts = { bytes, isAbsent, isOut, patterns: [...one.needs.keys()] };
      const is_out = isFalse(one.rule.condition, facts) || isNowhere(expressions.get(name));
      known.set(name, is_out);
      return is_out;
    };
    return prepared.some(({ rule }) => !rule.is_private && !isOut(rule.name));
  };
}
