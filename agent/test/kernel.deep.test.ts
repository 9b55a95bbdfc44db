import { RULE_DEFAULTS, type Rule } from '@palisade/contract/firewall';
import { exportRules } from '@palisade/contract/firewall-export';
import { needing } from '@palisade/scanner/test/needs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Bench, createBench, createRandom, fuzzOnce } from './kernel-fuzz.ts';
import { endNamespaces, no_namespaces, temporaryFolder } from './namespace.ts';

const SEED = 20_261_120;
const RULESETS = 6;
const PACKETS = 200;

needing('a kernel with nftables', no_namespaces === undefined).describe('the kernel', () => {
  let bench: Bench;
  beforeAll(async () => {
    bench = await createBench(temporaryFolder());
  });
  afterAll(() => {
    bench.close();
    endNamespaces();
  });

  // proves: device-trap-8
  it("decides random packets under random rules as the judge does, and counts them for the judge's rule", async () => {
    const random = createRandom(SEED);
    let blocked = 0;
    for (let index = 0; index < RULESETS; index += 1) {
      const result = await fuzzOnce(bench, random, PACKETS);
      expect(result.mismatches).toEqual([]);
      expect(result.packets).toBe(PACKETS * 3);
      blocked += result.blocked;
    }
    // Both verdicts are common, so that a kernel that lets all pass or none would be found.
    expect(blocked / (RULESETS * PACKETS * 3)).toBeGreaterThan(0.2);
    expect(blocked / (RULESETS * PACKETS * 3)).toBeLessThan(0.9);
  });

  // proves: device-trap-6
  it('takes rules that were written for a computer without an agent', async () => {
    const rule = (number: number, parts: Partial<Rule>): Rule => ({
      id: `01930000-0000-7000-9000-${String(number).padStart(12, '0')}`,
      rule_name: '"; drop } # $(id)',
      enabled: true,
      ...RULE_DEFAULTS,
      created_at: '',
      expires_at: null,
      device_ids: [],
      ...parts,
    });
    const { text, left_out } = exportRules(
      [
        rule(1, { port: '80, 443, 8000-8100', source_ip: '10.0.0.1-10.0.0.6, 192.168.0.0/16' }),
        rule(2, { protocol: 'all', action: 'block', source_ip: '2001:db8::/32' }),
        rule(3, { protocol: 'icmp', direction: 'outbound', action: 'block' }),
        rule(4, { protocol: 'udp', direction: 'outbound', destination_ip: '203.0.113.7' }),
        rule(5, { protocol: 'all', port: '53' }),
      ],
      'nftables',
    );
    expect([left_out, await bench.nft.check(text)]).toEqual([[], { ok: true }]);
  });
});
