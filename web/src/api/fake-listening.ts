import { readHealth } from '@palisade/contract/platform';
import { afterEach, beforeEach, vi } from 'vitest';
import { keepEventsOpen } from './events.ts';
import { MARIA } from './fake-records.ts';
import { FakeServer, type FakeSocket, reply } from './fake-server.ts';
import { startSession } from './session.ts';

/** Ids of events, one after the other. */
export const CURSOR = '01890a5d-ac96-774b-bcce-b302099a8057';
export const LATER = '01890a5d-ac96-774b-bcce-b302099a8058';

/** For each test of a file a page of somebody who is signed in, which keeps its events socket open. The clock stands still. */
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

  /** The socket that the page has opened last. */
  function latest(): FakeSocket {
    const socket = page.server.sockets.at(-1);
    if (!socket) throw new Error('The page has opened no socket');
    return socket;
  }

  /** Lets it in. */
  function welcome(missed = false): FakeSocket {
    const socket = latest();
    socket.open();
    socket.say({ kind: 'welcome', cursor: CURSOR, missed, heartbeat_ms: 25_000 });
    return socket;
  }

  return page;
}
