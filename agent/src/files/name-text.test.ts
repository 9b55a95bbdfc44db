import { devicePathSchema } from '@palisade/contract/agent';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { bytesOfText, textOfBytes, wirePath } from './name-text.ts';

describe('the text form of a path', () => {
  test.each([
    ['/home/anna/n.sh', '/home/anna/n.sh'],
    ['/home/anna/Überweisung 💶.pdf', '/home/anna/Überweisung 💶.pdf'],
    ['/a\\b\\xyz', '/a\\b\\xyz'],
    ['/a\\x41', '/a\\x5cx41'],
    ['/a\\\\x41', '/a\\\\x5cx41'],
    ['/a\\xAB', '/a\\xAB'],
  ])('of valid UTF-8 %s is %s', (name, text) => {
    expect(textOfBytes(Buffer.from(name))).toBe(text);
    expect(bytesOfText(text)).toEqual(Buffer.from(name));
  });

  test.each([
    [[0x6e, 0xff, 0x2e], 'n\\xff.'],
    [[0xc0, 0xaf], '\\xc0\\xaf'],
    [[0xed, 0xa0, 0x80], '\\xed\\xa0\\x80'],
    [[0xe2, 0x82], '\\xe2\\x82'],
    [[0x5c, 0xff], '\\\\xff'],
    [[0x5c, 0x78, 0xff], '\\x\\xff'],
    [[0xf4, 0x90, 0x80, 0x80], '\\xf4\\x90\\x80\\x80'],
    [[0xef, 0xbb, 0xbf, 0x61, 0xff], '\ufeffa\\xff'],
  ])('of the bytes %j is %s', (bytes, text) => {
    expect(textOfBytes(Buffer.from(bytes))).toBe(text);
    expect(bytesOfText(text)).toEqual(Buffer.from(bytes));
  });

  // proves: attack-E.7-2
  test('gives back every name byte for byte, and is well-formed text', () => {
    const byte = fc.oneof(fc.integer({ min: 0, max: 255 }), fc.constantFrom(0x5c, 0x78, 0x61, 0x34, 0xff, 0xc3, 0xa9, 0xe2));
    fc.assert(
      fc.property(fc.array(byte, { maxLength: 60 }), (bytes) => {
        const text = textOfBytes(Buffer.from(bytes));
        expect(text.isWellFormed()).toBe(true);
        expect([...bytesOfText(text)]).toEqual(bytes);
      }),
      { seed: 30, numRuns: 2_000 },
    );
  });

  test('fits into a report, for a path of any length and bytes', () => {
    const longest = Buffer.concat([Buffer.from('/'), Buffer.alloc(4_095, 0xff)]);
    expect(bytesOfText(wirePath(longest))).toEqual(longest);
    for (const path of [longest, Buffer.concat([longest, longest]), Buffer.from(`/${'💶'.repeat(9_001)}`)])
      expect(devicePathSchema.safeParse(wirePath(path)).success).toBe(true);
  });
});
