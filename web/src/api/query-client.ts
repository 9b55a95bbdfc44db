import { QueryCache, QueryClient } from '@tanstack/react-query';
import { CallError } from './call.ts';

const RETRIES = 2;

/** A refusal stays a refusal; only a lost connection and a server in trouble are worth asking again. */
function isWorthRetrying(count: number, error: Error): boolean {
  return count < RETRIES && error instanceof CallError && (error.kind === 'network' || error.status >= 500);
}

export function createQueryClient(): QueryClient {
  return new QueryClient({
    // What the specification only logs is logged here; the screens show it where the person is looking.
    queryCache: new QueryCache({
      onError: (error, { meta }) => {
        if (error instanceof CallError && error.status === meta?.['silent_status']) return;
        console.error(error);
      },
    }),
    defaultOptions: {
      queries: { staleTime: 15_000, retry: isWorthRetrying },
    },
  });
}
