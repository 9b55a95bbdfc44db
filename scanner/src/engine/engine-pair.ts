import type { ClamdPool } from './clamd-pool.ts';
import type { Engine, EngineOutcome } from './yara-pool.ts';

/** Combines the editions of both engines. */
function editionOf(embedded: string, clamd: string): string {
  return `${embedded} + ${clamd}`;
}

/** Combines the embedded engine and clamd: both read every file in parallel, and both results are reported. Without a configured or found clamd, only the first is used. */
export function createEnginePair(embedded: Engine, clamd: ClamdPool): Engine {
  return {
    edition() {
      if (!clamd.present()) return embedded.edition();
      const [own, beside] = [embedded.edition(), clamd.edition()];
      return own === undefined || beside === undefined ? undefined : editionOf(own, beside);
    },
    async scan(job) {
      if (!clamd.present()) return await embedded.scan(job);
      const { path, bytes, size, signal, password } = job;
      const [outcome, opinion] = await Promise.all([
        embedded.scan(job),
        clamd.scan(bytes === undefined ? { path, size } : { bytes, size }, signal),
      ]);
      // clamd accepts no password; the embedded engine had it.
      const isOpened = password !== undefined && opinion.kind === 'given' && opinion.detail === 'encrypted';
      const second = isOpened ? { ...opinion, detail: null } : opinion;
      if (second.kind === 'missing') return { ...outcome, second };
      if (outcome.kind === 'failed') {
        if (outcome.detail !== 'engine_failed') return { ...outcome, second };
        return { ...outcome, edition: editionOf(outcome.edition, second.edition), second };
      }
      const examined: EngineOutcome = { ...outcome, edition: editionOf(outcome.edition, second.edition), second };
      return examined;
    },
    ready: embedded.ready,
    complete: () => embedded.complete() && (clamd.ready() || !clamd.present()),
    pids: embedded.pids,
    async close() {
      await Promise.all([embedded.close(), clamd.close()]);
    },
  };
}
