import { describe, expect, test } from 'vitest';
import { base32, codeOfStep, keyUri, matchingStep, stepOf } from './totp.ts';

const SECRET = Buffer.from('12345678901234567890');

describe('codes of an authenticator app', () => {
  test('are those of RFC 4226, appendix D', () => {
    const codes = ['755224', '287082', '359152', '969429', '338314', '254676', '287922', '162583', '399871', '520489'];
    expect(codes.map((_, count) => codeOfStep(SECRET, count))).toEqual(codes);
  });

  // RFC 6238, appendix B: the last six of its eight digits.
  test.each([
    [59, '287082'],
    [1_111_111_109, '081804'],
    [1_111_111_111, '050471'],
    [1_234_567_890, '005924'],
    [2_000_000_000, '279037'],
    [20_000_000_000, '353130'],
  ])('second %i of RFC 6238 gives %s', (seconds, code) => {
    expect(codeOfStep(SECRET, stepOf(seconds * 1_000))).toBe(code);
  });

  const now = 1_111_111_111_000;
  const step = stepOf(now);

  test.each([
    [1, -1],
    [1, 0],
    [1, 1],
    [0, 0],
  ])('with a drift of %i count %i steps away', (drift_steps, away) => {
    expect(matchingStep(SECRET, codeOfStep(SECRET, step + away), { now, drift_steps })).toBe(step + away);
  });

  test.each([
    [1, -2],
    [1, 2],
    [0, -1],
    [0, 1],
  ])('with a drift of %i do not count %i steps away', (drift_steps, away) => {
    expect(matchingStep(SECRET, codeOfStep(SECRET, step + away), { now, drift_steps })).toBeUndefined();
  });

  test.each(['', '05047', '0504710', '050471 ', 'abcdef'])('%j is none', (code) => {
    expect(matchingStep(SECRET, code, { now, drift_steps: 1 })).toBeUndefined();
  });

  test('share their secret in base32 of RFC 4648', () => {
    // Section 10, without padding.
    for (const [text, expected] of [
      ['f', 'MY'],
      ['fo', 'MZXQ'],
      ['foo', 'MZXW6'],
      ['foob', 'MZXW6YQ'],
      ['fooba', 'MZXW6YTB'],
      ['foobar', 'MZXW6YTBOI'],
    ] as const)
      expect(base32(Buffer.from(text))).toBe(expected);
    expect(keyUri({ secret: base32(SECRET), issuer: 'Harbour: IT', account: 'maria@example.com' })).toBe(
      'otpauth://totp/Harbour%20%20IT:maria%40example.com?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=Harbour%3A%20IT&algorithm=SHA1&digits=6&period=30',
    );
  });
});
