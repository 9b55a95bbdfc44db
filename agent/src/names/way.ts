import { isIP } from 'node:net';

/** The address on which the agent answers DNS queries. systemd-resolved uses 127.0.0.53 and 127.0.0.54, other programs use 127.0.0.1 and 127.0.1.1. */
export const NAMES_ADDRESS = '127.0.0.88';
/** glibc uses at most three servers. */
const SERVERS_MAXIMUM = 3;
const RESOLVED = '/run/systemd/resolve/';
const RESOLVED_ADDRESSES: ReadonlySet<string> = new Set(['127.0.0.53', '127.0.0.54']);
/** Programs that rewrite the file when the network changes, recognized by text that they write into it. */
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

/** The state of `/etc/resolv.conf`. `link` is the target of a symbolic link, null for a regular file. */
export interface NamesFacts {
  link: string | null;
  text: string;
  /** User id of the file's owner. */
  uid: number;
  is_resolved_running: boolean;
}

/** The method to redirect DNS queries on a computer, or the reason why there is none. */
export type Way = { kind: 'resolved' } | { kind: 'file' } | { kind: 'refused'; reason: string };

const refused = (reason: string): Way => ({ kind: 'refused', reason });

/** Server addresses in a resolv.conf, without the agent's. */
export const serversIn = (text: string): string[] =>
  [...text.matchAll(/^\s*nameserver\s+(\S+)/gmu)]
    .flatMap(([, address = '']) => (isIP(address) === 0 ? [] : [address]))
    .filter((address) => address !== NAMES_ADDRESS);

/** Search domains in a resolv.conf: names below them belong to the computer's network. */
export const domainsIn = (text: string): string[] =>
  [...text.matchAll(/^\s*(?:search|domain)\s+(.+)$/gmu)]
    .flatMap(([, domains = '']) => domains.trim().split(/\s+/u))
    .map((domain) => domain.toLowerCase().replace(/^\.+|\.+$/gu, ''))
    .filter((domain) => domain !== '');

export const isOurs = (text: string): boolean => text.split('\n').includes(`nameserver ${NAMES_ADDRESS}`);

/** Chooses the method, or refuses with a reason and a remedy. */
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

/** A resolv.conf with the agent first, and the previous servers as fallback. */
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

/** Removes the agent from a resolv.conf that another program has edited. */
export const resolvConfWithout = (text: string): string =>
  text
    .split('\n')
    .filter((line) => line !== `nameserver ${NAMES_ADDRESS}`)
    .join('\n');

/** Settings for systemd-resolved: all queries go to the agent, with the previous servers as fallback. The empty `DNS=` line clears servers of other files. */
export const resolvedSettings = (servers: readonly string[]): string =>
  [
    '# The Palisade agent answers names first. This file goes with: palisade-agent names-back',
    '[Resolve]',
    'DNS=',
    `DNS=${[NAMES_ADDRESS, ...servers.slice(0, SERVERS_MAXIMUM)].join(' ')}`,
    'Domains=~.',
    '',
  ].join('\n');
