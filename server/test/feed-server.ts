import { createHash, generateKeyPairSync, sign } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { afterFile } from './after-file.ts';

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

const { publicKey, privateKey } = generateKeyPairSync('ed25519');

/** The public key of every feed here, as a setting names it. */
const FEED_KEY = Buffer.from(publicKey.export({ format: 'jwk' }).x ?? '', 'base64url').toString('base64');

/** A feed of this key, as the setting writes it. */
export const signedFeed = (kind: 'yara' | 'sha256', url: string) => `${kind}+${url}#ed25519=${FEED_KEY}`;

export const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

export interface FeedServer {
  url: string;
  /** Requests, as `GET /path 200`. */
  asked: string[];
  /** Serves bytes with their ETag, and their signature beside them. */
  put(path: string, bytes: Buffer): void;
  on(path: string, handler: Handler): void;
  /** Makes requests for the path wait until the returned function is called. */
  hold(path: string): () => void;
}

/** A maker of feeds on a loopback address; it ends with the tests of the file. */
export async function startFeedServer(): Promise<FeedServer> {
  const handlers = new Map<string, Handler>();
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    response.once('close', () => asked.push(`${request.method} ${path} ${response.statusCode}`));
    const handler = handlers.get(path);
    if (handler === undefined) response.writeHead(404).end();
    else handler(request, response);
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const address = server.address();
  afterFile(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${address !== null && typeof address === 'object' ? address.port : 0}`,
    asked,
    on: (path, handler) => void handlers.set(path, handler),
    hold(path) {
      const then = handlers.get(path);
      const { promise, resolve } = Promise.withResolvers<void>();
      handlers.set(path, (request, response) => void promise.then(() => then?.(request, response)));
      return resolve;
    },
    put(path, bytes) {
      const etag = `"${sha256(bytes).slice(0, 12)}"`;
      handlers.set(path, (request, response) => {
        if (request.headers['if-none-match'] === etag) response.writeHead(304).end();
        else response.writeHead(200, { etag, 'content-length': bytes.length }).end(bytes);
      });
      handlers.set(`${path}.sig`, (_request, response) => void response.end(sign(null, bytes, privateKey).toString('base64')));
    },
  };
}
