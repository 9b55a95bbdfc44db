import type { Endpoint } from '@palisade/contract/endpoint';
import type { FastifyRequest } from 'fastify';
import type { Bucket, Counters } from './counters.ts';
import { type Limits, type Rate, sharedRate } from './limits.ts';
import { originOf, sourceOf } from './origin.ts';
import { refuseFor } from './platform.refusals.ts';
import type { Observe } from './security-event.ts';
import type { Session } from './session.ts';

/** Groups of calls that share a limit. Sign-in is limited by source alone: the caller has no account yet. */
type Group = 'sign_in' | 'read' | 'write' | 'upload' | 'expensive' | 'admin' | 'document';

export interface RateLimits {
  /** Whether the source of a call was over its limit a moment ago: such a call is counted before any lookup. */
  isPressed(endpoint: Endpoint, request: FastifyRequest): boolean;
  /**
   * Counts a call for its source and, in the same step, for the account of `caller`, the probable caller. Returns the second result for `ofAccount`, which is called once
   * the caller is known. @throws Problem `too_many_requests` for the source.
   */
  ofSource(endpoint: Endpoint, request: FastifyRequest, caller?: Session): Promise<CountedAccount | undefined>;
  /** Counts a call for the account that makes it, unless `counted` shows that it already was. @throws Problem `too_many_requests`. */
  ofAccount(endpoint: Endpoint, request: FastifyRequest, session: Session, counted?: CountedAccount): Promise<void>;
  /** Counts a request for the API description. @throws Problem `too_many_requests`. */
  ofDocument(request: FastifyRequest): Promise<void>;
}

/** A call that was counted for an account; `wait_ms` is set if the account was over its limit. */
interface CountedAccount {
  user_id: string;
  wait_ms: number | undefined;
}

/** Time for which a source that was over its limit counts as pressed, in ms, and the maximum number of remembered sources. */
const PRESSED_MS = 1_000;
const PRESSED_MAXIMUM = 10_000;

/** Health checks must always be answered. */
const UNLIMITED = new Set(['/health', '/ready']);
/** Maximum rate of log lines about one exceeded limit: often enough for the rule on limits (more than 5, one of them forgotten a minute). */
const TOLD: Rate = { count: 6, period_ms: 60_000 };

function groupOf({ access, upload, expensive, method, path }: Endpoint): Group {
  if (upload !== undefined) return 'upload';
  if (expensive) return 'expensive';
  if (access === 'admin') return 'admin';
  if (method === 'GET') return 'read';
  return access === 'anyone' && path.startsWith('/auth/') ? 'sign_in' : 'write';
}

/** Limits every call by its group, per source and per account. `isShared`: whether many people share a source. `now` is in ms. */
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

  /** When sources were last over a limit, by bucket. */
  const pressed = new Map<string, number>();

  function press(key: string): void {
    pressed.delete(key);
    const [oldest] = pressed.keys();
    if (pressed.size >= PRESSED_MAXIMUM && oldest !== undefined) pressed.delete(oldest);
    pressed.set(key, now());
  }

  /** @throws Problem `too_many_requests` */
  async function refuse(
    { key }: Bucket,
    wait_ms: number,
    told: { group: Group; request: FastifyRequest; user_id: string | null },
  ): Promise<never> {
    if ((await counters.take([{ key: `told:${key}`, rate: TOLD }])) === undefined) {
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
    throw refuseFor(wait_ms, 'requests.too_many');
  }

  function bucketOfSource(of: Group, request: FastifyRequest): Bucket {
    const source = sourceOf(request.ip);
    const rate = limits[`${of}.source`];
    return { key: `calls:${of}:${source}`, rate: isShared(source) ? sharedRate(rate) : rate };
  }

  /** Undefined for groups that are limited by source alone. */
  function bucketOfAccount(of: Group, user_id: string): Bucket | undefined {
    if (of === 'sign_in' || of === 'document') return undefined;
    return { key: `calls:${of}:${user_id}`, rate: limits[of] };
  }

  async function takeOfSource(of: Group, request: FastifyRequest, caller?: Session): Promise<CountedAccount | undefined> {
    const own = bucketOfSource(of, request);
    const account = caller && bucketOfAccount(of, caller.user.id);
    const empty = await counters.takeInTurn(account === undefined ? [own] : [own, account]);
    if (empty?.index === 0) {
      press(own.key);
      await refuse(own, empty.wait_ms, { group: of, request, user_id: null });
    }
    return caller && account && { user_id: caller.user.id, wait_ms: empty?.wait_ms };
  }

  return {
    isPressed(endpoint, request) {
      const of = group(endpoint);
      if (of === undefined || pressed.size === 0) return false;
      const at = pressed.get(bucketOfSource(of, request).key);
      return at !== undefined && Math.abs(now() - at) < PRESSED_MS;
    },
    async ofSource(endpoint, request, caller) {
      const of = group(endpoint);
      return of === undefined ? undefined : await takeOfSource(of, request, caller);
    },
    ofDocument: async (request) => void (await takeOfSource('document', request)),
    async ofAccount(endpoint, request, { user }, counted) {
      const of = group(endpoint);
      const bucket = of && bucketOfAccount(of, user.id);
      if (of === undefined || bucket === undefined) return;
      const wait_ms = counted?.user_id === user.id ? counted.wait_ms : (await counters.takeInTurn([bucket]))?.wait_ms;
      if (wait_ms !== undefined) await refuse(bucket, wait_ms, { group: of, request, user_id: user.id });
    },
  };
}
