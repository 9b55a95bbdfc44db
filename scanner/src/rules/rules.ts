import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { YaraX } from '@litko/yara-x';
import { referenceSchema } from '@palisade/contract/quarantine';
import { z } from 'zod';
import { carvedBy, carvingSource } from '#scanner/walk/carving.ts';
import type { MatchRules } from '#scanner/walk/examine.ts';
import { rulesFor } from './rules-by-content.ts';

/** A compiled rule pack. `version` is a digest of its sources. */
export interface RuleSet {
  version: string;
  rules: number;
  /** `onPlaces` is told where containers seem to begin, in the same pass. */
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

const packageSchema = z.object({ version: z.string() });

const requirePackage = createRequire(import.meta.url);

/** The version of the YARA-X binding. */
export function engineVersion(): string {
  return packageSchema.parse(requirePackage('@litko/yara-x/package.json')).version;
}

type Binding = typeof import('@litko/yara-x');
const isFunction = (value: unknown) => typeof value === 'function';
const bindingSchema = z.object({
  compile: z.custom<Binding['compile']>(isFunction),
  YaraX: z.custom<Binding['YaraX']>(isFunction),
});

/**
 * The YARA-X binding, loaded when rules are compiled: its package has no binary for some platforms (Linux on arm64), on which a server starts and its files wait.
 * @throws where there is no binary
 */
function binding() {
  return bindingSchema.parse(requirePackage('@litko/yara-x'));
}

/** From this size on a smaller set of rules serves. Bytes. */
const LARGE_BYTES = 16 * 1024 ** 2;
/** What rules of others may ask beside the content, as LOKI and THOR give it. Defined for all sources, so that such rules compile; empty where nobody knows. */
export const EXTERNALS = { filename: '', filepath: '', extension: '', filetype: '', owner: '' } as const;
export type Externals = { [name in keyof typeof EXTERNALS]: string };

/**
 * Compiles one source. Includes are off (an include of any file prints its first line in the error), slow patterns and slow loops are errors.
 * @throws when it does not compile.
 */
export function compileSource(source: string): YaraX {
  const { compile, YaraX } = binding();
  // The type file of the binding names an undeclared class here.
  const compiled: unknown = compile(source, {
    enableIncludes: false,
    errorOnSlowPattern: true,
    errorOnSlowLoop: true,
    defineVariables: EXTERNALS,
  });
  if (!(compiled instanceof YaraX)) throw new Error('The YARA-X binding answers something else than a rule set.');
  compiled.setMaxMatchesPerPattern(MATCHES_PER_PATTERN_MAXIMUM);
  return compiled;
}

export function countRules(source: string): number {
  return source.match(/^\s*(?:private\s+|global\s+)*rule\s+\w+/gm)?.length ?? 0;
}

/** The rules that can match large content; all of them where one refers to another that was left out. `is_within`: content that is the middle of a file. */
function compileLarge(source: string, all: YaraX, is_within: boolean): YaraX {
  try {
    return compileSource(rulesFor(source, { least_bytes: LARGE_BYTES, is_within }));
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
 * @throws when a rule does not compile, or its metadata is not what a verdict needs.
 */
export async function compileRules(folder: string): Promise<RuleSet> {
  const pack = await readPack(folder);
  const source = `${pack}\n${carvingSource()}`;
  const all = compileSource(source);
  let large: YaraX | undefined;
  let within: YaraX | undefined;
  const setFor = (bytes: Buffer, is_within: boolean) => {
    if (bytes.length < LARGE_BYTES) return all;
    if (is_within) {
      within ??= compileLarge(source, all, true);
      return within;
    }
    large ??= compileLarge(source, all, false);
    return large;
  };
  return {
    version: createHash('sha256').update(source).digest('hex').slice(0, VERSION_LENGTH),
    rules: countRules(pack),
    match(bytes, onPlaces, _path, is_within = false) {
      return setFor(bytes, is_within)
        .scan(bytes)
        .flatMap((found) => {
          const carved = carvedBy(found.ruleIdentifier);
          if (carved === undefined) return { rule: found.ruleIdentifier, ...metaSchema.parse(found.meta) };
          const offsets = found.matches.map(({ offset }) => offset);
          onPlaces?.(carved, offsets, offsets.length >= MATCHES_PER_PATTERN_MAXIMUM);
          return [];
        });
    },
  };
}
