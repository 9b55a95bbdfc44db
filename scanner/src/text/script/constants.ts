import type { Budget } from '#scanner/reading/limits.ts';
import { type Expression, ExpressionReader, isOperation, isTelling, partsOf } from './expressions.ts';
import { FUNCTIONS, METHODS, mapped, operated, sliced, unary } from './functions.ts';
import { headsOf } from './heads.ts';
import { type Language, type Token, tokensOf } from './tokens.ts';
import {
  bounded,
  characterOf,
  isClosure,
  itemsOf,
  LETTERS_MAXIMUM,
  numberFrom,
  textOf,
  UNKNOWN,
  Unknown,
  unknownFrom,
  type Value,
} from './values.ts';

// Evaluates the constants of a script: its expressions in their order, ignoring conditions and loops. A loop that computes characters
// from numbers is evaluated as a function of one number, for the items of each list and text of the script.

/** A part of a script that is a constant expression, and its value. */
interface Constant {
  start: number;
  end: number;
  value: string;
  /** Whether it is more than a concatenation of literals. */
  is_telling: boolean;
}

export interface Evaluated {
  constants: Constant[];
  /** Texts that loops of the script compute from its lists and texts. */
  made: string[];
  /** Whether it runs a text that is computed from a long value and could not be evaluated. */
  runs_unknown: boolean;
}

const CONSTANT_LEAST = 4;
/** Only values without control characters are constants: expressions that give packed bytes stay as written. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const IS_TEXT = /^[^\0-\x08\x0e-\x1f\x7f-\x9f]*$/;
/** Limit of work for one script: number of values computed, plus an eighth of their lengths. */
const STEPS_MAXIMUM = 500_000;
/** Limit of expressions read per token: parts of a script are read again after a failed attempt. */
const READS_FOR_TOKEN = 20;
const EVALUATION_DEPTH_MAXIMUM = 120;
const SOURCE_LEAST = 8;
const SOURCES_MAXIMUM = 60;
const MAKERS_MAXIMUM = 8;
const MADE_LETTERS_MAXIMUM = 64 * 1024;
const CHARACTERS = new Set(['chr', 'chrw', 'chrb', 'chr$', 'chrw$', 'fromcharcode', 'fromcodepoint', 'char', 'unichr']);
/** Functions that run a text. */
const RUNNING = new Set(
  'eval,execute,executeglobal,iex,invoke-expression,function,assert,exec,create_function,invokescript,newscriptblock,execscript'.split(
    ',',
  ),
);
const WORDS: ReadonlyMap<string, string> = new Map(
  Object.entries({ vbcrlf: '\r\n', vbcr: '\r', vblf: '\n', vbtab: '\t', vbnullstring: '', vbnewline: '\r\n' }),
);

const plainName = (name: string) => name.replace(/^@/, '').toLowerCase();

/** A slice of Python; its expression may be in parentheses. */
const SLICE = /\[\s{0,4}(-?\d{0,6})\s{0,4}:\s{0,4}(-?\d{0,6})\s{0,4}(?::\s{0,4}(-?\d{1,3})?)?\s{0,4}\][\s)]{0,16}$/;

class Script {
  readonly constants: Constant[] = [];
  private readonly source: string;
  private readonly language: Language;
  private readonly names = new Map<string, Value>();
  private known = new Map<Expression, Value>();
  private readonly sources: Value[][] = [];
  /** Inputs of calls that convert a number to a character, if they are not constants. */
  private readonly makers: Expression[] = [];
  private readonly counters: Set<string>;
  private readonly inputs: ReadonlyMap<string, string[]>;
  private unknown_runs = 0;
  steps = 0;
  private depth = 0;

  constructor(source: string, language: Language, tokens: readonly Token[]) {
    this.source = source;
    this.language = language;
    const { counters, inputs } = headsOf(tokens, language);
    this.counters = new Set([...counters].map((name) => this.key(name)));
    this.inputs = new Map([...inputs].map(([name, names]) => [this.key(name), names.map((input) => this.key(input))]));
  }

  private key(name: string): string {
    return this.language === 'visual-basic' || this.language === 'powershell' ? name.toLowerCase() : name;
  }

  run(tokens: readonly Token[]): Evaluated {
    const reader = new ExpressionReader(tokens, this.language);
    let command: { line: number; is_running: boolean } | undefined;
    let line = 0;
    for (let at = 0; at < tokens.length && this.steps < STEPS_MAXIMUM && reader.steps < READS_FOR_TOKEN * tokens.length; ) {
      const token = tokens[at];
      if (token?.kind === 'line') line += 1;
      reader.at = at;
      // The head of a function is skipped, so that its body is read like any other part of the script.
      const is_head =
        token?.value === 'function' ||
        (token?.value === '(' &&
          /^\(?function$/.test(`${tokens[at + 1]?.value}${tokens[at + 1]?.value === '(' ? tokens[at + 2]?.value : ''}`));
      const expression = is_head ? undefined : reader.read();
      if (expression === undefined) {
        if (token?.kind === 'mark' && token.value === ';') command = undefined;
        at += 1;
        continue;
      }
      this.known = new Map();
      this.visit(expression);
      if (command?.is_running === true && command.line === line) this.ran(expression);
      command = { line, is_running: this.isRunning(expression) };
      at = Math.max(at + 1, reader.at);
    }
    const made = [...this.made()];
    return { constants: this.constants, made, runs_unknown: this.unknown_runs > 0 && made.length === 0 };
  }

  private isRunning(expression: Expression): boolean {
    const value =
      expression.kind === 'unary' && /^[&.]$/.test(expression.operator) ? this.evaluate(expression.operand) : undefined;
    const name = expression.kind === 'name' ? expression.name : typeof value === 'string' ? value : '';
    return RUNNING.has(plainName(name));
  }

  private ran(input: Expression): void {
    const value = this.evaluate(input);
    if (value instanceof Unknown && value.is_opaque) this.unknown_runs += 1;
  }

  /** Records the largest constants in an expression. */
  private visit(expression: Expression): void {
    if (this.depth >= EVALUATION_DEPTH_MAXIMUM) return;
    this.depth += 1;
    const value = this.evaluate(expression);
    const is_made = expression.kind === 'call' || expression.kind === 'index' || isOperation(expression);
    if (typeof value === 'string' && is_made && value.length >= CONSTANT_LEAST && IS_TEXT.test(value)) {
      this.constants.push({
        start: expression.start,
        end: expression.end,
        value,
        is_telling: isTelling(this.source, expression, value),
      });
      this.keepSource(value);
    } else {
      this.keepSource(value);
      for (const part of partsOf(expression)) this.visit(part);
    }
    if (expression.kind === 'index') for (const place of expression.places) this.noteCounters(place);
    if (expression.kind === 'call') this.visitCall(expression, value);
    if (expression.kind === 'binary' && expression.operator === '|' && this.isRunning(expression.right))
      this.ran(expression.left);
    this.depth -= 1;
  }

  private visitCall({ callee, inputs }: Extract<Expression, { kind: 'call' }>, value: Value): void {
    const name = this.nameOf(callee);
    if (
      CHARACTERS.has(name) &&
      value instanceof Unknown &&
      inputs.length === 1 &&
      inputs[0] !== undefined &&
      this.makers.length < MAKERS_MAXIMUM
    )
      this.makers.push(inputs[0]);
    if (/^(?:mid|mid\$|charcodeat|charat|substr|codepointat)$/.test(name))
      for (const input of callee.kind === 'name' ? inputs.slice(1) : inputs) this.noteCounters(input);
    const is_new = callee.kind === 'unary' && RUNNING.has(this.nameOf(callee.operand));
    // `pattern.exec()` and `connection.Execute` do not run a script.
    const is_running = RUNNING.has(name) && (callee.kind !== 'member' || !/^exec/.test(name));
    if (is_running || is_new) for (const input of inputs) this.ran(input);
  }

  /** Notes names that are used as positions of a text. */
  private noteCounters(place: Expression): void {
    for (const part of [place, ...partsOf(place)])
      if (part.kind === 'name' && !this.names.has(this.key(part.name))) this.counters.add(this.key(part.name));
  }

  private keepSource(value: Value): void {
    const items =
      typeof value === 'string' ? [...value].map((letter) => letter.charCodeAt(0)) : Array.isArray(value) ? value : [];
    if (this.sources.length >= SOURCES_MAXIMUM || items.length < SOURCE_LEAST || items.length > MADE_LETTERS_MAXIMUM) return;
    const is_numbers =
      items.some((item) => typeof item === 'string' && item.length > 1) && items.every((item) => numberFrom(item) !== undefined);
    if (is_numbers) this.sources.push(items.map((item) => numberFrom(item) ?? 0));
    this.sources.push(items.map((item) => (typeof item === 'string' && item.length === 1 ? item.charCodeAt(0) : item)));
    if (typeof value !== 'string') return;
    const numbers = /^[\d\s,;:|.-]{16,}$/.test(value) ? value.split(/[^\d-]+/).filter((part) => part !== '') : [];
    if (numbers.length >= SOURCE_LEAST) this.sources.push(numbers.map(Number));
    const is_hex = value.length % 2 === 0 && /^[0-9a-f]{16,}$/i.test(value);
    if (is_hex) this.sources.push([...Buffer.from(value, 'hex')]);
    else if (/^[A-Za-z0-9+/]{16,}={0,2}$/.test(value)) this.sources.push([...Buffer.from(value, 'base64')]);
  }

  private evaluate(expression: Expression, scope?: ReadonlyMap<string, Value>): Value {
    const known = scope === undefined ? this.known.get(expression) : undefined;
    if (known !== undefined) return known;
    if (this.steps >= STEPS_MAXIMUM || this.depth >= EVALUATION_DEPTH_MAXIMUM) return UNKNOWN;
    this.depth += 1;
    const value = bounded(this.evaluated(expression, scope));
    this.depth -= 1;
    this.steps += 1 + (typeof value === 'string' || Array.isArray(value) ? value.length >> 3 : 0);
    if (scope === undefined) this.known.set(expression, value);
    return value;
  }

  private evaluated(expression: Expression, scope: ReadonlyMap<string, Value> | undefined): Value {
    switch (expression.kind) {
      case 'constant':
        return this.interpolated(expression.value, expression.start, scope);
      case 'pattern':
        return expression.source;
      case 'name':
        return this.named(expression.name, scope);
      case 'list': {
        const items = expression.items.map((item) => this.evaluate(item, scope));
        const [only] = items;
        // `(expression for name in list)` and `[...text]` are lists already.
        const inner = expression.items[0];
        if (
          items.length === 1 &&
          Array.isArray(only) &&
          (inner?.kind === 'function' || (inner?.kind === 'binary' && inner.operator === ','))
        )
          return only;
        return items.some((item) => item instanceof Unknown) ? unknownFrom(items) : items;
      }
      case 'binary':
        return this.binary(expression, scope);
      case 'unary': {
        const value = this.evaluate(expression.operand, scope);
        return value instanceof Unknown ? value : (unary(expression.operator, value) ?? unknownFrom([value]));
      }
      case 'function': {
        const { names, body, over } = expression;
        const apply = (inputs: Value[]) =>
          this.evaluate(
            body,
            new Map([...(scope ?? []), ...names.map((name, index) => [this.key(name), inputs[index] ?? UNKNOWN] as const)]),
          );
        if (over === undefined) return { apply };
        const list = this.evaluate(over, scope);
        return list instanceof Unknown ? list : (mapped(list, { apply }) ?? UNKNOWN);
      }
      case 'index':
        return this.indexed(expression, scope);
      case 'member': {
        const of = this.evaluate(expression.of, scope);
        if (/^(?:length|count)$/i.test(expression.name) && !(of instanceof Unknown)) return itemsOf(of)?.length ?? UNKNOWN;
        return this.names.get(this.key(expression.name)) ?? UNKNOWN;
      }
      case 'call':
        return this.called(expression, scope);
    }
  }

  /** Substitutes variables in a text, in languages that do so (PowerShell, PHP). */
  private interpolated(value: string | number, start: number, scope: ReadonlyMap<string, Value> | undefined): Value {
    const takes = (this.language === 'powershell' || this.language === 'php') && this.source[start] === '"';
    if (typeof value === 'number' || !takes || !value.includes('$')) return value;
    let room = LETTERS_MAXIMUM;
    return value.replaceAll(/\{?\$\{?([A-Za-z_]\w{0,63})\}?\}?/g, (whole, name: string) => {
      const text = textOf(this.named(`$${name}`, scope)) ?? whole;
      room -= text.length;
      return room < 0 ? '' : text;
    });
  }

  private named(name: string, scope: ReadonlyMap<string, Value> | undefined): Value {
    const key = this.key(name);
    const value = scope?.get(key) ?? this.names.get(key);
    if (value !== undefined) return value;
    const apply = FUNCTIONS.get(plainName(name));
    if (apply !== undefined) return { apply: ([input = UNKNOWN]) => apply([input]) ?? unknownFrom([input]) };
    return WORDS.get(plainName(name)) ?? scope?.get('') ?? UNKNOWN;
  }

  /** Evaluates a chain of operators in a loop: its tree is as deep as the chain is long, which recursion could not handle. */
  private binary(expression: Extract<Expression, { kind: 'binary' }>, scope: ReadonlyMap<string, Value> | undefined): Value {
    if (expression.operator.endsWith('=')) return this.assigned(expression, scope);
    const chain: Extract<Expression, { kind: 'binary' }>[] = [];
    let first: Expression = expression;
    for (; first.kind === 'binary' && !first.operator.endsWith('='); first = first.left) {
      const known = scope === undefined ? this.known.get(first) : undefined;
      if (known !== undefined) break;
      chain.push(first);
    }
    let value = this.evaluate(first, scope);
    for (const step of chain.reverse()) {
      const right = this.evaluate(step.right, scope);
      const left = value;
      value =
        left instanceof Unknown || right instanceof Unknown
          ? unknownFrom([left, right])
          : step.operator === '|' && isClosure(right)
            ? (mapped(Array.isArray(left) || typeof left === 'string' ? left : [left], right) ?? UNKNOWN)
            : (operated(step.operator, left, right, this.language === 'visual-basic') ?? unknownFrom([left, right]));
      value = bounded(value);
      if (typeof value === 'string') this.steps += value.length >> 3;
      if (scope === undefined) this.known.set(step, value);
    }
    return value;
  }

  private assigned(
    { operator, left, right }: Extract<Expression, { kind: 'binary' }>,
    scope: ReadonlyMap<string, Value> | undefined,
  ): Value {
    const value = this.evaluate(right, scope);
    if (left.kind !== 'name' && left.kind !== 'member') return value;
    const key = this.key(left.name);
    if (this.counters.has(key)) return UNKNOWN;
    const before = this.names.get(key);
    const next =
      operator === '='
        ? value
        : before === undefined || before instanceof Unknown || value instanceof Unknown
          ? unknownFrom([before ?? UNKNOWN, value])
          : (operated(operator.slice(0, -1), before, value, this.language === 'visual-basic') ?? unknownFrom([before, value]));
    this.names.set(key, next);
    return next;
  }

  private indexed(
    { of, places, start, end }: Extract<Expression, { kind: 'index' }>,
    scope: ReadonlyMap<string, Value> | undefined,
  ): Value {
    const value = this.evaluate(of, scope);
    const items = value instanceof Unknown ? undefined : itemsOf(value);
    if (items === undefined) return unknownFrom([value]);
    const slice = SLICE.exec(this.source.slice(start, end).slice(-40));
    if (slice !== null && this.language === 'python') return sliced(value, slice) ?? UNKNOWN;
    const inputs = places.map((place) => this.evaluate(place, scope));
    const at = inputs.length > 1 ? inputs.flat() : inputs[0];
    const item = (place: Value | undefined) => {
      const number = numberFrom(place);
      return number === undefined ? undefined : items.at(number);
    };
    if (Array.isArray(at)) return at.map(item).filter((one) => one !== undefined);
    return item(at) ?? unknownFrom([value]);
  }

  /** The lowercase name of a called function, even if it is in a variable or computed. */
  private nameOf(callee: Expression): string {
    if (callee.kind === 'member') return plainName(callee.name);
    if (callee.kind === 'index') {
      const value = callee.places.length === 1 && callee.places[0] !== undefined ? this.evaluate(callee.places[0]) : undefined;
      return typeof value === 'string' ? plainName(value) : '';
    }
    if (callee.kind !== 'name') return '';
    const value = this.names.get(this.key(callee.name));
    return plainName(typeof value === 'string' ? value : callee.name);
  }

  private called(
    { callee, inputs }: Extract<Expression, { kind: 'call' }>,
    scope: ReadonlyMap<string, Value> | undefined,
  ): Value {
    let values = inputs.map((input) => this.evaluate(input, scope));
    let name = this.nameOf(callee);
    let of: Value | undefined = callee.kind === 'member' || callee.kind === 'index' ? this.evaluate(callee.of, scope) : undefined;
    // `String.fromCharCode.apply(null, list)`.
    if ((name === 'apply' || name === 'call') && (callee.kind === 'member' || callee.kind === 'index')) {
      name = this.nameOf(callee.of);
      const list = values[1];
      values = inputs.length > 1 && name !== '' ? (Array.isArray(list) ? list : values.slice(1)) : values;
      of = undefined;
    }
    const own = callee.kind === 'name' || callee.kind === 'function' ? this.evaluate(callee, scope) : undefined;
    const names = this.inputs.get(this.key(callee.kind === 'name' ? callee.name : ''));
    if (names !== undefined) for (const [index, input] of names.entries()) this.bind(input, values[index]);
    const all = of === undefined ? values : [of, ...values];
    if (values.some((value) => value instanceof Unknown)) return unknownFrom(all);
    if (name === 'reverse') this.turn(callee, inputs);
    let value: Value | undefined;
    if (of !== undefined && !(of instanceof Unknown) && !isClosure(of))
      value = METHODS.get(name)?.(all) ?? (values.length === 0 ? FUNCTIONS.get(name)?.(all) : undefined);
    else
      value =
        FUNCTIONS.get(name)?.(values) ?? (name === 'decode' && values.length === 1 ? undefined : METHODS.get(name)?.(values));
    // Visual Basic uses the same syntax for list items and calls.
    const items = this.language === 'visual-basic' && own !== undefined && !(own instanceof Unknown) ? itemsOf(own) : undefined;
    if (items !== undefined && values.length === 1) value = items[numberFrom(values[0]) ?? -1];
    value ??= own !== undefined && isClosure(own) && !FUNCTIONS.has(name) ? own.apply(values) : undefined;
    return value ?? unknownFrom(all);
  }

  private bind(input: string, value: Value | undefined): void {
    if (value !== undefined && !(value instanceof Unknown) && !this.names.has(input)) {
      this.names.set(input, value);
      this.keepSource(value);
    }
  }

  /** `[array]::Reverse($a)` and `a.reverse()` change the list. */
  private turn(callee: Expression, inputs: readonly Expression[]): void {
    const target = inputs[0] ?? (callee.kind === 'member' ? callee.of : undefined);
    if (target?.kind !== 'name') return;
    const value = this.names.get(this.key(target.name));
    if (Array.isArray(value)) this.names.set(this.key(target.name), [...value].reverse());
  }

  /** The texts that the functions of one number compute from each list and text. */
  private *made(): Generator<string> {
    this.known = new Map();
    const seen = new Set<string>();
    for (const maker of this.makers) {
      for (const items of this.sources) {
        const text = this.madeFrom(maker, items);
        if (text === undefined || seen.has(text)) continue;
        seen.add(text);
        yield text;
      }
    }
  }

  private madeFrom(maker: Expression, items: readonly Value[]): string | undefined {
    let text = '';
    const counters = [...this.counters].filter((counter) => (this.names.get(counter) ?? UNKNOWN) instanceof Unknown);
    const first = /\bmid\b/i.test(this.source.slice(maker.start, maker.end)) ? 1 : 0;
    for (const [index, item] of items.entries()) {
      // A counter has the position as its value; any other unknown name has the item.
      const scope = new Map<string, Value>(counters.map((counter) => [counter, index + first]));
      const character = characterOf(this.evaluate(maker, scope.set('', item)));
      if (character === undefined) return undefined;
      text += character;
    }
    return text;
  }
}

/** Evaluates the constants of a script. @throws LimitReached */
export function evaluate(source: string, language: Language, budget: Budget): Evaluated {
  budget.spend(8 * source.length);
  const tokens = tokensOf(source, language);
  const script = new Script(source, language, tokens);
  const evaluated = script.run(tokens);
  budget.spend(script.steps);
  return evaluated;
}
