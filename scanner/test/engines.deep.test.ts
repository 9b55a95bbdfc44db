import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { z } from 'zod';
import { FORMATS } from '#scanner/formats/index.ts';
import { compileRules, type RuleSet } from '#scanner/rules/rules.ts';
import { readSamples } from '#scanner/rules/samples.ts';
import type { MatchRules } from '#scanner/walk/examination.ts';
import { loadNativeEngine } from '#scanner/yara/native-engine.ts';
import type { RuleEngine } from '#scanner/yara/rule-engine.ts';
import { loadWasmEngine } from '#scanner/yara/wasm-engine.ts';
import { samplesOf } from './format-samples.ts';
import { generate, livePayloads, usableWrappers } from './grammar/generated-files.ts';
import { openWriters } from './grammar/writers.ts';
import { runs } from './long-run.ts';
import { needing } from './needs.ts';
import { SIGNATURES_FOLDER } from './signatures-folder.ts';
import { mutant } from './structure-fuzz.ts';
import { samples, verdictOf } from './verdicts.ts';

// Both builds of YARA-X on the same contents. The walk through a file depends on nothing but the file and the answers of the rules, so equal answers for each content that the
// walk matches are equal verdicts, matches and notes.

const RULES = join(SIGNATURES_FOLDER, 'rules');
const TESTFILES = '/usr/share/clamav-testfiles';
/** The first of them, or `ENGINE_SEEDS` of them. Each takes another third of the wrappers. */
const SEEDS = [31, 32, 33].slice(0, z.coerce.number().int().positive().default(1).parse(process.env['ENGINE_SEEDS']));
const SHARES = 3;
/** One sample in so many is compared, all of them in a long run. */
const SAMPLE_STEP = runs(4, 1);
const GENERATED_PER_SEED = runs(15, 60);
const BENT_PER_SEED = runs(15, 60);

/** A rule set's matches in a content, in its order, with the places of containers. */
function answerOf(rules: RuleSet, ...[bytes, onPlaces, path, is_within]: Parameters<MatchRules>) {
  const places: unknown[] = [];
  const matches = rules.match(
    bytes,
    (carved, offsets, is_cut) => {
      places.push({ carved: carved.id, offsets, is_cut });
      onPlaces?.(carved, offsets, is_cut);
    },
    path,
    is_within,
  );
  return { matches, said: JSON.stringify({ matches, places }) };
}

function loadOrNothing(load: () => RuleEngine): RuleEngine | undefined {
  try {
    return load();
  } catch {
    return undefined;
  }
}

const native_engine = loadOrNothing(loadNativeEngine);
const native = native_engine === undefined ? undefined : await compileRules(RULES, native_engine);
const wasm = await compileRules(RULES, loadWasmEngine());
const folder = mkdtempSync(join(tmpdir(), 'palisade-engines-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const compared = { contents: 0, with_matches: 0 };
const differ: string[] = [];
const match: MatchRules = (...asked) => {
  const one = answerOf(native ?? wasm, ...asked);
  const { said } = answerOf(wasm, asked[0], undefined, ...([asked[2], asked[3]] as const));
  compared.contents += 1;
  if (one.matches.length > 0) compared.with_matches += 1;
  if (one.said !== said && differ.length < 20) differ.push(`${asked[2]} (${asked[0].length} bytes)\n${one.said}\n${said}`);
  return one.matches;
};
const compare = async (bytes: Buffer) => await verdictOf({ bytes, size: bytes.length }, { match }, join(folder, 'unpacked'));
const expectEqual = (least_contents: number, least_with_matches: number) => {
  expect(differ).toEqual([]);
  expect(compared.contents).toBeGreaterThan(least_contents);
  expect(compared.with_matches).toBeGreaterThan(least_with_matches);
};

const engines = needing('a native build of YARA-X', native !== undefined);
const format_samples = new Map(
  FORMATS.flatMap(({ id }) => samplesOf(id).map(({ name, bytes }) => [`${id} ${name}`, bytes] as const)),
);

engines.test('say the same of every sample', { timeout: 600_000 }, async () => {
  const all = [
    ...(await readSamples(join(SIGNATURES_FOLDER, 'samples'))).map(({ bytes }) => bytes),
    ...format_samples.values(),
    ...[...samples()].map(([, bytes]) => bytes),
  ];
  for (let index = 0; index < all.length; index += SAMPLE_STEP) await compare(all[index] ?? Buffer.alloc(0));
  expectEqual(1_000 / SAMPLE_STEP, 200 / SAMPLE_STEP);
});

engines.test('say the same of bent and generated files', { timeout: 1_200_000 }, async () => {
  const payloads = await livePayloads(wasm);
  const { usable } = usableWrappers();
  const writers = openWriters();
  try {
    for (const seed of SEEDS) {
      for (let index = 0; index < BENT_PER_SEED; index += 1) await compare(mutant(format_samples, seed, index).bytes);
      // The first numbers are each wrapper alone, and every third of them is for one seed.
      for (let index = seed - 31; index < usable.length + GENERATED_PER_SEED; index += SHARES)
        await compare((await generate({ seed, index, payloads }, usable, writers)).bytes);
    }
  } finally {
    writers.close();
  }
  expectEqual(1_000, 150);
});

needing('clamav-testfiles', native !== undefined && existsSync(TESTFILES)).test(
  'say the same of the test files of ClamAV',
  { timeout: 600_000 },
  async () => {
    for (const name of readdirSync(TESTFILES)) await compare(readFileSync(join(TESTFILES, name)));
    expectEqual(100, 0);
  },
);

test('the WebAssembly build finds every sample of the rules, whatever else is installed', { timeout: 120_000 }, async () => {
  const missed = (await readSamples(join(SIGNATURES_FOLDER, 'samples'))).filter(
    ({ rule, kind, bytes }) => wasm.match(bytes).some((found) => found.rule === rule) !== (kind === 'hit'),
  );
  expect(missed.map(({ rule, note }) => `${rule}: ${note}`)).toEqual([]);
});
