import { isIP } from 'node:net';
import type { Exposure } from '@palisade/contract/platform';
import { isLoopbackHost } from '#platform/settings.ts';

/** The site that a passkey is bound to: browsers use it only there. */
export interface PasskeySite {
  /** `https://palisade.example`. */
  origin: string;
  /** Its host without the port. */
  rp_id: string;
}

/** Browsers refuse an IP address in place of a name (WebAuthn level 3, section 5.1.3), and require a secure page. */
function siteOf(address: URL): PasskeySite | undefined {
  const host = address.hostname.replace(/^\[|\]$/g, '');
  if (isIP(host) !== 0 || (address.protocol !== 'https:' && !isLoopbackHost(host))) return undefined;
  return { origin: address.origin, rp_id: host };
}

/**
 * The site of passkeys: PUBLIC_URL; without it, in local exposure, the machine's own name from the request, or `localhost` for a request to its IP address. Undefined if
 * there is none. A remote client's Host header is never used.
 */
export function passkeySite(
  host_header: string | undefined,
  { public_url, exposure }: { public_url: string | undefined; exposure: Exposure },
): PasskeySite | undefined {
  if (public_url !== undefined) {
    const address = new URL(public_url);
    if (isIP(address.hostname.replace(/^\[|\]$/g, '')) !== 0 && isLoopbackHost(address.hostname)) address.hostname = 'localhost';
    return siteOf(address);
  }
  const asked = URL.parse(`http://${host_header ?? ''}`);
  if (exposure === 'public' || asked === null || !isLoopbackHost(asked.hostname)) return undefined;
  if (siteOf(asked) === undefined) asked.hostname = 'localhost';
  return siteOf(asked);
}
