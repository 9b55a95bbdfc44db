import fc from 'fast-check';
import { expect, it } from 'vitest';
import { decidingOrder, isCovered, type JudgedRule, reachesAny, reachOf, shapesOf } from './firewall-shapes.ts';

const ADDRESSES = [
  ...['*', '0.0.0.0/0', '10.0.0.0/8', '10.0.0.0/16', '10.0.0.0-10.0.0.9', '10.0.0.5', '10.0.0.5,10.2.0.0/16', '10.1.0.0/16'],
  ...['::/0', 'fd00::/8', 'fd00::1', '192.168.0.0/16'],
];
const ruleArbitrary = fc.record({
  direction: fc.constantFrom('inbound' as const, 'outbound' as const),
  action: fc.constantFrom('block' as const, 'allow' as const),
  protocol: fc.constantFrom('tcp' as const, 'udp' as const, 'all' as const, 'icmp' as const),
  source_ip: fc.constantFrom(...ADDRESSES),
  destination_ip: fc.constantFrom(...ADDRESSES),
  port: fc.constantFrom('*', '80', '1-1000', '80,443'),
});

it('leaves out of the deciding order exactly the rules that another one of the same action makes needless', () => {
  fc.assert(
    fc.property(fc.array(ruleArbitrary, { maxLength: 40 }), (some) => {
      const rules = some.map((rule, index): JudgedRule => ({ ...rule, id: `${String(index).padStart(3, '0')}` }));
      const shapes = shapesOf(rules.map(reachOf).filter(reachesAny));
      const kept = shapes.filter(
        (inner) =>
          !shapes.some(
            (outer) =>
              outer !== inner &&
              outer.rule.action === inner.rule.action &&
              isCovered(inner, outer) &&
              (!isCovered(outer, inner) || outer.rule.id < inner.rule.id),
          ),
      );
      const ids = (action: string) => kept.filter(({ rule }) => rule.action === action).map(({ rule }) => rule.id);
      expect(decidingOrder(rules.map(reachOf)).map(({ rule }) => rule.id)).toEqual([
        ...ids('block').sort(),
        ...ids('allow').sort(),
      ]);
    }),
    { numRuns: 500 },
  );
});
