import type { FastifyBaseLogger } from 'fastify';
import { refusalsOf } from './refusal-log.ts';
import type { SecurityEvent } from './security-event.ts';

/** The facts of an event for the log: identifiers, never a file's name or typed text. Undefined for events that do not concern access. */
function factsOf(event: SecurityEvent): Record<string, unknown> | undefined {
  switch (event.kind) {
    case 'login_failed':
      return { account: event.data.account, step: event.data.step };
    case 'login_succeeded':
      return { account: event.data.account, role: event.data.role, has_second_factor: event.data.has_second_factor };
    case 'token_moved':
      return { session: event.data.session_id };
    case 'rate_limited':
      return { limit: event.data.group };
    case 'request_refused':
      return { reason: event.data.reason };
    case 'scan_finished':
      return undefined;
  }
}

/** Logs attempts to sign in, and refusals (OWASP ASVS 5, 16.3): successes at level `info`, the rest at `warn`. */
export function logSecurityEvent(logger: FastifyBaseLogger, event: SecurityEvent): void {
  const facts = factsOf(event);
  if (facts === undefined) return;
  const { kind: security_event, user_id: user, address, client } = event;
  const line = { security_event, user, address, client, ...facts };
  if (event.kind === 'login_succeeded') logger.info(line, 'signed in');
  else if (refusalsOf(logger).mayTell(event.source ?? '')) logger.warn(line, 'refused or out of the ordinary');
}
