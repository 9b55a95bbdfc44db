// proves: asvs-2.2.3
import { describe, expect, test } from 'vitest';
import { fieldText, readAddresses, readOneAddress, readOnePort, readPorts } from './firewall-grammar.ts';

const V4 = 0xffffffffn;

describe('an address field', () => {
  test.each([['*'], ['any'], ['ANY'], [''], ['  '], [' * ']])('%j is every address, shown as *', (text) => {
    expect(readAddresses(text)).toEqual({ ok: true, value: { family: null, spans: [] } });
    expect(fieldText(text)).toBe('*');
  });

  test.each([
    ['10.0.0.1', 4, [[0x0a000001n, 0x0a000001n]]],
    [' 10.0.0.1 ', 4, [[0x0a000001n, 0x0a000001n]]],
    ['10.0.0.0/8', 4, [[0x0a000000n, 0x0affffffn]]],
    ['0.0.0.0/0', 4, [[0n, V4]]],
    ['10.0.0.1/32', 4, [[0x0a000001n, 0x0a000001n]]],
    ['10.0.0.1-10.0.0.9', 4, [[0x0a000001n, 0x0a000009n]]],
    ['10.0.0.1 - 10.0.0.9', 4, [[0x0a000001n, 0x0a000009n]]],
    ['10.0.0.5-10.0.0.5', 4, [[0x0a000005n, 0x0a000005n]]],
    ['::/0', 6, [[0n, (1n << 128n) - 1n]]],
    ['fe80::/10', 6, [[0xfe80n << 112n, (0xfec0n << 112n) - 1n]]],
    ['::1-::f', 6, [[1n, 15n]]],
    [
      '10.0.0.9, 10.0.0.1 ,10.0.0.2',
      4,
      [
        [0x0a000001n, 0x0a000002n],
        [0x0a000009n, 0x0a000009n],
      ],
    ],
    ['10.0.0.0/8,10.1.0.0/16', 4, [[0x0a000000n, 0x0affffffn]]],
  ])('%j is read', (text, family, spans) => {
    expect(readAddresses(text)).toEqual({ ok: true, value: { family, spans: spans.map(([from, to]) => ({ from, to })) } });
  });

  test.each([
    ['example.com', 'Enter an IP address like 192.168.1.10, not a host name: example.com'],
    ['my-laptop', 'Enter an IP address like 192.168.1.10, not a host name: my-laptop'],
    ['localhost', 'Enter an IP address like 192.168.1.10, not a host name: localhost'],
    ['10.0.0', 'An IPv4 address has four numbers, like 192.168.1.10: 10.0.0'],
    ['10.0.0.256', 'Each number in an IPv4 address is 0 to 255: 10.0.0.256'],
    ['010.0.0.1', 'Remove the leading zeros: 10.0.0.1'],
    ['192.168.*', 'Use a network instead of stars: 192.168.0.0/16'],
    ['10.*.*.*', 'Use a network instead of stars: 10.0.0.0/8'],
    ['10.0.0.1:80', 'Enter the port in its own field: 10.0.0.1 and 80'],
    ['[::1]', 'Leave out brackets and zone: ::1'],
    ['fe80::1%eth0', 'Leave out brackets and zone: fe80::1'],
    ['2001:db8', 'Enter an IPv6 address, like 2001:db8::1, instead of 2001:db8'],
    [
      '192.168.1.5/24',
      '192.168.1.5/24 is an address inside a network. Enter the network, 192.168.1.0/24, or only the address, 192.168.1.5',
    ],
    [
      '2001:db8::1/32',
      '2001:db8::1/32 is an address inside a network. Enter the network, 2001:db8::/32, or only the address, 2001:db8::1',
    ],
    ['10.0.0.0/33', 'Enter a number from 0 to 32 after the slash: 10.0.0.0/33'],
    ['::/129', 'Enter a number from 0 to 128 after the slash: ::/129'],
    ['10.0.0.0/', 'Enter a number from 0 to 32 after the slash: 10.0.0.0/'],
    ['10.0.0.0/08', 'Remove the leading zeros from the length: 10.0.0.0/8'],
    ['10.0.0.0/255.0.0.0', 'Add the network’s length: 10.0.0.0/8'],
    ['10.0.0.0/255.0.255.0', 'Enter a number from 0 to 32 after the slash: 10.0.0.0/255.0.255.0'],
    ['10.0.0.9-10.0.0.1', 'Start the range with the lower number: 10.0.0.9-10.0.0.1'],
    ['10.0.0.1-20', 'Enter both ends in full: 10.0.0.1-10.0.0.20'],
    ['10.0.0.1-', 'A range needs two ends, like 192.168.1.10-192.168.1.20: 10.0.0.1-'],
    ['10.0.0.1-10.0.0.2-10.0.0.3', 'A range needs two ends, like 192.168.1.10-192.168.1.20: 10.0.0.1-10.0.0.2-10.0.0.3'],
    ['10.0.0.0/24-10.0.1.0', 'A range goes from one address to another, not to a network: 10.0.0.0/24-10.0.1.0'],
    ['10.0.0.1-::1', 'Use IPv4 or IPv6 for both ends of a range: 10.0.0.1-::1'],
    ['10.0.0.1–10.0.0.9', 'Use a plain hyphen for the range: 10.0.0.1-10.0.0.9'],
    ['10.0.0.1,', 'Remove the extra comma from the list.'],
    [',', 'Remove the extra comma from the list.'],
    ['10.0.0.1,any', '* means every address already. Remove the other entries.'],
    ['10.0.0.1, ::1', 'A rule covers IPv4 or IPv6. Add a second rule for IPv6: ::1'],
    [Array(65).fill('10.0.0.1').join(), 'A list can have at most 64 entries. This one has 65.'],
    [`${'a'.repeat(100)}.example`, `Enter an IP address like 192.168.1.10, not a host name: ${'a'.repeat(60)}…`],
    ['x'.repeat(7_000), 'Use at most 6500 characters.'],
  ])('%j is refused with what would be right', (text, message) => {
    expect(readAddresses(text)).toEqual({ ok: false, message });
  });

  test('64 entries of the longest kind fit', () => {
    const longest = `${'ffff:'.repeat(6)}255.255.255.255`;
    expect(readAddresses(Array(64).fill(`${longest} - ${longest}`).join(', ')).ok).toBe(true);
  });
});

describe('a port field', () => {
  test.each(['*', 'any', '', ' '])('%j is every port', (text) => {
    expect(readPorts(text)).toEqual({ ok: true, value: null });
  });

  test.each([
    ['1', [[1n, 1n]]],
    ['65535', [[65_535n, 65_535n]]],
    ['8000-8100', [[8000n, 8100n]]],
    [' 8000 - 8100 ', [[8000n, 8100n]]],
    [
      '443, 80,81',
      [
        [80n, 81n],
        [443n, 443n],
      ],
    ],
  ])('%j is read', (text, spans) => {
    expect(readPorts(text)).toEqual({ ok: true, value: spans.map(([from, to]) => ({ from, to })) });
  });

  test.each([
    ['0', 'A port is a whole number from 1 to 65535: 0'],
    ['65536', 'A port is a whole number from 1 to 65535: 65536'],
    ['99999999999999999999', 'A port is a whole number from 1 to 65535: 99999999999999999999'],
    ['-80', 'A port is a whole number from 1 to 65535: -80'],
    ['80.5', 'A port is a whole number from 1 to 65535: 80.5'],
    ['1e3', 'A port is a whole number from 1 to 65535: 1e3'],
    ['0x50', 'A port is a whole number from 1 to 65535: 0x50'],
    ['８０', 'Use plain characters: 80'],
    ['080', 'Remove the leading zeros from the port: 80'],
    ['8100-8000', 'Start the range with the lower number: 8100-8000'],
    ['80-', 'A range needs two ends, like 8000-8100: 80-'],
    ['80-90-100', 'A range needs two ends, like 8000-8100: 80-90-100'],
    ['80–90', 'Use a plain hyphen for the range: 80-90'],
    ['https', 'Enter the port number, not a service name: 443'],
    ['constructor', 'Enter a port number like 443, not a service name: constructor'],
    ['http-alt', 'Enter a port number like 443, not a service name: http-alt'],
    ['80,,443', 'Remove the extra comma from the list.'],
    ['80,*', '* means every port already. Remove the other entries.'],
    [Array(33).fill('80').join(), 'A list can have at most 32 entries. This one has 33.'],
  ])('%j is refused with what would be right', (text, message) => {
    expect(readPorts(text)).toEqual({ ok: false, message });
  });
});

describe('one packet', () => {
  test('has one address of each side and one port', () => {
    expect(readOneAddress(' 10.0.0.1 ')).toEqual({ ok: true, value: { family: 4, value: 0x0a000001n } });
    expect(readOnePort(' 443 ')).toEqual({ ok: true, value: 443 });
  });

  test.each([
    ['', 'Enter one address, like 192.168.1.10.'],
    ['*', 'Enter one address, like 192.168.1.10.'],
    ['10.0.0.0/8', 'Enter only one address: 10.0.0.0/8'],
    ['10.0.0.1-10.0.0.2', 'Enter only one address: 10.0.0.1-10.0.0.2'],
    ['10.0.0.1,10.0.0.2', 'Enter only one address: 10.0.0.1,10.0.0.2'],
    ['example.com', 'Enter an IP address like 192.168.1.10, not a host name: example.com'],
  ])('%j is not one address', (text, message) => {
    expect(readOneAddress(text)).toEqual({ ok: false, message });
  });

  test.each([
    ['', 'Enter one port, like 443.'],
    ['80-90', 'Enter only one port: 80-90'],
    ['80,90', 'Enter only one port: 80,90'],
    ['ssh', 'Enter the port number, not a service name: 22'],
  ])('%j is not one port', (text, message) => {
    expect(readOnePort(text)).toEqual({ ok: false, message });
  });
});
