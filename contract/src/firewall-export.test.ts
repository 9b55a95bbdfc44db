import { describe, expect, it } from 'vitest';
import { RULE_DEFAULTS, type Rule } from './firewall.ts';
import { EXPORTS, exportRules } from './firewall-export.ts';

let last = 0;
function rule(parts: Partial<Rule>): Rule {
  last += 1;
  return {
    ...{ id: `01930000-0000-7000-9000-${String(last).padStart(12, '0')}`, rule_name: 'A rule', enabled: true, created_at: '' },
    ...{ ...RULE_DEFAULTS, expires_at: null, device_ids: [] },
    ...parts,
  };
}
const allow = rule({ rule_name: 'Web', port: '80, 443, 8000-8100' });
const block = rule({ rule_name: 'Closed', action: 'block', protocol: 'all', source_ip: '10.0.0.1-10.0.0.6' });
const ping = rule({ rule_name: 'Ping', action: 'block', protocol: 'icmp' });
const out = rule({ rule_name: 'No mail', direction: 'outbound', action: 'block', destination_ip: '2001:db8::/32', port: '25' });
const RULES = [allow, block, ping, out];
const linesOf = (target: (typeof EXPORTS)[number], rules = RULES) =>
  exportRules(rules, target)
    .text.split('\n')
    .map((line) => line.trim());

describe('rules in the words of', () => {
  it('nftables', () => {
    const lines = linesOf('nftables');
    expect(lines).toContain('meta nfproto ipv4 ip saddr 10.0.0.1-10.0.0.6 drop');
    expect(lines).toContain('meta nfproto ipv6 tcp dport { 80, 443, 8000-8100 } accept');
    expect(lines).toContain('meta nfproto ipv6 ip6 daddr 2001:db8::-2001:db8:ffff:ffff:ffff:ffff:ffff:ffff tcp dport 25 drop');
    expect(lines).toContain('meta nfproto ipv6 meta l4proto ipv6-icmp drop');
    // A block first, whatever is older.
    expect(lines.findIndex((line) => line.endsWith('accept') && line.includes('8000-8100'))).toBeGreaterThan(
      lines.findIndex((line) => line.includes('10.0.0.1')),
    );
  });

  it('iptables', () => {
    const lines = linesOf('iptables');
    expect(lines[0]).toBe('#!/bin/sh');
    expect(lines).toContain('-A PALISADE-IN -m iprange --src-range 10.0.0.1-10.0.0.6 -j DROP');
    expect(lines).toContain('-A PALISADE-IN -p tcp -m multiport --dports 80,443,8000:8100 -j ACCEPT');
    const many = rule({ port: Array.from({ length: 16 }, (_, index) => index * 2 + 1).join(', ') });
    expect(linesOf('iptables', [many]).filter((line) => line.startsWith('-A PALISADE-IN -p tcp -m multiport'))).toHaveLength(4);
  });

  it('ufw, which has none about ICMP', () => {
    const exported = exportRules(RULES, 'ufw');
    expect(exported.left_out).toEqual([{ rule_name: 'Ping', reason: 'ufw has no rules about ICMP.' }]);
    expect(exported.text).toContain('# Left out: Ping. ufw has no rules about ICMP.');
    for (const network of ['10.0.0.1', '10.0.0.2/31', '10.0.0.4/31', '10.0.0.6'])
      expect(exported.text).toContain(`ufw deny in from ${network} to 0.0.0.0/0 comment 'palisade'\n`);
    expect(exported.text).toContain("ufw deny out proto tcp from ::/0 to 2001:db8::/32 port 25 comment 'palisade'\n");
  });

  it('PowerShell, with the port on the side that is connected to', () => {
    const lines = linesOf('powershell');
    expect(lines.filter((line) => line.includes("'Web'"))).toEqual([
      "New-NetFirewallRule -Group 'Palisade' -DisplayName 'Web' -Direction Inbound -Action Allow -Protocol TCP -LocalPort '80','443','8000-8100'",
    ]);
    expect(lines.filter((line) => line.includes("'Ping'"))).toHaveLength(2);
    expect(lines.find((line) => line.includes('No mail'))).toContain("-RemotePort '25'");
  });

  it('pf', () => {
    const lines = linesOf('pf');
    expect(lines).toContain('block drop in quick inet from 10.0.0.1 - 10.0.0.6 to any');
    expect(lines).toContain('pass in quick inet6 proto tcp from any to any port { 80, 443, 8000:8100 }');
    expect(lines).toContain('block drop in quick inet6 proto icmp6 from any to any');
  });
});

it.each(EXPORTS)(
  'leaves out of %s what is temporary, of some devices alone or a range of too many networks, and never what is off',
  (target) => {
    const odd = [
      rule({ rule_name: 'Guest', expires_at: '2026-11-20T11:00:00.000Z' }),
      rule({ rule_name: 'Here', device_ids: ['01930000-0000-7000-9000-000000000000'] }),
      rule({ rule_name: 'Off', enabled: false }),
    ];
    const { left_out, text } = exportRules(odd, target);
    expect(left_out.map(({ rule_name }) => rule_name)).toEqual(['Guest', 'Here']);
    expect(text).not.toContain('Off');
  },
);

/** The first line with all of some words. */
const at = (lines: readonly string[], ...words: string[]) =>
  lines.findIndex((line) => words.every((word) => line.includes(word)));

describe('a rule that blocks everything', () => {
  const everything = rule({ action: 'block', protocol: 'all', rule_name: 'Everything' });

  it.each([
    ['nftables', ['icmpv6 type', '135', 'accept'], ['udp sport 67', 'dport 68', 'accept'], ['nfproto ipv4 drop']],
    ['iptables', ['--icmpv6-type 135', 'ACCEPT'], ['--sport 67', '--dports 68', 'ACCEPT'], ['-A PALISADE-IN -j DROP']],
    ['pf', ['icmp6-type', '135', 'pass in'], ['port 67', 'port 68', 'pass in'], ['block drop in quick inet from any']],
  ] as const)('comes after neighbour discovery and DHCP in %s', (target, neighbours, addressing, block) => {
    const lines = linesOf(target, [everything]);
    expect(at(lines, ...neighbours)).toBeGreaterThan(-1);
    expect(at(lines, ...addressing)).toBeGreaterThan(-1);
    expect(lines.findLastIndex((line) => block.every((word) => line.includes(word)))).toBeGreaterThan(
      Math.max(at(lines, ...neighbours), at(lines, ...addressing)),
    );
  });

  it('leaves neighbour discovery and DHCP out of the block itself in PowerShell, where a block wins in any order', () => {
    const blocks = linesOf('powershell', [everything]).filter((line) => line.includes('-Action Block'));
    expect(blocks.some((line) => line.includes('-Protocol Any'))).toBe(false);
    expect(blocks.filter((line) => line.includes("-IcmpType '0','1'") && !line.includes("'135'"))).toHaveLength(1);
    expect(blocks).toContain(
      "New-NetFirewallRule -Group 'Palisade' -DisplayName 'Everything' -Direction Inbound -Action Block -Protocol UDP -LocalPort '68' -RemotePort '0-66','68-65535'",
    );
    expect(blocks.filter((line) => line.includes("-LocalPort '0-67','69-545','547-65535'"))).toHaveLength(1);
  });

  it.each([
    ['nftables', 'delete table inet palisade_exported'],
    ['iptables', 'iptables-restore --noflush'],
    ['ufw', 'ufw --force delete'],
    ['powershell', "Remove-NetFirewallRule -Group 'Palisade'"],
    ['pf', 'pfctl -a com.apple/palisade -f'],
  ] as const)('replaces in %s what an earlier file loaded', (target, words) => {
    expect(exportRules([everything], target).text).toContain(words);
  });
});

it.each(EXPORTS)('lets no name out of its place in %s', (target) => {
  const hostile = '`touch /tmp/x` $(id) "; \u2019; Remove-Item C:\\ #\' \u2028 x';
  const { text } = exportRules([rule({ rule_name: hostile, port: '1' }), rule({ rule_name: hostile, expires_at: 'x' })], target);
  const lines = text.split('\n');
  if (target === 'powershell') {
    const [line = ''] = lines.filter((one) => one.startsWith('New-'));
    // Quotes come in pairs, so that the text that they hold ends where it should.
    const inner = line.slice(line.indexOf("-DisplayName '") + 14, line.indexOf("' -Direction"));
    expect(inner.replaceAll("''", '')).not.toMatch(/['\u2018-\u201b]/u);
  } else {
    for (const line of lines.filter((one) => /touch|Remove/u.test(one)))
      expect(line.trim()).toMatch(/^# [\p{L}\p{N} .,:()_-]+$/u);
  }
  expect(text).not.toContain('\u2028 x\n');
});
