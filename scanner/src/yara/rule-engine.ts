import { z } from 'zod';

// The interface of an engine for YARA rules. Two builds of YARA-X implement it: a native binary for some platforms, and WebAssembly for all.

export const engineKindSchema = z.enum(['native', 'wasm']);
export type EngineKind = z.infer<typeof engineKindSchema>;

/** A rule that matched. A value of `meta` that is neither text nor number is `unknown`. `offsets`: of its public patterns, in the order of the patterns. */
export interface RuleMatch {
  rule: string;
  meta: Readonly<Record<string, unknown>>;
  offsets: number[];
}

/** Compiled rules. */
export interface CompiledRules {
  /** `values`: what the rules' own variables are for these bytes; without them each is as it was compiled. */
  scan(bytes: Buffer, values?: Readonly<Record<string, string>>): RuleMatch[];
  /** Gives its memory back. It cannot scan afterwards. */
  release(): void;
}

export interface CompileOptions {
  /** Variables that rules may ask for, with their values. */
  variables: Readonly<Record<string, string>>;
  /** A pattern reports so many matches. */
  matches_per_pattern: number;
}

/** One build of YARA-X. Both give the same answers for the rule pack, which test/engines.deep.test.ts compares. */
export interface RuleEngine {
  kind: EngineKind;
  /** Of its package. It is part of the edition of a verdict. */
  version: string;
  /**
   * Compiles one source. Includes fail (an include of any file prints its first line in the error); slow patterns and slow loops are errors.
   * @throws when it does not compile. The first line of the message names the compiler's code and reason.
   */
  compile(source: string, options: CompileOptions): CompiledRules;
}
