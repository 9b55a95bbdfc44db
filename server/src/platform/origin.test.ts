import { describe, expect, test } from 'vitest';
import { originOf, sourceOf } from './origin.ts';

describe('the source of an address', () => {
  test.each([
    ['203.0.113.7', '203.0.113.7'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::1', '2001:db8:1:2::/64'],
    ['::1', '::/64'],
    ['not an address', 'not an address'],
  ])('of %s is %s', (address, source) => {
    expect(sourceOf(address)).toBe(source);
  });

  test('stands beside what the client says of itself', () => {
    expect(originOf({ ip: '::ffff:127.0.0.1', headers: {} })).toEqual({
      address: '127.0.0.1',
      source: '127.0.0.1',
      user_agent: undefined,
      client: 'Unknown client',
    });
  });
});
