import { newRuleSchema, type Rule } from '@palisade/contract/firewall';
import type { Packet } from '@palisade/contract/firewall-traffic';
import { readPacket, verdict } from '@palisade/contract/firewall-verdict';
import { expect, it } from 'vitest';
import { ruleOf } from './fake-rules.ts';
import { GAMES, type Game, PRESETS, rulesOf } from './presets.ts';
import { ruleSentence } from './rule-sentence.ts';

const kept = (id: Parameters<typeof rulesOf>[0], game: Game = GAMES[0]): Rule[] =>
  rulesOf(id, game).map(({ lasts: _, device_ids: __, ...terms }) => ruleOf(terms));

function packet(source: string, port: string): Packet {
  const destination = source.includes(':') ? 'fd00::1' : '192.168.1.10';
  const reading = readPacket({ direction: 'inbound', protocol: 'tcp', source, destination, port });
  if (!reading.ok) throw new Error(JSON.stringify(reading.messages));
  return reading.packet;
}

it('every preset is rules that the server takes', () => {
  for (const { id } of PRESETS)
    for (const game of GAMES) for (const rule of rulesOf(id, game)) expect(newRuleSchema.parse(rule)).toEqual(rule);
});

it('"Block Remote Desktop" does', () => {
  const rules = kept('remote-desktop');
  expect(rules.map((rule) => ruleSentence(rule))).toEqual(['No one may reach Remote Desktop on this computer.']);
  for (const source of ['203.0.113.7', '192.168.1.2', '2001:db8::1'])
    expect(verdict(rules, packet(source, '3389')).rule).toBe(rules[0]);
});

it('"Only my network may print" blocks who is outside, of both families, and nobody inside', () => {
  const rules = kept('printing');
  expect(rules.map((rule) => ruleSentence(rule))).toEqual([
    'No one outside 10.0.0.0/8, 169.254.0.0/16, 172.16.0.0/12, and 192.168.0.0/16 may reach printing on this computer.',
    'No one outside fc00::/7 and fe80::/10 may reach printing on this computer.',
  ]);
  for (const source of ['203.0.113.7', '172.32.0.1', '2001:db8::1'])
    for (const port of ['515', '631', '9100']) expect(verdict(rules, packet(source, port)).rule?.action).toBe('block');
  for (const source of ['192.168.1.2', '10.1.2.3', '172.31.255.255', '169.254.1.1', 'fe80::1', 'fd12::1'])
    expect(verdict(rules, packet(source, '631')).rule).toBeNull();
  expect(verdict(rules, packet('203.0.113.7', '443')).rule).toBeNull();
});

it('"Allow this game" opens its ports', () => {
  for (const game of GAMES) {
    const [rule] = kept('game', game);
    expect(rule).toMatchObject({ action: 'allow', direction: 'inbound', rule_name: `Allow ${game.name}`, port: game.port });
  }
});
