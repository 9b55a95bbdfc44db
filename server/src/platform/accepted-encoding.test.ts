import { expect, test } from 'vitest';
import { acceptedEncoding } from './accepted-encoding.ts';

test.each([
  [undefined, undefined],
  ['identity', undefined],
  ['gzip, deflate, br', 'br'],
  ['gzip;q=1.0, br;q=0', 'gzip'],
  ['br;q=0.0, gzip;q=0', undefined],
  ['BR;q=0.5', 'br'],
  ['x-br, x-gzip', undefined],
])('of %s the smallest accepted encoding is %s', (accepted, encoding) => {
  expect(acceptedEncoding({ headers: { 'accept-encoding': accepted } })).toBe(encoding);
});
