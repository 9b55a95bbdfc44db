import { randomUUID } from 'node:crypto';
import { ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { ProblemCode } from '@palisade/contract/problem';
import type { FastifyBaseLogger } from 'fastify';
import { Problem } from './problem.ts';

const DETAIL = 'The head of this request could not be read. Check its address and its headers.';
/** By the code of Node's error; what is not named is a request that breaks the grammar of HTTP. */
const CODES = new Map<string, ProblemCode>([
  ['ERR_HTTP_REQUEST_TIMEOUT', 'upload_stalled'],
  ['HPE_HEADER_OVERFLOW', 'too_large'],
  ['HPE_CHUNK_EXTENSIONS_OVERFLOW', 'too_large'],
]);

/** Whether an answer is on its way already: a second one in the middle of it would be read as its body. */
function isAnswering(socket: Socket): boolean {
  // Node's own default looks there as well (lib/_http_server.js, socketOnError).
  const response: unknown = Reflect.get(socket, '_httpMessage');
  return response instanceof ServerResponse && response.headersSent;
}

/**
 * Answers, with a problem document, what Node's parser refuses before there is a request (framing that two servers could read differently, RFC 9112 section 11.2),
 * and closes the connection. `headers` are those of every answer.
 */
export function refuseUnreadable({ logger, headers }: { logger: FastifyBaseLogger; headers: Readonly<Record<string, string>> }) {
  return (error: { code: string }, socket: Socket): void => {
    if (error.code === 'ECONNRESET' || socket.destroyed) return;
    if (!socket.writable || isAnswering(socket)) {
      socket.destroy();
      return;
    }
    const problem = new Problem(CODES.get(error.code) ?? 'malformed', { detail: DETAIL });
    const request_id = randomUUID();
    logger.debug({ request_id, code: error.code }, 'what came is no request');
    const body = JSON.stringify(problem.document(request_id));
    const head = Object.entries({
      ...headers,
      'x-request-id': request_id,
      'content-type': 'application/problem+json; charset=utf-8',
      'content-length': String(Buffer.byteLength(body)),
      connection: 'close',
    }).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.end(`HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}\r\n${head.join('')}\r\n${body}`, () =>
      socket.destroy(),
    );
  };
}
