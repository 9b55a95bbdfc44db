import { z } from 'zod';

// The interface of an engine for YARA rules. Two builds of YARA-X implement it: a native binary for some platforms, and WebAssembly for all.

export const engineKindSchema = z.enum(['native', 'wasm']);
export type EngineKind = z.infer<typeof engineKindSchema>;

/** A rule that matched. A value of `meta` that is neither text nor number is `unknown`. `offsets`: byte offsets of the matches of its public patterns, in the order of the patterns. */
export interface RuleMatch {
  rule: string;
  meta: Readonly<Record<string, unknown>>;
  offsets: number[];
}

/** Compiled rules. */
export interface CompiledRules {
  /** `values`: external variables for these bytes; without them the values given at compilation apply. */
  scan(bytes: Buffer, values?: Readonly<Record<string, string>>): RuleMatch[];
  /** Frees the memory. It cannot scan afterwards. */
  release(): void;
}

export interface CompileOptions {
  /** External variables that rules may use, with their default values. */
  variables: Readonly<Record<string, string>>;
  /** Maximum number of matches that a pattern reports. */
  matches_per_pattern: number;
}

/** One build of YARA-X. Both give the same answers for the rule pack, which test/engines.deep.test.ts compares. */
export interface RuleEngine {
  kind: EngineKind;
  /** Version of its package; part of the edition of a verdict. */
  version: string;
  /**
   * Compiles one source. Includes fail (the error would print the first line of any included file); slow patterns and slow loops are errors.
   * @throws when it does not compile. The first line of the message names the compiler's code and reason.
   */
  compile(source: string, options: CompileOptions): CompiledRules;
}
