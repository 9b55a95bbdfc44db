import { type Language, numberOf, type Token } from './tokens.ts';

// Parses expressions of the script languages into trees, with one grammar for all, which accepts slightly more than each language.

export type Expression =
  | { kind: 'constant'; value: string | number; start: number; end: number }
  | { kind: 'pattern'; source: string; start: number; end: number }
  | { kind: 'name'; name: string; start: number; end: number }
  | { kind: 'list'; items: Expression[]; start: number; end: number }
  | { kind: 'binary'; operator: string; left: Expression; right: Expression; start: number; end: number }
  | { kind: 'unary'; operator: string; operand: Expression; start: number; end: number }
  | { kind: 'call'; callee: Expression; inputs: Expression[]; start: number; end: number }
  | { kind: 'index'; of: Expression; places: Expression[]; start: number; end: number }
  | { kind: 'member'; of: Expression; name: string; start: number; end: number }
  | { kind: 'function'; names: string[]; body: Expression; over?: Expression; start: number; end: number };

/** Precedence of operators, the lowest first, including word operators of Visual Basic and PowerShell. */
const BINDING: Readonly<Record<Language, readonly string[]>> = {
  javascript: ['= +=', '||', '&&', '|', '^', '&', '<< >> >>>', '+ -', '* / %', '**'],
  'visual-basic': ['= +=', 'or', 'xor', 'and', '&', '+ -', 'mod', '\\', '* /', '^'],
  powershell: [
    '= +=',
    '|',
    '-join -split -replace -creplace -ireplace -csplit -isplit -bxor -band -bor',
    '+ -',
    '* / %',
    '-shl -shr',
    '-f',
    '..',
    ',',
  ],
  php: ['= .=', '|', '^', '&', '<< >>', '. + -', '* / %', '**'],
  python: ['= += :=', '|', '^', '&', '<< >>', '+ -', '* / // %', '**'],
  shell: [],
};
const UNARY = new Set([
  '-',
  '+',
  '~',
  '!',
  '-join',
  '-split',
  '-bnot',
  'not',
  'new',
  'typeof',
  '@',
  '&',
  '.',
  '...',
  'await',
  'return',
  ',',
]);
/** Keywords that end an expression. */
const STOPS = new Set(['then', 'to', 'step', 'in', 'as', 'else', 'of', 'if', 'loop', 'next', 'end']);
/** Shorter texts are not worth reporting. */
const TELLING_LEAST = 12;
/** Keywords of PowerShell before a parenthesis or a value, which are not commands. */
const KEYWORDS = new Set('if,elseif,while,for,foreach,switch,return,function,param,until,catch,throw,in'.split(','));
const INPUTS_MAXIMUM = 8;
/** Higher than the precedence of every operator. */
const TIGHTEST = 99;
const DEPTH_MAXIMUM = 60;
const CLOSING: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}' };

function bindingsOf(language: Language): ReadonlyMap<string, number> {
  return new Map(BINDING[language].flatMap((row, index) => row.split(' ').map((operator) => [operator, index + 1] as const)));
}

/** Parses expressions from tokens. `at`: index of the token after the last expression. */
export class ExpressionReader {
  at = 0;
  /** Number of expressions read so far, including repeated attempts. */
  steps = 0;
  private depth = 0;
  private nested = 0;
  private readonly tokens: readonly Token[];
  private readonly language: Language;
  private readonly bindings: ReadonlyMap<string, number>;

  constructor(tokens: readonly Token[], language: Language) {
    this.tokens = tokens;
    this.language = language;
    this.bindings = bindingsOf(language);
  }

  private token(ahead = 0): Token | undefined {
    return this.tokens[this.at + ahead];
  }

  private is(value: string): boolean {
    const token = this.token();
    return token?.value === value && (token.kind === 'mark' || token.kind === 'name');
  }

  private skipLines(): void {
    while (this.token()?.kind === 'line') this.at += 1;
  }

  /** Skips line ends that do not end an expression: within brackets, and in languages that use semicolons. */
  private skipFreeLines(): void {
    if (this.nested > 0 || this.language === 'javascript' || this.language === 'php') this.skipLines();
  }

  private end(): number {
    return this.tokens[this.at - 1]?.end ?? 0;
  }

  /** The expression at `at`; undefined if none begins there. */
  read(binding = 0): Expression | undefined {
    this.steps += 1;
    if (this.depth >= DEPTH_MAXIMUM) return undefined;
    this.depth += 1;
    try {
      return this.readBound(binding);
    } finally {
      this.depth -= 1;
    }
  }

  private readBound(binding: number): Expression | undefined {
    let left = this.operand();
    while (left !== undefined) {
      const before = this.at;
      this.skipFreeLines();
      const token = this.token();
      const operator = token?.kind === 'mark' || token?.kind === 'name' ? token.value.toLowerCase() : '';
      const bound = this.bindings.get(operator);
      if (bound === undefined || bound <= binding) {
        this.at = before;
        break;
      }
      this.at += 1;
      this.skipLines();
      // A pipe that applies a function to each item: `| % { ... }`.
      if (operator === '|' && this.language === 'powershell' && /^(?:%|foreach|foreach-object)$/i.test(this.token()?.value ?? ''))
        this.at += 1;
      const right = this.read(bound === 1 ? 0 : bound);
      if (right === undefined) {
        this.at = before;
        break;
      }
      left = { kind: 'binary', operator, left, right, start: left.start, end: this.end() };
    }
    return left;
  }

  private operand(): Expression | undefined {
    const token = this.token();
    if (token === undefined) return undefined;
    const { start } = token;
    const word = token.value.toLowerCase();
    if ((token.kind === 'mark' || token.kind === 'name') && UNARY.has(word) && !(word === '@' && this.token(1)?.value === '(')) {
      this.at += 1;
      const operand = word === '-join' || word === '-split' ? this.read(4) : this.behind(this.primary());
      return operand === undefined ? undefined : { kind: 'unary', operator: word, operand, start, end: this.end() };
    }
    const primary = this.primary();
    return primary === undefined ? undefined : this.behind(primary);
  }

  private primary(): Expression | undefined {
    const token = this.token();
    if (token === undefined) return undefined;
    const { kind, value, start } = token;
    switch (kind) {
      case 'text': {
        this.at += 1;
        let text = value;
        // Python concatenates adjacent texts.
        if (this.language === 'python')
          for (let ahead = this.at; ; ) {
            while (this.nested > 0 && this.tokens[ahead]?.kind === 'line') ahead += 1;
            const next = this.tokens[ahead];
            if (next?.kind !== 'text') break;
            text += next.value;
            ahead += 1;
            this.at = ahead;
          }
        return { kind: 'constant', value: text, start, end: this.end() };
      }
      case 'number':
        this.at += 1;
        return { kind: 'constant', value: numberOf(value), start, end: this.end() };
      case 'pattern':
        this.at += 1;
        return { kind: 'pattern', source: value, start, end: this.end() };
      case 'name':
        return STOPS.has(value.toLowerCase()) ? undefined : this.named();
      case 'mark':
        return this.bracket();
      case 'line':
        return undefined;
    }
  }

  private named(): Expression | undefined {
    const [token, next] = [this.token(), this.token(1)];
    if (token === undefined) return undefined;
    const { value, start } = token;
    this.at += 1;
    if (value === 'lambda' || value === 'fn' || value === 'function') return this.lambda(start);
    if (next?.value === '=>' && next.kind === 'mark') {
      this.at += 1;
      return this.withBody([value], start);
    }
    if (value === '$' && this.is('(')) return this.primary();
    const callee: Expression = { kind: 'name', name: value, start, end: this.end() };
    return this.language === 'powershell' && !value.startsWith('$') ? this.command(callee) : callee;
  }

  /** Parses a command of PowerShell with inputs on the same line as a call. */
  private command(callee: Extract<Expression, { kind: 'name' }>): Expression {
    const inputs: Expression[] = [];
    for (let token = this.token(); token !== undefined && inputs.length < INPUTS_MAXIMUM; token = this.token()) {
      const is_input = token.kind === 'text' || token.kind === 'number' || token.value === '(' || token.value.startsWith('$');
      if (!is_input || KEYWORDS.has(callee.name.toLowerCase()) || token.start === this.tokens[this.at - 1]?.end) break;
      const input = this.read(TIGHTEST);
      if (input === undefined) break;
      inputs.push(input);
    }
    return inputs.length === 0 ? callee : { kind: 'call', callee, inputs, start: callee.start, end: this.end() };
  }

  /** Parses a function in an expression: its parameter names, and its returned value. */
  private lambda(start: number): Expression | undefined {
    const names: string[] = [];
    for (let steps = 0; steps < 16; steps += 1) {
      const token = this.token();
      if (token === undefined || token.value === '{' || token.value === ':' || token.value === '=>') break;
      if (token.kind === 'name') names.push(token.value);
      this.at += 1;
    }
    this.at += 1;
    return this.withBody(names, start);
  }

  private withBody(names: string[], start: number): Expression | undefined {
    this.skipLines();
    const is_block = this.is('{');
    if (is_block) this.at += 1;
    this.skipLines();
    const body = this.read();
    if (body === undefined) return undefined;
    if (this.is(';')) this.at += 1;
    this.skipLines();
    if (this.is('}')) this.at += 1;
    return { kind: 'function', names, body, start, end: this.end() };
  }

  /** Parses expressions separated by commas or semicolons, up to the closing mark. */
  private items(close: string): Expression[] {
    const items: Expression[] = [];
    this.nested += 1;
    for (let steps = 0; steps < this.tokens.length; steps += 1) {
      this.skipLines();
      const token = this.token();
      if (token === undefined) break;
      if (this.is(close)) {
        this.at += 1;
        break;
      }
      if (this.is(',') || this.is(';') || this.is(':') || this.is('::')) {
        this.at += 1;
        continue;
      }
      const before = this.at;
      const item = this.read();
      if (item === undefined && this.at === before) {
        // A syntax error: the value is unknown, and reading continues after the token.
        this.at += 1;
        if (token.value in CLOSING && this.nested < DEPTH_MAXIMUM) this.items(CLOSING[token.value] ?? ')');
        items.push({ kind: 'name', name: '', start: token.start, end: token.end });
      } else if (item !== undefined) items.push(this.overOf(item));
    }
    this.nested -= 1;
    return items;
  }

  /** Parses a comprehension of Python: `expression for name in list`. */
  private overOf(item: Expression): Expression {
    this.skipLines();
    if (this.language !== 'python' || !this.is('for')) return item;
    this.at += 1;
    const names: string[] = [];
    while (this.token()?.kind === 'name' && !this.is('in')) {
      names.push(this.token()?.value ?? '');
      this.at += 1;
      if (this.is(',')) this.at += 1;
    }
    this.at += 1;
    const over = this.read();
    return over === undefined ? item : { kind: 'function', names, body: item, over, start: item.start, end: this.end() };
  }

  private bracket(): Expression | undefined {
    const token = this.token();
    if (token === undefined) return undefined;
    const { start } = token;
    const is_list = token.value === '@' && this.token(1)?.value === '(';
    if (is_list) this.at += 1;
    const open = this.token()?.value ?? '';
    if (open === '{' && this.language === 'powershell') {
      this.at += 1;
      return this.block(start);
    }
    if (open !== '(' && open !== '[') return undefined;
    if (open === '[' && this.language === 'powershell') return this.cast(start);
    this.at += 1;
    const items = this.items(CLOSING[open] ?? ')');
    const [only] = items;
    if (this.is('=>') && items.every((item) => item.kind === 'name')) {
      this.at += 1;
      return this.withBody(
        items.map((item) => (item.kind === 'name' ? item.name : '')),
        start,
      );
    }
    // In Python a comma after one item makes a tuple.
    const is_plain = open === '(' && !is_list && items.length === 1;
    return is_plain && only !== undefined ? { ...only, start, end: this.end() } : { kind: 'list', items, start, end: this.end() };
  }

  /** Parses a script block of PowerShell, `{ ... }`: a function of `$_`. */
  private block(start: number): Expression | undefined {
    this.nested += 1;
    this.skipLines();
    const body = this.read();
    this.nested -= 1;
    this.skipLines();
    if (!this.is('}') || body === undefined) return undefined;
    this.at += 1;
    return { kind: 'function', names: ['$_'], body, start, end: this.end() };
  }

  /** Parses a type of PowerShell, such as `[char]` or `[Convert]`: it converts the operand after it, or has members. */
  private cast(start: number): Expression | undefined {
    let name = '';
    let open = 0;
    for (let steps = 0; steps < 24; steps += 1) {
      const token = this.token();
      if (token === undefined || token.kind === 'line') return undefined;
      this.at += 1;
      if (token.value === '[') open += 1;
      if (token.value === ']') open -= 1;
      name += token.value;
      if (open === 0) break;
    }
    const callee: Expression = { kind: 'name', name: name.slice(1, -1), start, end: this.end() };
    if (this.is('::') || this.is('.')) return callee;
    const input = this.read(TIGHTEST);
    return input === undefined ? callee : { kind: 'call', callee, inputs: [input], start, end: this.end() };
  }

  /** Parses calls, indexes and members after an operand. */
  private behind(operand: Expression | undefined): Expression | undefined {
    let of = operand;
    while (of !== undefined) {
      const before = this.at;
      if (this.nested > 0 || this.language === 'javascript') this.skipLines();
      const { start } = of;
      const token = this.token();
      const next = this.token(1);
      const is_member =
        token?.kind === 'mark' &&
        (token.value === '::' || token.value === '->' || (token.value === '.' && this.language !== 'php'));
      if (is_member && (next?.kind === 'name' || next?.kind === 'text')) {
        this.at += 2;
        of = { kind: 'member', of, name: next.value, start, end: this.end() };
      } else if (
        this.is('(') &&
        token !== undefined &&
        (this.language !== 'powershell' || token.start === this.tokens[this.at - 1]?.end)
      ) {
        this.at += 1;
        const inputs = this.items(')');
        of = { kind: 'call', callee: of, inputs: inputs.flatMap((input) => this.unlisted(input)), start, end: this.end() };
      } else if (
        this.is('[') &&
        token !== undefined &&
        (this.language !== 'powershell' || token.start === this.tokens[this.at - 1]?.end)
      ) {
        this.at += 1;
        of = { kind: 'index', of, places: this.items(']'), start, end: this.end() };
      } else {
        this.at = before;
        break;
      }
    }
    return of;
  }

  /** The inputs of a PowerShell call, which the parser read as one list because of the comma operator. */
  private unlisted(input: Expression): Expression[] {
    if (this.language !== 'powershell') return [input];
    const items: Expression[] = [];
    let rest = input;
    for (; rest.kind === 'binary' && rest.operator === ','; rest = rest.left) items.unshift(rest.right);
    return [rest, ...items];
  }
}

/** Whether an expression computes a value with an operator. */
export function isOperation(expression: Expression): boolean {
  if (expression.kind === 'unary') return /^-(?:join|split)$/.test(expression.operator);
  return expression.kind === 'binary' && !expression.operator.endsWith('=');
}

/** Whether an expression is more than a concatenation of plain literals with the same quotation marks, and its value is long enough to report. */
export function isTelling(source: string, expression: Expression, { length }: string): boolean {
  if (length < TELLING_LEAST) return false;
  const quotes = new Set<string | undefined>();
  let left = expression;
  const isPlain = (part: Expression) => {
    if (part.kind === 'constant') quotes.add(source[part.start]);
    return part.kind === 'name' || (part.kind === 'constant' && !source.slice(part.start, part.end).includes('\\'));
  };
  for (; left.kind === 'binary' && /^[+.&]$/.test(left.operator); left = left.left) if (!isPlain(left.right)) return true;
  return !isPlain(left) || quotes.size > 1;
}

/** The parts of an expression that may contain constants. */
export function partsOf(expression: Expression): Expression[] {
  switch (expression.kind) {
    case 'list':
      return expression.items;
    case 'binary':
      return [expression.left, expression.right];
    case 'unary':
      return [expression.operand];
    case 'call':
      return [expression.callee, ...expression.inputs];
    case 'index':
      return [expression.of, ...expression.places];
    case 'member':
      return [expression.of];
    case 'function':
      return expression.over === undefined ? [expression.body] : [expression.body, expression.over];
    case 'constant':
    case 'pattern':
    case 'name':
      return [];
  }
}
