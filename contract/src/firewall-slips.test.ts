import { describe, expect, test } from 'vitest';
import { readAddresses, readOneAddress, readPorts } from './firewall-grammar.ts';

const V4 = (text: string) => text.split('.').reduce((value, part) => value * 256n + BigInt(part), 0n);
const refusal = (reading: { ok: true } | { ok: false; message: string }) => (reading.ok ? 'it was read' : reading.message);

describe('an IPv4 address in the form of IPv6', () => {
  test.each([
    ['::ffff:10.0.0.1', '10.0.0.1', '10.0.0.1'],
    ['::FFFF:a00:1', '10.0.0.1', '10.0.0.1'],
    ['0:0:0:0:0:ffff:10.0.0.1', '10.0.0.1', '10.0.0.1'],
    ['::ffff:10.0.0.0/104', '10.0.0.0', '10.255.255.255'],
    ['::ffff:0:0/96', '0.0.0.0', '255.255.255.255'],
    ['::ffff:10.0.0.1-::ffff:10.0.0.9', '10.0.0.1', '10.0.0.9'],
    ['::ffff:10.0.0.1, 10.0.0.2', '10.0.0.1', '10.0.0.2'],
  ])('%s is read as what the kernel would match', (text, from, to) => {
    expect(readAddresses(text)).toEqual({ ok: true, value: { family: 4, spans: [{ from: V4(from), to: V4(to) }] } });
  });

  test('is IPv4 as one address too', () => {
    expect(readOneAddress('::ffff:10.0.0.1')).toEqual({ ok: true, value: { family: 4, value: V4('10.0.0.1') } });
  });

  test.each([
    ['::10.0.0.1', '10.0.0.1'],
    ['::a00:1', '10.0.0.1'],
    ['::10.0.0.0/104', '10.0.0.0/8'],
  ])('%s, which is deprecated, is refused with %s', (text, meant) => {
    expect(refusal(readAddresses(text))).toBe(`Enter the IPv4 address: ${meant}`);
  });
});

describe('refuses mistyped addresses with the probable meaning', () => {
  test.each([
    ['fe80::1%eth0', 'fe80::1'],
    ['fe80::1%eth-0', 'fe80::1'],
    ['fe80::%eth0/64', 'fe80::/64'],
    ['fe80::1%25eth0', 'fe80::1'],
    ['fe80::1%eth0-fe80::9%eth0', 'fe80::1-fe80::9'],
    ['[2001:db8::1]', '2001:db8::1'],
    ['[2001:db8::1]:443', '2001:db8::1 and 443'],
    ['[2001:db8::]/32', '2001:db8::/32'],
    ['10.0.0.1:80', '10.0.0.1 and 80'],
    ['10.0.0.0/24:80', '10.0.0.0/24 and 80'],
    ['10.0.0.1:8000-8100', '10.0.0.1 and 8000-8100'],
    ['10.0.0.1:8000:8100', '10.0.0.1 and 8000-8100'],
    ['10.0.0.1-10.0.0.9:80', '10.0.0.1-10.0.0.9 and 80'],
    ['10.0.0.1 port 80', '10.0.0.1 and 80'],
    ['http://10.0.0.1/', '10.0.0.1'],
    ['https://10.0.0.1:8443/admin', '10.0.0.1 and 8443'],
    ['10.0.0.1/tcp', '10.0.0.1'],
    ['010.000.000.001', '10.0.0.1'],
    ['010.0.0.0/8', '10.0.0.0/8'],
    ['10.0.0.0/08', '10.0.0.0/8'],
    ['2001:0db8::00001', '2001:db8::1'],
    ['1.2.3.4/0', '0.0.0.0/0'],
    ['2001:db8::1/0', '::/0'],
    ['10.0.0.1 10.0.0.2', '10.0.0.1, 10.0.0.2'],
    ['10.0.0.1; 10.0.0.2', '10.0.0.1, 10.0.0.2'],
    ['10.0.0.1 to 10.0.0.9', '10.0.0.1-10.0.0.9'],
    ['10.0.0.1..10.0.0.9', '10.0.0.1-10.0.0.9'],
    ['10.0.0.1 – 10.0.0.9', '10.0.0.1-10.0.0.9'],
    ['10/8', '10.0.0.0/8'],
    ['192.168/16', '192.168.0.0/16'],
    ['192.168.1.x', '192.168.1.0/24'],
    ['１９２.１６８.１.１', '192.168.1.1'],
    ['anywhere', '*'],
    ['all', '*'],
    ['any/any', '*'],
    ['443', 'port'],
    ['router.local', '192.168.1.10'],
    ['www.example.com:443', '192.168.1.10'],
  ])('%s', (text, meant) => {
    expect(readAddresses(text).ok).toBe(false);
    expect(refusal(readAddresses(text))).toContain(meant);
  });
});

describe('refuses mistyped ports with the probable meaning', () => {
  test.each([
    ['8000:8100', '8000-8100'],
    ['8000 : 8100', '8000-8100'],
    ['8000..8100', '8000-8100'],
    ['8000 to 8100', '8000-8100'],
    ['8000–8100', '8000-8100'],
    ['8000 — 8100', '8000-8100'],
    ['8000~8100', '8000-8100'],
    ['80 443', '80, 443'],
    ['80;443', '80, 443'],
    ['80 and 443', '80, 443'],
    ['80/tcp', '80'],
    ['tcp/80', '80'],
    ['tcp 80', '80'],
    ['TCP:80', '80'],
    [':80', '80'],
    ['port 80', '80'],
    ['53/udp', '53'],
    ['>1024', '1025-65535'],
    ['>=1024', '1024-65535'],
    ['<1024', '1-1023'],
    ['1024+', '1024-65535'],
    ['1024:', '1024-65535'],
    ['80，443', '80,443'],
    ['all', '*'],
    ['any port', '*'],
    ['080', '80'],
    ['https', '443'],
  ])('%s', (text, meant) => {
    expect(readPorts(text).ok).toBe(false);
    expect(refusal(readPorts(text))).toContain(meant);
  });

  test.each(['any', 'ANY', ' Any ', '*', ''])('%j means every port and every address', (text) => {
    expect([readPorts(text).ok, readAddresses(text).ok]).toEqual([true, true]);
  });
});

describe('further forms that people type', () => {
  test.each([
    ['192.168.1.0/0.0.0.255', 'Add the network’s length: 192.168.1.0/24'],
    ['::ffff:192.168.1.0/24', 'Enter the IPv4 network: 192.168.1.0/24'],
    ['::ffff:10.1.2.3/8', 'Enter the IPv4 network: 10.0.0.0/8'],
    ['192。168。1。1', 'Use plain characters: 192.168.1.1'],
    ['!192.168.1.1', 'Rules can’t use “not”. Add a rule with the other action for 192.168.1.1'],
    ['not 10.0.0.0/8', 'Rules can’t use “not”. Add a rule with the other action for 10.0.0.0/8'],
  ])('the address %s is refused with what is meant', (text, message) => {
    expect(refusal(readAddresses(text))).toBe(message);
  });

  test.each([
    ['８０', 'Use plain characters: 80'],
    ['８０：９０', 'Use plain characters: 80:90'],
    ['0-65535', 'Use * for every port: *'],
    ['0:65535', 'Use * for every port: *'],
    ['1:65535', 'Use a plain hyphen for the range: 1-65535'],
    ['443 (https)', 'Enter only the port number: 443'],
    ['https (443)', 'Enter only the port number: 443'],
    ['80/443', 'Separate ports with commas: 80, 443'],
    ['80 : 90', 'Use a plain hyphen for the range: 80-90'],
  ])('the port %s is refused with what is meant', (text, message) => {
    expect(refusal(readPorts(text))).toBe(message);
  });
});
