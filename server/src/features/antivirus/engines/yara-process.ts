import { examine, type Progress } from './examine.ts';
import { type EngineMessage, type EngineRequest, requestSchema } from './messages.ts';
import { compileRules, engineVersion, type RuleSet } from './rules.ts';

// The main file of an engine process: compiles the rules once, then scans one file after the other. It reads hostile bytes, so the server
// trusts none of it, gives it time, and kills it when that is over.

/** How often a scan under way tells how far it is, in ms. */
const PROGRESS_EVERY_MS = 200;

let rules: RuleSet | undefined;

function say(message: EngineMessage): void {
  // A message that cannot be sent has nobody left to read it.
  process.send?.(message, (error: Error | null) => {
    if (error) process.exit(0);
  });
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

async function start(rules_folder: string): Promise<void> {
  try {
    rules = await compileRules(rules_folder);
    say({ kind: 'ready', version: engineVersion(), signatures_version: rules.version, rules: rules.rules });
  } catch (error) {
    say({ kind: 'refused', reason: reasonOf(error) });
  }
}

async function scan(request: Extract<EngineRequest, { kind: 'scan' }>): Promise<void> {
  const { job, path, size, name, folder, password, limits } = request;
  const began = performance.now();
  try {
    if (rules === undefined) throw new Error('Asked to scan before the rules were compiled.');
    let told_at = began;
    const onProgress = (progress: Progress) => {
      if (performance.now() - told_at < PROGRESS_EVERY_MS) return;
      told_at = performance.now();
      say({ kind: 'progress', job, ...progress });
    };
    const examination = await examine({ path, size, name }, { match: rules.match, limits, folder, password, onProgress });
    say({ kind: 'scanned', job, duration_ms: performance.now() - began, examination });
  } catch (error) {
    say({ kind: 'failed', job, reason: reasonOf(error) });
  }
}

process.on('message', (message) => {
  const request = requestSchema.parse(message);
  void (request.kind === 'start' ? start(request.rules_folder) : scan(request));
});
// The server is gone: nobody waits for an answer.
process.on('disconnect', () => process.exit(0));
// Ctrl-C goes to the whole process group; the server decides when its engines end.
process.on('SIGINT', () => {});
