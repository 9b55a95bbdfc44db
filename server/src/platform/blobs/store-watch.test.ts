import { expect, test } from 'vitest';
import { createStoreWatch } from './store-watch.ts';

/** A store that is there or not, by a clock of the test's own. */
function stage() {
  const store = { is_there: true, asked: 0, at_ms: 0 };
  const check = () => {
    store.asked += 1;
    return store.is_there ? Promise.resolve() : Promise.reject(new Error('away'));
  };
  return { store, watch: createStoreWatch({ check, now: () => store.at_ms }) };
}

test('a store that does not answer is away until it answers again, and is asked every 5 s', async () => {
  const { store, watch } = stage();
  expect(await watch.state()).toBe('ok');
  store.is_there = false;
  expect([await watch.state(), store.asked]).toEqual(['ok', 1]);
  store.at_ms += 5_000;
  expect([await watch.state(), await watch.state(), store.asked]).toEqual(['away', 'away', 2]);
  store.is_there = true;
  store.at_ms += 5_000;
  expect([await watch.state(), store.asked]).toEqual(['ok', 3]);
});

test('a store that is silent for a second is away', async () => {
  const hanging = Promise.withResolvers<void>();
  const watch = createStoreWatch({ check: () => hanging.promise });
  expect(await watch.state()).toBe('away');
  hanging.resolve();
  await hanging.promise;
  expect(await watch.state()).toBe('ok');
});
