import { guess } from '#scanner/decompression/decompress.ts';
import type { Budget } from '#scanner/reading/limits.ts';
import { evaluate } from './script/constants.ts';
import { partsOfScript } from './script/languages.ts';
import { HEX_ESCAPES, LITERAL, meaningOf } from './text-rewrites.ts';

// Extracts text that a script hides in encoded form and runs: `eval(gzinflate(base64_decode("...")))` and similar calls in PHP, ASP, JScript, VBScript, VBA, PowerShell, Python and shells.
// The script is never run, and names of functions are not needed: they may be concatenated, reversed or in variables. Each literal is decoded in every way that gives a text, as are literals in
// that text. Each text gets the prefix of a file in the outer script's language: code that PHP evaluates has no `<?php`, but rules require it.

/** Larger texts are not searched: scripts that hide something are smaller. Bytes. */
const TEXT_BYTES_MAXIMUM = 256 * 1024;
const LITERAL_LEAST = 16;
const LITERALS_MAXIMUM = 200;
/** Maximum depth of hidden texts within hidden texts. */
const DEPTH_MAXIMUM = 8;
/** Maximum number of nested encodings of one literal. */
const CODINGS_MAXIMUM = 6;
/** Limits for one script: number of decoding attempts, and bytes of the results (`factor` times the size of the script, plus `bytes`). */
const TRIES_MAXIMUM = 2000;
const GROWTH = { factor: 8, bytes: 64 * 1024 } as const;
const INFLATED_MAXIMUM = 1024 ** 2;
const PIECE_LEAST = 8;

/** A language: the pattern by which its files are recognised, and the prefix for such a file. */
interface Language {
  is: RegExp;
  prefix: string;
}

/** The first that matches applies. The last one is for all other languages, whose rules need no prefix. */
const LANGUAGES: readonly Language[] = [
  { is: /<\?(?:php\b|=|\s)/i, prefix: '<?php ' },
  { is: /<%/, prefix: '<%' },
  { is: /<(?:script|hta:application)\b/i, prefix: '<script>' },
  { is: /^#![^\n]{0,60}python|^\s{0,8}(?:import|from)\s{1,8}[\w.]{1,40}|\bb64decode\b/m, prefix: '#!/usr/bin/env python3\n' },
  { is: /^#![^\n]{0,60}sh\b|\|\s{0,8}(?:\/bin\/)?(?:ba|da|z|k)?sh\b|\$\(\s{0,8}(?:echo|printf)\b/m, prefix: '#!/bin/sh\n' },
  { is: /(?:)/, prefix: '' },
];

/** Calls that run a text, in any of the languages. A text without one is not searched: most programs have none. */
const TELLING = new RegExp(
  [
    '<\\?(?:php|=)',
    '\\b(?:eval|iex|assert|executeglobal)\\b',
    '(?<![.\\w-])exec(?:ute)?\\s{0,4}[("\']',
    '\\bexecute\\b',
    'invoke-expression|&\\s{0,4}\\(|frombase64string|-e(?:c|nc|ncodedcommand)?\\s{1,8}["\']?[a-z0-9+/=]{20}',
    'new function\\s{0,4}\\(|set(?:timeout|interval)\\s{0,4}\\(\\s{0,4}["\'`a-z]{1,12}["\'(]|\\b(?:this|window|self|globalthis)\\s{0,4}\\[',
    '__import__|__builtins__',
    'wscript|activexobject|createobject|getobject|\\bshell\\s{1,4}[a-z]|shellexecute',
    '\\|\\s{0,8}(?:/bin/)?(?:ba|da|z|k)?sh\\b|sh\\s{1,4}-c\\s',
  ].join('|'),
  'i',
);
const TURNED = /strrev|strreverse|\breversed?\b|\brev\b|\[-1\s{0,4}\.\.|::\s{0,4}-1/i;
/** Words of code that acts on a system, in any of the languages: text that was reversed by mistake has none of them. */
const ACTS =
  /\$_|\$\w{1,20}\s{0,4}=|eval|system|exec|shell|https?:|cmd|import\s|socket|base64|b64|create|function|echo\s|\bdim\s|\bsub\s|\/bin\/|\/tmp\/|curl|wget|iex|assert|\.run\b|regsvr|certutil|bitsadmin|mshta|\/dev\/|sh\s{1,4}-|\bnc\s/i;
const ROT13 = /rot_?13|tr\s{1,8}['"]?a-z|n-za-m|charcodeat|\b13\b/i;

/** Between two concatenated literals: operators, or a statement that appends to a variable. */
const JOINT =
  /(?<!\\)(["'])\s{0,8}(?:[.+&]\s{0,8}(?:_\s{0,4}\r?\n\s{0,64})?|;?\s{0,8}\$?[A-Za-z_]\w{0,31}\s{0,8}(?:[.+&]=|=\s{0,4}\$?[A-Za-z_]\w{0,31}\s{0,4}[.+&])\s{0,8})\1/g;
const LITERALS = new RegExp(LITERAL, 'g');
const LONG_LITERALS = /("""|'''|`)([\s\S]{16,65536}?)\1/g;
const QUOTED = /'([^'\r\n]{16,65536})'/g;
/** Encoded letters without quotation marks: in a shell script, or between two tags of a document. */
const RUNS = /(?<![A-Za-z0-9+/=_-])[A-Za-z0-9+/=_-]{24,}(?:\r?\n[A-Za-z0-9+/=_-]{4,})*/g;
/** Calls around a literal, the innermost last. */
const CALLS = /(?:[@!]?[A-Za-z_$[][\w.$:\][]{0,60}\s{0,2}\(\s{0,2}){1,8}$/;
/** Calls that run their argument: they are kept when the argument is decoded. */
const RUNNING =
  /^(?:eval|assert|exec|execute|executeglobal|shell|shellexecute|iex|invoke|function|createobject|getobject|system|passthru|popen|.{1,60}\.(?:run|exec|create|shellexecute|popen|call|system|open))$/i;

const latin = (text: string) => Buffer.from(text, 'latin1');

const ROTATED = Uint8Array.from({ length: 256 }, (_, code) => {
  const base = code >= 0x61 ? 0x61 : 0x41;
  return /[a-z]/i.test(String.fromCharCode(code)) ? ((code - base + 13) % 26) + base : code;
});

const rot13 = (text: string) => Buffer.from(latin(text).map((byte) => ROTATED[byte] ?? byte)).toString('latin1');
const reversed = (text: string) => latin(text).reverse().toString('latin1');

const PRINTABLE_LEAST = 0.95;

/** Whether a value is text, and not binary data. */
function isText(value: string): boolean {
  let printable = 0;
  for (let at = 0; at < value.length; at += 1) {
    const code = value.charCodeAt(at);
    if ((code >= 0x20 && code < 0x7f) || (code >= 9 && code <= 13) || code >= 0xc2) printable += 1;
    else if (code === 0) return false;
  }
  return printable >= value.length * PRINTABLE_LEAST;
}

/** Whether a text may be code: a single word is not. */
const isCode = (value: string) => isText(value) && /[ ($;[`]/.test(value);

/** Decodes UTF-16 with ASCII letters, as in encoded commands of PowerShell; undefined for other values. */
function narrowed(value: string): string | undefined {
  if (value.length < 2 * PIECE_LEAST || value.length % 2 !== 0) return undefined;
  let text = '';
  for (let at = 0; at < value.length; at += 2) {
    if (value[at + 1] !== '\0') return undefined;
    text += value[at] ?? '';
  }
  return text;
}

const GZIP = '\x1f\x8b\x08\0';
const GZIP_HEAD_BYTES = 10;

function inflated(value: string, budget: Budget): string | undefined {
  const bytes = latin(value);
  const has_head = bytes.length > 2 && (bytes[0] ?? 0) % 16 === 8 && bytes.readUInt16BE(0) % 31 === 0;
  const most = Math.min(INFLATED_MAXIMUM, budget.memberMaximum(bytes.length));
  const answer = value.startsWith(GZIP)
    ? guess('deflate', bytes.subarray(GZIP_HEAD_BYTES), budget, { most })
    : guess(has_head ? 'zlib' : 'deflate', bytes, budget, { most });
  return answer.kind === 'whole' && answer.plain.length >= PIECE_LEAST ? answer.plain.toString('latin1') : undefined;
}

const BASE64 = /^[A-Za-z0-9+/]{11,}={0,3}$/;
const BASE64_URL = /^[A-Za-z0-9_-]{11,}={0,3}$/;
const HEX = /^(?:0x)?(?:[0-9a-f]{2}){8,}$/i;
const PERCENT = /(?:%[0-9a-f]{2}[^%]{0,40}){3}/i;

/** Encodings that a script may use and that cannot be recognised from the encoded text. */
interface Ways {
  is_turned: boolean;
  is_rot13: boolean;
}

/** Possible decodings of a value. `is_coded`: its characters show the encoding; any text may be a reversed one. */
function* meanings(value: string, ways: Ways, budget: Budget): Generator<{ meaning: string; is_coded: boolean }> {
  budget.spend(4 * value.length);
  const coded = (meaning: string) => ({ meaning, is_coded: true });
  const letters = value.replaceAll(/\s/g, '');
  if (HEX.test(letters)) yield coded(Buffer.from(letters.replace(/^0x/i, ''), 'hex').toString('latin1'));
  if (BASE64.test(letters) || BASE64_URL.test(letters)) yield coded(Buffer.from(letters, 'base64').toString('latin1'));
  if (PERCENT.test(value))
    yield coded(
      value.replaceAll(/%u00([0-9a-f]{2})|%([0-9a-f]{2})/gi, (_, wide?: string, one?: string) =>
        String.fromCharCode(Number.parseInt(wide ?? one ?? '', 16)),
      ),
    );
  if (value.includes('\\') && HEX_ESCAPES.test(value)) yield coded(meaningOf(`"${value}"`));
  const narrow = narrowed(value);
  if (narrow !== undefined) yield coded(narrow);
  else if (!isText(value)) {
    const plain = inflated(value, budget);
    if (plain !== undefined) yield coded(plain);
  }
  if (ways.is_turned) yield { meaning: reversed(value), is_coded: false };
  if (ways.is_rot13) yield { meaning: rot13(value), is_coded: false };
}

/** The texts that a literal decodes to, through one encoding or several. */
function* decoded(literal: string, ways: Ways, room: { tries: number; bytes: number }, budget: Budget): Generator<string> {
  const seen = new Set([literal]);
  let layer = [literal];
  for (let depth = 0; depth < CODINGS_MAXIMUM && layer.length > 0; depth += 1) {
    const next: string[] = [];
    for (const value of layer) {
      for (const { meaning, is_coded } of meanings(value, ways, budget)) {
        if (room.tries <= 0 || room.bytes < meaning.length) return;
        if (meaning.length < PIECE_LEAST || seen.has(meaning)) continue;
        room.tries -= 1;
        room.bytes -= meaning.length;
        seen.add(meaning);
        next.push(meaning);
        if (isCode(meaning) && (is_coded || ACTS.test(meaning))) yield meaning;
      }
    }
    layer = next;
  }
}

/** A literal in a text, and its position. */
interface Place {
  value: string;
  start: number;
  end: number;
  /** Whether it is written with escapes. */
  is_escaped: boolean;
}

function* literalsOf(text: string): Generator<Place> {
  let count = 0;
  const found = (value: string, start: number, whole: string): Place[] =>
    value.length < LITERAL_LEAST || count++ >= LITERALS_MAXIMUM
      ? []
      : [{ value, start, end: start + whole.length, is_escaped: HEX_ESCAPES.test(whole) }];
  for (const { 0: literal, index } of text.matchAll(LITERALS)) yield* found(meaningOf(literal), index, literal);
  for (const { 0: whole, 2: value = '', index } of text.matchAll(LONG_LITERALS)) yield* found(value, index, whole);
  // In a shell a literal may be within another one: "$(rev <<< '...')".
  if (text.includes('$('))
    for (const { 0: whole, 1: value = '', index } of text.matchAll(QUOTED)) yield* found(value, index, whole);
  for (const { 0: run, index } of text.matchAll(RUNS)) yield* found(run, index, run);
}

/** The script with literals replaced by their decoded texts, without the calls that decode them. */
function replaced(text: string, values: readonly (Place & { plain: string })[]): string {
  let result = '';
  let at = 0;
  for (const { start, end, plain } of values) {
    if (start < at) continue;
    let before = text.slice(at, start);
    let after = end;
    const [calls = ''] = CALLS.exec(before.slice(-512)) ?? [];
    const names = calls.split('(').map((name) => name.trim());
    let dropped = 0;
    for (let index = names.length - 2; index >= 0 && !RUNNING.test((names[index] ?? '').replace(/^[@!]/, '')); index -= 1)
      dropped += 1;
    if (dropped > 0) {
      const kept = calls.split('(').slice(0, -1 - dropped);
      before = before.slice(0, before.length - calls.length) + (kept.length > 0 ? `${kept.join('(')}(` : '');
      for (const closing = /\s{0,4}\)/y; dropped > 0; dropped -= 1) {
        closing.lastIndex = after;
        if (!closing.test(text)) break;
        after = closing.lastIndex;
      }
    }
    // VBA and VBScript double quotation marks in a literal.
    result += `${before}"${plain.replaceAll('"', '""')}"`;
    at = after;
  }
  return result + text.slice(at);
}

/** The encodings that a script may use, by the names in it, which may be escaped or reversed themselves. */
function waysOf(script: string): Ways {
  const plain = script.includes('\\')
    ? script.replaceAll(/\\x([0-9a-f]{2})/gi, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)))
    : script;
  const is_turned = TURNED.test(plain);
  return { is_turned, is_rot13: ROT13.test(plain) || (is_turned && ROT13.test(reversed(plain))) };
}

/** A script with concatenated literals joined. */
function joined(text: string): string {
  let result = text;
  for (let round = 0; round < 2; round += 1) result = result.replaceAll(JOINT, '');
  return result;
}

/** Replaces the constant expressions of a script with their values. `made`: texts that the script computes; `runs_unknown`: it runs a text that could not be evaluated. */
function withConstants(text: string, budget: Budget): { script: string; made: string[]; runs_unknown: boolean } {
  const made: string[] = [];
  let script = '';
  let at = 0;
  let runs_unknown = false;
  for (const { language, start, end } of partsOfScript(text)) {
    const evaluated = evaluate(text.slice(start, end), language, budget);
    const texts = evaluated.constants.filter(({ is_telling }) => is_telling).map(({ value }) => value);
    made.push(...[...texts, ...evaluated.made].filter((one) => isCode(one) && ACTS.test(one)));
    runs_unknown ||= evaluated.runs_unknown;
    // Joined literals are in the folded view already.
    if (!evaluated.constants.some(({ is_telling }) => is_telling)) continue;
    for (const constant of evaluated.constants.sort((one, other) => one.start - other.start)) {
      if (start + constant.start < at) continue;
      // VBA and VBScript double quotation marks in a literal.
      script += `${text.slice(at, start + constant.start)}"${constant.value.replaceAll('"', '""')}"`;
      at = start + constant.end;
    }
  }
  return { script: script + text.slice(at), made, runs_unknown };
}

/** A script runs a text that could not be evaluated. `is_of_windows`: opening the file in Windows runs it. */
export interface Unevaluated {
  is_of_windows: boolean;
}

/** Marks of scripts that Windows runs from a file, in addition to languages that it runs. */
const OF_WINDOWS = /<hta:application\b|<job\b|<package\b/i;

function isOfWindows(source: string): boolean {
  if (OF_WINDOWS.test(source)) return true;
  if (/<[%?]/.test(source)) return false;
  return [...partsOfScript(source)].some(({ language }) => language === 'visual-basic' || language === 'powershell');
}

/** Yields texts that a script hides and runs, each as a file of its language. Returns whether the script also runs a text that could not be evaluated. @throws LimitReached */
export function* scriptPieces(text: Buffer, budget: Budget): Generator<Buffer, Unevaluated | undefined> {
  if (text.length > TEXT_BYTES_MAXIMUM || text.length < LITERAL_LEAST) return undefined;
  const source = text.toString('latin1');
  if (!TELLING.test(source)) return undefined;
  let is_unevaluated = false;
  budget.spend(4 * text.length);
  const prefix = LANGUAGES.find(({ is }) => is.test(source))?.prefix ?? '';
  const room = { tries: TRIES_MAXIMUM, bytes: GROWTH.bytes + GROWTH.factor * text.length };
  const seen = new Set<string>();
  let layer = [source];
  for (let depth = 0; depth < DEPTH_MAXIMUM && layer.length > 0; depth += 1) {
    const next: string[] = [];
    for (const outer of layer) {
      const { script: listed, made, runs_unknown } = withConstants(outer, budget);
      const before = next.length;
      const script = joined(listed);
      if (listed !== outer && !seen.has(script) && script.length <= room.bytes) {
        seen.add(script);
        room.bytes -= script.length;
        yield latin(script);
      }
      const ways = waysOf(script);
      for (const one of made) {
        if (seen.has(one) || one.length > room.bytes) continue;
        seen.add(one);
        room.bytes -= one.length;
        next.push(one);
        yield latin(prefix + one);
      }
      const firsts: (Place & { plain: string })[] = [];
      const lasts: (Place & { plain: string })[] = [];
      for (const place of literalsOf(script)) {
        let first: string | undefined;
        let last: string | undefined;
        // A value joined from a list may already be code.
        const is_own = place.is_escaped || (listed !== outer && ACTS.test(place.value));
        const own = is_own && isCode(place.value) ? [place.value] : [];
        for (const meaning of [...own, ...decoded(place.value, ways, room, budget)]) {
          first ??= meaning;
          last = meaning;
          if (seen.has(meaning)) continue;
          seen.add(meaning);
          next.push(meaning);
          yield latin(/^\s{0,8}(?:<\?|#!|<%)/.test(meaning) ? meaning : prefix + meaning);
        }
        if (first !== undefined) firsts.push({ ...place, plain: first });
        if (last !== undefined) lasts.push({ ...place, plain: last });
      }
      is_unevaluated ||= runs_unknown && next.length === before;
      // With nested encodings, either the first or the last text may be the intended one.
      for (const values of [firsts, lasts]) {
        const whole =
          values.length === 0
            ? ''
            : replaced(
                script,
                values.sort((one, other) => one.start - other.start),
              );
        if (whole === '' || seen.has(whole) || whole.length > room.bytes) continue;
        seen.add(whole);
        room.bytes -= whole.length;
        yield latin(whole);
      }
    }
    layer = next;
  }
  return is_unevaluated ? { is_of_windows: isOfWindows(source) } : undefined;
}
