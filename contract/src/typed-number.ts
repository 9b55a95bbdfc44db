import { plainDigits } from './text.ts';

/** A number as a person types it. `ambiguous` has a separator that could mark thousands (`whole`) or decimals (`decimal`), depending on the country. */
export type TypedNumber =
  | { kind: 'number'; value: number }
  | { kind: 'ambiguous'; whole: number; decimal: number }
  | { kind: 'empty' }
  | { kind: 'invalid' };

/** Currency signs before or after a number; the field determines the currency. */
const MONEY = /^(?:US)?\$|^USD|(?:US)?\$$|USD$/giu;
/** Spaces and apostrophes as thousands separators; they never separate decimals. */
const GAPS = /[\s'’]/gu;
const GROUPED = /^\d{1,3}(?:[\s'’]\d{3})+(?=$|[.,])/u;
/** A dash instead of cents, as in Europe: `9,-`. */
const WITHOUT_CENTS = /(?<=\d)([.,])\s?\p{Pd}{1,2}$/u;
/** The Arabic separators for decimals and for thousands, which are unambiguous. */
const ARABIC_DECIMAL = '٫';
const ARABIC_THOUSANDS = '٬';
const LENGTH_MAXIMUM = 40;

const numberOf = (digits: string): TypedNumber => ({ kind: 'number', value: Number(digits) });
/** Groups of three digits, or with commas as in India: groups of two, and three at the end. */
const isGrouped = (text: string, separator: string) =>
  new RegExp(`^\\d{1,3}(?:[${separator}]\\d{3})+$`, 'u').test(text) ||
  (separator === ',' && /^\d{1,2}(?:,\d{2})+,\d{3}$/u.test(text));

function readSeparators(text: string): TypedNumber {
  const last = Math.max(text.lastIndexOf('.'), text.lastIndexOf(','));
  if (last < 0) return numberOf(text);
  const separator = text.charAt(last);
  const other = separator === '.' ? ',' : '.';
  const [before, after] = [text.slice(0, last), text.slice(last + 1)];
  if (before.includes(other)) {
    // 1.234,50: the last separator marks the decimals and occurs once.
    if (before.includes(separator) || !isGrouped(before, other)) return { kind: 'invalid' };
    return numberOf(`${before.replaceAll(other, '')}.${after}`);
  }
  if (before.includes(separator))
    return isGrouped(text, separator) ? numberOf(text.replaceAll(separator, '')) : { kind: 'invalid' };
  if (before === '' && after === '') return { kind: 'invalid' };
  const decimal = Number(`${before || '0'}.${after || '0'}`);
  if (/^[1-9]\d{0,2}$/u.test(before) && after.length === 3) return { kind: 'ambiguous', whole: Number(before + after), decimal };
  return { kind: 'number', value: decimal };
}

/**
 * Parses a number with a point or comma for decimals, and points, commas, spaces or apostrophes for thousands. An ambiguous number is reported, not guessed;
 * an exponent, a sign or a word is `invalid`.
 */
export function readTypedNumber(typed: string): TypedNumber {
  const plain = plainDigits(typed.normalize('NFKC')).trim().replaceAll(MONEY, '').trim();
  const text = plain
    .replaceAll(ARABIC_DECIMAL, '.')
    .replaceAll(ARABIC_THOUSANDS, "'")
    .replace(WITHOUT_CENTS, (_, separator: string) => `${separator}00`);
  if (text === '') return { kind: 'empty' };
  if (text.length > LENGTH_MAXIMUM) return { kind: 'invalid' };
  const gaps = GROUPED.exec(text);
  const digits = gaps === null ? text : text.replaceAll(GAPS, '');
  if (!/^[\d.,]+$/u.test(digits)) return { kind: 'invalid' };
  // After space-separated groups or an Arabic decimal separator the rest is decimals, whatever its length.
  const read = readSeparators(digits);
  const is_decimal = gaps !== null || plain.includes(ARABIC_DECIMAL);
  return is_decimal && read.kind === 'ambiguous' ? { kind: 'number', value: read.decimal } : read;
}
