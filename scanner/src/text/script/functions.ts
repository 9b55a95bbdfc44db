import {
  characterOf,
  codeOf,
  fromBase64,
  fromHex,
  fromPercent,
  isClosure,
  itemsOf,
  LETTERS_MAXIMUM,
  numberFrom,
  partsOf,
  replacedIn,
  rot13,
  splitBy,
  textOf,
  turned,
  type Value,
} from './values.ts';

// Functions and operators of the script languages, by their lowercase names. Each returns undefined for values that it does not support.

type Pure = (inputs: readonly Value[]) => Value | undefined;

const onText =
  (apply: (text: string, inputs: readonly Value[]) => Value | undefined): Pure =>
  (inputs) => {
    const [first] = inputs;
    const text = textOf(first);
    return text === undefined ? undefined : apply(text, inputs);
  };

const all = (values: readonly (string | undefined)[]): string | undefined =>
  values.includes(undefined) ? undefined : values.join('');

function joined(list: Value | undefined, between: Value | undefined): string | undefined {
  const items = itemsOf(list)?.map(textOf);
  const mark = textOf(between) ?? '';
  if (items === undefined || items.includes(undefined) || items.length * mark.length > LETTERS_MAXIMUM) return undefined;
  return items.join(mark);
}

function split(text: string, by: Value | undefined): Value[] | undefined {
  const mark = textOf(by);
  if (mark === undefined) return by === undefined ? [text] : undefined;
  const parts = mark.startsWith('/') && mark.length > 2 ? partsOf(mark) : { texts: [mark], isOf: undefined };
  return parts === undefined ? undefined : splitBy(text, parts);
}

function replaced(text: string, from: Value | undefined, to: Value | undefined, is_pattern: boolean): string | undefined {
  const [search, value] = [textOf(from), textOf(to)];
  if (search === undefined || value === undefined || search === '') return undefined;
  const parts = is_pattern || /^\/.+\/[a-z]*$/.test(search) ? partsOf(search) : { texts: [search], isOf: undefined };
  return parts === undefined ? undefined : replacedIn(text, parts, value);
}

function reversed(value: Value | undefined): Value | undefined {
  return typeof value === 'string' ? turned(value) : Array.isArray(value) ? [...value].reverse() : undefined;
}

/** `length` characters from position `from` on; negative positions count from the end. */
function piece(text: string, from: number | undefined, length: number | undefined): string | undefined {
  if (from === undefined) return undefined;
  const start = from < 0 ? Math.max(0, text.length + from) : from;
  return length === undefined ? text.slice(start) : length < 0 ? text.slice(start, length) : text.slice(start, start + length);
}

const REPEAT_MAXIMUM = 4096;
const repeated = (text: string | undefined, count: number | undefined) =>
  text === undefined || count === undefined || count < 0 || count * text.length > REPEAT_MAXIMUM ? undefined : text.repeat(count);

function integer(value: Value | undefined, base: Value | undefined): number | undefined {
  const radix = numberFrom(base);
  const text = textOf(value);
  if (radix === undefined || radix === 10 || text === undefined) return numberFrom(value);
  const number = Number.parseInt(text.replace(/^&h|^0x/i, ''), radix);
  return Number.isNaN(number) ? undefined : number;
}

const bytes = (list: Value | undefined): string | undefined => (typeof list === 'string' ? list : characterOf(list));
const upper: Pure = onText((text) => text.toUpperCase());
const lower: Pure = onText((text) => text.toLowerCase());
const trim: Pure = onText((text) => text.trim());
const chr: Pure = (inputs) => (inputs.length === 1 ? characterOf(inputs[0]) : all(inputs.map(characterOf)));
const ord: Pure = ([value]) => codeOf(value);
const base64: Pure = onText(fromBase64);
const hex: Pure = onText(fromHex);
const percent: Pure = onText(fromPercent);
const same: Pure = ([value]) => (typeof value === 'string' ? value : undefined);
const asBytes: Pure = ([value]) => bytes(value);
const toInteger: Pure = ([value, base]) =>
  integer(value, base) ?? (typeof value === 'string' && value.length === 1 ? value.charCodeAt(0) : undefined);

/** Functions that are called by name, whatever object they belong to. */
export const FUNCTIONS: ReadonlyMap<string, Pure> = new Map<string, Pure>(
  Object.entries({
    ...{ chr, chrw: chr, chrb: chr, chr$: chr, chrw$: chr, unichr: chr, fromcharcode: chr, fromcodepoint: chr, char: chr },
    ...{ asc: ord, ascw: ord, ord },
    ...{ atob: base64, base64_decode: base64, b64decode: base64, frombase64string: base64, urlsafe_b64decode: base64 },
    ...{ hex2bin: hex, fromhex: hex, unhexlify: hex, a2b_hex: hex, fromhexstring: hex },
    ...{ unescape: percent, decodeuricomponent: percent, decodeuri: percent, urldecode: percent, rawurldecode: percent },
    ...{ unquote: percent, unquote_plus: percent, unescapedatastring: percent },
    ...{
      strreverse: onText(turned),
      strrev: onText(turned),
      reversed: ([value]) => reversed(value),
      array_reverse: ([value]) => reversed(value),
    },
    ...{ str_rot13: onText(rot13), rot13: onText(rot13) },
    ...{
      cint: toInteger,
      clng: toInteger,
      cbyte: toInteger,
      int: toInteger,
      intval: toInteger,
      parseint: toInteger,
      number: toInteger,
    },
    ...{
      val: toInteger,
      int32: toInteger,
      int16: toInteger,
      byte: toInteger,
      toint32: toInteger,
      toint16: toInteger,
      tobyte: toInteger,
      cdbl: toInteger,
    },
    hexdec: ([value]) => integer(value, 16),
    ...{
      string: asBytes,
      'char[]': ([value]) => itemsOf(value),
      'byte[]': ([value]) => itemsOf(value),
      'int[]': ([value]) => itemsOf(value),
    },
    ...{
      str: same,
      cstr: ([value]) => textOf(value),
      strval: same,
      getstring: asBytes,
      bytes: asBytes,
      bytearray: asBytes,
      tochararray: ([value]) => itemsOf(value),
    },
    getbytes: ([value]) => (typeof value === 'string' ? [...value].map((letter) => letter.charCodeAt(0)) : undefined),
    list: ([value]) => itemsOf(value),
    array: (inputs) => [...inputs],
    ...{ ucase: upper, strtoupper: upper, lcase: lower, strtolower: lower, trim, ltrim: trim, rtrim: trim },
    ...{
      len: ([value]) => itemsOf(value)?.length,
      strlen: ([value]) => itemsOf(value)?.length,
      count: ([value]) => itemsOf(value)?.length,
    },
    mid: onText((text, [, from, length]) => piece(text, (numberFrom(from) ?? 0) - 1, numberFrom(length))),
    left: onText((text, [, length]) => piece(text, 0, numberFrom(length))),
    right: onText((text, [, length]) => text.slice(Math.max(0, text.length - (numberFrom(length) ?? 0)))),
    substr: onText((text, [, from, length]) => piece(text, numberFrom(from), numberFrom(length))),
    implode: ([between, list]) => joined(list, between),
    explode: ([mark, text]) => (typeof text === 'string' ? split(text, mark) : undefined),
    str_split: onText(
      (text, [, width]) => text.match(new RegExp(`[\\s\\S]{1,${Math.max(1, Math.min(64, numberFrom(width) ?? 1))}}`, 'g')) ?? [],
    ),
    str_replace: ([from, to, text]) => (typeof text === 'string' ? replacedAll(text, from, to) : undefined),
    strtr: onText((text, [, from, to]) => translated(text, from, to)),
    pack: ([form, value]) => (form === 'H*' && typeof value === 'string' ? fromHex(value) : undefined),
    str_repeat: ([text, count]) => repeated(textOf(text), numberFrom(count)),
  } satisfies Record<string, Pure>),
);

function replacedAll(text: string, from: Value | undefined, to: Value | undefined): string | undefined {
  if (!Array.isArray(from)) return replaced(text, from, to, false);
  let result: string | undefined = text;
  for (const [index, one] of from.entries())
    result = result === undefined ? undefined : replaced(result, one, Array.isArray(to) ? (to[index] ?? '') : to, false);
  return result;
}

function translated(text: string, from: Value | undefined, to: Value | undefined): string | undefined {
  if (typeof from !== 'string' || typeof to !== 'string') return undefined;
  const letters = new Map([...from].map((letter, index) => [letter, to[index] ?? letter]));
  return [...text].map((letter) => letters.get(letter) ?? letter).join('');
}

/** Methods, which get the value before the dot as their first input. */
export const METHODS: ReadonlyMap<string, Pure> = new Map<string, Pure>(
  Object.entries({
    split: onText((text, [, mark]) => split(text, mark)),
    join: ([of, other]) => (typeof of === 'string' ? joined(other, of) : joined(of, other ?? ',')),
    ...{ reverse: ([of]) => reversed(of), toreversed: ([of]) => reversed(of) },
    ...{
      replace: onText((text, [, from, to]) => replaced(text, from, to, false)),
      replaceall: onText((text, [, from, to]) => replaced(text, from, to, false)),
    },
    concat: (inputs) => all(inputs.map(textOf)),
    ...{
      charcodeat: onText((text, [, at]) => text.charCodeAt(numberFrom(at) ?? 0)),
      codepointat: onText((text, [, at]) => text.codePointAt(numberFrom(at) ?? 0)),
    },
    charat: onText((text, [, at]) => text[numberFrom(at) ?? 0]),
    slice: ([of, from, to]) =>
      typeof of === 'string' || Array.isArray(of) ? of.slice(numberFrom(from) ?? 0, numberFrom(to)) : undefined,
    substr: onText((text, [, from, length]) => piece(text, numberFrom(from), numberFrom(length))),
    substring: onText((text, [, from, to]) => text.slice(numberFrom(from) ?? 0, numberFrom(to))),
    ...{
      tolower: lower,
      lower,
      tolowercase: lower,
      tolocalelowercase: lower,
      toupper: upper,
      upper,
      touppercase: upper,
      trim,
      strip: trim,
    },
    tostring: ([of, way]) =>
      way === 'hex' ? undefined : typeof of === 'string' ? of : Array.isArray(of) ? characterOf(of) : textOf(of),
    decode: ([of, way]) =>
      way === 'rot13' || way === 'rot_13'
        ? typeof of === 'string'
          ? rot13(of)
          : undefined
        : way === 'hex' && typeof of === 'string'
          ? fromHex(of)
          : typeof of === 'string'
            ? of
            : undefined,
    encode: same,
    translate: onText((text, [, from]) =>
      Array.isArray(from) && from.length === 2 ? translated(text, from[0], from[1]) : undefined,
    ),
    ...{ tochararray: ([of]) => itemsOf(of), filter: ([of]) => (Array.isArray(of) ? of : undefined) },
    ...{ map: ([of, by]) => mapped(of, by), array_map: ([of, by]) => mapped(of, by) },
    from: ([of, way]) =>
      way === 'base64' || way === 'hex' ? decodedAs(of, way) : way === undefined ? itemsOf(of) : mapped(of, way),
    repeat: ([of, count]) => repeated(textOf(of), numberFrom(count)),
  } satisfies Record<string, Pure>),
);

const decodedAs = (of: Value | undefined, way: 'base64' | 'hex') =>
  typeof of !== 'string' ? undefined : way === 'hex' ? fromHex(of) : fromBase64(of);

const MAPPED_MAXIMUM = 20_000;

/** Applies a function of the script to each item of a list. */
export function mapped(of: Value | undefined, by: Value | undefined): Value | undefined {
  // Python and PHP name the function first.
  if (of !== undefined && isClosure(of)) return by === undefined || isClosure(by) ? undefined : mapped(by, of);
  const items = itemsOf(of);
  if (items === undefined || by === undefined || !isClosure(by) || items.length > MAPPED_MAXIMUM) return undefined;
  return items.map((item, index) => by.apply([item, index]));
}

/** A range of PowerShell, such as `1..5`. */
function range(first: number | undefined, last: number | undefined): Value[] | undefined {
  if (first === undefined || last === undefined || Math.abs(last - first) > MAPPED_MAXIMUM) return undefined;
  const step = first <= last ? 1 : -1;
  return Array.from({ length: Math.abs(last - first) + 1 }, (_, index) => first + index * step);
}

function xored(left: string, right: string): string | undefined {
  const length = Math.min(left.length, right.length);
  return length === 0
    ? undefined
    : Array.from({ length }, (_, at) => String.fromCharCode(left.charCodeAt(at) ^ right.charCodeAt(at))).join('');
}

const NUMERIC: ReadonlyMap<string, (left: number, right: number) => number> = new Map(
  Object.entries({
    '-': (left: number, right: number) => left - right,
    '*': (left: number, right: number) => left * right,
    '/': (left: number, right: number) => left / right,
    '\\': (left: number, right: number) => Math.trunc(left / right),
    '//': (left: number, right: number) => Math.floor(left / right),
    '%': (left: number, right: number) => left % right,
    mod: (left: number, right: number) => left % right,
    '**': (left: number, right: number) => left ** right,
    xor: (left: number, right: number) => left ^ right,
    '-bxor': (left: number, right: number) => left ^ right,
    '|': (left: number, right: number) => left | right,
    or: (left: number, right: number) => left | right,
    '-bor': (left: number, right: number) => left | right,
    and: (left: number, right: number) => left & right,
    '-band': (left: number, right: number) => left & right,
    '<<': (left: number, right: number) => left << right,
    '-shl': (left: number, right: number) => left << right,
    '>>': (left: number, right: number) => left >> right,
    '>>>': (left: number, right: number) => left >>> right,
    '-shr': (left: number, right: number) => left >> right,
  }),
);

/** Applies a binary operator. `is_basic`: `^` is a power, and `&` concatenates texts. */
export function operated(operator: string, left: Value, right: Value, is_basic: boolean): Value | undefined {
  switch (operator) {
    case '+':
      if (typeof left === 'number' && typeof right === 'number') return left + right;
      if (Array.isArray(left)) return Array.isArray(right) ? [...left, ...right] : [...left, right];
      return all([textOf(left), textOf(right)]);
    case '.':
      return all([textOf(left), textOf(right)]);
    case '&':
      return !is_basic && typeof left === 'number' && typeof right === 'number'
        ? left & right
        : all([textOf(left), textOf(right)]);
    case ',':
      return [...(Array.isArray(left) ? left : [left]), right];
    case '^':
      if (typeof left === 'string' && typeof right === 'string') return xored(left, right);
      break;
    case '..':
      return range(numberFrom(left), numberFrom(right));
    case '|':
      if (typeof right !== 'number') return undefined;
      break;
    case '*':
      if (typeof left === 'string' && typeof right === 'number') return repeated(left, right);
      break;
    case '-join':
      return joined(left, right);
    case '-f':
      return formatted(left, right);
    case '-split':
    case '-csplit':
    case '-isplit': {
      const mark = textOf(right);
      const parts = mark === undefined ? undefined : partsOf(mark);
      return typeof left === 'string' && parts !== undefined
        ? splitBy(left, parts)
        : typeof left === 'string' && mark === '(..)'
          ? left.split(/(..)/)
          : undefined;
    }
    case '-replace':
    case '-creplace':
    case '-ireplace': {
      const [from, to] = Array.isArray(right) ? right : [right, ''];
      return typeof left === 'string' ? replaced(left, from, to, true) : undefined;
    }
  }
  const name = operator === '^' ? (is_basic ? '**' : 'xor') : operator;
  const [one, other] = [numberFrom(left), numberFrom(right)];
  return one === undefined || other === undefined ? undefined : NUMERIC.get(name)?.(one, other);
}

function formatted(format: Value, list: Value): string | undefined {
  const values = (Array.isArray(list) ? list : [list]).map(textOf);
  if (typeof format !== 'string' || values.includes(undefined)) return undefined;
  let room = LETTERS_MAXIMUM;
  return format.replaceAll(/\{(\d{1,4})(?:[,:][^}]{0,16})?\}/g, (whole, number: string) => {
    const value = values[Number(number)] ?? whole;
    room -= value.length;
    return room < 0 ? '' : value;
  });
}

/** Applies a unary operator. */
export function unary(operator: string, value: Value): Value | undefined {
  const number = numberFrom(value);
  switch (operator) {
    case '-':
      return number === undefined ? undefined : -number;
    case '~':
    case '-bnot':
      return number === undefined ? undefined : ~number;
    case '+':
      return number;
    case '-join':
      return joined(value, '');
    case '-split':
      return typeof value === 'string' ? value.trim().split(/\s+/) : undefined;
    case '@':
    case ',':
      return Array.isArray(value) ? value : [value];
    case 'new':
    case 'return':
    case 'await':
    case '&':
    case '.':
    case '...':
      return value;
    default:
      return undefined;
  }
}

/** Evaluates a slice of Python. */
export function sliced(value: Value, [, from = '', to = '', step = '1']: RegExpExecArray): Value | undefined {
  const list = typeof value === 'string' || Array.isArray(value) ? value : undefined;
  if (list === undefined) return undefined;
  if (step.startsWith('-')) {
    if (from !== '' || to !== '') return undefined;
    const all = typeof list === 'string' ? turned(list) : [...list].reverse();
    return everyNth(all, Math.max(1, -Number(step)));
  }
  return everyNth(list.slice(from === '' ? 0 : Number(from), to === '' ? undefined : Number(to)), Math.max(1, Number(step)));
}

function everyNth(list: string | Value[], step: number): Value {
  if (step === 1) return list;
  const items = [...list].filter((_, index) => index % step === 0);
  return typeof list === 'string' ? items.join('') : items;
}
