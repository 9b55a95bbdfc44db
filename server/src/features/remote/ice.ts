import { createHmac } from 'node:crypto';
import type { ReplyOf } from '@palisade/contract/endpoint';
import type { Side } from '@palisade/contract/remote-record';
import type { readIce } from '@palisade/contract/remote-session';

/** The servers that help the two pages of a session connect: addresses of STUN and TURN servers (RFC 7064, RFC 7065), and the secret shared with the TURN servers. */
export interface IceServers {
  urls: readonly string[];
  secret: string | undefined;
}

const SECOND_MS = 1_000;

/**
 * The ICE servers for one side of a session. Name and password are valid until `until` (ms) and follow coturn's `use-auth-secret` (draft-uberti-behave-turn-rest-00, section
 * 2.2): the time in the name, and HMAC-SHA1 over the name.
 */
export function iceOf(
  { urls, secret }: IceServers,
  of: { session_id: string; side: Side; until: number },
): ReplyOf<typeof readIce> {
  const relays = urls.filter((url) => url.startsWith('turn'));
  const others = urls.filter((url) => !url.startsWith('turn'));
  const has_relay = relays.length > 0 && secret !== undefined;
  const open = others.length === 0 ? [] : [{ urls: others }];
  if (!has_relay) return { ice_servers: open, has_relay, expires_at: null };
  const username = `${Math.floor(of.until / SECOND_MS)}:${of.session_id}.${of.side}`;
  const credential = createHmac('sha1', secret).update(username).digest('base64');
  return {
    ice_servers: [...open, { urls: relays, username, credential }],
    has_relay,
    expires_at: new Date(of.until).toISOString(),
  };
}
