import type { SignatureFiles } from '#scanner/rules/signature-files.ts';
import { loadSignatures, type SignatureSet } from '#scanner/rules/signature-set.ts';
import type { Progress } from '#scanner/walk/examination.ts';
import { examine } from '#scanner/walk/examine.ts';
import { chosenEngine } from '#scanner/yara/choose-engine.ts';
import { createCollector } from './collector.ts';
import { createHelp, matchRanges } from './help.ts';
import { type EngineMessage, type EngineRequest, type FileMessage, requestSchema } from './messages.ts';
import { systemTime } from './together.ts';

// The main file of an engine process: compiles the rules once, then scans one file after the other. It reads hostile bytes, so the server
// validates its messages and kills it when a time limit passes.

/** Interval between progress messages of a scan, in ms. */
const PROGRESS_EVERY_MS = 200;
/** Memory growth that triggers a garbage collection after a file. Bytes. */
const WORTH_WHILE = 32 * 1024 ** 2;
/** Idle time after which the process frees all memory that it can. ms. */
const IDLE_MS = 10_000;

/** A text that the rules match once before the process reports that it is ready. */
const TRIAL = Buffer.from('a harmless text');

let signatures: SignatureSet | undefined;
/** Collects garbage of earlier files if there is enough; returns the resident bytes after a collection. */
let collectLeft: () => number | undefined = () => undefined;

/** This also discards compiled code that was not used lately, which costs the next file 10 ms. */
const idle = setTimeout(() => globalThis.gc?.({ type: 'major', execution: 'sync', flavor: 'last-resort' }), IDLE_MS).unref();

function say(message: EngineMessage): void {
  // A message that cannot be sent means that the server is gone.
  process.send?.(message, (error: Error | null) => {
    if (error) process.exit(0);
  });
}

const help = createHelp(say);

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

async function start(files: SignatureFiles): Promise<void> {
  try {
    signatures = await loadSignatures(files);
    // A native engine that cannot run these rules kills the process here, not at a file.
    signatures.match(TRIAL);
    const { version, rules, hashes, left_out, memory } = signatures;
    globalThis.gc?.();
    collectLeft = createCollector(process.memoryUsage.rss, () => globalThis.gc?.(), WORTH_WHILE);
    const { engine, note } = chosenEngine();
    const facts = { version: engine.version, signatures_version: version, rules, hashes, left_out, memory };
    say({ kind: 'ready', engine: { kind: engine.kind, note }, ...facts, resident_bytes: process.memoryUsage.rss() });
    idle.refresh();
  } catch (error) {
    say({ kind: 'refused', reason: reasonOf(error) });
  }
}

/** Frees memory of earlier files and reports what remains: the server replaces a process that has grown. */
function rest(): void {
  idle.refresh();
  const resident_bytes = collectLeft();
  if (resident_bytes !== undefined) say({ kind: 'rested', resident_bytes });
}

type ScanRequest = Extract<EngineRequest, { kind: 'scan' }>;
type Examined =
  | Omit<Extract<EngineMessage, { kind: 'scanned' }>, 'is_last'>
  | Omit<Extract<EngineMessage, { kind: 'failed' }>, 'is_last'>;

async function scanFile(file: FileMessage, { limits, has_help }: ScanRequest): Promise<Examined> {
  const { job, path, bytes, size, name, sha256, folder, password } = file;
  const began = performance.now();
  try {
    if (signatures === undefined) throw new Error('Asked to scan before the rules were compiled.');
    const { match, matchHash, asks_for_names } = signatures;
    let told_at = began;
    const onProgress = (progress: Progress) => {
      if (performance.now() - told_at < PROGRESS_EVERY_MS) return;
      told_at = performance.now();
      say({ kind: 'progress', job, ...progress });
    };
    const parts = { match, matchHash, asks_for_names, limits, folder, password, onProgress, help: has_help ? help : undefined };
    const content = bytes === undefined ? { path } : { bytes: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength) };
    const examination = await examine({ ...content, size, name, sha256 }, parts);
    return { kind: 'scanned', job, duration_ms: performance.now() - began, examination };
  } catch (error) {
    return { kind: 'failed', job, reason: reasonOf(error) };
  }
}

/** Reads files one after the other. Each answer is sent before the next file is begun, so that the server knows which file this process scans. */
async function scan(request: ScanRequest): Promise<void> {
  for (const [place, file] of request.files.entries()) {
    const examined = await scanFile(file, request);
    const is_last = place === request.files.length - 1 || systemTime() >= request.until;
    say({ ...examined, is_last });
    if (is_last) break;
  }
  rest();
}

process.on('message', (message) => {
  const request = requestSchema.parse(message);
  switch (request.kind) {
    case 'start':
      return void start(request.signatures);
    case 'scan':
      return void scan(request);
    case 'granted':
      return help.onGranted(request.call);
    case 'helped':
      return help.onHelped(request.call, request.findings);
    case 'match': {
      const { match } = signatures ?? {};
      say({ kind: 'matched', findings: match === undefined ? null : matchRanges(match, request.path, request.ranges) });
      return rest();
    }
  }
});
// The server is gone.
process.on('disconnect', () => process.exit(0));
// Ctrl-C goes to the whole process group; the server decides when its engines end.
process.on('SIGINT', () => {});
