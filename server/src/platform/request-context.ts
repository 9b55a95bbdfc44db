import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/** The request's facts in each of its log lines. */
export interface RequestFacts {
  reqId: string;
  /** The id of the trace that the request is part of (W3C Trace Context). */
  trace_id?: string;
}

/** Letters that stand for themselves in a log, a header and a query of a log's reader. */
const REQUEST_ID = /^[\w.:~+/=@-]{1,128}$/;
/** W3C Trace Context level 1, section 3.2: a later version may say more after the flags. */
const TRACEPARENT = /^(?!ff)([\da-f]{2})-(?!0{32})([\da-f]{32})-(?!0{16})[\da-f]{16}-[\da-f]{2}(-.*)?$/;

const facts = new AsyncLocalStorage<RequestFacts>();

/** The id of a request: its sender's, where that is one, so that it is the same in the logs of everybody on the way. */
export function requestIdOf({ headers }: { headers: IncomingHttpHeaders }): string {
  const { 'x-request-id': sent } = headers;
  return typeof sent === 'string' && REQUEST_ID.test(sent) ? sent : randomUUID();
}

/** The trace that a request says it is part of, as a fact for the log. */
export function traceOf({ traceparent }: IncomingHttpHeaders): Pick<RequestFacts, 'trace_id'> {
  const [, version, trace_id, more] = typeof traceparent === 'string' ? (TRACEPARENT.exec(traceparent) ?? []) : [];
  return trace_id === undefined || (version === '00' && more !== undefined) ? {} : { trace_id };
}

/** Does something, and what follows from it, for a request. */
export function within(of: RequestFacts, next: () => void): void {
  facts.run(of, next);
}

/** The request that something is done for just now; undefined outside of one. */
export function currentRequest(): RequestFacts | undefined {
  return facts.getStore();
}
