import { isIP } from 'node:net';

/** More hops than any real chain of proxies. */
const HOPS_MAXIMUM = 32;
/** Maximum number of characters of the header that are read, from its end, which holds the nearest hops. */
const LOOKED_AT_MAXIMUM = 4_000;

/** The address in `192.0.2.1`, `192.0.2.1:443`, `2001:db8::1`, `[2001:db8::1]` or `[2001:db8::1]:443`; otherwise undefined. */
function addressIn(text: string): string | undefined {
  const [, bracketed] = /^\[([\da-f:.]{2,45})\](?::\d{1,5})?$/i.exec(text) ?? [];
  const address = bracketed ?? text.replace(/^(\d{1,3}(?:\.\d{1,3}){3}):\d{1,5}$/, '$1');
  const family = isIP(address);
  return family === 0 || (bracketed !== undefined && family !== 6) || address.includes('%') ? undefined : address;
}

/** The value of `for` in each element of a `Forwarded` header (RFC 7239 section 4), or ''. */
function namedInForwarded(header: string): string[] {
  const elements = header.match(/(?:[^,"]|"(?:[^"\\]|\\.)*")+/g) ?? [];
  return elements.map((element) => {
    const [, quoted, plain = ''] = /(?:^|;)\s*for\s*=\s*(?:"([^"]*)"|([^\s;"]*))/i.exec(element) ?? [];
    return quoted ?? plain;
  });
}

/**
 * The addresses that a request was forwarded for, the nearest hop last, as in `X-Forwarded-For`: without ports, brackets and quotes. `Forwarded` is used if there is no
 * `X-Forwarded-For`. An invalid address ends the list: entries before it are unreliable. Undefined for an empty list.
 */
export function forwardedFor(headers: {
  'x-forwarded-for'?: string | undefined;
  forwarded?: string | undefined;
}): string | undefined {
  const { 'x-forwarded-for': forwarded_for, forwarded } = headers;
  const named =
    forwarded_for === undefined
      ? namedInForwarded((forwarded ?? '').slice(-LOOKED_AT_MAXIMUM))
      : forwarded_for.slice(-LOOKED_AT_MAXIMUM).split(',');
  const hops: string[] = [];
  for (const text of named.reverse().slice(0, HOPS_MAXIMUM)) {
    const address = addressIn(text.trim());
    if (address === undefined) break;
    hops.push(address);
  }
  return hops.length === 0 ? undefined : hops.reverse().join(', ');
}

/** The client address of a request: its peer's, or behind trusted proxies that of the nearest untrusted hop. */
export function addressBehind(
  peer: string,
  headers: { 'x-forwarded-for'?: string | string[] | undefined; forwarded?: string | undefined },
  isTrusted: (address: string) => boolean,
): string {
  if (!isTrusted(peer)) return peer;
  const { 'x-forwarded-for': forwarded_for, forwarded } = headers;
  const hops = forwardedFor({ 'x-forwarded-for': String(forwarded_for ?? '') || undefined, forwarded })?.split(', ') ?? [];
  return hops.findLast((hop) => !isTrusted(hop)) ?? hops[0] ?? peer;
}
