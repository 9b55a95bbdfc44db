import { describe, expect, test } from 'vitest';
import type { Action, Rule } from './firewall.ts';
import type { Ruleset, Step, Traffic } from './firewall-traffic.ts';
import { createJudge, DEFAULT_ACTIONS, findings, type PacketText, readPacket, verdict } from './firewall-verdict.ts';
import { parseIp } from './ip-address.ts';

function rule(number: number, parts: Partial<Rule> = {}): Rule {
  return {
    id: `01930000-0000-7000-8000-${String(number).padStart(12, '0')}`,
    rule_name: `Rule ${number}`,
    direction: 'inbound',
    action: 'allow',
    protocol: 'tcp',
    source_ip: '*',
    destination_ip: '*',
    port: '*',
    enabled: true,
    created_at: '2026-11-20T10:00:00.000Z',
    expires_at: null,
    device_ids: [],
    ...parts,
  };
}

const PACKET: PacketText = { direction: 'inbound', protocol: 'tcp', source: '10.0.0.1', destination: '10.0.0.2', port: '443' };

function decide(rules: readonly Rule[], parts: Partial<PacketText> = {}) {
  const reading = readPacket({ ...PACKET, ...parts });
  if (!reading.ok) throw new Error(JSON.stringify(reading.messages));
  const { action, rule: by } = verdict(rules, reading.packet);
  return [action, by?.rule_name];
}

describe('the steps before the rules', () => {
  const traffic = (parts: Partial<Traffic>): Traffic => {
    const [source, destination] = [parseIp('fd00::1'), parseIp('fd00::2')];
    if (source === undefined || destination === undefined) throw new Error('no addresses');
    return { direction: 'inbound', protocol: 'tcp', source, destination, port: 443, ...parts };
  };
  const server = { address: traffic({}).destination, port: 8443 };
  const blocking = { rules: [], defaults: { inbound: 'block', outbound: 'block' } as const, block_list: [], control: [server] };
  const listed = { ...blocking, defaults: DEFAULT_ACTIONS, block_list: ['fd00::1'] };
  const open = { ...blocking, defaults: { inbound: 'allow', outbound: 'allow' } as const };

  test.each<[Ruleset, Partial<Traffic>, [Action, Step]]>([
    [blocking, {}, ['block', 'default']],
    [blocking, { is_loopback: true }, ['allow', 'loopback']],
    [blocking, { is_established: true }, ['allow', 'established']],
    [blocking, { is_stray: true }, ['block', 'stray']],
    [open, { is_stray: true }, ['allow', 'default']],
    [blocking, { protocol: 'icmp', port: null, icmp_type: 135 }, ['allow', 'neighbours']],
    [blocking, { protocol: 'icmp', port: null, icmp_type: 128 }, ['block', 'default']],
    [blocking, { protocol: 'udp', source_port: 547, port: 546 }, ['allow', 'addressing']],
    [blocking, { protocol: 'udp', source_port: 546, port: 546 }, ['block', 'default']],
    [blocking, { direction: 'outbound', protocol: 'udp', source_port: 546, port: 547 }, ['allow', 'addressing']],
    [blocking, { direction: 'outbound', port: 8443 }, ['allow', 'control']],
    [blocking, { direction: 'outbound', port: 8444 }, ['block', 'default']],
    [listed, {}, ['block', 'block_list']],
    [listed, { direction: 'outbound' }, ['allow', 'default']],
  ])('%#: decide about their packets alone', (ruleset, parts, [action, by]) => {
    expect(createJudge(ruleset)(traffic(parts))).toEqual({ action, by, rule: null });
  });
});

describe('a verdict', () => {
  test('without rules nothing comes in and everything goes out', () => {
    expect(decide([])).toEqual(['block', undefined]);
    expect(decide([], { direction: 'outbound' })).toEqual(['allow', undefined]);
  });

  test('a block wins over an allow, in any order', () => {
    const rules = [rule(1), rule(2, { action: 'block', port: '443' })];
    expect(decide(rules)).toEqual(['block', 'Rule 2']);
    expect(decide(rules.toReversed())).toEqual(['block', 'Rule 2']);
    expect(decide(rules, { port: '80' })).toEqual(['allow', 'Rule 1']);
  });

  test('a disabled rule decides nothing', () => {
    expect(decide([rule(1), rule(2, { action: 'block', enabled: false })])).toEqual(['allow', 'Rule 1']);
  });

  test.each<[Partial<Rule>, Partial<PacketText>, boolean]>([
    [{ direction: 'outbound' }, {}, false],
    [{ protocol: 'udp' }, {}, false],
    [{ protocol: 'all' }, { protocol: 'udp' }, true],
    [{ protocol: 'all' }, { protocol: 'icmp' }, true],
    [{ protocol: 'icmp' }, { protocol: 'icmp' }, true],
    // Traffic without ports is not what a rule with ports is about.
    [{ protocol: 'all', port: '443' }, { protocol: 'icmp' }, false],
    [{ protocol: 'all', port: '443' }, { protocol: 'udp' }, true],
    [{ source_ip: '10.0.0.0/30' }, {}, true],
    [{ source_ip: '10.0.0.2-10.0.0.9' }, {}, false],
    [{ source_ip: '192.168.0.1, 10.0.0.1' }, {}, true],
    [{ destination_ip: '10.0.0.1' }, {}, false],
    [{ port: '80, 440-450' }, {}, true],
    [{ port: '1-442, 444-65535' }, {}, false],
    [{ source_ip: '0.0.0.0/0' }, { source: '::1', destination: '::2' }, false],
    [{ source_ip: '::/0' }, {}, false],
    [{}, { source: '::1', destination: '::2' }, true],
    // An IPv4-mapped address is the IPv4 address: on a wire there is no other.
    [{ source_ip: '::ffff:10.0.0.1' }, {}, true],
  ])('%j matches %j: %s', (parts, packet, isMatch) => {
    expect(decide([rule(1, parts)], packet)).toEqual(isMatch ? ['allow', 'Rule 1'] : ['block', undefined]);
  });

  test('of several rules the widest is named, and of equal ones the oldest', () => {
    expect(decide([rule(1, { port: '443' }), rule(2)])).toEqual(['allow', 'Rule 2']);
    expect(decide([rule(2), rule(1)])).toEqual(['allow', 'Rule 1']);
    expect(decide([rule(2, { port: '443' }), rule(1, { source_ip: '10.0.0.1' })])).toEqual(['allow', 'Rule 1']);
  });
});

describe('findings', () => {
  const found = (...rules: Rule[]) =>
    findings(rules).map(({ kind, rule_id, other_id }) => [
      kind,
      rules.find(({ id }) => id === rule_id)?.rule_name,
      rules.find(({ id }) => id === other_id)?.rule_name,
    ]);

  test('rules that have nothing to do with each other have none', () => {
    expect(found(rule(1, { port: '22' }), rule(2, { port: '80' }), rule(3, { direction: 'outbound' }))).toEqual([]);
  });

  test.each<[Partial<Rule>, boolean]>([
    [{ source_ip: '127.0.0.1' }, true],
    [{ destination_ip: '::1' }, true],
    [{ source_ip: '224.0.0.0/4' }, true],
    [{ source_ip: '224.0.0.1, 127.0.0.1' }, true],
    [{ destination_ip: '0.0.0.0' }, true],
    [{ source_ip: '255.255.255.255' }, true],
    [{ destination_ip: '224.0.0.251' }, false],
    [{ source_ip: '0.0.0.0/0' }, false],
    [{ source_ip: '127.0.0.1, 10.0.0.1' }, false],
    [{ source_ip: '::/0' }, false],
  ])('%j can never match: %s', (parts, isFound) => {
    expect(found(rule(1, parts))).toEqual(isFound ? [['never_matching', 'Rule 1', undefined]] : []);
  });

  test('an exception is no contradiction', () => {
    expect(found(rule(1), rule(2, { action: 'block', port: '22' }))).toEqual([]);
  });

  test('a rule that says the same in other words is a duplicate of the older one', () => {
    expect(found(rule(2, { source_ip: '10.0.0.0-10.255.255.255' }), rule(1, { source_ip: '10.0.0.0/8' }))).toEqual([
      ['duplicate', 'Rule 2', 'Rule 1'],
    ]);
    expect(found(rule(1), rule(2, { port: '1-65535' }))).toEqual([['duplicate', 'Rule 2', 'Rule 1']]);
    expect(found(rule(1), rule(2), rule(3))).toEqual([
      ['duplicate', 'Rule 2', 'Rule 1'],
      ['duplicate', 'Rule 3', 'Rule 1'],
    ]);
  });

  test('two rules that say the opposite of the same contradict each other', () => {
    expect(found(rule(1), rule(2, { action: 'block' }))).toEqual([
      ['contradicting', 'Rule 1', 'Rule 2'],
      ['contradicting', 'Rule 2', 'Rule 1'],
    ]);
    expect(findings([rule(1), rule(2, { action: 'block' })]).map(({ reason }) => reason)).toEqual([
      'Another rule blocks the same traffic. Blocks always win, so this rule has no effect.',
      'Another rule allows the same traffic. Blocks always win, so that rule has no effect.',
    ]);
  });

  test('an allow under a wider block never decides, nor does what a wider rule says already', () => {
    expect(found(rule(1, { port: '22', source_ip: '10.0.0.1' }), rule(2, { action: 'block', protocol: 'all' }))).toEqual([
      ['never_matching', 'Rule 1', 'Rule 2'],
    ]);
    expect(found(rule(1, { port: '22' }), rule(2, { port: '20-25' }))).toEqual([['never_matching', 'Rule 1', 'Rule 2']]);
    expect(found(rule(1, { action: 'block', port: '22' }), rule(2, { action: 'block' }))).toEqual([
      ['never_matching', 'Rule 1', 'Rule 2'],
    ]);
  });

  test('ICMP lies under "all" only where no port is named', () => {
    expect(found(rule(1, { protocol: 'icmp' }), rule(2, { protocol: 'all', action: 'block' }))).toEqual([
      ['never_matching', 'Rule 1', 'Rule 2'],
    ]);
    expect(found(rule(1, { protocol: 'icmp' }), rule(2, { protocol: 'all', action: 'block', port: '1-65535' }))).toEqual([]);
  });

  test('every IPv4 address is not every address', () => {
    expect(found(rule(1), rule(2, { action: 'block', source_ip: '0.0.0.0/0' }))).toEqual([]);
    // With an IPv4 destination nothing else is left of "every source".
    expect(
      found(rule(1, { destination_ip: '10.0.0.1' }), rule(2, { source_ip: '0.0.0.0/0', destination_ip: '10.0.0.1' })),
    ).toEqual([['duplicate', 'Rule 2', 'Rule 1']]);
  });

  test('a disabled rule has none and causes none', () => {
    expect(found(rule(1), rule(2, { enabled: false }), rule(3, { action: 'block', enabled: false }))).toEqual([]);
  });

  test('500 rules with long lists are judged', () => {
    const list = (start: number) => Array.from({ length: 64 }, (_, index) => `10.${start % 250}.${index * 2}.0/24`).join();
    const rules = Array.from({ length: 500 }, (_, index) => rule(index, { source_ip: list(index), destination_ip: list(index) }));
    expect(findings(rules)).toHaveLength(250);
  });
});

describe('a packet', () => {
  test('that cannot be read says which field and why', () => {
    expect(readPacket({ ...PACKET, source: '', destination: 'home', port: '99999' })).toEqual({
      ok: false,
      messages: {
        source: 'Enter one address, like 192.168.1.10.',
        destination: 'Enter an IP address like 192.168.1.10, not a host name: home',
        port: 'A port is a whole number from 1 to 65535: 99999',
      },
    });
    expect(readPacket({ ...PACKET, destination: '::1' })).toEqual({
      ok: false,
      messages: { destination: 'The source is IPv4, so use IPv4 or * for the destination instead of IPv6.' },
    });
  });

  test('of ICMP has no port, whatever stands in the field', () => {
    expect(readPacket({ ...PACKET, protocol: 'icmp', port: 'none' })).toMatchObject({ ok: true, packet: { port: null } });
  });
});
