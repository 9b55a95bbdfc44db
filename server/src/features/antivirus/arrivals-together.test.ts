import { expect, test } from 'vitest';
import { createMemoryCounters } from '#platform/counters.ts';
import { createArrivals } from './arrivals.ts';

test('files on their way to two servers count together, and one that is done makes room at both', async () => {
  const counters = createMemoryCounters({ now: Date.now });
  const [first, second] = [
    createArrivals({ per_person: 2, all: 3 }, counters),
    createArrivals({ per_person: 2, all: 3 }, counters),
  ];
  const work = [Promise.withResolvers<void>(), Promise.withResolvers<void>(), Promise.withResolvers<void>()] as const;
  const file = (user_id: string) => ({ user_id, key: undefined });
  const sent = [
    first.during(file('maria'), () => work[0].promise),
    second.during(file('maria'), () => work[1].promise),
    second.during(file('other'), () => work[2].promise),
  ];
  // A turn of the event loop: each of them has been counted by then.
  await new Promise((resolve) => setImmediate(resolve));
  const refused = { code: 'too_many_requests' };
  for (const server of [first, second]) {
    await expect(server.during(file('maria'), () => Promise.resolve())).rejects.toMatchObject({ ...refused, retry_after: 5 });
    await expect(server.during(file('third'), () => Promise.resolve())).rejects.toMatchObject({ ...refused, retry_after: 15 });
  }
  work[0].resolve();
  await sent[0];
  expect(await second.during(file('maria'), () => Promise.resolve('read'))).toBe('read');
  for (const { resolve } of work) resolve();
  await Promise.all(sent);
});
