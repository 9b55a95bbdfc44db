import { EVENTS_CLOSED } from '@palisade/contract/events';
import { renderHook } from '@testing-library/react';
import { describe, expect, it, vi } from 'vitest';
import { useConnection } from './connection.ts';
import { hearTopic, isLive, onEvent, saySignal } from './events.ts';
import { CURSOR, eachListens, LATER } from './fake-listening.ts';
import { currentSession, useSession } from './session.ts';

const page = eachListens();
const { latest, welcome } = page;
const connection = () => renderHook(useConnection).result.current;

describe('the events socket', () => {
  it('says who it is first, and not in its address', () => {
    latest().open();
    expect(latest().address).toBe('ws://localhost:3000/api/events');
    expect(latest().sent).toEqual([{ kind: 'hello', access_token: 'token-1' }]);
  });

  it('answers heartbeats, and tells events to who asked for their kind', () => {
    const removed = vi.fn();
    const unsubscribe = onEvent('scan_removed', removed);
    const socket = welcome();
    socket.say({ kind: 'ping' });
    expect(socket.sent.at(-1)).toEqual({ kind: 'pong' });
    socket.say({ kind: 'event', id: LATER, event: { kind: 'alerts_changed' } });
    expect(removed).not.toHaveBeenCalled();
    socket.say({ kind: 'event', id: LATER, event: { kind: 'scan_removed', scan_id: CURSOR } });
    expect(removed).toHaveBeenCalledExactlyOnceWith({ kind: 'scan_removed', scan_id: CURSOR });
    unsubscribe();
  });

  it('is what Online and Offline follow', () => {
    welcome();
    expect([connection(), isLive()]).toEqual(['online', true]);
    latest().breakOff();
    expect([connection(), isLive()]).toEqual(['offline', false]);
    vi.advanceTimersByTime(500);
    welcome();
    expect([connection(), isLive()]).toEqual(['online', true]);
  });

  // proves: support-fault-3
  it('comes back after a loss, waits longer each time, and resumes after its last event', () => {
    welcome().say({ kind: 'event', id: LATER, event: { kind: 'alerts_changed' } });
    latest().breakOff();
    for (const longest of [500, 1_000, 2_000, 2_500]) {
      const tried = page.server.sockets.length;
      vi.advanceTimersByTime(longest / 2 - 1);
      expect(page.server.sockets).toHaveLength(tried);
      vi.advanceTimersByTime(longest / 2 + 1);
      expect(page.server.sockets).toHaveLength(tried + 1);
      latest().breakOff();
    }
    vi.advanceTimersByTime(8_000);
    latest().open();
    expect(latest().sent).toEqual([{ kind: 'hello', access_token: 'token-1', after: LATER }]);
  });

  it('never waits longer than half a minute, and not at all when the network is back', () => {
    for (let failure = 0; failure < 12; failure += 1) {
      latest().breakOff();
      vi.advanceTimersByTime(30_000);
      expect(page.server.sockets).toHaveLength(failure + 2);
    }
    latest().breakOff();
    window.dispatchEvent(new Event('online'));
    expect(page.server.sockets).toHaveLength(14);
  });

  it('takes two silent heartbeats for a loss', () => {
    const socket = welcome();
    vi.advanceTimersByTime(49_000);
    socket.say({ kind: 'ping' });
    vi.advanceTimersByTime(49_000);
    expect(socket.isClosed).toBe(false);
    vi.advanceTimersByTime(1_500);
    expect(socket.isClosed).toBe(true);
    expect(page.server.sockets).toHaveLength(2);
  });

  it('ends the session that the server has ended, and does not come back with its token', () => {
    welcome().breakOff(EVENTS_CLOSED.unauthenticated);
    vi.advanceTimersByTime(499);
    expect(currentSession()).toBeDefined();
    vi.advanceTimersByTime(60_000);
    expect(currentSession()).toBeUndefined();
    expect(page.server.sockets).toHaveLength(1);
  });

  it('says that the account was deleted where its session ended with it', () => {
    welcome().breakOff(EVENTS_CLOSED.account_deleted);
    vi.advanceTimersByTime(500);
    expect(renderHook(useSession).result.current).toEqual({ session: undefined, notice: 'account_deleted' });
  });

  it('is closed for good when nobody keeps it open', () => {
    const socket = welcome();
    page.stop();
    expect(socket.isClosed).toBe(true);
    socket.breakOff();
    vi.advanceTimersByTime(60_000);
    expect(page.server.sockets).toHaveLength(1);
  });
});

describe('a remote session', () => {
  const topic = { session_id: LATER };
  const told = () => ({ onMissed: vi.fn(), onListening: vi.fn(), onRefused: vi.fn<(isTaken: boolean) => void>() });

  it('is heard again after a loss, is spoken to, and is left', () => {
    const { onMissed, ...more } = told();
    const leave = hearTopic(topic, onMissed, more);
    const first = welcome();
    expect(first.sent.at(-1)).toEqual({ kind: 'listen_remote', session_id: LATER });
    first.say({ kind: 'listening', topic, cursor: CURSOR, missed: false });
    expect(more.onListening).toHaveBeenCalledTimes(1);
    saySignal(LATER, { type: 'paused' });
    expect(first.sent.at(-1)).toEqual({ kind: 'remote_signal', session_id: LATER, signal: { type: 'paused' } });
    first.breakOff();
    vi.advanceTimersByTime(1_000);
    const second = welcome();
    expect(second.sent.at(-1)).toEqual({ kind: 'listen_remote', session_id: LATER, after: CURSOR });
    second.say({ kind: 'listening', topic, cursor: CURSOR, missed: true });
    expect(more.onListening).toHaveBeenCalledTimes(2);
    // At first too: what was read before it was heard may be old.
    expect(onMissed).toHaveBeenCalledTimes(2);
    leave();
    expect(second.sent.at(-1)).toEqual({ kind: 'leave_remote', session_id: LATER });
  });

  it('tells who hears it that another page has the place, or that it is over', () => {
    const { onMissed, ...more } = told();
    const other = told();
    const leaves = [hearTopic(topic, onMissed, more), hearTopic({ session_id: CURSOR }, other.onMissed, other)];
    const socket = welcome();
    socket.say({ kind: 'refused', topic, why: 'taken' });
    socket.say({ kind: 'refused', topic });
    expect(more.onRefused.mock.calls).toEqual([[true], [false]]);
    expect(other.onRefused).not.toHaveBeenCalled();
    for (const leave of leaves) leave();
  });

  it('is told nothing while the page is not connected', () => {
    saySignal(LATER, { type: 'paused' });
    expect(latest().sent).toEqual([]);
  });
});
