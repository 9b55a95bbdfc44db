import { expect, test, vi } from 'vitest';
import { newWait, waitingAs, withPatience } from './database-patience.ts';

const PATIENCE_MS = 500;
/** An answer that the process hears in the same turn in which late timers fire, after them. */
const answer = () => new Promise<string>((resolve) => setImmediate(() => resolve('heard')));
/** Keeps this process from doing anything. */
const standStill = (ms: number) => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

test('an answer that came while the process stood still is heard, and the request may go on waiting', async () => {
  const onLate = vi.fn();
  await waitingAs(newWait(), async () => {
    const first = withPatience(PATIENCE_MS, answer, onLate);
    standStill(PATIENCE_MS + 1_100);
    expect(await first).toBe('heard');
    // That wait does not count, so that the next one has all the time.
    expect(await withPatience(PATIENCE_MS, answer, onLate)).toBe('heard');
  });
  expect(onLate).not.toHaveBeenCalled();
});

test('an answer that does not come is given up', async () => {
  const onLate = vi.fn();
  await expect(withPatience(1, () => new Promise(() => {}), onLate)).rejects.toMatchObject({ trouble: 'away' });
  expect(onLate).toHaveBeenCalledOnce();
});
