import { readIce } from '@palisade/contract/remote-session';
import { call } from '#api/call.ts';
import type { IceServers } from './peer.ts';

/** By which servers the two pages of a session find each other; what gives access to a relay holds for a while, so each connection asks anew. */
export async function readIceServers(session_id: string): Promise<IceServers> {
  const { ice_servers } = await call(readIce, { params: { id: session_id } });
  return ice_servers.map(({ urls, username, credential }) => ({
    urls,
    ...(username !== undefined && { username }),
    ...(credential !== undefined && { credential }),
  }));
}
