import { isIP } from 'node:net';
import { parseIp } from '@palisade/contract/ip-address';
import { WEB_CATEGORIES, type WebCategory } from '@palisade/contract/web-protection';
import { z } from 'zod';
import { isPrivateSource, sourceOf } from './origin.ts';
import { commaList, path, text } from './setting-forms.ts';
import { SettingsError } from './settings-error.ts';

/** A DNS server for forwarded queries. */
export type NameServer =
  | { kind: 'plain'; host: string; port: number }
  | { kind: 'tls'; host: string; port: number }
  | { kind: 'https'; url: string };

/** An address with an optional port: `192.0.2.1`, `192.0.2.1:53`, `2001:db8::1`, `[2001:db8::1]:53`. Undefined for anything else. */
function parseAddress(text: string, usual_port: number): { host: string; port: number } | undefined {
  if (isIP(text) !== 0) return { host: text, port: usual_port };
  const [, six, four, digits] = /^(?:\[([\da-fA-F:.]+)\]|([\d.]+)):(\d{1,5})$/u.exec(text) ?? [];
  const host = six ?? four ?? '';
  const port = Number(digits);
  return isIP(host) !== 0 && port >= 1 && port <= 65_535 ? { host, port } : undefined;
}

/** Undefined if the text is not the address of a server. */
export function parseNameServer(text: string): NameServer | undefined {
  const plain = parseAddress(text, 53);
  if (plain !== undefined) return { kind: 'plain', ...plain };
  const url = URL.parse(text);
  if (url === null || url.username !== '' || url.hash !== '' || url.hostname === '') return undefined;
  if (url.protocol === 'https:') return { kind: 'https', url: url.href };
  const isBare = ['', '/'].includes(url.pathname) && url.search === '';
  if (url.protocol !== 'tls:' || !isBare) return undefined;
  return { kind: 'tls', host: url.hostname.replaceAll(/[[\]]/gu, ''), port: url.port === '' ? 853 : Number(url.port) };
}

/** Name servers, separated by commas. */
const nameServers = commaList.transform((list, context) => {
  const servers = list.map(parseNameServer).filter((server) => server !== undefined);
  if (servers.length === list.length) return servers;
  context.addIssue(
    'must be a list of addresses (9.9.9.9, [2620:fe::fe]:53), tls://host, or https://host/path, separated by commas',
  );
  return z.NEVER;
});

/** A list of domain names and the category that it blocks; `dangerous` lists apply to all devices. */
export interface DomainListSource {
  name: string;
  category: WebCategory | 'dangerous';
  url: string;
}

/** Parses `category+https://host/list.txt`, with an optional name after `#`. */
function parseDomainList(text: string): DomainListSource | undefined {
  const [, kind, address = ''] = /^([a-z_]+)\+(https:\/\/.*)$/u.exec(text) ?? [];
  const category = [...WEB_CATEGORIES, 'dangerous' as const].find((one) => one === kind);
  const url = URL.parse(address);
  if (category === undefined || url === null || url.username !== '') return undefined;
  const name = decodeURIComponent(url.hash.slice(1)) || url.hostname;
  url.hash = '';
  return { name, category, url: url.href };
}

const domainLists = commaList.transform((list, context) => {
  const sources = list.map(parseDomainList).filter((source) => source !== undefined);
  if (sources.length === list.length) return sources;
  context.addIssue(
    'must be a list of category+https://host/list.txt#name, separated by commas; categories are ads, adult, gambling, ways_around, and dangerous',
  );
  return z.NEVER;
});

/** One private address of this machine: an open resolver would be abused for attacks on others. */
const privateAddress = text.transform((value, context) => {
  if (value === undefined) return undefined;
  const address = parseAddress(value, 53);
  // `::` and 0.0.0.0 mean every address of the machine.
  const isAll = address !== undefined && parseIp(address.host)?.value === 0n;
  if (address !== undefined && !isAll && isPrivateSource(sourceOf(address.host))) return address;
  context.addIssue('must be one private address of this machine, like 192.168.1.2 or 192.168.1.2:53');
  return z.NEVER;
});

const tlsHost = text.transform((value, context) => {
  if (value === undefined) return undefined;
  const [, host, digits = '853'] = /^((?:[a-z\d-]{1,63}\.)+[a-z\d-]{2,63})(?::(\d{1,5}))?$/iu.exec(value) ?? [];
  if (host !== undefined && Number(digits) <= 65_535) return { host: host.toLowerCase(), port: Number(digits) };
  context.addIssue('must be a host name, like dns.example.com; the certificate must be for *.dns.example.com');
  return z.NEVER;
});

export const dnsShape = {
  DNS_UPSTREAM: nameServers,
  DNS_LOCAL_UPSTREAM: nameServers,
  DOMAIN_LISTS: domainLists,
  DNS_LISTEN: privateAddress,
  DNS_TLS_HOST: tlsHost,
  DNS_TLS_CERT_FILE: path,
  DNS_TLS_KEY_FILE: path,
  DNS_ADDRESSES: commaList.pipe(
    z.array(z.union([z.ipv4(), z.ipv6()], { error: 'must be a list of this server’s fixed IP addresses, separated by commas' })),
  ),
};

interface Endpoint {
  host: string;
  port: number;
}

/** Settings of web protection. Without `upstream`, the name servers of this machine are used; `local` knows the names of the home network. */
export interface DnsSettings {
  upstream: readonly NameServer[];
  local: readonly NameServer[];
  domain_lists: readonly DomainListSource[];
  /** The endpoint of plain DNS. */
  listen: Endpoint | undefined;
  /** The domain below which each device has its own name, and the files of its certificate. */
  tls: (Endpoint & { cert_file: string; key_file: string }) | undefined;
  /** Fixed addresses of the server, which Windows requires. */
  addresses: readonly string[];
}

type Values = z.output<z.ZodObject<typeof dnsShape>>;

/** @throws SettingsError */
export function dnsOf(values: Values): DnsSettings {
  const { DNS_TLS_HOST: host, DNS_TLS_CERT_FILE: cert_file, DNS_TLS_KEY_FILE: key_file } = values;
  const isWhole = host !== undefined && cert_file !== undefined && key_file !== undefined;
  if (!isWhole && (host !== undefined || cert_file !== undefined || key_file !== undefined))
    throw new SettingsError('DNS over TLS needs DNS_TLS_HOST, DNS_TLS_CERT_FILE and DNS_TLS_KEY_FILE. Set all three or none.');
  return {
    upstream: values.DNS_UPSTREAM,
    local: values.DNS_LOCAL_UPSTREAM,
    domain_lists: values.DOMAIN_LISTS,
    listen: values.DNS_LISTEN,
    tls: isWhole ? { ...host, cert_file, key_file } : undefined,
    addresses: values.DNS_ADDRESSES,
  };
}
