import { readIce } from '@palisade/contract/remote-session';
import { call } from '#api/call.ts';
import { certificateOfPage, type IceServers } from './connection.ts';

/** Lifetime of servers read ahead, in ms. Relay credentials are valid for longer. */
const AHEAD_FOR = 60_000;
let ahead: { session_id: string; at: number; servers: Promise<IceServers | undefined> } | undefined;

async function read(session_id: string): Promise<IceServers> {
  const { ice_servers } = await call(readIce, { params: { id: session_id } });
  return ice_servers.map(({ urls, username, credential }) => ({
    urls,
    ...(username !== undefined && { username }),
    ...(credential !== undefined && { credential }),
  }));
}

/** Reads the servers of the next connection while the person still chooses, or before the other side's offer arrives. */
export function readAhead(session_id: string): void {
  const prepare = async () => {
    await certificateOfPage();
    return await read(session_id);
  };
  // Ignores a failure: the connection reads them itself and reports the error.
  ahead = { session_id, at: Date.now(), servers: prepare().catch(() => undefined) };
}

/** The STUN and TURN servers of a session. Each connection reads them again, or uses those read ahead, once. */
export async function readIceServers(session_id: string): Promise<IceServers> {
  const taken = ahead;
  ahead = undefined;
  const isGood = taken?.session_id === session_id && Date.now() - taken.at < AHEAD_FOR;
  return (isGood ? await taken.servers : undefined) ?? (await read(session_id));
}
