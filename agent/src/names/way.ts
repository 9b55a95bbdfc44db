import { isIP } from 'node:net';

/** The address at which the agent answers names. systemd-resolved has 127.0.0.53 and 127.0.0.54, and others use 127.0.0.1 and 127.0.1.1. */
export const NAMES_ADDRESS = '127.0.0.88';
/** glibc asks three servers at most. */
const SERVERS_MAXIMUM = 3;
const RESOLVED = '/run/systemd/resolve/';
const RESOLVED_ADDRESSES: ReadonlySet<string> = new Set(['127.0.0.53', '127.0.0.54']);
/** Programs that write the file again whenever the network changes, by their marks in it. */
const WRITERS = [
  'NetworkManager',
  'resolvconf',
  'dhclient',
  'dhcpcd',
  'netconfig',
  'connman',
  'tailscale',
  'cloud-init',
  'generateResolvConf',
];

/** The state of `/etc/resolv.conf`. `link`: its target, null for a regular file. */
export interface NamesFacts {
  link: string | null;
  text: string;
  /** Its owner. */
  uid: number;
  is_resolved_running: boolean;
}

/** The way to take up names on a computer. */
export type Way = { kind: 'resolved' } | { kind: 'file' } | { kind: 'refused'; reason: string };

const refused = (reason: string): Way => ({ kind: 'refused', reason });

/** Addresses of servers in the text of a resolv.conf, without the agent's own. */
export const serversIn = (text: string): string[] =>
  [...text.matchAll(/^\s*nameserver\s+(\S+)/gmu)]
    .flatMap(([, address = '']) => (isIP(address) === 0 ? [] : [address]))
    .filter((address) => address !== NAMES_ADDRESS);

/** Domains of this network: names below them are its own. */
export const domainsIn = (text: string): string[] =>
  [...text.matchAll(/^\s*(?:search|domain)\s+(.+)$/gmu)]
    .flatMap(([, domains = '']) => domains.trim().split(/\s+/u))
    .map((domain) => domain.toLowerCase().replace(/^\.+|\.+$/gu, ''))
    .filter((domain) => domain !== '');

export const isOurs = (text: string): boolean => text.split('\n').includes(`nameserver ${NAMES_ADDRESS}`);

/** Chooses the way, or refuses with a reason and a remedy. */
export function wayOf({ link, text, uid, is_resolved_running }: NamesFacts): Way {
  const servers = serversIn(text);
  const leads_to_resolved = link !== null && (link.startsWith(RESOLVED) || link.endsWith('/lib/systemd/resolv.conf'));
  if (leads_to_resolved || (link === null && servers.length > 0 && servers.every((one) => RESOLVED_ADDRESSES.has(one)))) {
    if (is_resolved_running) return { kind: 'resolved' };
    return refused('/etc/resolv.conf asks systemd-resolved, which doesn’t run. Start it: systemctl start systemd-resolved.');
  }
  if (link !== null)
    return refused(`Another program manages /etc/resolv.conf, a link to ${link}. Turn on systemd-resolved, and try again.`);
  if (uid !== 0) return refused('/etc/resolv.conf doesn’t belong to root. Run: chown root /etc/resolv.conf.');
  const writer = WRITERS.find((name) => text.toLowerCase().includes(name.toLowerCase()));
  if (writer !== undefined) return refused(`${writer} writes /etc/resolv.conf. Turn on systemd-resolved, and try again.`);
  if (servers.length === 0) return refused('/etc/resolv.conf names no server. Add a line like: nameserver 192.168.1.1.');
  return { kind: 'file' };
}

/** The text of a resolv.conf that asks the agent first, and the servers from before where it does not answer. */
export function resolvConfWith(before: string): string {
  const servers = [NAMES_ADDRESS, ...serversIn(before)].slice(0, SERVERS_MAXIMUM);
  const rest = before.split('\n').filter((line) => !/^\s*nameserver\s/u.test(line) && line.trim() !== '');
  return [
    '# The Palisade agent answers names first. The file from before is resolv.conf.before-palisade; it comes back',
    '# when web protection is turned off on the page of this device, or by: palisade-agent names-back',
    ...rest,
    'options timeout:2',
    ...servers.map((address) => `nameserver ${address}`),
    '',
  ].join('\n');
}

/** A text that somebody changed while the agent was in it, without the agent. */
export const resolvConfWithout = (text: string): string =>
  text
    .split('\n')
    .filter((line) => line !== `nameserver ${NAMES_ADDRESS}`)
    .join('\n');

/** Settings for systemd-resolved: every name goes to the agent, and to the servers from before where it does not answer. The empty line clears servers of other files. */
export const resolvedSettings = (servers: readonly string[]): string =>
  [
    '# The Palisade agent answers names first. This file goes with: palisade-agent names-back',
    '[Resolve]',
    'DNS=',
    `DNS=${[NAMES_ADDRESS, ...servers.slice(0, SERVERS_MAXIMUM)].join(' ')}`,
    'Domains=~.',
    '',
  ].join('\n');
