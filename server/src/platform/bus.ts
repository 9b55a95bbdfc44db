import type { LiveEvent } from '@palisade/contract/events';
import { newId } from './id.ts';

/** An event as listeners get it. `id` is null for one of the moment, which is not kept. */
interface Published {
  id: string | null;
  event: LiveEvent;
}

interface Listener {
  /** Called once, before any event. `missed`: some of what came after the listener's `after` is no longer kept. */
  onStart(start: { cursor: string; missed: boolean }): void;
  onEvent(published: Published): void;
}

/**
 * Every live event goes through here, to the person whom it concerns. Here it is a map of this process; several servers would put a shared log (a Redis
 * stream for each person) behind the same two calls, which is why a listener is started by being called.
 */
export interface Bus {
  /** Never fails and never waits: who tells something has other things to do. */
  publish(user_id: string, event: LiveEvent): void;
  /** The same for everybody who listens, or did lately. */
  publishToAll(event: LiveEvent): void;
  /** Tells what came after the event or cursor `after` first, then everything as it happens, until the answered function is called. */
  listen(user_id: string, after: string | undefined, listener: Listener): () => void;
}

/** Events of one person that a page may ask for after a gap, and for how long nobody has to listen until they are forgotten, in ms. */
const KEPT_MAXIMUM = 200;
const FORGOTTEN_AFTER_MS = 5 * 60_000;

/** The events of one person, as long as somebody listens or may come back. */
interface Log {
  /** The id before the first kept event: that of a dropped event, or of the beginning. */
  before: string;
  kept: { id: string; event: LiveEvent }[];
  listeners: Set<Listener>;
  forget: NodeJS.Timeout | undefined;
}

export function createBus(options: { kept?: number | undefined } = {}): Bus {
  const kept_maximum = options.kept ?? KEPT_MAXIMUM;
  const logs = new Map<string, Log>();

  function logOf(user_id: string): Log {
    let log = logs.get(user_id);
    if (log === undefined) {
      log = { before: newId(), kept: [], listeners: new Set(), forget: undefined };
      logs.set(user_id, log);
    }
    return log;
  }

  function publish(user_id: string, event: LiveEvent): void {
    // Nobody listens, and nobody did lately: there is nobody who could have missed it.
    const log = logs.get(user_id);
    if (log === undefined) return;
    if (event.kind === 'scan_progress') {
      for (const listener of log.listeners) listener.onEvent({ id: null, event });
      return;
    }
    const published = { id: newId(), event };
    log.kept.push(published);
    if (log.kept.length > kept_maximum) log.before = log.kept.shift()?.id ?? log.before;
    for (const listener of log.listeners) listener.onEvent(published);
  }

  return {
    publish,

    publishToAll(event) {
      for (const user_id of logs.keys()) publish(user_id, event);
    },

    listen(user_id, after, listener) {
      const log = logOf(user_id);
      clearTimeout(log.forget);
      const at = after === log.before ? 0 : log.kept.findIndex(({ id }) => id === after) + 1;
      const missed = after !== undefined && after !== log.before && at === 0;
      const told = after === undefined || missed ? [] : log.kept.slice(at);
      listener.onStart({ cursor: log.kept[log.kept.length - told.length - 1]?.id ?? log.before, missed });
      for (const published of told) listener.onEvent(published);
      log.listeners.add(listener);
      return () => {
        log.listeners.delete(listener);
        if (log.listeners.size > 0) return;
        log.forget = setTimeout(() => logs.delete(user_id), FORGOTTEN_AFTER_MS);
        log.forget.unref();
      };
    },
  };
}
