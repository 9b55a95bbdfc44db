import { parseIp } from '@palisade/contract/ip-address';
import { expect, test } from 'vitest';
import { readFlow } from './conntrack.ts';

const TCP =
  'ipv4     2 tcp      6 431999 ESTABLISHED src=192.0.2.7 dst=198.51.100.4 sport=52114 dport=443 src=198.51.100.4 dst=192.0.2.7 sport=443 dport=52114 [ASSURED] mark=0 use=1';
const PING =
  'ipv6     10 icmpv6   58 29 src=2001:db8::1 dst=2001:db8::2 type=128 code=0 id=4242 src=2001:db8::2 dst=2001:db8::1 type=129 code=0 id=4242 mark=0 use=1';

test('a connection is read as its first packet went', () => {
  expect(readFlow(TCP)).toEqual({
    protocol: 'tcp',
    source: parseIp('192.0.2.7'),
    destination: parseIp('198.51.100.4'),
    source_port: 52_114,
    port: 443,
    icmp: null,
  });
  expect(readFlow(PING)).toEqual({
    protocol: 'icmp',
    source: parseIp('2001:db8::1'),
    destination: parseIp('2001:db8::2'),
    source_port: null,
    port: null,
    icmp: { type: '128', code: '0', id: '4242' },
  });
});

test.each(['', 'conntrack v1.4.7: 3 flow entries have been shown.', TCP.replaceAll(/ dst=\S+/g, '')])(
  'other lines are none: %s',
  (line) => {
    expect(readFlow(line)).toBeUndefined();
  },
);
