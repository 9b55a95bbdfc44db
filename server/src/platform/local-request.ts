import { isLoopbackHost } from './settings.ts';

/** As much of a request as is looked at. */
interface Incoming {
  raw: { socket: { remoteAddress?: string | undefined } };
  headers: Record<string, string | string[] | undefined>;
}

const FORWARDING = /^(x-forwarded-.*|forwarded|x-real-ip|via)$/i;

/** The host of a `Host` header without its port; brackets of an IPv6 address stay. */
function hostOf(header: string): string {
  return header.replace(/:\d{1,5}$/, '');
}

/**
 * Whether a request was made on this machine for this machine: the peer is loopback, the `Host` header is a loopback name (so no page of
 * another site that points its name here), and no forwarding header is present (a proxy on the same machine makes every peer loopback).
 */
export function isLocalRequest({ raw, headers }: Incoming): boolean {
  const peer = (raw.socket.remoteAddress ?? '').replace(/^::ffff:/i, '');
  return (
    isLoopbackHost(peer) &&
    isLoopbackHost(hostOf(String(headers['host'] ?? ''))) &&
    !Object.keys(headers).some((name) => FORWARDING.test(name))
  );
}
