import { join } from 'node:path';
import type { RuleSet } from '#scanner/rules/rules.ts';
import { readSamples } from '#scanner/rules/samples.ts';
import { Chance } from '#test/chance.ts';
import { EICAR, noise } from '#test/files.ts';
import { SAMPLES } from '#test/samples/index.ts';
import { HARMLESS, type Packed } from '#test/samples/sample.ts';
import { SIGNATURES_FOLDER } from '#test/signatures-folder.ts';
import { findProgram, type Writers } from './writers.ts';
import { WRITTEN, type Wrapper } from './written.ts';

export interface Payload extends Packed {
  /** A rule finds it as a file of its own only, not among other text. */
  alone: boolean;
}

/** A file of the grammar. */
export interface Generated {
  /** Wrappers from the inside out. */
  chain: readonly string[];
  payload: Payload;
  name: string;
  bytes: Buffer;
  /** A wrapper of the chain is. */
  flawed: boolean;
}

const WRAPPERS: readonly Wrapper[] = [
  ...WRITTEN,
  ...SAMPLES.map((sample): Wrapper => ({ ...sample, wrap: (inner, { chance }) => sample.wrap(inner, chance) })),
];
const PAYLOADS_MAXIMUM = 12;
/** Larger contents are not wrapped again. Bytes. */
const LARGEST_BYTES = 4 * 1024 ** 2;
const DEEPEST = 3;

/** EICAR, and texts of samples that a rule finds among other text as well. */
export async function livePayloads(rules: RuleSet): Promise<Payload[]> {
  const samples = await readSamples(join(SIGNATURES_FOLDER, 'samples'));
  const isFound = (bytes: Buffer) => rules.match(bytes).some(({ verdict }) => verdict === 'infected');
  const around = (bytes: Buffer) => Buffer.concat([HARMLESS, noise(300), Buffer.alloc(9), bytes, Buffer.alloc(9), noise(300)]);
  const families = new Map<string, Payload>();
  for (const { rule, kind, bytes } of samples) {
    const family = rule.split('_').slice(0, 2).join('_');
    const is_text = bytes.length < 2000 && /^[\n\x20-\x7e]*$/.test(bytes.toString('latin1'));
    if (kind !== 'hit' || families.has(family) || !is_text || !isFound(bytes) || !isFound(around(bytes))) continue;
    families.set(family, { bytes, name: `${family.toLowerCase()}.txt`, kind: 'text', alone: false });
  }
  return [{ bytes: EICAR, name: 'eicar.com', kind: 'line', alone: true }, ...[...families.values()].slice(0, PAYLOADS_MAXIMUM)];
}

/** As long as the live ones, and nothing to anybody. */
export function harmlessPayloads(live: readonly Payload[]): Payload[] {
  return live.map((payload, index) => ({
    ...payload,
    bytes: Buffer.alloc(payload.bytes.length, `harmless words number ${index} of many. `),
    alone: true,
  }));
}

/** Wrappers that this machine can write, and the programs that the others lack. */
export function usableWrappers(): { usable: Wrapper[]; missing: string[] } {
  const lacks = (wrapper: Wrapper) =>
    (wrapper.needs ?? []).filter((program) => program !== 'sh' && findProgram(program) === undefined);
  return {
    usable: WRAPPERS.filter((wrapper) => lacks(wrapper).length === 0),
    missing: [...new Set(WRAPPERS.flatMap(lacks))].sort(),
  };
}

const takes = (wrapper: Wrapper, { kind }: Packed) => wrapper.takes === undefined || wrapper.takes.includes(kind);

/** The chain of wrappers of a file: each alone first, the others by chance. */
function chainOf(index: number, wrappers: readonly Wrapper[], payload: Payload, chance: Chance): Wrapper[] {
  const archives = wrappers.filter(({ makes, takes: only }) => makes === 'archive' && only === undefined);
  const single = wrappers[index];
  const chain: Wrapper[] = [];
  if (single !== undefined) {
    if (single.takes?.includes('archive')) chain.push(chance.of(archives));
    return [...chain, single];
  }
  const depth = 2 + chance.below(DEEPEST - 1);
  let kind = payload.kind;
  while (chain.length < depth) {
    const next = chance.of(wrappers.filter((wrapper) => wrapper.takes === undefined || wrapper.takes.includes(kind)));
    chain.push(next);
    kind = next.makes;
  }
  return chain;
}

/**
 * Files by their numbers: the same seed and number give the same chain. Every wrapper comes alone first; then two and three of them, within each other.
 * @throws when a writer fails.
 */
export async function generate(
  parts: { seed: number; index: number; payloads: readonly Payload[] },
  wrappers: readonly Wrapper[],
  writers: Writers,
): Promise<Generated> {
  const { seed, index, payloads } = parts;
  const chance = new Chance(seed * 1_000_003 + index);
  const single = wrappers[index];
  const fitting = payloads.filter(
    (payload) => single === undefined || single.takes?.includes('archive') || takes(single, payload),
  );
  // Half of all are EICAR: it shows that a file came out whole.
  const [first] = fitting;
  const payload = chance.below(2) === 0 && first !== undefined ? first : chance.of(fitting);
  const chain = chainOf(index, wrappers, payload, chance);
  let packed: Packed = payload;
  const done: Wrapper[] = [];
  for (const wrapper of chain) {
    if (packed.bytes.length > LARGEST_BYTES) break;
    packed = {
      bytes: await wrapper.wrap(packed, { writers, chance }),
      name: `file.${wrapper.ending}`,
      kind: wrapper.makes,
    };
    done.push(wrapper);
  }
  return {
    chain: done.map(({ name }) => name),
    payload,
    name: packed.name,
    bytes: packed.bytes,
    flawed: done.some(({ flawed }) => flawed === true),
  };
}
