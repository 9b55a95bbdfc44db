import type { FastifyBaseLogger } from 'fastify';
import { logFailure } from './database-patience.ts';

const LOOK_EVERY_MS = 3_600_000;

/** Has what is over its time forgotten, now and every hour. Each of `tasks` may run on several servers at once. */
export function keepRetention(parts: {
  tasks: readonly (() => Promise<void>)[];
  logger: FastifyBaseLogger;
  look_ms?: number | undefined;
}): { close(): Promise<void> } {
  const { tasks, logger, look_ms = LOOK_EVERY_MS } = parts;
  let running: Promise<void> | undefined;

  async function run(): Promise<void> {
    for (const task of tasks) {
      await task().catch((error: unknown) => logFailure(logger, error, 'what is over its time could not be removed'));
    }
  }
  const look = () => {
    running ??= run().finally(() => {
      running = undefined;
    });
  };

  look();
  const timer = setInterval(look, look_ms).unref();
  return {
    async close() {
      clearInterval(timer);
      await running;
    },
  };
}
