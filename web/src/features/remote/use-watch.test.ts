import type { CustomerSignal } from '@palisade/contract/remote-signal';
import { act, renderHook } from '@testing-library/react';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { keepEventsOpen } from '#api/events.ts';
import { TINA } from '#api/fake-desk.ts';
import { FakeServer } from '#api/fake-server.ts';
import { sessionOf } from './fake-sessions.ts';
import { useWatch } from './use-watch.ts';

const server = FakeServer.ofEachTest({ ...TINA });
let close: () => void;

beforeEach(() => {
  close = keepEventsOpen('token-1');
  server.socket.open();
  server.socket.say({ kind: 'welcome', cursor: '01890a5d-ac96-774b-bcce-b302099a8057', missed: false, heartbeat_ms: 25_000 });
});

afterEach(() => close());

it('is paused and shown again as the customer’s page says, and not by what the technician’s own page or another session says', () => {
  const session = sessionOf({ status: 'active', share: 'running', view: 'screen', is_customer_here: true });
  const { result } = renderHook(() => useWatch(session, 0));
  const say = (signal: CustomerSignal, from: 'customer' | 'technician' = 'customer', session_id = session.id) => {
    const event = { kind: 'remote_signal', session_id, from, signal } as const;
    act(() => server.socket.say({ kind: 'event', id: null, topic: { session_id: session.id }, event }));
    return result.current.isPaused;
  };
  expect(say({ type: 'choosing' })).toBe(false);
  expect(say({ type: 'paused' }, 'technician')).toBe(false);
  expect(say({ type: 'paused' }, 'customer', '01890a5d-ac96-774b-bcce-b302099a8058')).toBe(false);
  expect(say({ type: 'paused' })).toBe(true);
  expect(say({ type: 'choosing' })).toBe(true);
  expect(say({ type: 'resumed' })).toBe(false);
  say({ type: 'paused' });
  expect(say({ type: 'share_stopped', connection_id: null })).toBe(false);
});
