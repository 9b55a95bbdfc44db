import type { Endpoint } from '@palisade/contract/endpoint';
import type { FastifyRequest } from 'fastify';
import type { Counters } from './counters.ts';
import { type Limits, type Rate, sharedRate } from './limits.ts';
import { originOf, sourceOf } from './origin.ts';
import { tooManyRequests } from './problem.ts';
import type { Observe } from './security-event.ts';
import type { Session } from './session.ts';

/** What calls are limited together. Signing in is limited by source alone: who signs in has no account yet. */
type Group = 'sign_in' | 'read' | 'write' | 'upload' | 'expensive' | 'admin' | 'document';

export interface RateLimits {
  /** Counts a call for where it comes from, before anything else of it is looked at. @throws Problem `too_many_requests`. */
  ofSource(endpoint: Endpoint, request: FastifyRequest): Promise<void>;
  /** Counts a call for the account that makes it. @throws Problem `too_many_requests`. */
  ofAccount(endpoint: Endpoint, request: FastifyRequest, session: Session): Promise<void>;
  /** Counts a look at what the API says of itself. @throws Problem `too_many_requests`. */
  ofDocument(request: FastifyRequest): Promise<void>;
}

/** What watches a server must be answered always. */
const UNLIMITED = new Set(['/health', '/ready']);
/** A limit that is met is told so often at the most, not at each request: often enough for the rule on limits (more than 5, one of them forgotten a minute). */
const TOLD: Rate = { count: 6, period_ms: 60_000 };
const REASON = 'These are too many requests at once.';

function groupOf({ access, upload, expensive, method, path }: Endpoint): Group {
  if (upload !== undefined) return 'upload';
  if (expensive) return 'expensive';
  if (access === 'admin') return 'admin';
  if (method === 'GET') return 'read';
  return access === 'anyone' && path.startsWith('/auth/') ? 'sign_in' : 'write';
}

/** Limits every call by its group, for its source and for its account. `isShared`: whether many people come from a source. `now` is in ms. */
export function createRateLimits(parts: {
  counters: Counters;
  limits: Limits;
  isShared: (source: string) => boolean;
  observe: Observe;
  now: () => number;
}): RateLimits {
  const { counters, limits, isShared, observe, now } = parts;
  const groups = new WeakMap<Endpoint, Group>();

  function group(endpoint: Endpoint): Group | undefined {
    if (UNLIMITED.has(endpoint.path)) return undefined;
    let known = groups.get(endpoint);
    if (known === undefined) {
      known = groupOf(endpoint);
      groups.set(endpoint, known);
    }
    return known;
  }

  async function take(
    bucket: { key: string; rate: Rate },
    told: { group: Group; request: FastifyRequest; user_id: string | null },
  ): Promise<void> {
    const empty = await counters.take([bucket]);
    if (empty === undefined) return;
    if ((await counters.take([{ key: `told:${bucket.key}`, rate: TOLD }])) === undefined) {
      const { address, source, client } = originOf(told.request);
      void observe({
        at: new Date(now()).toISOString(),
        user_id: told.user_id,
        source,
        address,
        client,
        kind: 'rate_limited',
        data: { group: told.group },
      });
    }
    throw tooManyRequests(REASON, empty.wait_ms);
  }

  async function takeOfSource(of: Group, request: FastifyRequest): Promise<void> {
    const source = sourceOf(request.ip);
    const rate = limits[`${of}.source`];
    const bucket = { key: `calls:${of}:${source}`, rate: isShared(source) ? sharedRate(rate) : rate };
    await take(bucket, { group: of, request, user_id: null });
  }

  return {
    async ofSource(endpoint, request) {
      const of = group(endpoint);
      if (of !== undefined) await takeOfSource(of, request);
    },
    ofDocument: (request) => takeOfSource('document', request),
    async ofAccount(endpoint, request, { user }) {
      const of = group(endpoint);
      if (of === undefined || of === 'sign_in' || of === 'document') return;
      await take({ key: `calls:${of}:${user.id}`, rate: limits[of] }, { group: of, request, user_id: user.id });
    },
  };
}
