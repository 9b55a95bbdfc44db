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
  /** `onPlaces` gets the offsets at which containers seem to begin, in the same pass. */
  match: MatchRules;
}

/** Further matches of a pattern do not change a verdict. */
const MATCHES_PER_PATTERN_MAXIMUM = 64;
/** Number of hex digits of a version. */
export const VERSION_LENGTH = 12;

const metaSchema = z.object({
  threat: z.string(),
  description: z.string(),
  severity: z.enum(['low', 'medium', 'high', 'critical']),
  reference: referenceSchema.catch(null),
  verdict: z.enum(['infected', 'suspicious']),
});

/** Content up to this size is checked with `possibleRules` before the WebAssembly engine is called. Bytes. */
const SMALL_BYTES = 256 * 1024;
/** Content from this size on is matched with fewer rules (`rulesFor`). Bytes. */
const LARGE_BYTES = 16 * 1024 ** 2;
/**
 * External variables that rules of feeds may use, as LOKI and THOR define them. Defined for all sources, so that such rules compile; empty if unknown.
 */
export const EXTERNALS = { filename: '', filepath: '', extension: '', filetype: '', owner: '' } as const;
export type Externals = { [name in keyof typeof EXTERNALS]: string };

/**
 * Compiles one source, by default with the engine of this process.
 * @throws when it does not compile.
 */
export function compileSource(source: string, engine = chosenEngine().engine): CompiledRules {
  return engine.compile(source, { variables: EXTERNALS, matches_per_pattern: MATCHES_PER_PATTERN_MAXIMUM });
}

export function countRules(source: string): number {
  return source.match(/^\s*(?:private\s+|global\s+)*rule\s+\w+/gm)?.length ?? 0;
}

/** The regular expression of a carving rule; undefined for other rules. */
function expressionOf(rule: string): RegExp | undefined {
  const carved = carvedBy(rule);
  return carved === undefined ? undefined : regExpOf(carved);
}

/** Compiles the rules that can match large content; returns all rules if one refers to a removed rule. `is_within`: content from the middle of a file. */
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
  // Each `import` must come before all rules, and only once.
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
