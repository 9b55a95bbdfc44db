import { foreignTableSchema } from '@palisade/contract/agent';
import { expect, it } from 'vitest';
import { lineOf } from './line.ts';

it('makes one line of foreign text that the contract takes, however it is counted', () => {
  for (const text of ['a\nb\u0000c\u007fd', '\u{1f600}'.repeat(200), `${'a'.repeat(127)}\u{1f600}`, '\ud800 alone', '']) {
    const name = lineOf(text, 128);
    expect(foreignTableSchema.safeParse({ family: 'ip', name, drops: false }).error?.issues).toBeUndefined();
  }
  expect(lineOf('a\nb\u0000c\u007fd', 10)).toBe('abcd');
  expect(lineOf(`${'a'.repeat(9)}\u{1f600}`, 10)).toBe('a'.repeat(9));
  expect(lineOf('\u{1f600}\u{1f600}', 4)).toBe('\u{1f600}\u{1f600}');
});
