import { ABSENT_AFTER, setPresence } from '@palisade/contract/desk-team';
import { renderHook } from '@testing-library/react';
import { beforeEach, expect, it, vi } from 'vitest';
import { useAbsence } from './absence.ts';
import { TINA, teamMemberOf } from './fake-desk.ts';
import { FakeServer } from './fake-server.ts';

const server = FakeServer.ofEachTest(TINA);

beforeEach(() => {
  vi.useFakeTimers();
  server.answer(setPresence, teamMemberOf());
});

const said = () => server.callsOf(setPresence).map(({ body }) => body);

// proves: support-staff-14
it('says that somebody is away after a while without a key or a move, and back with the first one', () => {
  renderHook(() => useAbsence(true));
  vi.advanceTimersByTime(ABSENT_AFTER - 1_000);
  window.dispatchEvent(new Event('pointermove'));
  vi.advanceTimersByTime(ABSENT_AFTER - 1_000);
  expect(said()).toEqual([]);
  vi.advanceTimersByTime(2_000);
  expect(said()).toEqual([{ presence: 'away', by_hand: false }]);
  window.dispatchEvent(new Event('keydown'));
  expect(said().at(-1)).toEqual({ presence: 'here', by_hand: false });
});

it('counts what is done in another tab', () => {
  renderHook(() => useAbsence(true));
  vi.advanceTimersByTime(ABSENT_AFTER - 1_000);
  localStorage.setItem('palisade.active_at', String(Date.now()));
  vi.advanceTimersByTime(ABSENT_AFTER - 1_000);
  expect(said()).toEqual([]);
  vi.advanceTimersByTime(2_000);
  expect(said()).toHaveLength(1);
});

it('says nothing of who is not at the desk', () => {
  renderHook(() => useAbsence(false));
  vi.advanceTimersByTime(2 * ABSENT_AFTER);
  expect(said()).toEqual([]);
});
