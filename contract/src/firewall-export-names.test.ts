import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RULE_DEFAULTS, type Rule } from './firewall.ts';
import { EXPORTS, exportRules } from './firewall-export.ts';

/** Of every runtime; the types of the contract have none of them. */
declare const TextDecoder: new (page: string) => { decode(bytes: Uint8Array): string };
declare const TextEncoder: new () => { encode(text: string): Uint8Array };

const SEED = 20_261_126;
const rule = (number: number, rule_name: string, parts: Partial<Rule> = {}): Rule => ({
  ...RULE_DEFAULTS,
  id: `01930000-0000-7000-9000-${String(number).padStart(12, '0')}`,
  rule_name,
  enabled: true,
  created_at: '',
  expires_at: null,
  device_ids: [],
  ...parts,
});
const rulesNamed = (name: string) => [
  rule(1, name, { port: '80' }),
  rule(2, name, { action: 'block', protocol: 'all' }),
  rule(3, name, { expires_at: '2026-11-20T11:00:00.000Z' }),
];

/** Parts of names that mean something to one of the languages. */
const PARTS = [
  ...[...'\'"`;&|#\\{}@%!*?~-\n\r'],
  ...['$(id)', '<#', '#>', 'END', 'COMMIT', 'x'],
  // Ends of lines, quotes and blanks of Unicode.
  ...[...'\u0085\u2028\u2029\u2018\u2019\u201a\u201b\u201c\u201d\u201e\u00a0\u200b\ufeff'],
  // UTF-8 bytes of these are quotes in code page 1252 (0x91 to 0x94), or end a character of two bytes early in 932.
  ...[...'\u00d1\u00d2\u0411\u0412\u3046\u8868\uff07\u{1f600}'],
  ...['\ud83d', 'Caf\u00e9', 'B\u00fcro'],
];
const names = fc
  .array(fc.oneof(fc.constantFrom(...PARTS), fc.string({ unit: 'binary', maxLength: 4 })), { minLength: 1, maxLength: 12 })
  .map((parts) => parts.join(''));

const QUOTES = "'\u2018\u2019\u201a\u201b";
const DOUBLE_QUOTES = '"\u201c\u201d\u201e';

/**
 * PowerShell's rules of quoting: single quotes of five kinds hold text, in which two are one; a comment goes to the end of its line. Answers the code with its texts
 * taken out, and the texts.
 */
function readPowerShell(source: string): { code: string; texts: string[] } {
  const texts: string[] = [];
  let code = '';
  let at = 0;
  while (at < source.length) {
    const character = source[at] ?? '';
    if (character === '#') {
      while (at < source.length && !'\n\r'.includes(source[at] ?? '')) at += 1;
      continue;
    }
    at += 1;
    if (DOUBLE_QUOTES.includes(character) || character === '`') throw new Error(`no such text is written: ${character}`);
    if (!QUOTES.includes(character)) {
      code += character;
      continue;
    }
    let text = '';
    for (;;) {
      const next = source[at];
      if (next === undefined) throw new Error('a text does not end');
      at += 1;
      if (!QUOTES.includes(next)) text += next;
      else if (QUOTES.includes(source[at] ?? 'x')) {
        text += next;
        at += 1;
      } else break;
    }
    texts.push(text);
    code += '_';
  }
  return { code, texts };
}

/** The result of `[regex]::Unescape` for the two escapes that are written. */
const unescaped = (text: string) =>
  text.replaceAll(/\\(?:\\|u([0-9a-f]{4}))/gu, (_, hex: string | undefined) =>
    hex === undefined ? '\\' : String.fromCharCode(Number.parseInt(hex, 16)),
  );

describe('a name of a rule', () => {
  it.each(['windows-1252', 'shift_jis', 'utf-8', 'gbk', 'windows-1251'])(
    'is only text to PowerShell that reads the file as %s',
    (page) => {
      const decode = (text: string) => new TextDecoder(page).decode(new TextEncoder().encode(text));
      const harmless = readPowerShell(decode(exportRules(rulesNamed('Web'), 'powershell').text)).code;
      fc.assert(
        fc.property(names, (name) => {
          const read = readPowerShell(decode(exportRules(rulesNamed(name), 'powershell').text));
          expect(read.code).toBe(harmless);
          const shown = name.replaceAll('|', '_').replace(/^@/u, '_');
          expect(read.texts.map((text) => (text.includes('\\') ? unescaped(text) : text))).toContain(shown);
        }),
        { seed: SEED, numRuns: 200 },
      );
    },
  );

  it('is written to PowerShell in ASCII alone', () => {
    fc.assert(
      fc.property(names, (name) => {
        expect(exportRules(rulesNamed(name), 'powershell').text).toMatch(/^[\n -~]*$/u);
      }),
      { seed: SEED, numRuns: 200 },
    );
  });

  it.each(EXPORTS.filter((target) => target !== 'powershell'))('stands in comments of one line alone in %s', (target) => {
    const codeOf = (name: string) =>
      exportRules(rulesNamed(name), target)
        .text.split(/[\n\r\u0085\u2028\u2029]/u)
        .filter((line) => !/^\s*# [\p{L}\p{N} .,:()_-]*$/u.test(line));
    const harmless = codeOf('Web');
    fc.assert(
      fc.property(names, (name) => {
        expect(codeOf(name)).toEqual(harmless);
      }),
      { seed: SEED, numRuns: 200 },
    );
  });
});
