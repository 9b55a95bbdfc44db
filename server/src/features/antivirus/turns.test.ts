import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { createTurns } from './turns.ts';

const [SMALL, BIG] = [10, 1000];

/** Turns whose work ends when the test says so. */
function stage(slots: number) {
  const turns = createTurns({ slots, small_bytes: 100 });
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const places = new Map<string, number>();
  const aborts = new Map<string, AbortController>();
  return {
    turns,
    begun,
    places,
    /** Names that have begun and not ended. */
    running: () => [...ends.keys()],
    bring(user_id: string, name: string, size: number) {
      const abort = new AbortController();
      aborts.set(name, abort);
      return turns.take({ user_id, size, signal: abort.signal, onPlace: (place) => void places.set(name, place) }, async () => {
        begun.push(name);
        await new Promise<void>((resolve) => ends.set(name, resolve));
        return name;
      });
    },
    async end(name: string) {
      ends.get(name)?.();
      ends.delete(name);
      await settled();
    },
    abort: (name: string) => aborts.get(name)?.abort(),
  };
}

/** Whoever can go on has gone on. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('turns', () => {
  test('a small file never waits behind big ones, one’s own or others’', async () => {
    const { begun, bring } = stage(3);
    for (const name of ['b1', 'b2', 'b3', 'b4']) void bring(name === 'b4' ? 'zoe' : 'maria', name, BIG);
    void bring('maria', 's1', SMALL);
    await settled();
    expect(begun).toEqual(['b1', 'b2', 's1']);
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
    // One person’s small files leave a slot free, and it is the big file’s.
    expect(begun).toEqual(['s1', 'b1']);
    await end('s1');
    expect(running().sort()).toEqual(['b1', 's2']);
  });

  test('people take turns, whoever has brought how many', async () => {
    const { begun, bring, end } = stage(2);
    for (const name of ['m1', 'm2', 'm3', 'm4']) void bring('maria', name, BIG);
    for (const name of ['z1', 'z2']) void bring('zoe', name, BIG);
    void bring('adam', 'a1', BIG);
    await settled();
    while (begun.length < 7) await end(begun.at(-1) ?? '');
    expect(begun).toEqual(['m1', 'z1', 'a1', 'm2', 'z2', 'm3', 'm4']);
  });

  test('places are told in that order, and again as the queue moves', async () => {
    const { bring, end, places } = stage(1);
    for (const name of ['m1', 'm2', 'm3']) void bring('maria', name, BIG);
    void bring('zoe', 'z1', BIG);
    await vi.waitFor(() => expect(Object.fromEntries(places)).toEqual({ z1: 1, m2: 2, m3: 3 }));
    await end('m1');
    await vi.waitFor(() => expect(Object.fromEntries(places)).toEqual({ z1: 1, m2: 1, m3: 2 }));
  });

  test('who gives their place up is not served, and those behind move up', async () => {
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
    const turns = createTurns({ slots: 1, small_bytes: 100 });
    await expect(turns.take({ user_id: 'maria', size: BIG }, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(await turns.take({ user_id: 'maria', size: BIG }, async () => 'done')).toBe('done');
  });

  test('whatever comes and goes: no slot is overbooked or idle, big files leave one, everybody is served once', async () => {
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
            const smallsWait = [...waiting].some((name) => !isBig(name));
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

  test('nobody is served after the close, and nobody waits for ever', async () => {
    const { begun, bring, turns } = stage(1);
    void bring('maria', 'm1', BIG);
    const waiting = bring('maria', 'm2', BIG);
    await settled();
    turns.close();
    expect(await waiting).toBeUndefined();
    expect(await bring('maria', 'm3', BIG)).toBeUndefined();
    expect(begun).toEqual(['m1']);
  });
});
