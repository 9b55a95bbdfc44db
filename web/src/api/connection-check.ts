import { readHealth } from '@palisade/contract/platform';
import { useEffect } from 'react';
import { call } from './call.ts';
import { useConnection } from './connection.ts';

/** How often a lost server is asked for, in ms. */
const INTERVAL = 5_000;

/** While the last call found no server, asks for it until it is back, so that "Offline" does not outlive its reason. */
export function useConnectionCheck(): void {
  const isOffline = useConnection() === 'offline';
  useEffect(() => {
    if (!isOffline) return;
    // `call` itself reports what it found.
    const timer = setInterval(() => call(readHealth).catch(() => undefined), INTERVAL);
    return () => clearInterval(timer);
  }, [isOffline]);
}
