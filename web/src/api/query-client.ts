import { QueryCache, QueryClient } from '@tanstack/react-query';
import { CallError } from './call.ts';

const RETRIES = 2;
/** A wait that the server asks for is waited out up to this, in seconds; of a longer one the person is told. */
const PATIENCE = 60;

/** The seconds that the server asks to wait for. */
function waitOf(error: Error): number {
  return (error instanceof CallError && error.status === 429 && error.retry_after) || 0;
}

/** A refusal stays a refusal; only a lost connection, a server in trouble, and one that says when are worth asking again. */
function isWorthRetrying(count: number, error: Error): boolean {
  const wait = waitOf(error);
  if (wait) return wait <= PATIENCE;
  return count < RETRIES && error instanceof CallError && (error.kind === 'network' || error.status >= 500);
}

/** In ms. Until then a query counts as being asked, so that its interval asks nothing more. */
function retryDelay(count: number, error: Error): number {
  return 1_000 * (waitOf(error) || 2 ** count);
}

/**
 * Has a query asked again that was made stale while its first answer was on its way: the library waits for that answer, which may be from before the change, and calls it new.
 */
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
    // Errors that the specification only logs are logged here; the screens show it where the person is looking.
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
