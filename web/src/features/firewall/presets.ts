import { type NewRule, RULE_DEFAULTS } from '@palisade/contract/firewall';
import { outside } from './rule-sentence.ts';

/** Private and link-local networks (RFC 1918, RFC 3927; RFC 4193, RFC 4291). */
const OWN_NETWORKS = { 4: '10.0.0.0/8, 169.254.0.0/16, 172.16.0.0/12, 192.168.0.0/16', 6: 'fc00::/7, fe80::/10' } as const;
const PRINTING = '515, 631, 9100';

/** Games that a computer hosts, with the ports that their makers document. */
export const GAMES = [
  { name: 'Minecraft', port: '25565', protocol: 'all' },
  { name: 'Minecraft (Bedrock)', port: '19132-19133', protocol: 'udp' },
  { name: 'Valheim', port: '2456-2458', protocol: 'udp' },
  { name: 'Terraria', port: '7777', protocol: 'all' },
  { name: 'Factorio', port: '34197', protocol: 'udp' },
  { name: 'Steam games', port: '27015', protocol: 'all' },
] as const satisfies readonly { name: string; port: string; protocol: NewRule['protocol'] }[];
export type Game = (typeof GAMES)[number];

export interface Preset {
  id: 'remote-desktop' | 'printing' | 'game';
  title: string;
  /** Purpose of the preset. */
  sentence: string;
}

export const PRESETS: readonly Preset[] = [
  { id: 'remote-desktop', title: 'Block Remote Desktop', sentence: 'Stops others from controlling your screen.' },
  { id: 'printing', title: 'Only my network may print', sentence: 'Keeps strangers off your printer.' },
  { id: 'game', title: 'Allow this game', sentence: 'Lets friends join a game you host.' },
];

const BLOCK: Omit<NewRule, 'rule_name'> = { ...RULE_DEFAULTS, direction: 'inbound', action: 'block', protocol: 'all' };

/** The rules of a preset. A block always wins, so "only my network" is a block of everything outside it, one for each address family. */
export function rulesOf(id: Preset['id'], game: Game = GAMES[0]): NewRule[] {
  switch (id) {
    case 'remote-desktop':
      return [{ ...BLOCK, rule_name: 'Block Remote Desktop', port: '3389' }];
    case 'printing':
      return ([4, 6] as const).map((family) => ({
        ...BLOCK,
        rule_name: `Only my network may print (IPv${family})`,
        source_ip: outside(OWN_NETWORKS[family]) ?? '',
        port: PRINTING,
      }));
    case 'game':
      return [{ ...RULE_DEFAULTS, rule_name: `Allow ${game.name}`, protocol: game.protocol, port: game.port }];
  }
}
