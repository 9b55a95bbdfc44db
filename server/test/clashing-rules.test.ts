import type { Rule } from '@palisade/contract/firewall';
import { findings } from '@palisade/contract/firewall-verdict';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readOpenRules } from '#features/posture/open-rules.ts';

/** Few values, each in several ways to write it, so that rules are about the same traffic often. */
const rule = fc
  .record({
    direction: fc.constantFrom<Rule['direction'][]>('inbound', 'outbound'),
    action: fc.constantFrom<Rule['action'][]>('allow', 'block'),
    protocol: fc.constantFrom<Rule['protocol'][]>('tcp', 'udp', 'icmp', 'all'),
    source_ip: fc.constantFrom('*', '0.0.0.0/0', '0.0.0.0/1, 128.0.0.0/1', '10.0.0.1', '10.0.0.1-10.0.0.1', '::/0', '::1'),
    destination_ip: fc.constantFrom('*', 'any', '0.0.0.0/0', '::/0'),
    port: fc.constantFrom('*', '1-65535', '22', '22-22', '22, 23', '22-23'),
    enabled: fc.boolean(),
  })
  .filter(
    ({ source_ip, destination_ip }) =>
      [source_ip, destination_ip].every((text) => !text.includes(':')) ||
      [source_ip, destination_ip].every((text) => !text.includes('.')),
  )
  .map((made) => (made.protocol === 'icmp' ? { ...made, port: '*' } : made));
const rules = fc.array(rule, { maxLength: 14 }).map((made) =>
  made.map((one, index): Rule => {
    const id = `01930000-0000-7000-8000-${String(index).padStart(12, '0')}`;
    return { ...one, id, rule_name: id, created_at: '2026-11-20T10:00:00.000Z', expires_at: null, device_ids: [] };
  }),
);

test('rules clash exactly where one of a pair would be found a duplicate or contradicting', () => {
  fc.assert(
    fc.property(rules, (all) => {
      const odd = new Set(findings(all).flatMap(({ kind, rule_id }) => (kind === 'never_matching' ? [] : [rule_id])));
      // The rule without effect comes first.
      expect(
        readOpenRules(all, [])
          .clashing.map(({ id }) => id)
          .sort(),
      ).toEqual(all.flatMap(({ id }) => (odd.has(id) ? [id] : [])));
    }),
    { numRuns: 2_000 },
  );
});
