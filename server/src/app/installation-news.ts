import { type InstallationTopic, TOLD_TO } from '@palisade/contract/endpoint';
import type { FastifyBaseLogger } from 'fastify';
import type { Bus } from '#platform/bus.ts';
import { logFailure } from '#platform/database-patience.ts';

/** What happens within this is told once, in ms: strangers can register as fast as the limits let them, and each telling has many pages read anew. */
const PAUSE_MS = 500;

/** Tells open pages what has changed of the installation. */
export interface InstallationNews {
  /** Never fails and never waits. */
  tell(topic: InstallationTopic): void;
  close(): void;
}

export function createInstallationNews(parts: {
  bus: Pick<Bus, 'publish' | 'publishToAll'>;
  administrators: () => Promise<string[]>;
  logger: FastifyBaseLogger;
}): InstallationNews {
  const { bus, administrators, logger } = parts;
  const planned = new Map<InstallationTopic, NodeJS.Timeout>();

  async function tellNow(topic: InstallationTopic): Promise<void> {
    const event = { kind: 'changed', topic } as const;
    if (TOLD_TO[topic] === 'everybody') return bus.publishToAll(event);
    for (const user_id of await administrators()) bus.publish(user_id, event);
  }

  return {
    tell(topic) {
      if (planned.has(topic)) return;
      const timer = setTimeout(() => {
        planned.delete(topic);
        tellNow(topic).catch((error: unknown) => logFailure(logger, error, 'administrators could not be told what waits'));
      }, PAUSE_MS);
      planned.set(topic, timer.unref());
    },

    close() {
      for (const timer of planned.values()) clearTimeout(timer);
      planned.clear();
    },
  };
}
