import type { ClamdPool } from './clamd-pool.ts';
import type { Engine, EngineOutcome } from './yara-pool.ts';

/** Both engines' editions in one word. */
function editionOf(embedded: string, clamd: string): string {
  return `${embedded} + ${clamd}`;
}

/** The embedded engine and clamd as one: both read every file, at the same time, and each says its own. While there is no clamd to be missed, the first alone. */
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
      // clamd takes no password; the embedded engine had it.
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
