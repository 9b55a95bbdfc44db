import { readHealth } from '@palisade/contract/platform';
import { afterEach, beforeEach, vi } from 'vitest';
import { keepEventsOpen } from './events.ts';
import { MARIA } from './fake-records.ts';
import { FakeServer, type FakeSocket, reply } from './fake-server.ts';
import { startSession } from './session.ts';

/** Two event ids in order. */
export const CURSOR = '01890a5d-ac96-774b-bcce-b302099a8057';
export const LATER = '01890a5d-ac96-774b-bcce-b302099a8058';

/** Gives each test a page of a signed-in person with an open events socket. The clock is stopped. */
export function eachListens() {
  const page = { server: new FakeServer(), stop: () => {}, latest, welcome };

  beforeEach(() => {
    vi.useFakeTimers();
    page.server = new FakeServer();
    page.server.on(readHealth, reply(readHealth, { status: 'ok' }));
    startSession({ access_token: 'token-1', user_info: MARIA });
    page.stop = keepEventsOpen('token-1');
  });

  afterEach(() => {
    page.stop();
    vi.useRealTimers();
  });

  function latest(): FakeSocket {
    const socket = page.server.sockets.at(-1);
    if (!socket) throw new Error('The page has opened no socket');
    return socket;
  }

  /** Answers the socket with the server's welcome. */
  function welcome(missed = false): FakeSocket {
    const socket = latest();
    socket.open();
    socket.say({ kind: 'welcome', cursor: CURSOR, missed, heartbeat_ms: 25_000 });
    return socket;
  }

  return page;
}
