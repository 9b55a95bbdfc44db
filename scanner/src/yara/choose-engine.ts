import { loadNativeEngine } from './native-engine.ts';
import { type EngineKind, engineKindSchema, type RuleEngine } from './rule-engine.ts';
import { loadWasmEngine } from './wasm-engine.ts';

// Each process that compiles rules chooses its engine once: the native one where its binary loads and works, else the one of WebAssembly.

/** The engine of this process. `note` says why it is not the native one, in sentences for people; null where it is, or where somebody asked for this one. */
export interface ChosenEngine {
  engine: RuleEngine;
  note: string | null;
}

/** The variable that names an engine, for tests and for machines whose native engine does harm. */
const VARIABLE = 'PALISADE_ENGINE';
const { env } = process;

/** The engine that the environment asks for. */
function requestedKind(): EngineKind | undefined {
  return engineKindSchema.safeParse(env[VARIABLE]).data;
}

/** Signals of a binary that this processor or system does not run, or that gives up. */
const FAULTS: ReadonlySet<string> = new Set(['SIGABRT', 'SIGBUS', 'SIGFPE', 'SIGILL', 'SIGSEGV', 'SIGSYS', 'SIGTRAP']);
/** The loader of programs ends one with this code when a library lacks a function. */
const LOADER_CODE = 127;

/**
 * The history of the native engine in child processes. A process that it kills cannot choose another engine, so that the parent chooses for later ones. A binary that has matched
 * the rules runs here: the death of a later process is due to its file.
 */
const native: { has_matched: boolean; note: string | null } = { has_matched: false, note: null };

/** A process with the native engine has matched its rules. */
export function noteNativeMatch(): void {
  native.has_matched = true;
}

/** A process that may have the native engine died, and the server did not kill it. Answers whether processes from now on take the other engine for that reason. */
export function noteDeath(code: number | null, signal: string | null): boolean {
  const is_fault = signal === null ? code === LOADER_CODE : FAULTS.has(signal);
  if (!is_fault || native.has_matched || native.note !== null || requestedKind() !== undefined) return false;
  native.note = fallbackNote(signal === null ? 'a library lacks a function that it needs' : `it ends with ${signal}`);
  return true;
}

/** Why processes of this one do not take the native engine; null where they may. */
export const nativeNote = (): string | null => native.note;

/** The environment of a process that chooses an engine: nothing but a wish, where there is one. */
export function engineEnvironment(): Record<string, string> {
  const kind = requestedKind() ?? (native.note === null ? undefined : 'wasm');
  return kind === undefined ? {} : { [VARIABLE]: kind };
}

/** @throws with a sentence when an engine does not find what it must, or finds what is not there */
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

/** @throws where the engine that was asked for does not load, or none does */
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
