import type { FastifyBaseLogger } from 'fastify';
import { z } from 'zod';
import { parseJson } from './parse-json.ts';
import { redisNames } from './redis-names.ts';

/** Messages between servers, which make a change take effect on all of them at once. */
const newsSchema = z.discriminatedUnion('kind', [
  /** Some sessions have ended. */
  z.object({ kind: z.literal('ended'), session_ids: z.array(z.string()), is_deletion: z.boolean().optional() }),
  /** A person's record changed: role, disabled, second factor. */
  z.object({ kind: z.literal('changed'), user_id: z.string() }),
  /** There are new jobs of these kinds. */
  z.object({ kind: z.literal('work'), kinds: z.array(z.string()) }),
  /** Servers that run one of these jobs must stop it. */
  z.object({ kind: z.literal('work_cancelled'), ids: z.array(z.string()) }),
  /** Asks for the server that receives the upload with this key. With `cancel` that server ends it, and answers when it has ended. */
  z.object({ kind: z.literal('upload_asked'), ask: z.string(), key: z.string(), cancel: z.boolean() }),
  z.object({ kind: z.literal('upload_told'), ask: z.string(), user_id: z.string(), cancelled: z.boolean() }),
]);
type News = z.infer<typeof newsSchema>;

/** Sends messages to other servers, and receives theirs. A lost message is compensated when the cached answer of the database expires. */
export interface SessionNews {
  /** Never fails and never waits. */
  tell(news: News): void;
  /** Calls `listener` with messages of other servers, and possibly of this server. */
  listen(listener: (news: News) => void): void;
  close(): void;
}

const CHANNEL = 'sessions';
const RECONNECT_MOST_MS = 2_000;

/** Through Redis or Valkey (redis.io/docs/latest/develop/pubsub). @throws Error when it cannot be used at the start. */
export async function createRedisSessionNews(parts: { url: string; logger: FastifyBaseLogger }): Promise<SessionNews> {
  const { url, logger } = parts;
  // Loaded only if Redis is configured.
  const { createClient } = await import('@redis/client');
  const channel = redisNames(url) + CHANNEL;
  const listeners: ((news: News) => void)[] = [];
  const connect = async () => {
    const client = createClient({
      url,
      disableOfflineQueue: true,
      socket: { reconnectStrategy: (retries: number) => Math.min(RECONNECT_MOST_MS, 50 * 2 ** retries) },
    });
    // Without a listener the error would end the process; the client reconnects on its own.
    client.on('error', (error: unknown) => logger.debug({ err: error }, 'the connection to Redis failed'));
    await client.connect();
    return client;
  };
  const teller = await connect();
  const hearer = await connect();
  await hearer.subscribe(channel, (text) => {
    const news = newsSchema.safeParse(parseJson(text)).data;
    if (news !== undefined) for (const listener of listeners) listener(news);
  });
  return {
    tell(news) {
      teller
        .publish(channel, JSON.stringify(news))
        .catch((error: unknown) => logger.debug({ err: error }, 'other servers could not be told of a session'));
    },
    listen: (listener) => void listeners.push(listener),
    close() {
      teller.destroy();
      hearer.destroy();
    },
  };
}
