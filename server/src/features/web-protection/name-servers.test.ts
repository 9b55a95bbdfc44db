import { createServer } from 'node:http';
import { expect, test } from 'vitest';
import { askOf } from './name-servers.ts';

const QUERY = Buffer.from('0000010000010000000000000473686f70076578616d706c650000010001', 'hex');
const ANSWER = Buffer.from(QUERY).fill(0x81, 2, 3);

test.each([
  ['an answer', ANSWER, true],
  ['an answer to another question', Buffer.from(ANSWER).fill(0x78, 13, 14), false],
  ['a few bytes', Buffer.from([1]), false],
  ['more bytes than a message has', Buffer.concat([ANSWER, Buffer.alloc(70_000)]), false],
])('a server over HTTPS that sends %s', async (_what, body, isTaken) => {
  const server = createServer((_request, response) => response.setHeader('content-type', 'application/dns-message').end(body));
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const address = server.address();
  const ask = askOf({ kind: 'https', url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/` });
  const taken = ask(QUERY, AbortSignal.timeout(5_000)).then(
    () => true,
    () => false,
  );
  expect(await taken).toBe(isTaken);
  server.close();
});
