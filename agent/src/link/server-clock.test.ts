import { expect, it } from 'vitest';
import { createServerClock } from './server-clock.ts';

it('advances by the elapsed time when the clock of the computer is set', () => {
  let wall = 1_000_000;
  let since_start = 500;
  const clock = createServerClock(
    () => wall,
    () => since_start,
  );
  expect(clock.now()).toBe(1_000_000);
  clock.hear(60_000);
  expect(clock.now()).toBe(1_060_000);
  wall -= 900_000;
  since_start += 30_000;
  expect(clock.now()).toBe(1_090_000);
  clock.hear(0);
  expect(clock.now()).toBe(wall);
});
