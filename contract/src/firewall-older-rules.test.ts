import { describe, expect, test } from 'vitest';
import type { Rule } from './firewall.ts';
import { analyse } from './firewall-analysis.ts';
import { EXPORTS, exportRules } from './firewall-export.ts';
import { decidingOrder, reachOf, refusalOf } from './firewall-shapes.ts';
import { createJudge, findings, verdict } from './firewall-verdict.ts';
import { parseIp } from './ip-address.ts';

/** Rules that an older version stored, or another program wrote into the database. */

const rule = (changes: Partial<Rule>): Rule => ({
  ...{ id: '01980000-0000-7000-8000-000000000001', rule_name: 'Old', direction: 'inbound', action: 'block', protocol: 'tcp' },
  ...{ source_ip: '*', destination_ip: '*', port: '*', enabled: true, created_at: '2026-11-20T10:00:00.000Z' },
  ...{ expires_at: null, device_ids: [] },
  ...changes,
});
const other = rule({ id: '01980000-0000-7000-8000-000000000002', action: 'allow', port: '443' });
const ip = (text: string) => parseIp(text) ?? { family: 4 as const, value: 0n };
const packet = {
  direction: 'inbound' as const,
  protocol: 'tcp' as const,
  source: ip('192.0.2.1'),
  destination: ip('192.0.2.2'),
  port: 443,
};

const OLD: readonly [string, Partial<Rule>, RegExp][] = [
  ['an IPv4-compatible source', { source_ip: '::192.0.2.1' }, /Enter the IPv4 address: 192\.0\.2\.1/u],
  ['an IPv4-compatible network', { destination_ip: '::192.0.2.0/120' }, /192\.0\.2\.0\/24/u],
  ['an address with leading zeros', { source_ip: '192.168.001.010' }, /192\.168\.1\.10/u],
  ['an address with a zone', { source_ip: 'fe80::1%eth0' }, /fe80::1/u],
  [
    'a mapped source and an IPv6 destination',
    { source_ip: '::ffff:192.0.2.1', destination_ip: '2001:db8::1' },
    /The source is IPv4/u,
  ],
  ['a range of ports with a colon', { port: '80:90' }, /80-90/u],
  ['ports of ICMP', { protocol: 'icmp', port: '80' }, /ICMP has no ports/u],
  ['a host name', { source_ip: 'router.example' }, /not a host name/u],
  ['nothing at all', { source_ip: ',', port: '-' }, /./u],
];

describe.each(OLD)('a stored rule with %s', (_, changes, reason) => {
  const old = rule(changes);

  test('matches nothing, and is found', () => {
    expect(refusalOf(old)).toMatch(reason);
    expect(() => reachOf(old)).not.toThrow();
    expect(decidingOrder([reachOf(old)])).toEqual([]);
    expect(verdict([old, other], packet)).toMatchObject({ action: 'allow', rule: { id: other.id } });
    const judge = createJudge({
      rules: [old, other].map(reachOf),
      defaults: { inbound: 'block', outbound: 'allow' },
      block_list: [],
      control: [],
    });
    expect(judge(packet)).toMatchObject({ action: 'allow', rule: { id: other.id } });
    const [found, ...others] = findings([old, other]);
    expect(others).toEqual([]);
    expect(found).toMatchObject({ kind: 'never_matching', rule_id: old.id, other_id: null });
    expect(found?.reason).toMatch(/^This rule has no effect/u);
    expect(findings([old, other], other.id)).toEqual([]);
  });

  test.each(EXPORTS)('is left out of the export to %s, which says why', (target) => {
    const { left_out, text } = exportRules([old, other], target);
    expect(left_out).toMatchObject([{ rule_name: 'Old' }]);
    expect(left_out[0]?.reason).toMatch(reason);
    expect(text).toContain('443');
  });

  test('says nothing of the rules beside it', () => {
    const about = analyse([old, other], { inbound: 'block', outbound: 'allow' });
    expect(about.filter(({ rule_id, other_ids }) => rule_id === old.id || other_ids.includes(old.id))).toEqual([]);
  });
});
