import { parseYara, type YaraRule } from './yara-source.ts';

// Finds rules that cannot match a content because of its size or position. YARA-X searches for the patterns of every rule, so fewer rules are faster.

/** Facts about a content before it is matched. */
export interface Known {
  /** Least size of the content. */
  least_bytes: number;
  /** The content is from the middle of a file: conditions on the first bytes of a file are false. */
  is_within: boolean;
}

const UNIT_BYTES: Readonly<Record<string, number>> = { KB: 1024, MB: 1024 ** 2 };

export function bytesOf(token: string | undefined): number | undefined {
  const number = /^(\d+)(KB|MB)?$/.exec(token ?? '');
  return number === null ? undefined : Number(number[1]) * (UNIT_BYTES[number[2] ?? ''] ?? 1);
}

/** Splits an expression at `word`, outside of parentheses. */
export function partsOf(tokens: readonly string[], word: 'and' | 'or'): string[][] {
  const parts: string[][] = [[]];
  let depth = 0;
  for (const token of tokens) {
    if (token === '(') depth += 1;
    if (token === ')') depth -= 1;
    if (depth === 0 && token === word) parts.push([]);
    else parts.at(-1)?.push(token);
  }
  return parts;
}

/** The tokens without parentheses that enclose all of them. */
export function unwrapped(tokens: readonly string[]): readonly string[] {
  let depth = 0;
  for (const [at, token] of tokens.entries()) {
    if (token === '(') depth += 1;
    if (token === ')') depth -= 1;
    if (depth === 0) return at > 0 && at === tokens.length - 1 ? unwrapped(tokens.slice(1, -1)) : tokens;
  }
  return tokens;
}

const READS_BYTES = /^u?int(?:8|16|32)(?:be)?$/;
/** A pattern that is required near the beginning: `$pdf in (0..1024)`, `$mark at 0`. */
const AT_BEGINNING = /^[$]\w* (?:in \( 0 \. \. \d+ \)|at 0)$/;

/** Whether a condition, or a part of one, is false for every such content. A part that is not understood counts as possibly true. */
function isFalse(condition: readonly string[], known: Known, never: ReadonlySet<string>): boolean {
  const tokens = unwrapped(condition);
  const either = partsOf(tokens, 'or');
  if (either.length > 1) return either.every((part) => isFalse(part, known, never));
  const both = partsOf(tokens, 'and');
  if (both.length > 1) return both.some((part) => isFalse(part, known, never));
  const [first = '', second = '', third, ...rest] = tokens;
  if (tokens.length === 1) return never.has(first);
  const bytes = bytesOf(third);
  if (first === 'filesize' && second === '<' && rest.length === 0 && bytes !== undefined) return bytes <= known.least_bytes;
  if (first === 'filesize' && second === '<' && third === '=' && rest.length === 1)
    return (bytesOf(rest[0]) ?? Number.POSITIVE_INFINITY) < known.least_bytes;
  if (!known.is_within) return false;
  if (READS_BYTES.test(first) && second === '(' && bytes !== undefined && rest.slice(0, 3).join(' ') === ') = =') return true;
  return (first === 'pe' && tokens.join(' ') === 'pe . is_pe') || AT_BEGINNING.test(tokens.join(' '));
}

/**
 * The source without the rules that are false for every such content. If a remaining rule refers to a removed one, the source does not compile, which the caller must
 * handle.
 */
export function rulesFor(source: string, known: Known): string {
  const { imports, rules } = parseYara(source);
  const never = new Set<string>();
  const kept: YaraRule[] = [];
  // A rule can only refer to earlier rules.
  for (const rule of rules) {
    if (!rule.is_global && isFalse(rule.condition, known, never)) never.add(rule.name);
    else kept.push(rule);
  }
  return [...imports, ...kept.map((rule) => rule.source)].join('\n');
}
