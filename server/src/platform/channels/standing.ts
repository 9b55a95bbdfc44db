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

/** Asks whether the members of a channel may still be there, many at a time, and ends the sockets of those that may not. */
export function createStandings<Principal, Member extends Standing<Principal>>(parts: {
  refused: (principals: readonly Principal[]) => Promise<ReadonlyMap<Principal, Refusal>>;
  /** Whether it is there still when its turn comes. */
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

  /** Those that come while others are looked up are the next ones. */
  function askSoon(some: Iterable<Member>): void {
    for (const member of some) unchecked.add(member);
    if (unchecked.size === 0 || checking) return;
    // Keys of the same moment are looked up together.
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
