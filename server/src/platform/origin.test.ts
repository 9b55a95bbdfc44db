import { describe, expect, test } from 'vitest';
import { isPrivateNetwork, originOf, sourceOf } from './origin.ts';

describe('the source of an address', () => {
  test.each([
    ['203.0.113.7', '203.0.113.7'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::1', '2001:db8:1:2::/64'],
    ['::1', '::/64'],
    ['::ffff:cb00:7107', '203.0.113.7'],
    ['64:ff9b::cb00:7107', '203.0.113.7'],
    ['64:ff9b:1::cb00:7107', '64:ff9b:1::/64'],
    ['not an address', 'not an address'],
  ])('of %s is %s', (address, source) => {
    expect(sourceOf(address)).toBe(source);
  });

  test.each([
    ['fd00:1:2:3::9', true],
    ['fc00::9', true],
    ['fe80::1', true],
    ['febf::1', true],
    ['fec0::1', false],
    ['2001:db8::1', false],
    ['::1', false],
    ['192.168.1.7', false],
  ])('of %s is a network of somebody’s own: %s', (address, is_private) => {
    expect(isPrivateNetwork(sourceOf(address))).toBe(is_private);
  });

  test("is beside the client's own name", () => {
    expect(originOf({ ip: '::ffff:127.0.0.1', headers: {} })).toEqual({
      address: '127.0.0.1',
      source: '127.0.0.1',
      user_agent: undefined,
      client: 'Unknown client',
    });
  });
});
