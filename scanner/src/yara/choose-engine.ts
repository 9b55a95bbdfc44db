import { loadNativeEngine } from './native-engine.ts';
import { type EngineKind, engineKindSchema, type RuleEngine } from './rule-engine.ts';
import { loadWasmEngine } from './wasm-engine.ts';

// Each process that compiles rules chooses its engine once: the native one if its binary loads and works, else the WebAssembly one.

/** The engine of this process. `note`: sentences for the user that say why it is not the native one; null if it is, or if the environment requests this one. */
export interface ChosenEngine {
  engine: RuleEngine;
  note: string | null;
}

/** Environment variable that requests an engine, for tests and for machines on which the native engine fails. */
const VARIABLE = 'PALISADE_ENGINE';
const { env } = process;

/** The engine that the environment requests. */
function requestedKind(): EngineKind | undefined {
  return engineKindSchema.safeParse(env[VARIABLE]).data;
}

/** Signals that end a binary that the processor or system cannot run, or that aborts. */
const FAULTS: ReadonlySet<string> = new Set(['SIGABRT', 'SIGBUS', 'SIGFPE', 'SIGILL', 'SIGSEGV', 'SIGSYS', 'SIGTRAP']);
/** Exit code of the dynamic loader when a library lacks a function. */
const LOADER_CODE = 127;

/**
 * The history of the native engine in child processes. A process that it kills cannot choose another engine, so the parent chooses for later processes. Once it has
 * matched the rules, it works on this machine: a later death is due to the file.
 */
const native: { has_matched: boolean; note: string | null } = { has_matched: false, note: null };

/** Records that a process with the native engine has matched its rules. */
export function noteNativeMatch(): void {
  native.has_matched = true;
}

/** Records the death of a process that may have the native engine and that the server did not kill. Returns whether later processes use the other engine because of it. */
export function noteDeath(code: number | null, signal: string | null): boolean {
  const is_fault = signal === null ? code === LOADER_CODE : FAULTS.has(signal);
  if (!is_fault || native.has_matched || native.note !== null || requestedKind() !== undefined) return false;
  native.note = fallbackNote(signal === null ? 'a library lacks a function that it needs' : `it ends with ${signal}`);
  return true;
}

/** Why child processes do not use the native engine; null if they may. */
export const nativeNote = (): string | null => native.note;

/** Environment of a process that chooses an engine: only the requested engine, if any. */
export function engineEnvironment(): Record<string, string> {
  const kind = requestedKind() ?? (native.note === null ? undefined : 'wasm');
  return kind === undefined ? {} : { [VARIABLE]: kind };
}

/** Tests an engine with one rule. @throws with a sentence when it misses a match or reports a false one */
function requireMatches({ compile }: RuleEngine): void {
  const source = 'import "pe" rule proof { strings: $a = "proof" $b = { 70 72 [1-2] 66 } condition: $a and $b and not pe.is_pe }';
  const compiled = compile(source, { variables: {}, matches_per_pattern: 4 });
  try {
    const found = compiled.scan(Buffer.from('a proof'));
    const is_right = found.length === 1 && found[0]?.rule === 'proof' && found[0].offsets.join(' ') === '2 2';
    if (!is_right || compiled.scan(Buffer.from('a pro')).length > 0) throw new Error('its self-test went wrong');
  } finally {
    compiled.release();
  }
}

/** The reason why the native engine does not load, without paths of this machine. */
function reasonOf(error: unknown): string {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (!('code' in cause) || cause.code !== 'ERR_DLOPEN_FAILED') continue;
    const version = /version [`']?(\w+_[\d.]+)'? not found/.exec(cause.message)?.[1];
    if (version !== undefined) return `it needs ${version}`;
    return (
      cause.message
        .split('\n', 1)[0]
        ?.split(/(?:\/\S*)+:?\s/)
        .join('')
        .slice(0, 120) ?? 'the system refuses it'
    );
  }
  if (error instanceof Error && error.message.startsWith('its self-test')) return error.message;
  return `there is none for ${process.platform} on ${process.arch}`;
}

/** The sentence for an engine that does not load. */
export function fallbackNote(reason: string): string {
  return `The native scanner does not run on this computer: ${reason}. The WebAssembly scanner reads your files instead.`;
}

/** @throws if the requested engine does not load, or none does */
export function chooseEngine(
  requested: EngineKind | undefined,
  loadNative: () => RuleEngine,
  loadWasm: () => RuleEngine,
): ChosenEngine {
  const load = (one: () => RuleEngine) => {
    const engine = one();
    requireMatches(engine);
    return engine;
  };
  if (requested === 'wasm') return { engine: load(loadWasm), note: null };
  try {
    return { engine: load(loadNative), note: null };
  } catch (error) {
    if (requested === 'native') throw error;
    return { engine: load(loadWasm), note: fallbackNote(reasonOf(error)) };
  }
}

let chosen: ChosenEngine | undefined;

/** The engine of this process. @throws where none loads */
export function chosenEngine(): ChosenEngine {
  chosen ??= chooseEngine(requestedKind(), loadNativeEngine, loadWasmEngine);
  return chosen;
}
