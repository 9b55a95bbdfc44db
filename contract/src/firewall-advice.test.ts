import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { RULE_DEFAULTS, type Rule } from './firewall.ts';
import { allowsEverything, conflictsOf } from './firewall-advice.ts';
import { findings, readPacket, verdict } from './firewall-verdict.ts';

const DEVICE = '01930000-0000-7000-9000-00000000000a';
const OTHER = '01930000-0000-7000-9000-00000000000b';

function rule(number: number, parts: Partial<Rule> = {}): Rule {
  return {
    ...RULE_DEFAULTS,
    id: `01930000-0000-7000-8000-${String(number).padStart(12, '0')}`,
    rule_name: `Rule ${number}`,
    enabled: true,
    created_at: '2026-11-20T10:00:00.000Z',
    expires_at: null,
    device_ids: [],
    ...parts,
  };
}

const adviceOn = (...rules: Rule[]) => {
  const names = new Map(rules.map(({ id, rule_name }) => [id, rule_name]));
  return conflictsOf(rules, findings(rules)).map(
    ({ kind, kept_id, needless_id }) => `${kind}: delete ${names.get(needless_id)}, keep ${names.get(kept_id ?? '') ?? 'none'}`,
  );
};

describe('advice on conflicts', () => {
  test('names the pair and the one rule to delete', () => {
    expect(adviceOn(rule(1), rule(2))).toEqual(['duplicate: delete Rule 2, keep Rule 1']);
    expect(adviceOn(rule(1, { port: '22' }), rule(2))).toEqual(['never_matching: delete Rule 1, keep Rule 2']);
    expect(adviceOn(rule(1, { source_ip: '127.0.0.1' }))).toEqual(['never_matching: delete Rule 1, keep none']);
  });

  test('says a contradiction once, and keeps the block, which decides', () => {
    expect(adviceOn(rule(1), rule(2, { action: 'block' }))).toEqual(['contradicting: delete Rule 1, keep Rule 2']);
  });

  test('leaves rules of different devices alone, and a lasting rule beside a temporary one', () => {
    expect(adviceOn(rule(1, { device_ids: [DEVICE] }), rule(2, { device_ids: [OTHER] }))).toEqual([]);
    expect(adviceOn(rule(1), rule(2, { action: 'block', device_ids: [DEVICE] }))).toEqual([]);
    expect(adviceOn(rule(1), rule(2, { action: 'block', expires_at: '2026-11-20T11:00:00.000Z' }))).toEqual([]);
    expect(adviceOn(rule(1, { device_ids: [DEVICE] }), rule(2, { action: 'block' }))).toEqual([
      'never_matching: delete Rule 1, keep Rule 2',
    ]);
  });

  test('deleting every rule that it names changes no decision on any device', () => {
    const ports = fc.constantFrom('*', '22', '80', '20-25', '1-65535');
    const sources = fc.constantFrom('*', '10.0.0.0/8', '10.0.0.1', '0.0.0.0/0');
    const devices = fc.constantFrom<string[]>([], [DEVICE], [OTHER], [DEVICE, OTHER]);
    const terms = fc.record({
      action: fc.constantFrom('allow' as const, 'block' as const),
      protocol: fc.constantFrom('tcp' as const, 'udp' as const, 'all' as const),
      source_ip: sources,
      port: ports,
      device_ids: devices,
    });
    fc.assert(
      fc.property(fc.array(terms, { minLength: 2, maxLength: 8 }), (all) => {
        const rules = all.map((parts, index) => rule(index, parts));
        const needless = new Set(conflictsOf(rules, findings(rules)).map(({ needless_id }) => needless_id));
        for (const device of [DEVICE, OTHER]) {
          const here = rules.filter(({ device_ids }) => device_ids.length === 0 || device_ids.includes(device));
          for (const protocol of ['tcp', 'udp'] as const)
            for (const source of ['10.0.0.1', '10.9.9.9', '192.0.2.1'])
              for (const port of ['22', '24', '80', '443']) {
                const read = readPacket({ direction: 'inbound', protocol, source, destination: '10.0.0.2', port });
                if (!read.ok) throw new Error('The packet cannot be read.');
                const left = here.filter(({ id }) => !needless.has(id));
                expect(verdict(left, read.packet).action).toBe(verdict(here, read.packet).action);
              }
        }
      }),
      { seed: 34, numRuns: 150 },
    );
  });
});

test.each<[Partial<Rule>, boolean]>([
  [{}, true],
  [{ protocol: 'all' }, true],
  [{ direction: 'outbound' }, true],
  [{ port: '1-65535' }, true],
  [{ source_ip: '0.0.0.0/0' }, true],
  [{ source_ip: '::/0' }, true],
  [{ action: 'block' }, false],
  [{ port: '443' }, false],
  [{ source_ip: '10.0.0.0/8' }, false],
  [{ destination_ip: '10.0.0.1' }, false],
  [{ protocol: 'icmp' }, false],
  [{ source_ip: 'not an address' }, false],
])('%o allows everything: %s', (parts, answer) => expect(allowsEverything(rule(1, parts))).toBe(answer));
