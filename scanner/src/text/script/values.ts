// Values of constant expressions, and conversions between them.

/** An unknown value. `is_opaque`: it is computed from a long text without words, or from a long list. */
export class Unknown {
  readonly is_opaque: boolean;

  constructor(is_opaque: boolean) {
    this.is_opaque = is_opaque;
  }
}

export const UNKNOWN = new Unknown(false);
const OPAQUE = new Unknown(true);

/** A function that a script defines in an expression. */
export interface Closure {
  apply: (inputs: Value[]) => Value;
}

export type Value = string | number | Value[] | Closure | Unknown;

/** Longer values become unknown. Characters or items. */
export const LETTERS_MAXIMUM = 1024 ** 2;

export const bounded = (value: Value): Value =>
  (typeof value === 'string' || Array.isArray(value)) && value.length > LETTERS_MAXIMUM ? new Unknown(true) : value;

export const isClosure = (value: Value): value is Closure => typeof value === 'object' && 'apply' in value;

const OPAQUE_TEXT_LEAST = 64;
const OPAQUE_LIST_LEAST = 24;

/** Whether a value is a long list, or a long text with few blanks. */
function isOpaque(value: Value): boolean {
  if (value instanceof Unknown) return value.is_opaque;
  if (Array.isArray(value)) return value.length >= OPAQUE_LIST_LEAST;
  if (typeof value !== 'string' || value.length < OPAQUE_TEXT_LEAST) return false;
  return (value.match(/\s/g)?.length ?? 0) * 16 < value.length;
}

export function unknownFrom(values: readonly Value[]): Unknown {
  return values.some(isOpaque) ? OPAQUE : UNKNOWN;
}

/** A text or number as text; undefined for other values. */
export function textOf(value: Value | undefined): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return String(value);
  return undefined;
}

export function numberFrom(value: Value | undefined): number | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined;
  if (
    typeof value !== 'string' ||
    !/^\s{0,8}(?:-?\d{1,15}(?:\.\d{1,9})?|0x[0-9a-f]{1,12}|&h[0-9a-f]{1,8}&?)\s{0,8}$/i.test(value)
  )
    return undefined;
  const plain = value.trim();
  return /^&h/i.test(plain) ? Number.parseInt(plain.slice(2), 16) : Number(plain);
}

export function characterOf(value: Value | undefined): string | undefined {
  if (Array.isArray(value)) {
    const characters = value.map(characterOf);
    return characters.includes(undefined) ? undefined : characters.join('');
  }
  const code = numberFrom(value);
  if (code === undefined) return typeof value === 'string' && value.length === 1 ? value : undefined;
  return code >= 0 && code <= 0x10ffff ? String.fromCodePoint(Math.trunc(code)) : undefined;
}

export const codeOf = (value: Value | undefined): number | undefined =>
  typeof value === 'string' ? value.codePointAt(0) : typeof value === 'number' ? value : undefined;

/** Items of a list; characters of a text. */
export function itemsOf(value: Value | undefined): Value[] | undefined {
  return Array.isArray(value) ? value : typeof value === 'string' ? [...value] : undefined;
}

export const turned = (text: string): string => [...text].reverse().join('');

export function rot13(text: string): string {
  return text.replaceAll(/[a-z]/gi, (letter) => {
    const base = letter <= 'Z' ? 65 : 97;
    return String.fromCharCode(((letter.charCodeAt(0) - base + 13) % 26) + base);
  });
}

/** The alternatives of a regular expression: texts, or characters of a class. Other expressions are not evaluated. */
interface Parts {
  texts: string[];
  isOf: ((character: string) => boolean) | undefined;
}

const CLASS = /^\[(\^?)((?:\\?[^\]\\])+)\][+*]?$|^(\\[dDsSwW])[+*]?$/;

/** A character class as a RegExp; undefined if it is invalid, such as `[z-a]`. */
function expressionOf(source: string): RegExp | undefined {
  try {
    return new RegExp(source);
  } catch {
    return undefined;
  }
}

export function partsOf(source: string): Parts | undefined {
  const pattern = source.startsWith('/') ? source.slice(1, source.lastIndexOf('/')) : source;
  const [whole] = CLASS.exec(pattern) ?? [];
  if (whole !== undefined) {
    const single = expressionOf(whole.replace(/[+*]$/, ''));
    if (single === undefined) return undefined;
    return { texts: [], isOf: (character) => single.test(character) };
  }
  const texts = pattern.split(/(?<!\\)\|/);
  const is_plain = texts.every(
    (text) => text !== '' && !/\\[dDsSwWbB]/.test(text) && !/[.*+?^$()[\]{}]/.test(text.replaceAll(/\\./g, '')),
  );
  return is_plain ? { texts: texts.map((text) => text.replaceAll(/\\(.)/g, '$1')), isOf: undefined } : undefined;
}

export function replacedIn(text: string, { texts, isOf }: Parts, to: string): string | undefined {
  const shortest = Math.min(...texts.map(({ length }) => length), isOf === undefined ? LETTERS_MAXIMUM : 1);
  if (to.length > shortest && (text.length / shortest) * to.length > LETTERS_MAXIMUM) return undefined;
  if (isOf !== undefined) return [...text].map((character) => (isOf(character) ? to : character)).join('');
  let result = text;
  for (const part of texts) if (part !== '') result = result.replaceAll(part, () => to);
  return result;
}

export function splitBy(text: string, { texts, isOf }: Parts): string[] {
  if (isOf !== undefined) {
    const pieces: string[] = [''];
    for (const character of text) {
      if (isOf(character)) pieces.push('');
      else pieces.push((pieces.pop() ?? '') + character);
    }
    return pieces;
  }
  const [first = ''] = texts;
  const one = (texts.length > 1 ? replacedIn(text, { texts: texts.slice(1), isOf }, first) : undefined) ?? text;
  return first === '' ? [...one] : one.split(first);
}

/** Decodes base64, as `atob` does; undefined for other texts. */
export function fromBase64(text: string): string | undefined {
  const letters = text.replaceAll(/\s/g, '');
  return /^[A-Za-z0-9+/_-]*={0,3}$/.test(letters) ? Buffer.from(letters, 'base64').toString('latin1') : undefined;
}

export function fromHex(text: string): string | undefined {
  const digits = text.replaceAll(/[\s,:-]|0x|\\x/g, '');
  return digits.length % 2 === 0 && /^[0-9a-f]*$/i.test(digits) ? Buffer.from(digits, 'hex').toString('latin1') : undefined;
}

export function fromPercent(text: string): string {
  return text.replaceAll(/%u([0-9a-f]{4})|%([0-9a-f]{2})/gi, (_, wide?: string, one?: string) =>
    String.fromCharCode(Number.parseInt(wide ?? one ?? '', 16)),
  );
}
