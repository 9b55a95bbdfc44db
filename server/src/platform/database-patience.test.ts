import { readFile } from 'node:fs/promises';
import { expect, test, vi } from 'vitest';
import { newWait, waitingAs, withPatience } from './database-patience.ts';

const PATIENCE_MS = 50;
/** Keeps this process from doing anything. */
const standStill = (ms: number) => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

test('an answer that came while the process stood still is heard, and the request may go on waiting', async () => {
  const onLate = vi.fn();
  await waitingAs(newWait(), async () => {
    const first = withPatience(PATIENCE_MS, () => readFile(import.meta.filename, 'utf8'), onLate);
    standStill(PATIENCE_MS + 1_100);
    expect(await first).toContain('standStill');
    expect(await withPatience(PATIENCE_MS, () => readFile(import.meta.filename, 'utf8'), onLate)).toContain('standStill');
  });
  expect(onLate).not.toHaveBeenCalled();
});

test('an answer that does not come is given up', async () => {
  const onLate = vi.fn();
  await expect(withPatience(1, () => new Promise(() => {}), onLate)).rejects.toMatchObject({ trouble: 'away' });
  expect(onLate).toHaveBeenCalledOnce();
});
