import type { ProxySign } from '@palisade/contract/proxy';
import { isLoopbackHost } from './settings.ts';

/** The part of a request that is examined. */
export interface Incoming {
  raw: {
    httpVersionMajor: number;
    httpVersionMinor: number;
    method?: string | undefined;
    /** Alternating names and values, as received. */
    rawHeaders: readonly string[];
    socket: { remoteAddress?: string | undefined };
  };
  headers: Readonly<Record<string, string | string[] | undefined>>;
}

/**
 * Headers that proxies, load balancers and content networks add to a request, and browsers never send: nginx's and Apache's guides, Caddy, Traefik, Envoy, HAProxy's
 * options, AWS, Azure, Google, Cloudflare, Akamai, Fastly, Fly, WebLogic, and RFC 7239, 8586 and 9110.
 */
const FORWARDING =
  /^(?:x-forwarded(?:-.+)?|forwarded(?:-for)?|via|cdn-loop|x-real-ip|x-client-ip|client-ip|true-client-ip|x-true-ip|x-cluster-client-ip|x-original-(?:.+)|x-originating-ip|x-remote-(?:ip|addr)|x-proxyuser-ip|x-host|x-http-host-override|x-nginx-proxy|x-proxy-.+|proxy-(?:.+)|(?:wl|x)-proxy-client-ip|x-envoy-.+|x-arr-.+|x-azure-.+|x-appengine-.+|x-cloud-trace-context|x-amzn-trace-id|x-amz-cf-id|cloudfront-.+|cf-.+|fly-.+|fastly-.+|x-akamai-.+|akamai-.+|x-varnish|x-vercel-.+|x-nf-client-connection-ip|incap-client-ip|x-sucuri-clientip|x-coming-from|x-bluecoat-via)$/i;

/** The host in a `Host` header, without its port; brackets of an IPv6 address stay. */
export function hostOf(header: string | undefined): string {
  return (header ?? '').replace(/:\d{1,5}$/, '');
}

/**
 * Whether header names look like HAProxy's: it writes all names in lower case and sends no `connection`, except for an upgrade that its client requests. Browsers write
 * `Host`; programs that write `host` also send `connection`, and request an upgrade only with GET (docs/decisions/accounts.md).
 */
function hasNamesOfProxy({ rawHeaders, method }: Incoming['raw']): boolean {
  let says_host = false;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? '';
    if (name === 'host') says_host = true;
    else if (name.length === 10 && name.toLowerCase() === 'connection') {
      if (method === 'GET' || !/\bupgrade\b/i.test(rawHeaders[index + 1] ?? '')) return false;
    }
  }
  return says_host;
}

/** Maximum number of checked header names that are cached: programs send the same few with every request. Long names are not cached. */
const NAMES_MAXIMUM = 500;
const NAME_LENGTH_MAXIMUM = 40;
const names = new Map<string, boolean>();

function isForwarding(name: string): boolean {
  const known = names.get(name);
  if (known !== undefined) return known;
  const is = FORWARDING.test(name);
  if (names.size >= NAMES_MAXIMUM) names.clear();
  if (name.length <= NAME_LENGTH_MAXIMUM) names.set(name, is);
  return is;
}

/** The sign that a request came through a proxy; undefined without one. */
export function proxySignOf({ raw, headers }: Incoming): ProxySign | undefined {
  for (const name in headers) if (isForwarding(name)) return 'forwarding_header';
  if (raw.httpVersionMajor < 1 || (raw.httpVersionMajor === 1 && raw.httpVersionMinor === 0)) return 'old_http';
  return hasNamesOfProxy(raw) ? 'header_names' : undefined;
}

/** Whether the page that sends the request, if the browser names it, has the same host as the request. */
function isOwnPage({ headers: { origin, host } }: Pick<Incoming, 'headers'>): boolean {
  if (origin === undefined) return true;
  const [page, asked] = [URL.parse(String(origin)), URL.parse(`http://${String(host ?? '')}`)];
  return page?.protocol === 'http:' && page.host === asked?.host;
}

/** Whether the requested host is the machine itself. This excludes pages of another site that points a domain here (DNS rebinding). */
export function isForLoopback({ headers }: Pick<Incoming, 'headers'>): boolean {
  return isLoopbackHost(hostOf(String(headers['host'] ?? '')));
}

/**
 * Whether a request was made on this machine for this machine: the peer is loopback, the `Host` header is a loopback name, the requesting page is our own, and nothing shows
 * a proxy, which makes every peer loopback (docs/decisions/accounts.md).
 */
export function isLocalRequest(request: Incoming): boolean {
  const peer = (request.raw.socket.remoteAddress ?? '').replace(/^::ffff:/i, '');
  return isLoopbackHost(peer) && isForLoopback(request) && isOwnPage(request) && proxySignOf(request) === undefined;
}
