import { domainToASCII, domainToUnicode } from 'node:url';
import { parse } from 'tldts';
import { FREE_HOSTS, SHORTENERS, THROWAWAY_ENDINGS } from './host-rows.ts';

/** A URL parsed by the WHATWG URL standard, as in browsers. */
export interface Address {
  url: URL;
  kind: 'web' | 'number_address' | 'local' | 'mail' | 'phone' | 'code' | 'other';
  host: string;
  /** The host in Unicode, decoded from Punycode. */
  hostShown: string;
  /** The registrable domain; on a free hosting service it includes the part that the user chose. Undefined for IP addresses and names without a public suffix. */
  owner: string | undefined;
  /** The registrable domain, with free hosting services treated like any other domain. */
  domain: string | undefined;
  /** The domain without its public suffix, and the labels before it. */
  label: string;
  subdomains: string[];
  ending: string;
  /** The ending is a known public suffix. */
  hasKnownEnding: boolean;
  isFreeHost: boolean;
  isShortener: boolean;
  isThrowaway: boolean;
}

const CODE_SCHEMES = new Set(['javascript:', 'data:', 'vbscript:']);
const KINDS: Readonly<Record<string, Address['kind']>> = {
  'mailto:': 'mail',
  'tel:': 'phone',
  'sms:': 'phone',
  'smsto:': 'phone',
};
const LOCAL = /^(?:localhost|.*\.(?:local|localhost|internal|lan|home))$/u;

/** The suffixes of a host: `a.b.c`, `b.c`, `c`. */
export function suffixesOf(host: string): string[] {
  const labels = host.split('.');
  return labels.map((_, at) => labels.slice(at).join('.'));
}

/** Parses a URL; undefined for invalid text. */
export function takeApart(text: string): Address | undefined {
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  // The host of a mail address follows the @.
  const named = url.protocol === 'mailto:' ? domainToASCII(url.pathname.slice(url.pathname.lastIndexOf('@') + 1)) : url.hostname;
  const host = named.replace(/\.$/u, '').toLowerCase();
  const names = parse(host, { allowPrivateDomains: false });
  const owned = parse(host, { allowPrivateDomains: true });
  const isFreeHost = owned.isPrivate === true || suffixesOf(host).some((name) => FREE_HOSTS.has(name));
  const isWeb = url.protocol === 'http:' || url.protocol === 'https:' || url.protocol === 'ftp:';
  const webKind = names.isIp ? 'number_address' : LOCAL.test(host) || !host.includes('.') ? 'local' : 'web';
  return {
    url,
    kind: CODE_SCHEMES.has(url.protocol) ? 'code' : (KINDS[url.protocol] ?? (isWeb ? webKind : 'other')),
    host,
    hostShown: domainToUnicode(host) || host,
    owner: owned.domain ?? names.domain ?? undefined,
    domain: names.domain ?? undefined,
    label: names.domainWithoutSuffix ?? '',
    subdomains: (names.subdomain ?? '').split('.').filter((label) => label !== ''),
    ending: names.publicSuffix ?? '',
    hasKnownEnding: names.isIcann === true && names.domain !== null,
    isFreeHost,
    isShortener: SHORTENERS.has(names.domain ?? host) || SHORTENERS.has(host),
    isThrowaway: THROWAWAY_ENDINGS.has(names.publicSuffix ?? ''),
  };
}

/** Whether the host is one of the names or a subdomain of one. */
export function isBelow(host: string, names: ReadonlySet<string>): boolean {
  return suffixesOf(host).some((name) => names.has(name));
}
