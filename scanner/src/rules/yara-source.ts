/** A pattern of a rule as written in the source. `modifiers`: the words after it (`nocase`, `wide`). */
export interface YaraPattern {
  /** Includes its `$`. */
  name: string;
  kind: 'text' | 'regex' | 'hex';
  /** Without its quotes, slashes or braces. */
  body: string;
  modifiers: string;
}

/** One rule of a source. */
export interface YaraRule {
  name: string;
  /** Private rules report no match. */
  is_private: boolean;
  is_global: boolean;
  source: string;
  patterns: YaraPattern[];
  /** The tokens of its condition, in order. */
  condition: string[];
  /** Every token of its condition, which includes the names of the rules that it needs. */
  words: Set<string>;
}

/** The tokens of a source: comments, quoted texts, regular expressions (`/` divides nothing in YARA), words, and single characters. */
const TOKEN = /\/\/[^\n]*|\/\*[\s\S]*?\*\/|"(?:\\[\s\S]|[^"\\\n])*"|\/(?:\\.|[^/\\\n])+\/[is]{0,2}|[$#@!]?\w+|\S/g;
const RULE_HEAD = new Set(['private', 'global', 'rule']);

interface Token {
  text: string;
  start: number;
  end: number;
}

function* tokensOf(source: string): Generator<Token> {
  for (const { 0: text, index } of source.matchAll(TOKEN)) {
    if (!text.startsWith('//') && !text.startsWith('/*')) yield { text, start: index, end: index + text.length };
  }
}

/** The modifiers after a pattern: words up to the next pattern or section, including the parentheses of `xor(...)` and `base64(...)`. */
function modifiersAt(tokens: readonly Token[], from: number): string {
  const words: string[] = [];
  for (let at = from; at < tokens.length; at++) {
    const text = tokens[at]?.text ?? '';
    if (text.startsWith('$') || text === 'condition' || text === '}') break;
    words.push(text);
  }
  return words.join(' ');
}

function patternsOf(tokens: readonly Token[]): YaraPattern[] {
  const patterns: YaraPattern[] = [];
  for (let at = 0; at + 2 < tokens.length; at++) {
    const [name, equals, value] = tokens.slice(at, at + 3);
    if (name === undefined || equals === undefined || value === undefined) break;
    if (name.text === 'condition') break;
    if (!name.text.startsWith('$') || equals.text !== '=') continue;
    if (value.text.startsWith('"')) {
      patterns.push({ name: name.text, kind: 'text', body: value.text.slice(1, -1), modifiers: modifiersAt(tokens, at + 3) });
    } else if (value.text.startsWith('/')) {
      const end = value.text.lastIndexOf('/');
      const flags = value.text.slice(end + 1);
      patterns.push({
        name: name.text,
        kind: 'regex',
        body: value.text.slice(1, end),
        modifiers: `${flags.includes('i') ? 'nocase ' : ''}${modifiersAt(tokens, at + 3)}`,
      });
    } else if (value.text === '{') {
      const close = tokens.findIndex(({ text }, index) => index > at + 2 && text === '}');
      if (close < 0) break;
      const body = tokens.slice(at + 3, close).map(({ text }) => text);
      patterns.push({ name: name.text, kind: 'hex', body: body.join(' '), modifiers: modifiersAt(tokens, close + 1) });
      at = close;
    }
  }
  return patterns;
}

/** Parses a source that compiles into its imports and its rules, in order. Text that is not YARA gives no rules. */
export function parseYara(source: string): { imports: string[]; rules: YaraRule[] } {
  const imports: string[] = [];
  const rules: YaraRule[] = [];
  let head: Token[] = [];
  let body: Token[] = [];
  let depth = 0;
  let before: Token | undefined;
  for (const token of tokensOf(source)) {
    if (depth === 0 && before?.text === 'import') imports.push(`import ${token.text}`);
    before = token;
    if (depth === 0 && token.text !== '{') {
      if (head.length > 0 || RULE_HEAD.has(token.text)) head.push(token);
      continue;
    }
    body.push(token);
    if (token.text === '{') depth += 1;
    if (token.text === '}') depth -= 1;
    if (depth > 0) continue;
    const rule_at = head.findIndex(({ text }) => text === 'rule');
    const name = head[rule_at + 1]?.text;
    const start = head[0]?.start;
    if (rule_at >= 0 && name !== undefined && start !== undefined) {
      const condition_at = body.findIndex(({ text }, index) => text === 'condition' && body[index + 1]?.text === ':');
      const condition = body.slice(condition_at + 2, -1).map(({ text }) => text);
      rules.push({
        name,
        is_private: head.slice(0, rule_at).some(({ text }) => text === 'private'),
        is_global: head.slice(0, rule_at).some(({ text }) => text === 'global'),
        source: source.slice(start, token.end),
        patterns: patternsOf(body),
        condition,
        words: new Set(condition),
      });
    }
    head = [];
    body = [];
  }
  return { imports, rules };
}
