import { pino } from 'pino';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { timeOfId } from './id.ts';

// No time passes, so that the differences are exact.
beforeAll(() => void vi.useFakeTimers({ toFake: ['Date'] }));
afterAll(() => void vi.useRealTimers());

/** A server whose clock is so many ms ahead of the database's. */
async function serverAhead(ms: number) {
  const lines: string[] = [];
  const logger = pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) });
  const local = () => Date.now() + ms;
  // Ids of one process never go back, so each server has modules of its own.
  vi.resetModules();
  const [{ createSharedClock }, { newId, setIdOffset }] = [await import('./shared-clock.ts'), await import('./id.ts')];
  const clock = await createSharedClock({ read: () => Promise.resolve(Date.now()), logger, local, now: local });
  onTestFinished(() => {
    clock.close();
    setIdOffset(0);
  });
  return { clock, lines, newId };
}

test.each([90_000, -90_000])(
  'a server whose clock is %i ms ahead gives records the time of the database, and says so',
  async (ms) => {
    const { clock, lines, newId } = await serverAhead(ms);
    expect(clock.now()).toBe(Date.now());
    expect(clock.ahead_ms()).toBe(ms);
    expect(clock.isOff()).toBe(true);
    expect(lines.join('')).toContain(
      `the clock of this machine is 90.0 s ${ms > 0 ? 'ahead of' : 'behind'} that of the database`,
    );
    expect(timeOfId(newId())).toBe(Date.now() - ms);
  },
);

test('a second of difference is corrected without a word, and none is left alone', async () => {
  const late = await serverAhead(-1_000);
  expect([late.clock.isOff(), late.lines]).toEqual([false, []]);
  expect(late.clock.now()).toBe(Date.now());
  const right = await serverAhead(0);
  expect(right.clock.ahead_ms()).toBe(0);
});

test('ids sort by creation, also while the clock is put back', async () => {
  vi.resetModules();
  const { newId, setIdOffset } = await import('./id.ts');
  onTestFinished(() => setIdOffset(0));
  const ids = Array.from({ length: 2_000 }, newId);
  setIdOffset(-60_000);
  ids.push(...Array.from({ length: 2_000 }, newId));
  expect(ids.toSorted()).toEqual(ids);
  expect(new Set(ids).size).toBe(4_000);
});
