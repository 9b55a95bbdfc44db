import { join } from 'node:path';
import type { Desired } from '@palisade/contract/agent';
import type { MeasuredChanges } from '@palisade/contract/session-changes';
import { z } from 'zod';
import { createStore } from '#agent/store.ts';
import { compareStock, type Stock, stockSchema } from './stock.ts';

/** Takes an inventory at the start of a remote session, and reports the differences once after its end. */
export interface MeasuredSessions {
  want(sessions: Desired['remote_sessions']): void;
  /** Resolves when all queued work is done. */
  settled(): Promise<void>;
}

const keptSchema = z.record(z.string(), stockSchema);

export function createMeasuredSessions(parts: {
  /** Folder for persistent state. */
  state: string;
  take: () => Promise<Stock>;
  /** Whether the changes of a session are reported but not yet confirmed. */
  isSaid: (session_id: string) => boolean;
  say: (session_id: string, measured: MeasuredChanges) => void;
  log: (line: string) => void;
}): MeasuredSessions {
  const { state, take, isSaid, say, log } = parts;
  const store = createStore(join(state, 'remote-sessions.json'), keptSchema);
  let kept: Record<string, Stock> | undefined;
  /** The latest queued work. Inventories are taken one at a time. */
  let working = Promise.resolve();

  async function measure(sessions: Desired['remote_sessions']): Promise<void> {
    const before = kept ?? (await store.read()) ?? {};
    const wanted = new Set(sessions.map(({ id }) => id));
    const next = Object.fromEntries(Object.entries(before).filter(([id]) => wanted.has(id)));
    let has_changed = Object.keys(next).length !== Object.keys(before).length;
    for (const { id, wanted: what } of sessions) {
      if (what === 'stock' && next[id] === undefined) {
        next[id] = await take();
        has_changed = true;
      }
      if (what === 'changes' && !isSaid(id)) {
        const stock = next[id];
        const now = await take();
        say(
          id,
          stock === undefined
            ? { from: null, to: now.at, changes: [], more: 0, unread: [] }
            : { from: stock.at, to: now.at, ...compareStock(stock, now) },
        );
      }
    }
    kept = next;
    if (has_changed) await (wanted.size === 0 ? store.remove() : store.write(next));
  }

  return {
    want(sessions) {
      working = working.then(() => measure(sessions)).catch((error: unknown) => log(`no stock could be taken: ${String(error)}`));
    },
    settled: () => working,
  };
}
