import type { FastifyBaseLogger } from 'fastify';
import type { WebSocket } from 'ws';
import { BATCH } from '#platform/batches.ts';
import { logFailure } from '#platform/database-patience.ts';
import { end, type Refusal } from './frames.ts';

interface Standing<Principal> {
  socket: WebSocket;
  principal: Principal;
}

export interface Standings<Member> {
  askSoon(some: Iterable<Member>): void;
  forget(member: Member): void;
}

/** Checks in batches whether the members of a channel may still be connected, and closes the sockets of those that may not. */
export function createStandings<Principal, Member extends Standing<Principal>>(parts: {
  refused: (principals: readonly Principal[]) => Promise<ReadonlyMap<Principal, Refusal>>;
  /** Whether the member is still connected when its turn comes. */
  isMember: (member: Member) => boolean;
  logger: FastifyBaseLogger;
}): Standings<Member> {
  const unchecked = new Set<Member>();
  let checking: Promise<void> | undefined;

  async function check(some: readonly Member[]): Promise<void> {
    const refused = await parts.refused(some.map(({ principal }) => principal));
    for (const { socket, principal } of some) {
      const refusal = refused.get(principal);
      if (refusal !== undefined) end(socket, refusal);
    }
  }

  /** Members added while a lookup runs are checked in the next one. */
  function askSoon(some: Iterable<Member>): void {
    for (const member of some) unchecked.add(member);
    if (unchecked.size === 0 || checking) return;
    // Members added in the same turn of the event loop are looked up together.
    checking = new Promise((resolve) => setImmediate(resolve))
      .then(async () => {
        const next = [...unchecked].slice(0, BATCH);
        for (const member of next) unchecked.delete(member);
        await check(next.filter(parts.isMember));
      })
      .catch((error: unknown) => logFailure(parts.logger, error, 'could not look up peers of a socket'))
      .finally(() => {
        checking = undefined;
        askSoon([]);
      });
  }

  return { askSoon, forget: (member) => void unchecked.delete(member) };
}
