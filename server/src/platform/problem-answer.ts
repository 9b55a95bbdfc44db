import type { FastifyBaseLogger } from 'fastify';
import { databaseProblem } from './database-errors.ts';
import { sourceOf } from './origin.ts';
import { Problem } from './problem.ts';
import { refusalsOf } from './refusal-log.ts';
import { storageProblem } from './storage-problem.ts';

export const PROBLEM_TYPE = 'application/problem+json; charset=utf-8';

/** The problem that an error represents: a refusal, an outage of the database, or a full disk. Undefined for others. */
export function expectedProblem(error: unknown): Problem | undefined {
  if (error instanceof Problem) return error;
  const problem = databaseProblem(error) ?? storageProblem(error);
  return problem instanceof Problem ? problem : undefined;
}

/** Logs a problem that an operator should know about. `shared` is the logger whose limit on such lines applies. */
export function logProblem(
  { code, status, cause }: Problem,
  request: { method?: string | undefined; url?: string | undefined; ip: string },
  log: FastifyBaseLogger,
  shared: FastifyBaseLogger,
): void {
  if (code === 'internal') log.error({ req: request, err: cause }, 'request failed');
  else if (code === 'forbidden' || (status >= 500 && cause !== undefined)) {
    const isTold = refusalsOf(shared).mayTell(sourceOf(request.ip));
    if (isTold && code === 'forbidden') log.warn({ req: request }, 'somebody may not do this');
    else if (isTold) log.warn({ req: request, err: cause, code }, 'request could not be served');
  }
}
