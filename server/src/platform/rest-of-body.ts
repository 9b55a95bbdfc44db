import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';

/** The rest of a refused body that is still read, in bytes and time: a program that sends all of it before it reads gets its answer. */
const REST = { bytes: 16 * 1024 * 1024, ms: 10_000 };

/** Drops what still comes of a body. Ends when it is over, when there is too much of it, and when it takes too long. */
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
 * An answer to a request whose body was refused for its size. It is sent at once, and the connection stays until its client is through with sending: one that is
 * closed while bytes arrive is reset, and its client never reads the answer.
 */
export function answerBeforeRest(body: IncomingMessage, answer: string | Buffer): Readable {
  async function* parts() {
    yield answer;
    if (!body.complete && !body.readableEnded && !body.destroyed) await dropRest(body);
  }
  return Readable.from(parts(), { objectMode: false });
}
