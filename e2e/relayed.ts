// biome-ignore-start lint/style/noRestrictedImports: the relay of the server's tests, started as it is there.
import { HAS_COTURN, NO_COTURN, startRelay } from '../server/test/coturn-process.ts';
import { freePort } from '../server/test/free-port.ts';
// biome-ignore-end lint/style/noRestrictedImports: up to here.
import { test as journey } from './palisade.ts';

const SECRET = 'a-secret-that-both-have';

interface Relay {
  port: number;
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** As a journey, with a coturn that shares `relay_secret`, beside a server that knows `SECRET`; left out where there is no coturn. */
export const relayed = journey.extend<{ relay_secret: string; relay: Relay }>({
  relay_secret: [SECRET, { option: true }],
  relay: async ({ relay_secret }, use, info) => {
    info.skip(!HAS_COTURN, NO_COTURN);
    const port = await freePort();
    let running = await startRelay(relay_secret, port);
    let isRunning = true;
    const stop = async () => {
      if (isRunning) await running.stop();
      isRunning = false;
    };
    await use({
      port,
      stop,
      async start() {
        running = await startRelay(relay_secret, port);
        isRunning = true;
      },
    });
    await stop();
  },
  environment: async ({ relay }, use) => {
    await use({ TURN_URL: `turn:127.0.0.1:${relay.port}`, TURN_SECRET: SECRET });
  },
});
