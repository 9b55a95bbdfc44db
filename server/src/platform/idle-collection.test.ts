import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { collectWhenIdle } from './idle-collection.ts';

const MIB = 1024 ** 2;
const LOOK_MS = 10_000;

const state = { held: 50 * MIB, left: 36 * MIB, share: 0, collections: 0 };
let stop: () => void;

beforeEach(() => {
  vi.useFakeTimers();
  Object.assign(state, { held: 50 * MIB, left: 36 * MIB, share: 0.01, collections: 0 });
  stop = collectWhenIdle({
    held: () => state.held,
    collect() {
      state.collections += 1;
      state.held = state.left;
    },
    busyShare: () => state.share,
  });
});

afterEach(() => {
  stop();
  vi.useRealTimers();
});

test('collects the garbage of the start once the server is idle, and no more while it stays idle', () => {
  vi.advanceTimersByTime(LOOK_MS);
  expect(state).toMatchObject({ collections: 1, held: 36 * MIB });
  vi.advanceTimersByTime(10 * LOOK_MS);
  expect(state.collections).toBe(1);
});

test('a server that works is left alone until it rests', () => {
  state.share = 0.2;
  vi.advanceTimersByTime(10 * LOOK_MS);
  expect(state.collections).toBe(0);
  state.share = 0.01;
  vi.advanceTimersByTime(LOOK_MS);
  expect(state.collections).toBe(1);
});

test('collects the garbage of calls where it is worth while', () => {
  vi.advanceTimersByTime(LOOK_MS);
  state.held = 40 * MIB;
  vi.advanceTimersByTime(LOOK_MS);
  expect(state.collections).toBe(1);
  state.held = 43 * MIB;
  vi.advanceTimersByTime(LOOK_MS);
  expect(state).toMatchObject({ collections: 2, held: 36 * MIB });
});

test('it ends', () => {
  stop();
  vi.advanceTimersByTime(10 * LOOK_MS);
  expect(state.collections).toBe(0);
});
