import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { referenceSchema } from '@palisade/contract/quarantine';
import { z } from 'zod';
import { carvedBy, carvingSource, regExpOf } from '#scanner/walk/carving.ts';
import type { MatchRules } from '#scanner/walk/examination.ts';
import { chosenEngine } from '#scanner/yara/choose-engine.ts';
import type { CompiledRules, RuleEngine } from '#scanner/yara/rule-engine.ts';
import { possibleRules } from './possible-rules.ts';
import { rulesFor } from './rules-by-content.ts';

/** A compiled rule pack. `version` is a digest of its sources. */
export interface RuleSet {
  version: string;
  rules: number;
  /** `onPlaces` gets the places where containers seem to begin, in the same pass. */
  match: MatchRules;
}

/** A pattern that matches more often than this adds nothing to a verdict. */
const MATCHES_PER_PATTERN_MAXIMUM = 64;
/** Hex digits of a version. */
export const VERSION_LENGTH = 12;

const metaSchema = z.object({
  threat: z.string(),
  description: z.string(),
  severity: z.enum(['low', 'medium', 'high', 'critical']),
  reference: referenceSchema.catch(null),
  verdict: z.enum(['infected', 'suspicious']),
});

/** Up to this size a content that no rule can match is not given to the WebAssembly engine. Bytes. */
const SMALL_BYTES = 256 * 1024;
/** From this size on a smaller set of rules serves. Bytes. */
const LARGE_BYTES = 16 * 1024 ** 2;
/**
 * Facts beside the content that rules of feeds may ask for, as LOKI and THOR give them. Defined for all sources, so that such rules compile; empty if unknown.
 */
export const EXTERNALS = { filename: '', filepath: '', extension: '', filetype: '', owner: '' } as const;
export type Externals = { [name in keyof typeof EXTERNALS]: string };

/**
 * Compiles one source, with the engine of this process where none is named.
 * @throws when it does not compile.
 */
export function compileSource(source: string, engine = chosenEngine().engine): CompiledRules {
  return engine.compile(source, { variables: EXTERNALS, matches_per_pattern: MATCHES_PER_PATTERN_MAXIMUM });
}

export function countRules(source: string): number {
  return source.match(/^\s*(?:private\s+|global\s+)*rule\s+\w+/gm)?.length ?? 0;
}

/** The expression of a rule that looks for containers. */
function expressionOf(rule: string): RegExp | undefined {
  const carved = carvedBy(rule);
  return carved === undefined ? undefined : regExpOf(carved);
}

/** The rules that can match large content; all of them where one refers to another that was left out. `is_within`: content that is the middle of a file. */
function compileLarge(source: string, engine: RuleEngine, all: CompiledRules, is_within: boolean): CompiledRules {
  try {
    return compileSource(rulesFor(source, { least_bytes: LARGE_BYTES, is_within }), engine);
  } catch {
    return all;
  }
}

/** All `.yar` files of a folder as one source, in name order. */
export async function readPack(folder: string): Promise<string> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.yar')).sort();
  if (names.length === 0) throw new Error(`There are no .yar files in ${folder}.`);
  const sources = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')));
  // `import` must come before every rule, and once.
  const imports = new Set<string>();
  const bodies = sources.map((source) =>
    source.replaceAll(/^\s*import\s+"\w+"\s*$/gm, (statement) => {
      imports.add(statement.trim());
      return '';
    }),
  );
  return [...imports, ...bodies].join('\n');
}

/**
 * Compiles all `.yar` files of a folder into one set.
 * @throws when a rule does not compile, or its metadata does not fit a verdict.
 */
export async function compileRules(folder: string, engine = chosenEngine().engine): Promise<RuleSet> {
  const pack = await readPack(folder);
  const source = `${pack}\n${carvingSource()}`;
  const all = compileSource(source, engine);
  const couldMatch = engine.kind === 'wasm' ? possibleRules(source, expressionOf) : undefined;
  let large: CompiledRules | undefined;
  let within: CompiledRules | undefined;
  const setFor = (bytes: Buffer, is_within: boolean) => {
    if (bytes.length < LARGE_BYTES) return all;
    if (is_within) {
      within ??= compileLarge(source, engine, all, true);
      return within;
    }
    large ??= compileLarge(source, engine, all, false);
    return large;
  };
  return {
    version: createHash('sha256').update(source).digest('hex').slice(0, VERSION_LENGTH),
    rules: countRules(pack),
    match(bytes, onPlaces, _path, is_within = false) {
      if (couldMatch !== undefined && bytes.length <= SMALL_BYTES && !couldMatch(bytes)) return [];
      return setFor(bytes, is_within)
        .scan(bytes)
        .flatMap(({ rule, meta, offsets }) => {
          const carved = carvedBy(rule);
          if (carved === undefined) return { rule, ...metaSchema.parse(meta) };
          onPlaces?.(carved, offsets, offsets.length >= MATCHES_PER_PATTERN_MAXIMUM);
          return [];
        });
    },
  };
}
