import { randomUUID } from 'node:crypto';
import { ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyBaseLogger } from 'fastify';
import { refuse } from './platform.refusals.ts';
import { Problem } from './problem.ts';

interface Refusal {
  /** The HTTP status, which for some cases is more specific than that of `malformed` and `too_large`. */
  status: number;
  problem: Problem;
}

/** By Node's error code; any other code means a request that violates the grammar of HTTP. */
const REFUSALS = new Map<string, Refusal>([
  ['ERR_HTTP_REQUEST_TIMEOUT', { status: 408, problem: refuse('request.late') }],
  ['HPE_HEADER_OVERFLOW', { status: 431, problem: refuse('request.large_headers') }],
  ['HPE_CHUNK_EXTENSIONS_OVERFLOW', { status: 413, problem: new Problem('too_large') }],
]);
const UNGRAMMATICAL: Refusal = {
  status: 400,
  problem: refuse('request.unreadable'),
};

/** Whether an answer is already being sent: a second one would be read as part of its body. */
function isAnswering(socket: Socket): boolean {
  // Node's own default uses the same property (lib/_http_server.js, socketOnError).
  const response: unknown = Reflect.get(socket, '_httpMessage');
  return response instanceof ServerResponse && response.headersSent;
}

/**
 * Answers requests that Node's parser refuses (such as framing that two servers could read differently, RFC 9112 section 11.2) with a problem document, and closes the
 * connection. `headers` are those of every answer.
 */
export function refuseUnreadable({ logger, headers }: { logger: FastifyBaseLogger; headers: Readonly<Record<string, string>> }) {
  return (error: { code: string }, socket: Socket): void => {
    if (error.code === 'ECONNRESET' || socket.destroyed) return;
    if (!socket.writable || isAnswering(socket)) {
      socket.destroy();
      return;
    }
    const { status, problem } = REFUSALS.get(error.code) ?? UNGRAMMATICAL;
    const request_id = randomUUID();
    logger.debug({ request_id, code: error.code }, 'what came is no request');
    const body = JSON.stringify({ ...problem.document(request_id), status });
    const head = Object.entries({
      ...headers,
      'x-request-id': request_id,
      'content-type': 'application/problem+json; charset=utf-8',
      'content-length': String(Buffer.byteLength(body)),
      connection: 'close',
    }).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${head.join('')}\r\n${body}`, () => socket.destroy());
  };
}
