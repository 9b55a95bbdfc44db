import { expect, it } from 'vitest';
import { namesDevices } from './plan-words.ts';

it.each([
  [['Remote support', 'Five devices'], 5, true],
  [['5 devices'], 5, true],
  [['one device '], 1, true],
  [['Five devices'], 10, false],
  [['Mobile devices', 'Five devices and more'], 5, false],
])('finds the number of devices among %j: %i, %s', (features, devices, isNamed) => {
  expect(namesDevices(features, devices)).toBe(isNamed);
});
