import { type InstallationTopic, TOLD_TO } from '@palisade/contract/endpoint';
import type { FastifyBaseLogger } from 'fastify';
import { logFailure } from '#platform/database-patience.ts';
import { personTopic, STAFF_TOPIC, type Topics } from '#platform/topics/topics.ts';

/**
 * Changes within this time are reported once, in ms: strangers can register as fast as the rate limits allow, and each report makes many pages
 * reload.
 */
const PAUSE_MS = 500;

/** Reports changes of the installation to open pages. */
export interface InstallationNews {
  /** Reports a change in the background; errors are logged. */
  tell(topic: InstallationTopic): void;
  close(): void;
}

export function createInstallationNews(parts: {
  topics: Pick<Topics, 'publish' | 'publishToAll'>;
  administrators: () => Promise<string[]>;
  /** Called immediately for each change, before pages are notified. */
  onTell: () => void;
  logger: FastifyBaseLogger;
}): InstallationNews {
  const { topics, administrators, onTell, logger } = parts;
  const planned = new Map<InstallationTopic, NodeJS.Timeout>();

  async function tellNow(topic: InstallationTopic): Promise<void> {
    const event = { kind: 'changed', topic } as const;
    if (TOLD_TO[topic] === 'everybody') return topics.publishToAll(event);
    if (TOLD_TO[topic] === 'staff') return topics.publish(STAFF_TOPIC, event);
    for (const user_id of await administrators()) topics.publish(personTopic(user_id), event);
  }

  return {
    tell(topic) {
      onTell();
      if (planned.has(topic)) return;
      const timer = setTimeout(() => {
        planned.delete(topic);
        tellNow(topic).catch((error: unknown) => logFailure(logger, error, 'could not tell administrators about pending work'));
      }, PAUSE_MS);
      planned.set(topic, timer.unref());
    },

    close() {
      for (const timer of planned.values()) clearTimeout(timer);
      planned.clear();
    },
  };
}
