import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';

/** Limits on the part of a refused body that is still read, in bytes and ms: a program that sends the whole body before it reads then gets its answer. */
const REST = { bytes: 16 * 1024 * 1024, ms: 10_000 };

/** Discards the rest of a body. Resolves at its end, or when it is too large or takes too long. */
function dropRest(body: IncomingMessage): Promise<void> {
  return new Promise((resolve) => {
    let bytes = 0;
    const count = (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > REST.bytes) stop();
    };
    const timer = setTimeout(stop, REST.ms).unref();
    function stop(): void {
      clearTimeout(timer);
      body.off('data', count);
      for (const end of ['end', 'close', 'error']) body.off(end, stop);
      resolve();
    }
    for (const end of ['end', 'close', 'error']) body.once(end, stop);
    body.on('data', count);
  });
}

/**
 * Answers a request whose body was refused for its size. The answer is sent at once, and the connection stays open until the client has stopped sending: a connection closed
 * while bytes arrive is reset, and its client never reads the answer.
 */
export function answerBeforeRest(body: IncomingMessage, answer: string | Buffer): Readable {
  async function* parts() {
    yield answer;
    if (!body.complete && !body.readableEnded && !body.destroyed) await dropRest(body);
  }
  return Readable.from(parts(), { objectMode: false });
}
