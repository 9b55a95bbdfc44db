import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { hostileUnits, SHAPES } from '#scanner/rules/hostile-text.ts';
import { measureRules, SLOWER_MAXIMUM, slowRules } from '#scanner/rules/rule-speed.ts';
import { readPack } from '#scanner/rules/rules.ts';
import { parseYara } from '#scanner/rules/yara-source.ts';
import { SIGNATURES_FOLDER } from './signatures-folder.ts';

const folder = join(SIGNATURES_FOLDER, 'rules');
const pack = await readPack(folder);

/** Rules as they were in the pack, of which 16 MB took minutes. */
const OLD_RULES = String.raw`
rule Old_Remote_Object {
  strings:
    $first = /Target=["'](mhtml:)?https?:\/\/[^"'>]{3,400}(!|!x-usc:[^"']{1,300})["'][^>]{0,80}relationships\/oleObject["']/ nocase
  condition: filesize < 1KB and $first
}
rule Old_Hidden_Command {
  strings:
    $run = /\.(run|exec|ShellExecute)[ \t(]{1,4}[^\r\n]{0,60}(powershell|mshta|regsvr32|rundll32|certutil|bitsadmin)[^\r\n]{1,1000}(,[ \t]{0,2}0\b|hidden|https?:\/\/)/ nocase
  condition: uint16(0) == 0x5a4d and $run
}
rule Fast_Text { strings: $a = "a text that is only looked up" nocase condition: $a }
`;

describe('the speed of rules', () => {
  // proves: attack-A.4-1
  test('no rule of the pack is slower than a tenth of the median, each on the text that is worst for it', {
    timeout: 180_000,
  }, () => {
    const { median, speeds } = measureRules(pack);
    const rules = parseYara(pack).rules.filter((rule) => !rule.is_private && rule.patterns.length > 0);
    expect(speeds.map(({ rule }) => rule).sort()).toEqual(rules.map(({ name }) => name).sort());
    const slow = speeds.filter(({ bytes_per_ms }) => bytes_per_ms < median / SLOWER_MAXIMUM);
    expect(
      slow.map(
        ({ rule, bytes_per_ms, shape, unit }) =>
          `${rule}: ${Math.round(bytes_per_ms)} of ${Math.round(median)} bytes/ms on ${JSON.stringify(unit)} (${shape})`,
      ),
    ).toEqual([]);
  });

  // proves: attack-A.4-2
  test('finds the slow rules of a source, for any beginning of their condition', { timeout: 60_000 }, () => {
    const { slow } = slowRules(OLD_RULES, () => measureRules(pack, 8).median, 30_000);
    expect(slow.map(({ rule }) => rule).sort()).toEqual(['Old_Hidden_Command', 'Old_Remote_Object']);
  });

  // proves: attack-A.4-1
  test('tries at least 20 texts for each pattern that is more than a text', () => {
    expect(Object.keys(SHAPES).length).toBeGreaterThanOrEqual(20);
    for (const rule of parseYara(pack).rules) {
      if (rule.patterns.some(({ kind }) => kind === 'regex'))
        expect(hostileUnits(rule.patterns).size, rule.name).toBeGreaterThanOrEqual(20);
    }
  });

  test.each([
    ['a (^|b)[^\\n]{0,8}c', /a [^b]{0,8}|a c/],
    ['x(yz|w){2}[0-9]{1,3}\\.exe', /xyzyz0\.exe/],
    ['\\$\\{jndi:[\\/]{2}', /\$\{jndi:\/\//],
    ['[\\]a-c]\\x41\\t\\d', /\]A\t0/],
  ])('makes a text that %s matches', (body, expected) => {
    const texts = [...hostileUnits([{ name: '$a', kind: 'regex', body, modifiers: '' }]).values()];
    expect(texts.some((text) => expected.test(text))).toBe(true);
    expect(texts.some((text) => new RegExp(body).test(text))).toBe(true);
  });
});

describe('the source of rules', () => {
  test('is parsed for any comments, texts and patterns', () => {
    const { imports, rules } = parseYara(String.raw`
import "pe" // rule not_one { condition: true }
/* rule nor_this { condition: true } */
private rule Inner : tag { strings: $a = "} \" // {" wide nocase condition: $a }
rule Outer
{
  meta: text = "a { in a text"
  strings:
    $hex = { 4D 5A [2-4] ( 00 | ?1 ) }
    $regex = /\/\*[{}"]{2} x/is
    $ = "unnamed" fullword
  condition: Inner and any of them and pe.is_pe
}
global rule Small { condition: filesize < 1MB }`);
    expect(imports).toEqual(['import "pe"']);
    expect(rules.map(({ name, is_private, is_global }) => ({ name, is_private, is_global }))).toEqual([
      { name: 'Inner', is_private: true, is_global: false },
      { name: 'Outer', is_private: false, is_global: false },
      { name: 'Small', is_private: false, is_global: true },
    ]);
    expect(rules[1]?.patterns.map(({ kind, body }) => [kind, body])).toEqual([
      ['hex', '4D 5A [ 2 - 4 ] ( 00 | ? 1 )'],
      ['regex', String.raw`\/\*[{}"]{2} x`],
      ['text', 'unnamed'],
    ]);
    expect(rules[1]?.words.has('Inner')).toBe(true);
    expect(rules[0]?.patterns[0]?.modifiers).toBe('wide nocase');
  });
});
