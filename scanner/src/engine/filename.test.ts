// proves: asvs-5.3.2, security-36
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { displayName } from './filename.ts';

describe('a shown file name', () => {
  test.each([
    ['report.pdf', 'report.pdf'],
    ['C:\\Users\\anna\\report.pdf', 'report.pdf'],
    ['\\\\server\\share\\report.pdf', 'report.pdf'],
    ['a\\b.txt', 'a\\b.txt'],
    ['folder/a\\b.txt', 'a\\b.txt'],
    ['a"b\r\nc.txt', 'a"b\ufffd\ufffdc.txt'],
    ['می\u200cخواهم.pdf', 'می\u200cخواهم.pdf'],
    ['ශ්\u200dරී.pdf', 'ශ්\u200dරී.pdf'],
    ['rep\u200cort.pdf', 'rep\ufffdort.pdf'],
    ['/', 'unnamed file'],
    ['', 'unnamed file'],
    ['a\u200bb', 'a\ufffdb'],
    ['👨\u200d👩\u200d👧', '👨\u200d👩\u200d👧'],
    ['👍🏽\u200d', '👍🏽\ufffd'],
    ['e\u0301', '\u00e9'],
  ])('of %j is %j', (sent, shown) => {
    expect(displayName(sent)).toBe(shown);
  });

  // proves: asvs-1.3.3
  test('never is long, empty, a path, or deceptive, whatever was sent', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 600 }), (sent) => {
        const shown = displayName(sent);
        expect(Buffer.byteLength(shown)).toBeLessThanOrEqual(255);
        expect(shown).not.toBe('');
        expect(shown).not.toMatch(/[/\p{Cc}\u202a-\u202e\u2066-\u2069]/u);
        expect(shown.isWellFormed()).toBe(true);
      }),
    );
  });
});
