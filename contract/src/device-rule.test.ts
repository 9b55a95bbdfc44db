import fc from 'fast-check';
import { expect, it } from 'vitest';
import { deviceRuleOf, deviceRuleSchema, reachOfDevice, type TypedRule } from './device-rule.ts';
import { newRuleSchema } from './firewall.ts';
import { reachOf } from './firewall-shapes.ts';

const RULE: TypedRule = {
  id: '01999c1e-0000-7000-8000-000000000001',
  direction: 'inbound',
  action: 'block',
  protocol: 'tcp',
  source_ip: '10.0.0.0/8',
  destination_ip: '*',
  port: '22',
  expires_at: null,
};
const isTaken = (rule: object) => deviceRuleSchema.safeParse(rule).success;

it('takes a typed rule that the grammar takes, and no text that a resolver or nft would read', () => {
  expect(isTaken(RULE)).toBe(true);
  for (const source_ip of ['example.org', '10.0.0.1; drop', '10.0.0.5/8', '@set', '$x', '10.0.0.1\nadd rule'])
    expect(isTaken({ ...RULE, source_ip }), source_ip).toBe(false);
  for (const port of ['ssh', '22; accept', '0', '70000']) expect(isTaken({ ...RULE, port }), port).toBe(false);
});

const addresses = fc
  .array(fc.constantFrom('10.0.0.0/8', '10.0.0.5', '192.168.0.1-192.168.0.9', '*', 'fd00::/8', '::1', '::', '255.255.255.255'), {
    ...{ minLength: 1, maxLength: 4 },
  })
  .map((some) => some.join(', '));
const typedRule = fc
  .record({
    protocol: fc.constantFrom('tcp' as const, 'udp' as const, 'icmp' as const, 'all' as const),
    source_ip: addresses,
    destination_ip: addresses,
    port: fc.constantFrom('*', '22', '1-65535', '80, 443, 8000-8100', '5-9, 7-12, 13'),
  })
  .map((parts) => ({ ...RULE, ...parts }))
  .filter((rule) => newRuleSchema.safeParse({ ...rule, rule_name: 'rule' }).success);

it('carries the same traffic parsed as typed, over the wire', () => {
  fc.assert(
    fc.property(typedRule, (typed) => {
      const [parsed, old] = [true, false].map((is_parsed) =>
        deviceRuleSchema.parse(JSON.parse(JSON.stringify(deviceRuleOf(typed, is_parsed)))),
      );
      if (parsed === undefined || old === undefined) throw new Error('one form is missing');
      expect(parsed).not.toHaveProperty('source_ip');
      const { rule: _, ...traffic } = reachOf(typed);
      expect(reachOfDevice(parsed)).toEqual({ rule: parsed, ...traffic });
      expect(reachOfDevice(old)).toEqual({ rule: typed, ...traffic });
    }),
    { seed: 4, numRuns: 100 },
  );
});

const whole: [string, string][] = [['0.0.0.0', '255.255.255.255']];
const { source_ip: _source, destination_ip: _destination, port: _port, ...DECIDING } = RULE;
const parsedWith = (sources: unknown, ports: unknown = null) => ({
  ...DECIDING,
  traffic: { ipv4: { sources, destinations: whole }, ipv6: null, ports },
});

it('refuses traffic that is not spans in order and apart of its family', () => {
  expect(isTaken(parsedWith(whole))).toBe(true);
  for (const sources of [
    ...[[], [['10.0.0.9', '10.0.0.1']], [['::1', '::2']], [['10.0.0.1', '::2']], [['x', 'y']]],
    [['10.0.0.1; drop', '10.0.0.2']],
    ...['10.0.0.5', '10.0.0.9', '10.0.0.10', '9.0.0.0'].map((first) => [
      ['10.0.0.1', '10.0.0.9'],
      [first, '10.0.0.20'],
    ]),
  ])
    expect(isTaken(parsedWith(sources)), JSON.stringify(sources)).toBe(false);
  for (const ports of [
    [],
    [[0, 1]],
    [[1, 65_536]],
    [[9, 1]],
    [['1; drop', 2]],
    [
      [1, 5],
      [6, 9],
    ],
  ])
    expect(isTaken(parsedWith(whole, ports)), JSON.stringify(ports)).toBe(false);
  expect(isTaken({ ...parsedWith(whole, [[1, 5]]), protocol: 'icmp' })).toBe(false);
});
