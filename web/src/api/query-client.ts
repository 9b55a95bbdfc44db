import { QueryCache, QueryClient } from '@tanstack/react-query';
import { CallError } from './call.ts';

const RETRIES = 2;
/** Longest delay requested by the server that is waited out, in seconds; a longer one is shown as an error. */
const PATIENCE = 60;

/** Delay that the server requests, in seconds; otherwise 0. */
function waitOf(error: Error): number {
  return (error instanceof CallError && error.status === 429 && error.retry_after) || 0;
}

/** Retries only lost connections, server errors, and refusals with a short delay. */
function isWorthRetrying(count: number, error: Error): boolean {
  const wait = waitOf(error);
  if (wait) return wait <= PATIENCE;
  return count < RETRIES && error instanceof CallError && (error.kind === 'network' || error.status >= 500);
}

/** Delay in ms. The query counts as fetching until then, so its interval starts no other fetch. */
function retryDelay(count: number, error: Error): number {
  return 1_000 * (waitOf(error) || 2 ** count);
}

/** Refetches a query that was invalidated during its first fetch. The library only waits for that fetch, whose result may be older than the change. */
function askAgain(queries: QueryClient): void {
  const outdated = new Set<string>();
  queries.getQueryCache().subscribe((event) => {
    const { queryHash, state } = event.query;
    if (event.type === 'removed') outdated.delete(queryHash);
    if (event.type !== 'updated') return;
    const { type } = event.action;
    if (type === 'invalidate' && state.fetchStatus === 'fetching' && state.data === undefined) outdated.add(queryHash);
    if (type === 'success' && outdated.delete(queryHash))
      void queries.invalidateQueries({ predicate: (query) => query.queryHash === queryHash });
  });
}

export function createQueryClient(): QueryClient {
  const queries = new QueryClient({
    // Logs errors that the specification only logs; the screens show them in place.
    queryCache: new QueryCache({
      onError: (error, { meta }) => {
        if (error instanceof CallError && error.status === meta?.['silent_status']) return;
        console.error(error);
      },
    }),
    defaultOptions: {
      queries: { staleTime: 15_000, retry: isWorthRetrying, retryDelay },
    },
  });
  askAgain(queries);
  return queries;
}
