import { execFileSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { RULE_DEFAULTS, type Rule } from '@palisade/contract/firewall';
import { type Export, exportRules } from '@palisade/contract/firewall-export';
import { reachOf } from '@palisade/contract/firewall-shapes';
import type { Ruleset, Traffic } from '@palisade/contract/firewall-traffic';
import { createJudge } from '@palisade/contract/firewall-verdict';
import { printIp } from '@palisade/contract/ip-address';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  type Bench,
  createBench,
  createRandom,
  DIRECTIONS,
  FAMILIES,
  type Random,
  randomPacket,
  randomRule,
} from './kernel-fuzz.ts';
import { endNamespaces, no_namespaces, temporaryFolder } from './namespace.ts';
import { packetOf } from './packets.ts';

/** Exported rules decide in a kernel as the judge does. */

const SEED = 20_261_126;
/** `RULESETS` asks for more. */
const RULESETS = z.coerce.number().int().positive().default(20).parse(process.env['RULESETS']);
const PACKETS = 6_000;
const TYPES = { 4: [0, 3, 8, 11], 6: [1, 128, 129, 130, 133, 134, 135, 136, 143] } as const;

const no_iptables = ['/usr/sbin/iptables-restore', '/usr/sbin/ip6tables-restore'].every(existsSync)
  ? undefined
  : 'iptables is not here (install the package iptables)';
if (no_iptables !== undefined) process.stdout.write(`exports: ${no_iptables}\n`);

const named = (rule: Omit<Rule, 'rule_name' | 'enabled' | 'created_at' | 'expires_at' | 'device_ids'>): Rule => ({
  ...rule,
  rule_name: '"; drop } # $(id) \u2019',
  enabled: true,
  created_at: '',
  expires_at: null,
  device_ids: [],
});

function packetsOf(random: Random, direction: (typeof DIRECTIONS)[number], family: 4 | 6, count: number): Traffic[] {
  return (['tcp', 'udp', 'icmp'] as const).flatMap((protocol) =>
    Array.from({ length: count / 3 }, (): Traffic => {
      const packet = randomPacket(random, direction, family, protocol);
      if (protocol === 'icmp') return { ...packet, icmp_type: random.pick(TYPES[family]) };
      if (protocol === 'udp' && random.isLikely(0.1))
        return { ...packet, source_port: random.pick([67, 68, 546, 547]), port: random.pick([67, 68, 546, 547]) };
      return packet;
    }),
  );
}

describe.skipIf(no_namespaces !== undefined)('exported rules', () => {
  let bench: Bench;
  const folder = temporaryFolder();
  beforeAll(async () => {
    bench = await createBench(folder, 'input');
  });
  afterAll(() => {
    bench.close();
    endNamespaces();
  });

  function load(text: string, target: Export): void {
    const path = join(folder, `exported-${target}`);
    writeFileSync(path, text, { mode: 0o600 });
    if (target === 'nftables') {
      bench.device.run('nft', '-f', path);
      // The seconds in which strays pass are over.
      bench.device.run('nft', 'flush', 'set', 'inet', 'palisade_exported', 'warming');
    } else bench.device.run('sh', path);
  }

  it.each([
    ['nftables', undefined],
    ['iptables', no_iptables],
  ] as const)('of %s decide as the judge does', { timeout: 1_500_000 }, async (target, missing) => {
    if (missing !== undefined) return;
    const random = createRandom(SEED);
    const mismatches: string[] = [];
    let blocked = 0;
    let sent = 0;
    for (let index = 0; index < RULESETS; index += 1) {
      const rules = Array.from({ length: 1 + random.below(40) }, (_, number) => named(randomRule(random, number)));
      const ruleset: Ruleset<Rule> = {
        rules: rules.map(reachOf),
        block_list: [],
        control: [],
        defaults: { inbound: random.pick(['allow', 'block']), outbound: random.pick(['allow', 'block']) },
      };
      load(exportRules(rules, target, ruleset.defaults).text, target);
      const judge = createJudge(ruleset);
      for (const direction of DIRECTIONS) {
        for (const family of FAMILIES) {
          const traffic = packetsOf(random, direction, family, PACKETS / 4);
          const passed = await bench.passed(
            direction,
            family,
            traffic.map((packet, number) => packetOf(packet, number + 1)),
          );
          for (const [number, packet] of traffic.entries()) {
            const { action, by, rule } = judge(packet);
            sent += 1;
            if (action === 'block') blocked += 1;
            if (passed.has(number + 1) === (action === 'allow')) continue;
            const { source, destination, ...rest } = packet;
            mismatches.push(
              `${index}: ${JSON.stringify({ ...rest, source: printIp(source), destination: printIp(destination) })}: judge ${action} by ${by} ${rule?.id ?? ''}`,
            );
          }
        }
      }
      if (mismatches.length > 20) break;
    }
    if (target === 'nftables') bench.device.run('nft', 'delete', 'table', 'inet', 'palisade_exported');
    expect(mismatches).toEqual([]);
    expect(sent).toBe(RULESETS * PACKETS);
    expect(blocked / sent).toBeGreaterThan(0.2);
    expect(blocked / sent).toBeLessThan(0.9);
    process.stdout.write(`exports: ${target}: ${RULESETS} rulesets, ${sent} packets, ${blocked} blocked, 0 mismatches\n`);
  });

  const rule = (number: number, parts: Partial<Rule>): Rule =>
    named({ ...RULE_DEFAULTS, id: `01930000-0000-7000-9000-${String(number).padStart(12, '0')}`, ...parts });

  it('are the same after a second load, and without those that were deleted', () => {
    const [kept, deleted] = [rule(1, { port: '80', action: 'block' }), rule(2, { port: '8443', action: 'block' })];
    const listed = {
      nftables: () => bench.device.run('nft', 'list', 'table', 'inet', 'palisade_exported').replaceAll(/expires \S+/gu, ''),
      iptables: () => bench.device.run('iptables', '-S').replaceAll(/--datestop \S+/gu, ''),
    };
    for (const target of ['nftables', 'iptables'] as const) {
      if (target === 'iptables' && no_iptables !== undefined) continue;
      load(exportRules([kept, deleted], target).text, target);
      const first = listed[target]();
      load(exportRules([kept, deleted], target).text, target);
      expect(listed[target]()).toBe(first);
      expect(first).toContain('8443');
      load(exportRules([kept], target).text, target);
      expect(listed[target]()).not.toContain('8443');
      expect(listed[target]()).toContain('80');
    }
    bench.device.run('nft', 'delete', 'table', 'inet', 'palisade_exported');
  });

  it('are parsed by their shells, for any names', () => {
    const random = createRandom(SEED);
    /** The file that a name would make, were it read as a command. */
    const made = join(folder, 'made');
    const parts = [
      "'",
      '"',
      '`',
      `$(touch ${made})`,
      ';',
      '&&',
      '|',
      '#',
      '\\',
      '}',
      '{',
      'END',
      'COMMIT',
      '\n',
      '\r\n',
      '\u0085',
      '\u2028',
      '\u2019',
      '\u00e9',
      '\u0000',
      '*filter',
      '\u{1f600}',
    ] as const;
    for (let index = 0; index < 40; index += 1) {
      const rule_name = Array.from({ length: 1 + random.below(10) }, () => random.pick(parts)).join('');
      const rules = [rule(1, { port: '80' }), rule(2, { action: 'block', protocol: 'all' }), rule(3, { expires_at: 'x' })].map(
        (one) => ({ ...one, rule_name }),
      );
      for (const target of ['iptables', 'ufw'] as const) {
        execFileSync('sh', ['-n'], { input: exportRules(rules, target).text });
      }
      const nft = join(folder, 'names.nft');
      writeFileSync(nft, exportRules(rules, 'nftables').text);
      bench.device.run('nft', '-c', '-f', nft);
      if (no_iptables !== undefined) continue;
      const [, tables = ''] =
        /<<'END' \| iptables-restore --noflush\n([\s\S]*?)\nEND\n/u.exec(exportRules(rules, 'iptables').text) ?? [];
      const path = join(folder, 'names.rules');
      writeFileSync(path, `${tables.replaceAll('PALISADE_WARM_UNTIL', '2026-11-26T00:00:00')}\n`);
      bench.device.run('iptables-restore', '--test', '--noflush', path);
    }
    expect(existsSync(made)).toBe(false);
  });
});
