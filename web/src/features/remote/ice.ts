import { readIce } from '@palisade/contract/remote-session';
import { call } from '#api/call.ts';
import { certificateOfPage, type IceServers } from './connection.ts';

/** Lifetime of servers that were read ahead, in ms: access to a relay holds for a while. */
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

/** Reads what the next connection needs while the person still chooses, or the other side's offer is on its way. */
export function readAhead(session_id: string): void {
  const prepare = async () => {
    await certificateOfPage();
    return await read(session_id);
  };
  // Refused, or the network is away: the connection asks itself, and says so.
  ahead = { session_id, at: Date.now(), servers: prepare().catch(() => undefined) };
}

/** By which servers the two pages of a session find each other. Each connection asks anew, or takes what was read ahead for it. */
export async function readIceServers(session_id: string): Promise<IceServers> {
  const taken = ahead;
  ahead = undefined;
  const isGood = taken?.session_id === session_id && Date.now() - taken.at < AHEAD_FOR;
  return (isGood ? await taken.servers : undefined) ?? (await read(session_id));
}
