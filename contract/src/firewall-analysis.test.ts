import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { analyse, cutConnections } from './firewall-analysis.ts';
import { type JudgedRule, reachOf } from './firewall-shapes.ts';
import type { Traffic } from './firewall-traffic.ts';
import { createJudge } from './firewall-verdict.ts';
import { parseIp } from './ip-address.ts';

const ALLOWED = { inbound: 'allow', outbound: 'allow' } as const;
const BLOCKED = { inbound: 'block', outbound: 'block' } as const;
const NOTHING = { block_list: [], control: [] };

const idOf = (number: number) => `01930000-0000-7000-8000-${String(number).padStart(12, '0')}`;
function rule(number: number, parts: Partial<JudgedRule> = {}): JudgedRule {
  return {
    ...{
      id: idOf(number),
      direction: 'inbound',
      action: 'block',
      protocol: 'tcp',
      source_ip: '*',
      destination_ip: '*',
      port: '*',
    },
    ...parts,
  };
}

function kinds(rules: readonly JudgedRule[], defaults: Parameters<typeof analyse>[1] = ALLOWED) {
  return analyse(rules, defaults)
    .filter(({ kind }) => kind !== 'lockout')
    .map(({ kind, rule_id, other_ids }) => [kind, Number(rule_id.slice(-4)), other_ids.map((id) => Number(id.slice(-4)))]);
}

describe('the analysis of rules', () => {
  it('takes away what several rules cover together', () => {
    expect(kinds([rule(1, { port: '1-50' }), rule(2, { port: '51-100' }), rule(3, { port: '40-60' })])).toEqual([
      ['redundant', 3, [1, 2]],
    ]);
    expect(kinds([rule(1, { source_ip: '0.0.0.0/0' }), rule(2, { source_ip: '::/0' }), rule(3)])).toEqual([
      ['redundant', 3, [1, 2]],
    ]);
  });

  it('names an allow dead that several blocks cover together, and one that is blocked in part', () => {
    const blocks = [rule(1, { port: '1-50' }), rule(2, { port: '51-100' })];
    expect(kinds([...blocks, rule(3, { action: 'allow', port: '40-60' })], BLOCKED)).toContainEqual(['dead', 3, [1, 2]]);
    expect(kinds([...blocks, rule(3, { action: 'allow', port: '90-110' })], BLOCKED)).toContainEqual(['overlap', 3, [2]]);
  });

  it('names the newer of two that say the same', () => {
    expect(kinds([rule(2, { source_ip: '10.0.0.0-10.0.0.255' }), rule(1, { source_ip: '10.0.0.0/24' })])).toEqual([
      ['duplicate', 2, [1]],
    ]);
  });

  it('says what the default does anyway', () => {
    expect(kinds([rule(1, { action: 'allow', port: '80' })])).toEqual([['no_effect', 1, []]]);
    expect(kinds([rule(1, { port: '80' })], BLOCKED)).toEqual([['no_effect', 1, []]]);
    expect(kinds([rule(1, { port: '80' }), rule(2, { action: 'allow', port: '70-90' })], BLOCKED)).toEqual([['overlap', 2, [1]]]);
  });

  it('warns of a rule that keeps everybody out of remote access', () => {
    const reasons = analyse([rule(1, { port: '20-25' }), rule(2, { port: '22', source_ip: '10.0.0.0/8' })], ALLOWED)
      .filter(({ kind }) => kind === 'lockout')
      .map(({ rule_id, reason }) => [rule_id, reason]);
    expect(reasons).toEqual([
      [idOf(1), 'This rule blocks everyone from SSH (port 22). You can’t sign in to this computer that way.'],
    ]);
  });

  it('names the connections that rules would cut', () => {
    const ip = (text: string) => parseIp(text) ?? { family: 4 as const, value: 0n };
    const ssh: Traffic = { direction: 'inbound', protocol: 'tcp', source: ip('10.0.0.9'), destination: ip('10.0.0.1'), port: 22 };
    const web: Traffic = { ...ssh, port: 80 };
    const cut = cutConnections({ rules: [reachOf(rule(1, { port: '22' }))], defaults: ALLOWED, ...NOTHING }, [ssh, web]);
    expect(cut.map(({ connection, decision }) => [connection.port, decision.rule?.id])).toEqual([[22, idOf(1)]]);
  });

  /** A small world, so that every packet of it can be asked. */
  const anyRule = fc.record({
    direction: fc.constantFrom('inbound' as const),
    action: fc.constantFrom('allow' as const, 'block' as const),
    protocol: fc.constantFrom('tcp' as const, 'udp' as const, 'all' as const, 'icmp' as const),
    source: fc.tuple(fc.nat(3), fc.nat(3)),
    destination: fc.option(fc.nat(2)),
    port: fc.tuple(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 1, max: 4 })),
    every_port: fc.boolean(),
  });
  const made = fc.array(anyRule, { maxLength: 9 }).map((list) =>
    list.map(({ direction, action, protocol, source, destination, port, every_port }, index): JudgedRule => {
      const [low, high] = [Math.min(...source), Math.max(...source)];
      const ports = every_port || protocol === 'icmp' ? '*' : `${Math.min(...port)}-${Math.max(...port)}`;
      return {
        ...{ id: idOf(index), direction, action, protocol, port: ports },
        source_ip: high === 3 && low === 0 ? '*' : `10.0.0.${low}-10.0.0.${high}`,
        destination_ip: destination === null ? '*' : `10.0.1.${destination}`,
      };
    }),
  );
  const world: Traffic[] = (['tcp', 'udp', 'icmp', 'other'] as const).flatMap((protocol) =>
    [0, 1, 2, 3, 9].flatMap((source) =>
      [0, 1, 2, 9].flatMap((destination) =>
        (protocol === 'tcp' || protocol === 'udp' ? [1, 2, 3, 4, 9] : [null]).map((port) => ({
          direction: 'inbound' as const,
          protocol,
          source: { family: 4 as const, value: 0x0a000000n + BigInt(source) },
          destination: { family: 4 as const, value: 0x0a000100n + BigInt(destination) },
          port,
        })),
      ),
    ),
  );

  it('finds nothing that could not be deleted, and all of it together', () => {
    fc.assert(
      fc.property(made, fc.constantFrom(ALLOWED, BLOCKED), (rules, defaults) => {
        const odd = analyse(rules, defaults).filter(({ kind }) => kind !== 'overlap' && kind !== 'lockout');
        const gone = new Set(odd.map(({ rule_id }) => rule_id));
        const before = createJudge({ rules: rules.map(reachOf), defaults, ...NOTHING });
        const after = createJudge({ rules: rules.filter(({ id }) => !gone.has(id)).map(reachOf), defaults, ...NOTHING });
        for (const packet of world) expect(after(packet).action).toBe(before(packet).action);
      }),
      { numRuns: 300 },
    );
  });

  it('overlooks none that is needless in a world where every packet can be asked', () => {
    fc.assert(
      fc.property(made, (rules) => {
        const odd = analyse(rules, BLOCKED);
        const judge = createJudge({ rules: rules.map(reachOf), defaults: BLOCKED, ...NOTHING });
        for (const one of rules.filter(({ action }) => action === 'allow')) {
          const alone = createJudge({ rules: [reachOf(one)], defaults: BLOCKED, ...NOTHING });
          const passing = world.filter((packet) => alone(packet).action === 'allow' && judge(packet).action === 'allow');
          const is_named = odd.some(({ rule_id, kind }) => rule_id === one.id && (kind === 'dead' || kind === 'duplicate'));
          // The world has an address of its own that rules with `*` reach, so that it shows every part of a rule.
          if (passing.length === 0 && one.source_ip !== '*' && one.destination_ip !== '*') expect(is_named).toBe(true);
        }
      }),
      { numRuns: 300 },
    );
  });

  it('ends for 1,000 rules that overlap in everything', () => {
    const rules = Array.from({ length: 1_000 }, (_, index) =>
      rule(index, {
        action: index % 3 === 0 ? 'allow' : 'block',
        protocol: 'all',
        source_ip: `10.${index % 200}.0.0-10.${(index % 200) + 30}.3.7`,
        destination_ip: `10.9.0.0-10.${10 + (index % 90)}.0.0`,
        port: `${1 + ((index * 37) % 900)}-${1_000 + index * 5}`,
      }),
    );
    expect(analyse(rules, BLOCKED).length).toBeGreaterThan(0);
  });
});
