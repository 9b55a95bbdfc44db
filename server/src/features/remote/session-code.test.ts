import { sessionCodeSchema } from '@palisade/contract/remote';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createMemoryCounters } from '#platform/counters.ts';
import { newSessionCode } from './session-code.ts';
import { createWrongCodes } from './wrong-codes.ts';

test('new codes are codes, each another one, of every character of the alphabet', () => {
  const codes = Array.from({ length: 5_000 }, newSessionCode);
  expect(new Set(codes).size).toBe(codes.length);
  for (const code of codes) expect(sessionCodeSchema.parse(code)).toBe(code);
  expect(new Set(codes.join('').replaceAll('-', '')).size).toBe(32);
});

test('a code is the same however it is cased and split', () => {
  const separators = fc.constantFrom('', '-', ' ', '–', '  ');
  fc.assert(
    fc.property(fc.array(fc.tuple(separators, fc.boolean()), { minLength: 9, maxLength: 9 }), (typing) => {
      const code = newSessionCode();
      const characters = [...code.replaceAll('-', '')];
      const typed = typing.map(([separator, isLower], at) => {
        const character = characters[at] ?? '';
        return `${separator}${isLower ? character.toLowerCase() : character}`;
      });
      expect(sessionCodeSchema.parse(typed.join(''))).toBe(code);
    }),
  );
});

test('at most so many attempts pass in any window, for any sequence', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.integer({ min: 0, max: 40 }), { maxLength: 60 }), async (pauses) => {
      let clock = 0;
      const wrongCodes = createWrongCodes({ most: 3, window: 100, counters: createMemoryCounters({ now: () => clock }) });
      const passed: number[] = [];
      for (const pause of pauses) {
        clock += pause;
        try {
          await wrongCodes.begin('agent');
          passed.push(clock);
        } catch {
          expect(passed.filter((at) => at > clock - 100)).toHaveLength(3);
        }
      }
      for (const end of passed) {
        expect(passed.filter((at) => at <= end && at > end - 100).length).toBeLessThanOrEqual(3);
      }
    }),
  );
});
