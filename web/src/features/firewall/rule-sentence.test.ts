import { RULE_DEFAULTS, type Rule } from '@palisade/contract/firewall';
import { readAddresses } from '@palisade/contract/firewall-grammar';
import { describe, expect, it } from 'vitest';
import { outside, ruleSentence } from './rule-sentence.ts';

const of = (terms: Partial<Rule>) => ruleSentence({ ...RULE_DEFAULTS, ...terms });

describe('a rule in a sentence', () => {
  it.each<[Partial<Rule>, string]>([
    [{ action: 'block', protocol: 'all', port: '3389' }, 'No one may reach Remote Desktop on this computer.'],
    [{ port: '22' }, 'Anyone may reach SSH on this computer.'],
    [{}, 'Anyone may reach everything over TCP on this computer.'],
    [{ action: 'block', protocol: 'all' }, 'No one may reach anything on this computer.'],
    [{ source_ip: '192.168.1.0/24', port: '631, 9100' }, '192.168.1.0/24 may reach printing on this computer.'],
    [{ source_ip: '10.0.0.66', action: 'block', protocol: 'all' }, '10.0.0.66 may not reach anything on this computer.'],
    [{ port: '8000-8100' }, 'Anyone may reach ports 8000-8100 over TCP on this computer.'],
    [{ port: '8080', protocol: 'udp' }, 'Anyone may reach port 8080 over UDP on this computer.'],
    [{ port: '1, 3, 5, 7, 9' }, 'Anyone may reach ports 1, 3, 5, and 2 more over TCP on this computer.'],
    [{ port: '22', protocol: 'udp' }, 'Anyone may reach port 22 over UDP on this computer.'],
    [{ port: '443', destination_ip: '10.0.0.1' }, 'Anyone may reach web pages on this computer at 10.0.0.1.'],
    [{ protocol: 'icmp', action: 'block' }, 'No one may ping this computer.'],
    [{ source_ip: '::/0', port: '22' }, 'Any IPv6 address may reach SSH on this computer.'],
    [
      { source_ip: '0.0.0.0-192.167.255.255, 192.169.0.0-255.255.255.255', action: 'block', protocol: 'all', port: '631' },
      'No one outside 192.168.0.0/16 may reach printing on this computer.',
    ],
    [
      { source_ip: '10.0.0.1, 10.0.0.3, 10.0.0.5, 10.0.0.7, 10.0.0.9', port: '22' },
      '10.0.0.1, 10.0.0.3, 10.0.0.5, and 2 more may reach SSH on this computer.',
    ],
    [{ direction: 'outbound', protocol: 'all' }, 'This computer may reach everything anywhere.'],
    [{ direction: 'outbound', action: 'block', port: '25' }, 'This computer may not reach mail anywhere.'],
    [
      { direction: 'outbound', protocol: 'udp', port: '53', destination_ip: '9.9.9.9' },
      'This computer may reach the name service (DNS) at 9.9.9.9.',
    ],
    [{ direction: 'outbound', protocol: 'icmp' }, 'This computer may ping everyone.'],
    [{ direction: 'outbound', protocol: 'icmp', action: 'block' }, 'This computer may not ping anyone.'],
    [{ direction: 'outbound', protocol: 'icmp', destination_ip: '9.9.9.9' }, 'This computer may ping 9.9.9.9.'],
    [{ protocol: 'icmp', source_ip: '10.0.0.5', action: 'block' }, '10.0.0.5 may not ping this computer.'],
    [
      { direction: 'outbound', source_ip: '10.0.0.5', action: 'block', protocol: 'all' },
      'This computer, from 10.0.0.5, may not reach anything anywhere.',
    ],
  ])('%j', (terms, sentence) => {
    expect(of(terms)).toBe(sentence);
  });

  it('names the computer where it is asked to', () => {
    expect(ruleSentence({ ...RULE_DEFAULTS, port: '22' }, 'Laptop')).toBe('Anyone may reach SSH on Laptop.');
  });
});

describe('the outside of addresses', () => {
  it.each([
    ['192.168.0.0/16', '0.0.0.0-192.167.255.255, 192.169.0.0-255.255.255.255'],
    ['0.0.0.0/1', '128.0.0.0/1'],
    ['::/1', '8000::/1'],
    ['0.0.0.0/0', undefined],
    ['*', undefined],
    ['nonsense', undefined],
  ])('%s', (addresses, expected) => {
    expect(outside(addresses)).toBe(expected);
    if (expected !== undefined) expect(readAddresses(expected).ok).toBe(true);
  });

  it('of what is outside is what it was', () => {
    for (const addresses of ['10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16', 'fc00::/7, fe80::/10'])
      expect(outside(outside(addresses) ?? '')).toBe(addresses);
  });
});

it('says of a rule that an older version stored that it matches nothing, and what was meant', () => {
  const terms = { direction: 'inbound', action: 'block', protocol: 'tcp', destination_ip: '*', port: '*' } as const;
  expect(ruleSentence({ ...terms, source_ip: '::192.0.2.1' })).toBe('This rule has no effect. Enter the IPv4 address: 192.0.2.1');
});
