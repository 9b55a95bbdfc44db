import { expect, test } from 'vitest';
import { joinSignals } from './joined-signal.ts';

test('is aborted with the first of its signals, for the same reason', () => {
  const [one, other] = [new AbortController(), new AbortController()];
  const { signal } = joinSignals([one.signal, other.signal]);
  expect(signal.aborted).toBe(false);
  other.abort('cancelled');
  one.abort('late');
  expect([signal.aborted, signal.reason]).toEqual([true, 'cancelled']);
});

test('is aborted at once when one of them is', () => {
  expect(joinSignals([new AbortController().signal, AbortSignal.abort('before')]).signal.reason).toBe('before');
});

test('is not aborted any more once it is released', () => {
  const one = new AbortController();
  const joined = joinSignals([one.signal]);
  joined.release();
  one.abort();
  expect(joined.signal.aborted).toBe(false);
  joined.abort();
  expect(joined.signal.aborted).toBe(true);
});
