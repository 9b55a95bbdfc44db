import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Bench, createBench, createRandom, fuzzOnce } from './kernel-fuzz.ts';
import { endNamespaces, no_namespaces, temporaryFolder } from './namespace.ts';

const SEED = 20_261_120;
const RULESETS = 6;
const PACKETS = 200;

describe.skipIf(no_namespaces !== undefined)('the kernel', () => {
  let bench: Bench;
  beforeAll(async () => {
    bench = await createBench(temporaryFolder());
  });
  afterAll(() => {
    bench.close();
    endNamespaces();
  });

  it('does with random packets under random rules what the judge says, and counts them for the rule that the judge names', async () => {
    const random = createRandom(SEED);
    let blocked = 0;
    for (let index = 0; index < RULESETS; index += 1) {
      const result = await fuzzOnce(bench, random, PACKETS);
      expect(result.mismatches).toEqual([]);
      expect(result.packets).toBe(PACKETS * 3);
      blocked += result.blocked;
    }
    // Both verdicts are common, so that a kernel that lets all pass or none would be found.
    expect(blocked / (RULESETS * PACKETS * 3)).toBeGreaterThan(0.2);
    expect(blocked / (RULESETS * PACKETS * 3)).toBeLessThan(0.9);
  });
});
