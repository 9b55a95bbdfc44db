import { isIP } from 'node:net';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { addressBehind, forwardedFor } from './forwarded.ts';

describe('whom a request was passed on for', () => {
  // proves: attack-B.14-1
  test.each([
    ['203.0.113.9', '203.0.113.9'],
    ['203.0.113.9:51234', '203.0.113.9'],
    ['[2001:db8::7]:51234', '2001:db8::7'],
    ['[2001:db8::7]', '2001:db8::7'],
    ['2001:db8::7', '2001:db8::7'],
    ['198.51.100.1, 203.0.113.9:80', '198.51.100.1, 203.0.113.9'],
    [' 198.51.100.1 ,203.0.113.9 ', '198.51.100.1, 203.0.113.9'],
    // Entries before an invalid address can be forged.
    ['198.51.100.1, unknown, 203.0.113.9', '203.0.113.9'],
    ['<script>, 203.0.113.9', '203.0.113.9'],
    ['203.0.113.9, unknown', undefined],
    ['203.0.113.9, _hidden', undefined],
    ['203.0.113.9,', undefined],
    ['203.0.113.999', undefined],
    ['203.0.113.9:123456', undefined],
    ['[203.0.113.9]:80', undefined],
    ['fe80::1%eth0', undefined],
    ['0x7f.1', undefined],
    ['', undefined],
  ])('X-Forwarded-For: %s', (header, expected) => {
    expect(forwardedFor({ 'x-forwarded-for': header })).toBe(expected);
  });

  test.each([
    ['for=203.0.113.9', '203.0.113.9'],
    ['For="203.0.113.9:51234"', '203.0.113.9'],
    ['for="[2001:db8::7]:51234";proto=https;by=10.0.0.1', '2001:db8::7'],
    ['proto=https; for=203.0.113.9 ;host=x', '203.0.113.9'],
    ['for=198.51.100.1, for="[2001:db8::7]"', '198.51.100.1, 2001:db8::7'],
    ['for=198.51.100.1;host="a,b", for=203.0.113.9', '198.51.100.1, 203.0.113.9'],
    ['for=unknown, for=203.0.113.9', '203.0.113.9'],
    ['for=203.0.113.9, for=_secret', undefined],
    ['for="203.0.113.9', undefined],
    ['xfor=203.0.113.9', undefined],
    ['by=203.0.113.9', undefined],
  ])('Forwarded: %s', (forwarded, expected) => {
    expect(forwardedFor({ forwarded })).toBe(expected);
  });

  test('is what X-Forwarded-For says where both are there: a proxy that writes one passes the other on from anybody', () => {
    expect(forwardedFor({ 'x-forwarded-for': '203.0.113.9', forwarded: 'for=198.51.100.1' })).toBe('203.0.113.9');
  });

  test('is read from its end, and no further than a chain of proxies is long', () => {
    const long = `${'198.51.100.1, '.repeat(1_000)}203.0.113.9`;
    const hops = forwardedFor({ 'x-forwarded-for': long })?.split(', ');
    expect([hops?.length, hops?.at(-1)]).toEqual([32, '203.0.113.9']);
    expect(forwardedFor({ 'x-forwarded-for': `${'"'.repeat(10_000)}, 203.0.113.9` })).toBe('203.0.113.9');
    expect(forwardedFor({ forwarded: `for="${'\\"'.repeat(5_000)}` })).toBeUndefined();
  });

  test('is a list of addresses for any input', () => {
    const part = fc.oneof(
      fc.ipV4(),
      fc.ipV6(),
      fc.string(),
      fc.constantFrom('for=', '"', '[', ']', ':', ';', '%', '::ffff:1.2.3.4'),
    );
    fc.assert(
      fc.property(
        fc.array(part).map((parts) => parts.join(',')),
        fc.boolean(),
        (header, isForwarded) => {
          const hops = forwardedFor(isForwarded ? { forwarded: header } : { 'x-forwarded-for': header });
          expect((hops ?? '203.0.113.9').split(', ').every((hop) => isIP(hop) !== 0)).toBe(true);
        },
      ),
    );
  });
});

test.each([
  ['no proxy', '192.0.2.1', '198.51.100.1', '192.0.2.1'],
  ['a proxy', '10.0.0.1', '203.0.113.9', '203.0.113.9'],
  ['two proxies, and an address that a stranger wrote', '10.0.0.1', '198.51.100.1, 203.0.113.9, 10.0.0.2', '203.0.113.9'],
  ['a proxy that itself asks', '10.0.0.1', '10.0.0.2', '10.0.0.2'],
  ['a proxy that names no one', '10.0.0.1', undefined, '10.0.0.1'],
])('behind %s, the nearest address that is no proxy counts', (_what, peer, sent, address) => {
  expect(addressBehind(peer, { 'x-forwarded-for': sent }, (one) => one.startsWith('10.'))).toBe(address);
});
