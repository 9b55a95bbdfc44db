import type { FastifyRequest } from 'fastify';
import { originOf } from '#platform/origin.ts';
import type { Observe } from '#platform/security-event.ts';
import type { Session } from '#platform/session.ts';

/** Maximum number of remembered pairs of session and place. */
const TOLD_MAXIMUM = 10_000;

/**
 * Detects sessions used from another source and with another kind of browser than at sign-in. Only one of both is normal: a phone that leaves the house, or a browser with a
 * changed user agent. Reported once for each session and place.
 */
export function createMovedTokens(parts: {
  observe: Observe;
  now: () => number;
}): (session: Session, request: Pick<FastifyRequest, 'ip' | 'headers'>) => void {
  const { observe, now } = parts;
  const told = new Set<string>();
  return ({ id, user, began }, request) => {
    // The usual case, and cheap.
    if (began === null || request.ip === began.address) return;
    const { address, source, client } = originOf(request);
    if (source === began.source || client === began.client) return;
    const name = `${id} ${source} ${client}`;
    if (told.has(name)) return;
    if (told.size >= TOLD_MAXIMUM) told.clear();
    told.add(name);
    void observe({
      at: new Date(now()).toISOString(),
      user_id: user.id,
      ...{ source, address, client },
      kind: 'token_moved',
      data: { session_id: id, signed_in_source: began.source, signed_in_client: began.client },
    });
  };
}
