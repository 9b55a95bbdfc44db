import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { compile, YaraX } from '@litko/yara-x';
import { referenceSchema } from '@palisade/contract/quarantine';
import { z } from 'zod';
import { carvedBy, carvingSource } from './carving.ts';
import type { MatchRules } from './examine.ts';

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

/** The version of the YARA-X binding. */
export function engineVersion(): string {
  return packageSchema.parse(createRequire(import.meta.url)('@litko/yara-x/package.json')).version;
}

/** From this size on the smaller set of rules serves. Bytes. */
const LARGE_BYTES = 16 * 1024 ** 2;
const UNIT_BYTES: Readonly<Record<string, number>> = { KB: 1024, MB: 1024 ** 2 };

/** Whether a rule's whole condition hangs on a `filesize` below LARGE_BYTES: `filesize < 4MB and ...`, with no `or` beside it. */
function isForSmallFiles(rule: string): boolean {
  const guard = /\bcondition:\s*filesize\s*<\s*(\d+)([KM]B)\s+and\b(.*)$/s.exec(rule);
  if (guard === null || Number(guard[1]) * (UNIT_BYTES[guard[2] ?? ''] ?? Number.NaN) > LARGE_BYTES) return false;
  let depth = 0;
  for (const [token] of (guard[3] ?? '').matchAll(/[()]|\bor\b/g)) {
    if (token === 'or' && depth === 0) return false;
    depth += token === '(' ? 1 : token === ')' ? -1 : 0;
  }
  return true;
}

/** The rules that can match large content. YARA-X searches for the patterns of all rules as soon as one needs its own, so fewer rules are faster. */
function withoutSmall(source: string): string {
  const [before = '', ...rules] = source.split(/^(?=(?:private |global )*rule \w)/m);
  return [before, ...rules.filter((rule) => /^(private|global) /.test(rule) || !isForSmallFiles(rule))].join('');
}

/** What rules of others may ask beside the content, as LOKI and THOR give it. Defined for all sources, so that such rules compile; empty where nobody knows. */
export const EXTERNALS = { filename: '', filepath: '', extension: '', filetype: '', owner: '' } as const;
export type Externals = { [name in keyof typeof EXTERNALS]: string };

/**
 * Compiles one source. Includes are off (an include of any file prints its first line in the error), slow patterns and slow loops are errors.
 * @throws when it does not compile.
 */
export function compileSource(source: string): YaraX {
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

/** The smaller set; all rules where one refers to another that was left out. */
function compileLarge(source: string, all: YaraX): YaraX {
  try {
    return compileSource(withoutSmall(source));
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
  return {
    version: createHash('sha256').update(source).digest('hex').slice(0, VERSION_LENGTH),
    rules: countRules(pack),
    match(bytes, onPlaces) {
      if (bytes.length >= LARGE_BYTES) large ??= compileLarge(source, all);
      const set = bytes.length >= LARGE_BYTES && large !== undefined ? large : all;
      return set.scan(bytes).flatMap((found) => {
        const carved = carvedBy(found.ruleIdentifier);
        if (carved === undefined) return { rule: found.ruleIdentifier, ...metaSchema.parse(found.meta) };
        const offsets = found.matches.map(({ offset }) => offset);
        onPlaces?.(carved, offsets, offsets.length >= MATCHES_PER_PATTERN_MAXIMUM);
        return [];
      });
    },
  };
}
