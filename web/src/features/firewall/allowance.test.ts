import { newRuleSchema, type Rule } from '@palisade/contract/firewall';
import { readPacket, verdict } from '@palisade/contract/firewall-verdict';
import { describe, expect, it } from 'vitest';
import { allowanceOf } from './allowance.ts';
import { ruleOf } from './fake-rules.ts';

const DEFAULTS = { inbound: 'block', outbound: 'allow' } as const;

function decide(rules: readonly Rule[], source: string, port = '443') {
  const reading = readPacket({
    direction: 'inbound',
    protocol: 'tcp',
    source,
    port,
    destination: source.includes(':') ? 'fd00::1' : '192.168.1.10',
  });
  if (!reading.ok) throw new Error(JSON.stringify(reading.messages));
  return verdict(rules, reading.packet, DEFAULTS).action;
}

/** The rules as they are after an allowance. */
function after(rules: readonly Rule[], address: string): Rule[] {
  const allowance = allowanceOf(rules, { direction: 'inbound', protocol: 'tcp', address, port: 443 });
  if (allowance === undefined) throw new Error('nothing can be done');
  for (const { terms } of allowance.narrowed) expect(newRuleSchema.safeParse(terms).success).toBe(true);
  const kept = rules.map((rule) => {
    const found = allowance.narrowed.find((one) => one.rule.id === rule.id);
    return found ? { ...rule, source_ip: found.terms.source_ip, destination_ip: found.terms.destination_ip } : rule;
  });
  return [
    ...kept,
    ...allowance.added.map((rule) => {
      const { lasts: _, device_ids = [], ...terms } = newRuleSchema.parse(rule);
      return ruleOf({ ...terms, device_ids });
    }),
  ];
}

describe('"Allow this"', () => {
  const everybody = ruleOf({ rule_name: 'Nobody', action: 'block', protocol: 'all', port: '443' });
  const network = ruleOf({ rule_name: 'Net', action: 'block', source_ip: '203.0.113.0/24' });
  const open = ruleOf({ rule_name: 'Open', protocol: 'all', port: '*' });

  it.each([
    ['the default', []],
    ['a rule about everybody', [everybody, open]],
    ['two rules', [everybody, network, open]],
  ])('lets the address through that %s blocked, and nobody else', (_, rules) => {
    for (const address of ['203.0.113.7', '2001:db8::7']) {
      expect(decide(rules, address) === 'block' || !rules.includes(everybody)).toBe(true);
      const then = after(rules, address);
      expect(decide(then, address)).toBe('allow');
      for (const stranger of ['203.0.113.6', '203.0.113.8', '198.51.100.1', '2001:db8::6', '2001:db8::8', '::1'])
        expect(decide(then, stranger)).toBe(decide(rules, stranger));
    }
  });

  it('cannot be done with a rule that blocks this address alone, nor for what is no TCP, UDP or ICMP', () => {
    const one = ruleOf({ action: 'block', source_ip: '203.0.113.7' });
    expect(allowanceOf([one], { direction: 'inbound', protocol: 'tcp', address: '203.0.113.7', port: 443 })).toBeUndefined();
    expect(allowanceOf([], { direction: 'inbound', protocol: 'other', address: '203.0.113.7', port: null })).toBeUndefined();
  });
});
