import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { z } from 'zod';
import { runs } from './long-run.ts';
import { RECIPES } from './reader-recipes.ts';
import { BARS, Reading, searchWorst } from './reader-search.ts';

// Looks for the file of each reader that costs most, and holds it to the bars when it is large. `READER_SEED` repeats a run,
// and `READER_CANDIDATES` asks for more: 2,000 take an hour.

const CANDIDATES = runs(4, 10);
const SEED = 269;
const CANDIDATE_BYTES = 32 * 1024;
const WHOLE_BYTES = runs(4, 10) * 1000 ** 2;

/** Files that earlier searches found over the bars, for their readers. They are read whole each time. */
const FOUND_BEFORE: Readonly<Record<string, readonly (readonly number[])[]>> = {
  // A git pack of 47,000 small objects: each kept the 16 KiB that it was unpacked into.
  'blocks of git, Snappy and Java': [
    [
      1464244944, 126337823, 57401707, 2542634800, 3395741691, 3316128343, 447856101, 2359297888, 96758150, 4230643941, 804039474,
      3222745197, 3847147328, 9, 2826490706, 4031480123, 541107515,
    ],
  ],
  // 20,000 short texts: each kept the 64 KiB that it was made in.
  'packed texts in scripts': [
    [
      3350962001, 1047095928, 2011831947, 3008886358, 4265542552, 3620576126, 4042214607, 9, 933408500, 0, 771745418, 2774956605,
      3176416446, 2377922012, 1811004351, 3427322492,
    ],
  ],
  // 400 streams of deflate that end before their bytes do: no decoder of them was closed.
  'LevelDB tables': [
    [
      3350962000, 1047095928, 2011831947, 3008886359, 7, 140846020, 3620576126, 4042214607, 933408500, 771745418, 4109831613, 0,
      3176416445, 2377922012, 1811004351, 3427322492,
    ],
  ],
};

const folder = mkdtempSync(join(tmpdir(), 'palisade-readers-'));
const reading = new Reading(folder);
afterAll(() => {
  reading.end();
  rmSync(folder, { recursive: true, force: true });
});
const asked = z.coerce.number().int().positive().optional();
const candidates = asked.parse(process.env['READER_CANDIDATES']) ?? CANDIDATES;
/** Of few candidates only the worst one is read whole. */
const tried_whole = candidates < 1_000 ? 1 : 3;
const seed = asked.parse(process.env['READER_SEED']) ?? SEED;

test.each(Object.keys(RECIPES))('no large file takes more than the bars: %s', { timeout: 3_600_000 }, async (reader) => {
  const worst = await searchWorst(reading, reader, { seed, candidates, bytes: CANDIDATE_BYTES });
  const [first] = worst;
  process.stdout.write(`reader search: ${reader}, seed ${seed}, ${candidates} candidates, worst ${JSON.stringify(first)}\n`);
  expect(worst.filter(({ cost }) => cost.ended !== undefined)).toEqual([]);
  const tried = [...worst.slice(0, tried_whole).map(({ numbers }) => numbers), ...(FOUND_BEFORE[reader] ?? [])];
  for (const numbers of tried) {
    const cost = await reading.cost(reader, numbers, WHOLE_BYTES);
    process.stdout.write(
      `  at ${cost.size} bytes: ${Math.round(cost.ms)} ms, ${Math.round(cost.memory / 1024 ** 2)} MiB, ${cost.unread.join(' ')}\n`,
    );
    expect({ numbers, ended: cost.ended }).toEqual({ numbers, ended: undefined });
    expect(cost.ms).toBeLessThan(BARS.cpu_ms);
    expect(cost.memory).toBeLessThan(BARS.memory_bytes);
  }
});
