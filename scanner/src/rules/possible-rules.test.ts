import { join } from 'node:path';
import { expect, test } from 'vitest';
import { SIGNATURES_FOLDER } from '#test/signatures-folder.ts';
import { LiteralSearch, literalsOf } from './pattern-literals.ts';
import { possibleRules } from './possible-rules.ts';
import { compileSource, readPack } from './rules.ts';
import { readSamples } from './samples.ts';
import { parseYara } from './yara-source.ts';

const needsOf = (pattern: string) =>
  parseYara(`rule a { strings: $a = ${pattern} condition: $a }`).rules.flatMap(({ patterns }) => patterns.map(literalsOf))[0];
const couldMatch = (rule: string, content: string) => possibleRules(`rule a { ${rule} }`)?.(Buffer.from(content, 'latin1'));

test.each([
  ['"Mark"', [['mark']]],
  ['"a\\x41\\"\\\\b" wide', [['aa"\\b']]],
  ['"longer than eight"', [['longer t']]],
  ['"secret" xor', []],
  ['"This program" base64', [['this pro', 'vghpcybw', 'roaxmgch', 'uaglzihb']]],
  ['{ 50 4B 03 04 ?? [2-4] 61 6? 62 63 ( 64 | 65 ) ~66 67 }', [['pk\x03\x04'], ['a'], ['bc'], ['g']]],
  ['{ 00 00 41 }', [['\0\0a']]],
  ['/abc?d+e{2}f{0,3}g/', [['ab'], ['d'], ['e'], ['g']]],
  ['/(one|two)three/i', [['one', 'two'], ['three']]],
  ['/(one|t.?)three/', [['one', 't'], ['three']]],
  ['/(one|.)three(four)?[a-z]\\.\\d\\x41/', [['three'], ['.'], ['a']]],
  ['/^(a|b)$/', [['a', 'b']]],
  ['/[^\\]x]y|z/', [['y', 'z']]],
])('the texts that %s needs', (pattern, needs) => {
  expect(needsOf(pattern)).toEqual(needs);
});

test('a search finds the texts that stand in a content, one within another and in any case', () => {
  const texts = ['he', 'she', 'hers', 'his', 'x\0y', '\xff'];
  const found = new Uint8Array(texts.length);
  new LiteralSearch(texts).mark(Buffer.from('uSHErs \xff', 'latin1'), found);
  expect([...found]).toEqual([1, 1, 1, 0, 0, 1]);
});

test.each([
  ['strings: $a = "mark" condition: $a', 'a Mark', true],
  ['strings: $a = "mark" condition: $a', 'a mar', false],
  ['strings: $a = "mark" wide condition: $a', 'm\0a\0r\0k\0', true],
  ['strings: $a = "mark" condition: not $a', 'nothing', true],
  ['strings: $a = "one" $b = "two" condition: $a and $b', 'one', false],
  ['strings: $a = "one" $b = "two" condition: $a or $b', 'two', true],
  ['strings: $a = "one" $b = "two" condition: all of them', 'two', false],
  ['strings: $a = "one" $ab = "two" condition: any of ($a, $ab*)', 'xyz', false],
  ['strings: $a = "one" $b = "two" condition: none of them', 'nothing', true],
  ['strings: $a = "one" $ = "two" $ = "three" condition: 2 of them', 'two three', true],
  ['strings: $a = "one" $ = "two" $ = "three" condition: all of them', 'one two three', true],
  ['strings: $a = "one" $ = "two" $ = "three" condition: 2 of them', 'two', false],
  ['strings: $a = "one" condition: #a > 2', 'two', false],
  ['strings: $a = "one" condition: #a >= 0', 'two', true],
  ['strings: $a = "one" condition: $a at 0 or filesize < 3', 'xy', true],
  ['strings: $a = "one" condition: for any of them : ( # > 1 )', 'two', true],
  ['condition: uint16(0) == 0x5a4d', 'MZ', true],
  ['condition: uint16be(0) == 0x5a4d', 'MZ', false],
  ['condition: uint32(0) == 0x5a4d', 'MZ', false],
  ['condition: not uint32(0) == 0x5a4d', 'MZ', true],
  ['condition: int8(0) == -1', '\xff', true],
  ['condition: filesize >= 3 and filesize <= 4', 'xyzw', true],
  ['condition: filesize > 1KB', 'xyzw', false],
  ['condition: true', '', true],
])('%s of %j: %s', (rule, content, is_possible) => {
  expect(couldMatch(rule, content)).toBe(is_possible);
  // The engine agrees where it matches.
  const found = compileSource(`rule a { ${rule} }`).scan(Buffer.from(content, 'latin1'));
  if (found.length > 0) expect(is_possible).toBe(true);
});

test('global rules are not told apart, and a rule is out with the one that it needs', () => {
  expect(possibleRules('global rule a { condition: true }')).toBeUndefined();
  const source =
    'private rule page { strings: $a = "<?php" condition: $a } rule b { strings: $x = "run" condition: page and $x }';
  const isPossible = possibleRules(source);
  expect(['run', '<?php', '<?php run'].map((text) => isPossible?.(Buffer.from(text)))).toEqual([false, false, true]);
});

test('every sample of the pack that a rule matches could match', async () => {
  const isPossible = possibleRules(await readPack(join(SIGNATURES_FOLDER, 'rules')));
  const samples = await readSamples(join(SIGNATURES_FOLDER, 'samples'));
  const missed = samples.filter(({ kind, bytes }) => kind === 'hit' && isPossible?.(bytes) !== true);
  expect(missed.map(({ rule, note }) => `${rule}: ${note}`)).toEqual([]);
  expect(isPossible?.(Buffer.from('Dear Maria,\n\nthank you for your invitation. We are glad to come.\n\nYours, Anna\n'))).toBe(
    false,
  );
});
