import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { Scanner } from '@virustotal/yara-x';
import { z } from 'zod';
import type { CompiledRules, CompileOptions, RuleEngine, RuleMatch } from './rule-engine.ts';

type Binding = typeof import('@virustotal/yara-x');
const isFunction = (value: unknown) => typeof value === 'function';
const bindingSchema = z.object({
  initSync: z.custom<Binding['initSync']>(isFunction),
  Compiler: z.custom<Binding['Compiler']>(isFunction),
});
const packageSchema = z.object({ version: z.string() });

const resultSchema = z.object({
  valid: z.boolean(),
  errors: z.array(z.string()),
  matches: z.array(
    z.object({
      identifier: z.string(),
      isPrivate: z.boolean(),
      metadata: z.array(z.object({ identifier: z.string(), value: z.unknown() })),
      patterns: z.array(z.object({ isPrivate: z.boolean(), matches: z.array(z.object({ offset: z.number() })) })),
    }),
  ),
});

const requirePackage = createRequire(import.meta.url);

/** Warnings that the native build is configured to report as errors, and its codes for them. */
const SLOW = /^warning\[(slow_pattern|potentially_slow_loop)\]: (.*)$/m;
const SLOW_CODES: Readonly<Record<string, string>> = { slow_pattern: 'E018', potentially_slow_loop: 'E034' };

/** An error in the format of the native build, which sentences about feeds quote. */
function compileError(message: string): Error {
  const code = /^error\[(E\d+)\]/.exec(message)?.[1];
  return new Error(code === undefined ? message : `Compilation error (${code}): ${message}`);
}

function matchesOf(result: unknown): RuleMatch[] {
  const { valid, errors, matches } = resultSchema.parse(result);
  if (!valid) throw new Error(`YARA-X could not match: ${errors.join(' ')}`);
  // The native build does not report private rules.
  const reported = matches.filter(({ isPrivate }) => !isPrivate);
  return reported.map(({ identifier, metadata, patterns }) => ({
    rule: identifier,
    meta: Object.fromEntries(
      metadata.map(({ identifier: name, value }) => [
        name,
        typeof value === 'string' || typeof value === 'number' ? value : 'unknown',
      ]),
    ),
    offsets: patterns.flatMap((pattern) => (pattern.isPrivate ? [] : pattern.matches.map(({ offset }) => offset))),
  }));
}

/** One scanner for all contents: creating one costs more than matching a small file. */
function rulesOf(scanner: Scanner, variables: CompileOptions['variables'], freeRules: () => void): CompiledRules {
  let is_changed = false;
  const setAll = (values: Readonly<Record<string, string>>) => {
    for (const [name, value] of Object.entries(values)) scanner.setGlobal(name, value);
  };
  return {
    scan(bytes, values) {
      // A scanner keeps the values of the previous content.
      if (is_changed) setAll(variables);
      if (values !== undefined) setAll(values);
      is_changed = values !== undefined;
      return matchesOf(scanner.scan(bytes));
    },
    release() {
      scanner.free();
      freeRules();
    },
  };
}

/**
 * The official WebAssembly build of YARA-X. It runs wherever Node does. Only killing the process stops a scan: the time limit of the build does not apply to loops in a
 * condition.
 * @throws where the package is not installed
 */
export function loadWasmEngine(): RuleEngine {
  const { initSync, Compiler } = bindingSchema.parse(requirePackage('@virustotal/yara-x'));
  const package_path = requirePackage.resolve('@virustotal/yara-x/package.json');
  initSync({ module: readFileSync(join(dirname(package_path), 'pkg/yara_x_js_bg.wasm')) });
  return {
    kind: 'wasm',
    version: `${packageSchema.parse(requirePackage(package_path)).version} (WebAssembly)`,
    compile(source, { variables, matches_per_pattern }) {
      const compiler = new Compiler();
      try {
        for (const [name, value] of Object.entries(variables)) compiler.defineGlobal(name, value);
        try {
          compiler.addSource(source);
        } catch (error) {
          throw compileError(error instanceof Error ? error.message : String(error));
        }
        const [, kind = '', sentence = ''] =
          compiler.warnings.map((warning) => SLOW.exec(warning)).find((one) => one !== null) ?? [];
        const code = SLOW_CODES[kind];
        if (code !== undefined) throw compileError(`error[${code}]: ${sentence}`);
        const rules = compiler.build();
        const scanner = rules.scanner();
        scanner.setMaxMatchesPerPattern(matches_per_pattern);
        return rulesOf(scanner, variables, () => rules.free());
      } finally {
        compiler.free();
      }
    },
  };
}
