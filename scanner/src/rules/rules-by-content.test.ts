import { describe, expect, test } from 'vitest';
import { rulesFor } from './rules-by-content.ts';
import { parseYara } from './yara-source.ts';

const MIB = 1024 ** 2;
const ruleOf = (condition: string, name = 'a', head = '') =>
  `${head}rule ${name} { strings: $x = "or" $y = /and/ condition: ${condition} }`;
const namesOf = (source: string, is_within = false) =>
  parseYara(rulesFor(source, { least_bytes: 16 * MIB, is_within })).rules.map(({ name }) => name);

describe('a large content', () => {
  test.each([
    'filesize < 4MB and $x',
    'filesize < 16MB',
    'filesize < 16777216 and any of them',
    'filesize <= 128 and $x',
    'filesize > 1KB and filesize < 16MB and all of them',
    '$x and (filesize < 8KB and $y)',
    '(filesize < 4MB) and $x',
    'not uint8(0) == 0x3c and ( ($x and filesize < 16MB) or ($y and filesize < 8KB) or filesize < 5 )',
    '// one, or the other\n filesize < 4MB and $x /* or */',
  ])('needs no rule that is for small ones: %s', (condition) => {
    expect(namesOf(ruleOf(condition))).toEqual([]);
  });

  test.each([
    'filesize < 17MB and $x',
    'filesize <= 16MB and $x',
    'filesize < 4MB or $x',
    '$x and ($y or filesize < 4MB)',
    'not filesize < 4MB and $x',
    'not (filesize < 4MB) and $x',
    'filesize < 4MB + @x[1] and $x',
    '$x and filesize > 4KB',
    'for any i in (1..#x) : ( @x[i] < 4 ) and $y',
    'uint32(0) == 0x4c and $x',
    '$x in (0..1024) and pe.is_pe',
  ])('is matched with every other: %s', (condition) => {
    expect(namesOf(ruleOf(condition))).toEqual(['a']);
  });

  test('needs no rule that needs one of those', () => {
    const source = [
      'import "pe"',
      ruleOf('filesize < 8MB and $x', 'small', 'private '),
      ruleOf('small and $x', 'needs'),
      ruleOf('$x and not small', 'other'),
    ];
    expect(namesOf(source.slice(0, 3).join('\n'))).toEqual([]);
    // It does not compile, and all rules serve.
    expect(namesOf(source.join('\n'))).toEqual(['other']);
    expect(rulesFor(source.join('\n'), { least_bytes: 0, is_within: false })).toContain('import "pe"');
    expect(namesOf(ruleOf('filesize < 4MB', 'all', 'global '))).toEqual(['all']);
  });
});

describe('the middle of a file', () => {
  test.each([
    'uint32(0) == 0x4c and uint32(4) == 0x00021401 and $x',
    'uint16be(0) == 0xffd8 and $x',
    '$x and ( uint32be(0) == 0x47494638 or uint32be(0) == 0x89504e47 or uint16be(0) == 0xffd8 )',
    '$x in (0..1024) and $y',
    '$x at 0',
    'pe.is_pe and for any s in pe.sections : ( s.name == "UPX0" )',
  ])('is not asked for its first bytes: %s', (condition) => {
    expect(namesOf(ruleOf(condition), true)).toEqual([]);
    expect(namesOf(ruleOf(condition), false)).toEqual(['a']);
  });

  test.each([
    '$x',
    'not uint8(0) == 0x3c and $x',
    '$x and not $y at 0',
    'uint8(@x[1]) == 0x3c and $x',
    '$x or (uint32be(0) == 0x7b5c7274 and $y)',
    '$x in (1024..2048) and $y',
    '#x in (0..1024) > 5',
    'uint8(0) > 3 and $x',
  ])('is matched with every other: %s', (condition) => {
    expect(namesOf(ruleOf(condition), true)).toEqual(['a']);
  });
});
