// Formula trees of Excel, and the values that are known without running them. Obfuscated macro sheets build commands from CHAR(), &, MID() and cells.

/** Position in a sheet; both numbers begin at 0. */
export interface Cell {
  row: number;
  column: number;
}

export type Formula =
  | { kind: 'value'; value: string | number | boolean }
  | { kind: 'cell'; cell: Cell; sheet?: string | undefined }
  | { kind: 'call'; name: string; parts: readonly Formula[] }
  | { kind: 'operator'; operator: string; left: Formula; right: Formula }
  /** Operands of consecutive `&` operators as a flat list, because commands spelled letter by letter have many. */
  | { kind: 'joined'; parts: Formula[] }
  | { kind: 'sign'; sign: '+' | '-' | '%'; part: Formula }
  /** Text that is printed unchanged: a name, an area or an error. */
  | { kind: 'text'; text: string };

/** Combines two formulas with a binary operator. */
export function operation(operator: string, left: Formula, right: Formula): Formula {
  if (operator !== '&') return { kind: 'operator', operator, left, right };
  if (left.kind !== 'joined') return { kind: 'joined', parts: [left, right] };
  left.parts.push(right);
  return left;
}

/** Looks up the value of a cell; undefined if it is unknown. */
export type ValueAt = (cell: Cell, sheet: string | undefined) => string | number | boolean | undefined;

/** Maximum length of a text in a cell (Excel specifications and limits). Characters. */
const TEXT_MAXIMUM = 32_767;
const DEPTH_MAXIMUM = 64;

type Value = string | number | boolean | undefined;

const asText = (value: Value): string | undefined =>
  typeof value === 'boolean' ? (value ? 'TRUE' : 'FALSE') : value === undefined ? undefined : String(value);

function asNumber(value: Value): number | undefined {
  const number =
    typeof value === 'boolean' ? Number(value) : typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined;
}

const joinedText = (values: readonly Value[]): string | undefined => {
  let whole = '';
  for (const value of values) {
    const text = asText(value);
    if (text === undefined || whole.length + text.length > TEXT_MAXIMUM) return undefined;
    whole += text;
  }
  return whole;
};

const arithmetic: Readonly<Record<string, (left: number, right: number) => number>> = {
  '+': (left, right) => left + right,
  '-': (left, right) => left - right,
  '*': (left, right) => left * right,
  '/': (left, right) => left / right,
  '^': (left, right) => left ** right,
};

/** Text and number functions that are evaluated for known arguments. */
const functions: Readonly<Record<string, (values: readonly Value[]) => Value>> = {
  CHAR([code]) {
    const number = asNumber(code);
    return number !== undefined && number >= 1 && number < 256 ? String.fromCharCode(Math.trunc(number)) : undefined;
  },
  UNICHAR([code]) {
    const number = asNumber(code);
    return number !== undefined && number >= 1 && number < 0x110000 ? String.fromCodePoint(Math.trunc(number)) : undefined;
  },
  CODE: ([text]) => asText(text)?.charCodeAt(0) || undefined,
  CONCATENATE: joinedText,
  CONCAT: joinedText,
  LEN: ([text]) => asText(text)?.length,
  LOWER: ([text]) => asText(text)?.toLowerCase(),
  UPPER: ([text]) => asText(text)?.toUpperCase(),
  TRIM: ([text]) => asText(text)?.trim(),
  T: ([text]) => (typeof text === 'string' ? text : undefined),
  VALUE: ([text]) => asNumber(text),
  INT: ([value]) => floorOf(value),
  ROUND: ([value]) => roundOf(value),
  ABS: ([value]) => absOf(value),
  LEFT: ([text, count = 1]) => sliceOf(text, 1, count),
  MID: ([text, from, count]) => sliceOf(text, from, count),
  RIGHT([text, count = 1]) {
    const whole = asText(text);
    const length = asNumber(count);
    return whole === undefined || length === undefined || length < 0
      ? undefined
      : whole.slice(Math.max(0, whole.length - length));
  },
  REPT([text, count]) {
    const whole = asText(text);
    const times = Math.trunc(asNumber(count) ?? -1);
    return whole === undefined || times < 0 || whole.length * times > TEXT_MAXIMUM ? undefined : whole.repeat(times);
  },
  SUBSTITUTE([text, old, fresh]) {
    const [whole, before, after] = [asText(text), asText(old), asText(fresh)];
    if (whole === undefined || !before || after === undefined) return undefined;
    const made = whole.split(before).join(after);
    return made.length > TEXT_MAXIMUM ? undefined : made;
  },
};

const applied = (value: Value, apply: (number: number) => number) => {
  const number = asNumber(value);
  return number === undefined ? undefined : apply(number);
};
const floorOf = (value: Value) => applied(value, Math.floor);
const roundOf = (value: Value) => applied(value, Math.round);
const absOf = (value: Value) => applied(value, Math.abs);

function sliceOf(text: Value, from: Value, count: Value): string | undefined {
  const whole = asText(text);
  const [start, length] = [asNumber(from), asNumber(count)];
  if (whole === undefined || start === undefined || length === undefined || start < 1 || length < 0) return undefined;
  return whole.slice(Math.trunc(start) - 1, Math.trunc(start) - 1 + Math.trunc(length));
}

/** The value of a formula if it is known without running it, otherwise undefined. */
export function knownOf(formula: Formula, valueAt: ValueAt, depth = 0): Value {
  if (depth > DEPTH_MAXIMUM) return undefined;
  const inner = (part: Formula) => knownOf(part, valueAt, depth + 1);
  switch (formula.kind) {
    case 'value':
      return formula.value;
    case 'cell':
      return valueAt(formula.cell, formula.sheet);
    case 'operator': {
      const [left, right] = [inner(formula.left), inner(formula.right)];
      const [first, second] = [asNumber(left), asNumber(right)];
      const made = first === undefined || second === undefined ? undefined : arithmetic[formula.operator]?.(first, second);
      return asNumber(made);
    }
    case 'joined':
      return joinedText(formula.parts.map(inner));
    case 'sign': {
      const number = asNumber(inner(formula.part));
      if (number === undefined) return undefined;
      return formula.sign === '-' ? -number : formula.sign === '%' ? number / 100 : number;
    }
    case 'call':
      return Object.hasOwn(functions, formula.name) ? functions[formula.name]?.(formula.parts.map(inner)) : undefined;
    case 'text':
      return undefined;
  }
}

const quoted = (value: string | number | boolean) =>
  typeof value === 'string' ? `"${value.replaceAll('"', '""')}"` : String(asText(value));

/** Name of a cell, such as `B7`. */
export function cellName({ row, column }: Cell): string {
  let name = '';
  for (let left = column + 1; left > 0; left = Math.floor((left - 1) / 26))
    name = String.fromCharCode(65 + ((left - 1) % 26)) + name;
  return `${name}${row + 1}`;
}

/** Prints the operands of `&`, with neighbouring known values joined into one text. */
function joinedParts(parts: readonly Formula[], valueAt: ValueAt, depth: number): string[] {
  const pieces: string[] = [];
  let known: string | undefined;
  for (const part of parts) {
    const text = asText(knownOf(part, valueAt, depth + 1));
    if (text !== undefined) known = (known ?? '') + text;
    else {
      if (known !== undefined) pieces.push(quoted(known));
      known = undefined;
      pieces.push(printed(part, valueAt, depth + 1));
    }
  }
  return known === undefined ? pieces : [...pieces, quoted(known)];
}

/** Prints a formula, with known values in place of its parts. */
export function printed(formula: Formula, valueAt: ValueAt, depth = 0): string {
  if (depth > DEPTH_MAXIMUM) return '...';
  const known = knownOf(formula, valueAt, depth);
  if (known !== undefined) return quoted(known);
  const inner = (part: Formula) => printed(part, valueAt, depth + 1);
  switch (formula.kind) {
    case 'value':
      return quoted(formula.value);
    case 'cell':
      return `${formula.sheet === undefined ? '' : `${formula.sheet}!`}${cellName(formula.cell)}`;
    case 'operator':
      return `${inner(formula.left)}${formula.operator}${inner(formula.right)}`;
    case 'joined':
      return joinedParts(formula.parts, valueAt, depth).join('&');
    case 'sign':
      return formula.sign === '%' ? `${inner(formula.part)}%` : `${formula.sign}${inner(formula.part)}`;
    case 'call':
      return `${formula.name}(${formula.parts.map(inner).join(',')})`;
    case 'text':
      return formula.text;
  }
}
