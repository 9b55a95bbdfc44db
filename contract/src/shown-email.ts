import { canonicalEmail } from './email.ts';

// Punycode decoding by RFC 3492, sections 5 and 6.2.
const BASE = 36;
const T_MINIMUM = 1;
const T_MAXIMUM = 26;
const SKEW = 38;
const DAMP = 700;
const INITIAL_BIAS = 72;
const INITIAL_POINT = 128;
const LAST_POINT = 0x10ffff;

function adaptedBias(delta: number, length: number, is_first: boolean): number {
  let rest = is_first ? Math.floor(delta / DAMP) : Math.floor(delta / 2);
  rest += Math.floor(rest / length);
  let bias = 0;
  for (; rest > ((BASE - T_MINIMUM) * T_MAXIMUM) / 2; bias += BASE) rest = Math.floor(rest / (BASE - T_MINIMUM));
  return bias + Math.floor(((BASE - T_MINIMUM + 1) * rest) / (rest + SKEW));
}

const digitOf = (letter: string) => 'abcdefghijklmnopqrstuvwxyz0123456789'.indexOf(letter);

/** Decodes the part of a label after `xn--`; undefined if it is not valid Punycode. Labels have at most 63 characters. */
function decodePunycode(encoded: string): string | undefined {
  const at = encoded.lastIndexOf('-');
  const points = [...encoded.slice(0, Math.max(0, at))].map((letter) => letter.codePointAt(0) ?? 0);
  let [point, index, bias] = [INITIAL_POINT, 0, INITIAL_BIAS];
  for (let place = at + 1; place < encoded.length; ) {
    const start = index;
    let weight = 1;
    for (let k = BASE; ; k += BASE) {
      const digit = digitOf(encoded.charAt(place));
      place += 1;
      if (digit < 0) return undefined;
      index += digit * weight;
      const threshold = Math.min(T_MAXIMUM, Math.max(T_MINIMUM, k - bias));
      if (digit < threshold) break;
      weight *= BASE - threshold;
      if (place >= encoded.length || weight > Number.MAX_SAFE_INTEGER / BASE) return undefined;
    }
    const length = points.length + 1;
    bias = adaptedBias(index - start, length, start === 0);
    point += Math.floor(index / length);
    index %= length;
    if (point > LAST_POINT) return undefined;
    points.splice(index, 0, point);
    index += 1;
  }
  return String.fromCodePoint(...points);
}

/** Scripts that may be mixed in one label: those of Japanese, of Korean, and of Chinese with Bopomofo. */
const ONE_WRITING = [
  /^[\p{sc=Latin}\p{N}-]+$/u,
  /^[\p{scx=Cyrillic}\p{N}\p{M}-]+$/u,
  /^[\p{scx=Greek}\p{N}\p{M}-]+$/u,
  /^[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{sc=Latin}\p{N}-]+$/u,
  /^[\p{scx=Han}\p{scx=Hangul}\p{sc=Latin}\p{N}-]+$/u,
  /^[\p{scx=Han}\p{scx=Bopomofo}\p{sc=Latin}\p{N}-]+$/u,
  /^[^\p{sc=Latin}\p{sc=Cyrillic}\p{sc=Greek}\p{sc=Han}]+$/u,
];
/** Cyrillic and Greek letters that look like Latin ones: a label of only these looks Latin (as in Chromium's `idn_spoof_checker.cc`). */
const LIKE_LATIN =
  /^[\u03b1\u03b9\u03ba\u03bd\u03bf\u03c1\u03c4\u03c5\u03c7\u03c9\u0430\u0433\u0435\u043e-\u0441\u0443\u0445\u044a\u044c\u0455\u0456\u0458\u0461\u0475\u04bb\u04bd\u04cf\u0501\u051b\u051d0-9-]+$/u;
const WITHOUT_INK = /\p{Default_Ignorable_Code_Point}/u;

function isPlain(label: string, hasLatinEnd: boolean): boolean {
  return (
    !WITHOUT_INK.test(label) && ONE_WRITING.some((writing) => writing.test(label)) && !(hasLatinEnd && LIKE_LATIN.test(label))
  );
}

/**
 * An email address for display: domain labels in their own script (U-labels) instead of `xn--` forms. A label that mixes scripts, looks
 * Latin or is not valid IDNA stays in its A-label, which cannot be mistaken. Only for display: store, compare and send with `canonicalEmail`.
 */
export function shownEmail(email: string): string {
  const at = email.lastIndexOf('@');
  if (at < 1 || !/(?:@|\.)xn--/iu.test(email.slice(at))) return email;
  const labels = email.slice(at + 1).split('.');
  const hasLatinEnd = !/^xn--/iu.test(labels.at(-1) ?? '');
  const shown = labels.map((label) => {
    if (!/^xn--./iu.test(label) || label.length > 63) return label;
    const letters = decodePunycode(label.slice('xn--'.length).toLowerCase());
    return letters !== undefined && isPlain(letters, hasLatinEnd) ? letters : label;
  });
  const whole = `${email.slice(0, at)}@${shown.join('.')}`;
  const canonical = canonicalEmail(email);
  return canonical !== undefined && canonicalEmail(whole) === canonical ? whole : email;
}
