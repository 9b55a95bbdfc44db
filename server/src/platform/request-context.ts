import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/** The request's facts for each of its log lines. */
export interface RequestFacts {
  reqId: string;
  /** The id of the trace that the request is part of (W3C Trace Context). */
  trace_id?: string;
}

/** Characters that need no escaping in a log, a header or a log query. */
const REQUEST_ID = /^[\w.:~+/=@-]{1,128}$/;
/** W3C Trace Context level 1, section 3.2: later versions may append fields after the flags. */
const TRACEPARENT = /^(?!ff)([\da-f]{2})-(?!0{32})([\da-f]{32})-(?!0{16})[\da-f]{16}-[\da-f]{2}(-.*)?$/;

const facts = new AsyncLocalStorage<RequestFacts>();

/** The id of a request: the sender's, if it is valid, so that the logs of all servers on the way share it. */
export function requestIdOf({ headers }: { headers: IncomingHttpHeaders }): string {
  const { 'x-request-id': sent } = headers;
  return typeof sent === 'string' && REQUEST_ID.test(sent) ? sent : randomUUID();
}

/** The trace that a request claims to belong to, as a fact for the log. */
export function traceOf({ traceparent }: IncomingHttpHeaders): Pick<RequestFacts, 'trace_id'> {
  const [, version, trace_id, more] = typeof traceparent === 'string' ? (TRACEPARENT.exec(traceparent) ?? []) : [];
  return trace_id === undefined || (version === '00' && more !== undefined) ? {} : { trace_id };
}

/** Runs `next` and its asynchronous continuation in the context of a request. */
export function within(of: RequestFacts, next: () => void): void {
  facts.run(of, next);
}

/** The request of the current asynchronous context; undefined outside of one. */
export function currentRequest(): RequestFacts | undefined {
  return facts.getStore();
}
