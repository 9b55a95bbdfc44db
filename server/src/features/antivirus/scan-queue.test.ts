// proves: asvs-15.2.2
import { eventually } from '@palisade/scanner/test/eventually';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createScanQueue, SET_ASIDE } from './scan-queue.ts';

const [SMALL, BIG] = [10, 1000];
const LIMITS = { small_bytes: 100, quick_ms: 1_000, budget_ms: 20_000 };

/** Turns whose work ends when the test says so. */
function stage(slots: number) {
  const scanQueue = createScanQueue({ slots, ...LIMITS });
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const places = new Map<string, number>();
  const aborts = new Map<string, AbortController>();
  return {
    scanQueue,
    begun,
    places,
    /** Names that have begun and not ended. */
    running: () => [...ends.keys()],
    bring(user_id: string, name: string, size: number) {
      const abort = new AbortController();
      aborts.set(name, abort);
      return scanQueue.take(
        { user_id, size, signal: abort.signal, onPlace: (place) => void places.set(name, place) },
        async (_stop, takenUp) => {
          takenUp();
          begun.push(name);
          await new Promise<void>((resolve) => ends.set(name, resolve));
          return name;
        },
      );
    },
    async end(name: string) {
      ends.get(name)?.();
      ends.delete(name);
      await settled();
    },
    abort: (name: string) => aborts.get(name)?.abort(),
  };
}

/** Waits until all callbacks that are due have run. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('turns', () => {
  test('a small file never waits behind the big ones of others', async () => {
    const { begun, bring } = stage(3);
    for (const name of ['b1', 'b2', 'b3', 'b4']) void bring(name === 'b4' ? 'zoe' : 'maria', name, BIG);
    void bring('adam', 's1', SMALL);
    await settled();
    expect(begun).toEqual(['b1', 'b2', 's1']);
  });

  // proves: attack-A.5-1
  test('no person holds every slot, for any sizes of their files', async () => {
    const { begun, bring, end } = stage(3);
    for (const name of ['b1', 'b2', 'b3']) void bring('maria', name, BIG);
    for (const name of ['s1', 's2']) void bring('maria', name, SMALL);
    await settled();
    expect(begun).toEqual(['b1', 'b2']);
    void bring('zoe', 'z1', SMALL);
    await settled();
    expect(begun).toEqual(['b1', 'b2', 'z1']);
    await end('b1');
    expect(begun).toEqual(['b1', 'b2', 'z1', 'b3']);
  });

  test('where there is one slot alone, a small file goes before the big ones that wait', async () => {
    const { begun, bring, end } = stage(1);
    for (const name of ['b1', 'b2', 'b3']) void bring('maria', name, BIG);
    void bring('zoe', 's1', SMALL);
    await settled();
    await end('b1');
    expect(begun).toEqual(['b1', 's1']);
  });

  test('small files do not keep big ones out', async () => {
    const { begun, bring, end, running } = stage(2);
    for (let count = 1; count <= 4; count += 1) void bring('maria', `s${count}`, SMALL);
    await settled();
    void bring('zoe', 'b1', BIG);
    await settled();
    // One person’s files leave a slot free, and it is the big file’s.
    expect(begun).toEqual(['s1', 'b1']);
    await end('s1');
    expect(running().sort()).toEqual(['b1', 's2']);
  });

  test('people take turns, however many files they bring', async () => {
    const { begun, bring, end } = stage(2);
    for (const name of ['m1', 'm2', 'm3', 'm4']) void bring('maria', name, BIG);
    for (const name of ['z1', 'z2']) void bring('zoe', name, BIG);
    void bring('adam', 'a1', BIG);
    await settled();
    while (begun.length < 7) await end(begun.at(-1) ?? '');
    expect(begun).toEqual(['m1', 'z1', 'a1', 'm2', 'z2', 'm3', 'm4']);
  });

  test('places are reported in that order, and again as the queue moves', async () => {
    const { bring, end, places } = stage(1);
    for (const name of ['m1', 'm2', 'm3']) void bring('maria', name, BIG);
    void bring('zoe', 'z1', BIG);
    await eventually(() => expect(Object.fromEntries(places)).toEqual({ z1: 1, m2: 2, m3: 3 }));
    await end('m1');
    await eventually(() => expect(Object.fromEntries(places)).toEqual({ z1: 1, m2: 1, m3: 2 }));
  });

  test('a file that gives its place up is not served, and those behind move up', async () => {
    const { abort, begun, bring, end } = stage(1);
    void bring('maria', 'm1', BIG);
    const given_up = bring('maria', 'm2', BIG);
    void bring('maria', 'm3', BIG);
    await settled();
    abort('m2');
    expect(await given_up).toBeUndefined();
    await end('m1');
    expect(begun).toEqual(['m1', 'm3']);
  });

  test('work that fails gives its slot back', async () => {
    const scanQueue = createScanQueue({ slots: 1, ...LIMITS });
    await expect(scanQueue.take({ user_id: 'maria', size: BIG }, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(await scanQueue.take({ user_id: 'maria', size: BIG }, async () => 'done')).toBe('done');
  });

  test('invariants: no slot is overbooked or idle, big files leave one, each file is served once', async () => {
    const file = fc.record({ user: fc.constantFrom('a', 'b', 'c'), big: fc.boolean(), aborted: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 4 }),
        fc.array(file, { maxLength: 25 }),
        fc.infiniteStream(fc.nat()),
        async (slots, files, picks) => {
          const { abort, begun, bring, end, running } = stage(slots);
          const isBig = (name: string) => name.startsWith('big');
          const results = files.map(({ user, big }, index) =>
            bring(user, `${big ? 'big' : 'small'} ${user} ${index}`, big ? BIG : SMALL),
          );
          await settled();
          const waiting = new Set(files.map(({ user, big }, index) => `${big ? 'big' : 'small'} ${user} ${index}`));
          for (const name of begun) waiting.delete(name);
          for (const [index, { user, big, aborted }] of files.entries()) {
            const name = `${big ? 'big' : 'small'} ${user} ${index}`;
            if (aborted && waiting.delete(name)) abort(name);
          }
          const expected = begun.length + waiting.size;
          for (;;) {
            const now = running();
            for (const name of begun) waiting.delete(name);
            const bigs = now.filter(isBig).length;
            expect(now.length).toBeLessThanOrEqual(slots);
            if (slots > 1) expect(bigs).toBeLessThan(slots);
            const most = Math.max(1, slots - 1);
            const heldBy = (user: string) => now.filter((name) => name.split(' ')[1] === user).length;
            for (const user of ['a', 'b', 'c']) expect(heldBy(user)).toBeLessThanOrEqual(most);
            const smallsWait = [...waiting].some((name) => !isBig(name) && heldBy(name.split(' ')[1] ?? '') < most);
            if (smallsWait) expect(now.some((name) => !isBig(name)) || now.length === slots).toBe(true);
            if (smallsWait && slots > 1) expect(now.some((name) => !isBig(name))).toBe(true);
            if (now.length === 0) break;
            await end(now[(picks.next().value ?? 0) % now.length] ?? '');
          }
          expect(waiting.size).toBe(0);
          expect(begun).toHaveLength(expected);
          expect(new Set(begun).size).toBe(expected);
          const served = (await Promise.all(results)).filter((name) => name !== undefined);
          expect(served.sort()).toEqual(begun.toSorted());
        },
      ),
      { numRuns: 60 },
    );
  });

  test('no file is served after the close, and none waits for ever', async () => {
    const { begun, bring, scanQueue } = stage(1);
    void bring('maria', 'm1', BIG);
    const waiting = bring('maria', 'm2', BIG);
    await settled();
    scanQueue.close();
    expect(await waiting).toBeUndefined();
    expect(await bring('maria', 'm3', BIG)).toBeUndefined();
    expect(begun).toEqual(['m1']);
  });
});

/** The state of a file. */
interface State {
  waited_ms: number;
  begun: number;
  ended_ms: number | undefined;
}

/** Turns by a clock of the test's own: files take their given time, and begin anew when they are set aside. */
function clockwork(slots = 3) {
  const scanQueue = createScanQueue({ slots, ...LIMITS });
  const files = new Map<string, State>();
  const order: string[] = [];
  return {
    order,
    files,
    async bring(name: string, file: { by: string; takes_ms: number; size?: number; is_new?: boolean; starts_ms?: number }) {
      const came = performance.now();
      const { by: user_id, takes_ms, size = SMALL, is_new = false, starts_ms = 0 } = file;
      const state: State = { waited_ms: Number.NaN, begun: 0, ended_ms: undefined };
      files.set(name, state);
      await scanQueue.take({ user_id, size, is_new }, (stop, takenUp) => {
        setTimeout(takenUp, starts_ms);
        if (state.begun === 0) state.waited_ms = performance.now() - came;
        state.begun += 1;
        order.push(name);
        return new Promise<'read' | typeof SET_ASIDE>((resolve) => {
          const read = setTimeout(() => {
            state.ended_ms = performance.now() - came;
            resolve('read');
          }, takes_ms);
          stop.addEventListener('abort', () => {
            clearTimeout(read);
            resolve(SET_ASIDE);
          });
        });
      });
    },
    stateOf: (name: string) => files.get(name) ?? expect.fail(`no file ${name}`),
  };
}

describe('turns, by the clock', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
  afterEach(() => void vi.useRealTimers());
  const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);
  const MINUTE = 60_000;

  // proves: attack-A.5-4
  test('another person’s small file is read at once while one account floods with slow small ones', async () => {
    const { bring, stateOf } = clockwork();
    for (let count = 0; count < 12; count += 1) void bring(`slow ${count}`, { by: 'eve', takes_ms: 30_000 });
    await pass(5_000);
    void bring('letter', { by: 'zoe', takes_ms: 10 });
    await pass(100);
    expect(stateOf('letter')).toMatchObject({ waited_ms: 0, ended_ms: 10 });
  });

  test.each([0, 100, 900, 5_000, 100_000])(
    'it waits no longer than a file may be quick when twelve new accounts flood, %d ms after they began',
    async (after_ms) => {
      const { bring, stateOf } = clockwork();
      for (let count = 0; count < 12; count += 1)
        void bring(`slow ${count}`, { by: `eve ${count}`, takes_ms: 120_000, is_new: true });
      await pass(after_ms);
      void bring('letter', { by: 'zoe', takes_ms: 10 });
      await pass(2_000);
      expect(stateOf('letter').waited_ms).toBeLessThanOrEqual(LIMITS.quick_ms);
      expect(stateOf('letter').ended_ms).toBeDefined();
    },
  );

  test('every slow file is read in the end, each set aside once at most in such a flood', async () => {
    const { bring, files } = clockwork();
    for (let count = 0; count < 12; count += 1)
      void bring(`slow ${count}`, { by: `eve ${count}`, takes_ms: 30_000, is_new: true });
    for (let count = 0; count < 60; count += 1) {
      await pass(5_000);
      void bring(`letter ${count}`, { by: 'zoe', takes_ms: 10 });
    }
    await pass(MINUTE);
    for (const [name, { ended_ms, begun }] of files) {
      expect([name, ended_ms]).toEqual([name, expect.any(Number)]);
      expect([name, begun <= 2]).toEqual([name, true]);
    }
  });

  test('the time in which a process starts does not count: a file that waits for it does not become slow', async () => {
    const { bring, stateOf } = clockwork();
    for (const name of ['a', 'b', 'c']) void bring(name, { by: name, takes_ms: 3_500, starts_ms: 3_000 });
    for (const name of ['d', 'e', 'f']) void bring(name, { by: name, takes_ms: 10 });
    await pass(3_900);
    for (const name of ['a', 'b', 'c']) expect(stateOf(name)).toMatchObject({ begun: 1, ended_ms: 3_500 });
    for (const name of ['d', 'e', 'f']) expect(stateOf(name)).toMatchObject({ begun: 1 });
  });

  test('a file that is slow and alone is not set aside', async () => {
    const { bring, stateOf } = clockwork();
    for (const name of ['one', 'two', 'three']) void bring(name, { by: name, takes_ms: 20_000 });
    await pass(20_000);
    for (const name of ['one', 'two', 'three']) expect(stateOf(name)).toMatchObject({ begun: 1, ended_ms: 20_000 });
  });

  test('of slow files the one that lost least is set aside: it was read for the shortest time', async () => {
    const { bring, stateOf } = clockwork();
    void bring('oldest', { by: 'a', takes_ms: 100_000 });
    await pass(10_000);
    void bring('middle', { by: 'b', takes_ms: 100_000 });
    await pass(10_000);
    void bring('youngest', { by: 'c', takes_ms: 100_000 });
    await pass(10_000);
    void bring('letter', { by: 'd', takes_ms: 10 });
    await pass(200_000);
    expect(stateOf('letter').waited_ms).toBe(0);
    expect([stateOf('oldest').begun, stateOf('middle').begun, stateOf('youngest').begun]).toEqual([1, 1, 2]);
  });

  // proves: attack-A.5-2
  test('a person who has used up the engine time of a minute comes behind all others, and is never refused for that alone', async () => {
    const { bring, order, stateOf } = clockwork();
    // Two at once for 11 seconds are 22 seconds of an engine.
    for (const name of ['m1', 'm2']) void bring(name, { by: 'maria', takes_ms: 11_000, size: BIG });
    void bring('b1', { by: 'bob', takes_ms: 11_500 });
    await pass(10_900);
    for (const name of ['m3', 'm4']) void bring(name, { by: 'maria', takes_ms: 100, size: BIG });
    for (const name of ['z1', 'z2', 'z3']) void bring(name, { by: name, takes_ms: 1_000, size: BIG });
    await pass(5_000);
    expect(order.filter((name) => /[mz][1-4]/.test(name))).toEqual(['m1', 'm2', 'z1', 'z2', 'z3', 'm3', 'm4']);
    expect(stateOf('m4').ended_ms).toBeDefined();
    // A minute later it is forgotten: turns go by who was served longest ago again.
    await pass(MINUTE);
    order.length = 0;
    for (const name of ['x1', 'x2', 'x3']) void bring(name, { by: name, takes_ms: 100, size: BIG });
    void bring('m5', { by: 'maria', takes_ms: 100, size: BIG });
    void bring('x4', { by: 'x4', takes_ms: 100, size: BIG });
    await pass(1_000);
    expect(order.indexOf('m5')).toBeLessThan(5);
    expect(stateOf('m5').ended_ms).toBeDefined();
  });

  // proves: attack-A.5-3
  test('accounts of the last day come behind older ones, are served when no others wait, and do not wait for ever', async () => {
    const { bring, order, stateOf } = clockwork();
    for (const name of ['a', 'b']) void bring(name, { by: name, takes_ms: 1_000, size: BIG });
    void bring('new', { by: 'new', takes_ms: 100, size: BIG, is_new: true });
    void bring('old', { by: 'old', takes_ms: 100, size: BIG });
    await pass(2_000);
    expect(order).toEqual(['a', 'b', 'old', 'new']);
    // As many files of older accounts as the engines can read, all the time.
    void bring('patient', { by: 'patient', takes_ms: 100, size: BIG, is_new: true });
    for (let count = 0; count < 400; count += 1) {
      void bring(`busy ${count}`, { by: `person ${count}`, takes_ms: 1_000, size: BIG });
      if (count > 2) await pass(500);
    }
    expect(stateOf('patient').waited_ms).toBeLessThan(2 * MINUTE);
  });
});

describe('files in memory', () => {
  /** Like `stage`, for files that share places. `say` is what the work of a file was given. */
  function shared(slots: number) {
    const scanQueue = createScanQueue({ slots, ...LIMITS });
    const said: string[] = [];
    const running = new Map<string, { long: () => void; end: (answer: unknown) => void }>();
    return {
      said,
      running,
      bring: (user_id: string, name: string, is_held = true) =>
        scanQueue.take({ user_id, size: is_held ? SMALL : BIG, is_held }, async (_stop, begun, together) => {
          begun();
          said.push(together === undefined ? `${name} alone` : name);
          return await new Promise<unknown>((end) => running.set(name, { end, long: () => together?.onLong() }));
        }),
    };
  }
  const names = (count: number, prefix = 's') => Array.from({ length: count }, (_, at) => `${prefix}${at}`);

  test('take one place together, up to eight of them', async () => {
    const { said, bring } = shared(2);
    for (const name of names(10)) void bring('maria', name);
    await settled();
    expect(said).toEqual(names(8));
    void bring('zoe', 'z', true);
    await settled();
    expect(said).toEqual([...names(8), 'z']);
  });

  test('take a place each once they show that they take long', async () => {
    const { said, running, bring } = shared(3);
    void bring('maria', 'a');
    void bring('maria', 'b');
    await settled();
    running.get('a')?.long();
    running.get('b')?.long();
    void bring('maria', 'c');
    await settled();
    expect(said).toEqual(['a', 'b']);
    void bring('zoe', 'z');
    await settled();
    expect(said).toEqual(['a', 'b', 'z']);
  });

  test('come next in a place of their own when they were set aside, and are not slow for that', async () => {
    const { said, running, bring } = shared(2);
    void bring('maria', 'a');
    await settled();
    void bring('zoe', 'big', false);
    void bring('maria', 'other', false);
    running.get('a')?.end(SET_ASIDE);
    await settled();
    expect(said).toEqual(['a', 'big alone', 'a alone']);
  });

  test('do not keep a large file from its turn, however many come', async () => {
    const { said, running, bring } = shared(2);
    for (const name of names(9)) void bring(name, name);
    await settled();
    void bring('adam', 'big', false);
    for (const name of names(4, 'later')) void bring(name, name);
    for (const name of names(2)) running.get(name)?.end('done');
    await settled();
    expect(said).toContain('big alone');
  });
});
