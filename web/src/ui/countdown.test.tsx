import { expect, it } from 'vitest';
import { describeLeft } from './countdown.tsx';

it.each([
  [0, '0:00'],
  [-5_000, '0:00'],
  [1, '0:01'],
  [59_000, '0:59'],
  [60_000, '1:00'],
  [272_000, '4:32'],
  [600_000, '10:00'],
  [3_872_000, '1:04:32'],
  [36_000_000, '10:00:00'],
  [604_800_000, '7 days'],
])('%i ms are %s', (ms, clock) => {
  expect(describeLeft(ms)).toBe(clock);
});
