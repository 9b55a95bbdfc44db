import type { FastifyBaseLogger } from 'fastify';

const CONNECT_MS = 5_000;
const RECONNECT_MOST_MS = 2_000;
/** Time to wait for one answer, in ms. A healthy Redis answers within 1 ms. */
const ANSWER_MS = 500;

/** Sends commands to a Redis or Valkey server, in the order of the calls. Rejects at once while it is away. */
export interface RedisConnection {
  send(command: readonly string[]): Promise<unknown>;
  /** Reconnects: a dead connection does not always end. */
  renew(): void;
  close(): void;
}

/** @throws Error with one line for the person who starts the server. */
export async function connectRedis(url: string, logger: FastifyBaseLogger): Promise<RedisConnection> {
  // Loaded only if Redis is configured.
  const { createClient } = await import('@redis/client');
  let connected = false;
  let closed = false;

  function create() {
    const created = createClient({
      url,
      disableOfflineQueue: true,
      // `withinTime` bounds the wait; the client's own timeout would keep a timer and a signal for 5 s of each command.
      commandOptions: { timeout: 0 },
      socket: {
        connectTimeout: CONNECT_MS,
        reconnectStrategy: (retries: number, cause: Error) =>
          connected ? Math.min(RECONNECT_MOST_MS, 50 * 2 ** retries) : cause,
      },
    });
    // Each command rejects separately; without a listener the error would end the process.
    created.on('error', (error: unknown) => logger.debug({ err: error }, 'the connection to Redis failed'));
    return created;
  }

  let client = create();
  try {
    await client.connect();
    await client.sendCommand(['PING']);
  } catch (error) {
    if (client.isOpen) client.destroy();
    const reason = error instanceof AggregateError ? error.errors.map(String).join(', ') : String(error);
    throw new Error(`We can’t use the Redis at REDIS_URL: ${reason.replace(/^Error: /, '')}. Start it, or unset REDIS_URL.`, {
      cause: error,
    });
  }
  connected = true;
  let renewed_at = performance.now();
  return {
    send: (command) => client.sendCommand<unknown>(command),
    renew() {
      // The previous attempt may be about to succeed.
      if (closed || performance.now() - renewed_at < CONNECT_MS) return;
      renewed_at = performance.now();
      if (client.isOpen) client.destroy();
      client = create();
      client.connect().catch((error: unknown) => logger.debug({ err: error }, 'the connection to Redis failed'));
    },
    close() {
      closed = true;
      if (client.isOpen) client.destroy();
    },
  };
}

/** Receives published messages of channels. */
export interface RedisSubscriber {
  /** Resolves once Redis has confirmed. Rejects while it is away; the channel is then subscribed when Redis is back. */
  subscribe(channel: string): Promise<void>;
  unsubscribe(channel: string): void;
  /** Whether all channels are subscribed now; detects a connection that died silently. */
  ask(): Promise<boolean>;
  close(): void;
}

/** Interval at which an idle subscriber connection is checked. */
const SUBSCRIBER_LOOK_MS = 2_000;
/** Time in which it must answer, in ms: a longer wait would only delay the reconnection. */
const SUBSCRIBER_ANSWER_MS = 4_000;

/** `onMessage` receives the messages of subscribed channels; `onLost` is called when messages may have been missed. All channels are subscribed again as soon as Redis is back. */
export async function openRedisSubscriber(parts: {
  url: string;
  logger: FastifyBaseLogger;
  onMessage(channel: string, text: string): void;
  onLost(): void;
}): Promise<RedisSubscriber> {
  const { url, logger, onMessage, onLost } = parts;
  const { createClient } = await import('@redis/client');
  const channels = new Set<string>();
  const leaving = new Map<string, Promise<void>>();
  const hear = (text: string, channel: string) => onMessage(channel, text);
  let isClosed = false;
  let isUp = false;

  function create() {
    const created = createClient({
      url,
      disableOfflineQueue: true,
      // The client must not reconnect: this module opens a new connection and subscribes again.
      socket: { connectTimeout: CONNECT_MS, reconnectStrategy: false },
    });
    created.on('error', (error: unknown) => logger.debug({ err: error }, 'the connection to Redis failed'));
    created.on('end', () => void (created === client && lose()));
    return created;
  }

  function lose(): void {
    if (!isUp || isClosed) return;
    isUp = false;
    onLost();
  }

  async function connect(): Promise<void> {
    const created = create();
    client = created;
    await created.connect();
    const subscribed = new Set<string>();
    // Channels may be added while others are being subscribed.
    for (let left = [...channels]; left.length > 0; left = [...channels].filter((channel) => !subscribed.has(channel))) {
      await withinTime(created.subscribe(left, hear), CONNECT_MS);
      for (const channel of left) subscribed.add(channel);
    }
    isUp = true;
  }

  let client = create();
  await connect();
  let looking = false;
  async function ask(): Promise<boolean> {
    try {
      if (isUp) await withinTime(client.ping(), SUBSCRIBER_ANSWER_MS);
    } catch {
      if (client.isOpen) client.destroy();
      lose();
    }
    return isUp;
  }

  const timer = setInterval(() => {
    if (looking || isClosed) return;
    looking = true;
    void (async () => {
      if ((await ask()) || isClosed) return;
      try {
        await connect();
        if (isClosed) client.destroy();
      } catch (error) {
        logger.debug({ err: error }, 'the connection to Redis failed');
        if (client.isOpen) client.destroy();
      }
    })().finally(() => {
      looking = false;
    });
  }, SUBSCRIBER_LOOK_MS);
  timer.unref();

  return {
    async subscribe(channel) {
      channels.add(channel);
      // Wait until the channel has been left: the client would otherwise match that answer to the new subscription.
      await leaving.get(channel);
      if (!isUp) throw new Error('We can’t reach Redis.');
      await withinTime(client.subscribe(channel, hear), SUBSCRIBER_ANSWER_MS);
    },
    unsubscribe(channel) {
      channels.delete(channel);
      if (!isUp) return;
      const left = withinTime(client.unsubscribe(channel))
        .catch((error: unknown) => logger.debug({ err: error }, 'a channel of Redis could not be left'))
        .finally(() => {
          if (leaving.get(channel) === left) leaving.delete(channel);
        });
      leaving.set(channel, left);
    },
    ask,
    close() {
      isClosed = true;
      clearInterval(timer);
      if (client.isOpen) client.destroy();
    },
  };
}

/**
 * Waits for an answer. Timers run before I/O in the event loop (nodejs.org, "The Node.js Event Loop": timers, poll, check), so after busy time an answer may still be
 * unread: it is read before time is up. @throws Error when the answer does not arrive in time.
 */
export async function withinTime<T>(answer: Promise<T>, ms: number = ANSWER_MS): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => setImmediate(() => reject(new Error(`no answer within ${ms} ms`))), ms);
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}
