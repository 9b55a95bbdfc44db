import { once } from 'node:events';
import { connect } from 'node:net';
import { fastify } from 'fastify';
import { expect, onTestFinished, test } from 'vitest';
import { createDrain } from './drain.ts';

/** A server with one route, and a connection to it that has had an answer. */
async function startIdle() {
  const app = fastify();
  const drain = createDrain(app);
  app.post('/letters', () => 'written');
  const url = await app.listen({ port: 0, host: '127.0.0.1' });
  onTestFinished(() => app.close());
  const socket = connect(Number(new URL(url).port), '127.0.0.1').setEncoding('utf8');
  onTestFinished(() => void socket.destroy());
  const post = () => socket.write('POST /letters HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n');
  post();
  await once(socket, 'data');
  return { drain, socket, post };
}

// A proxy does not send a cut write again, and answers 502.
test('answers a request that came on an idle connection just before the stop', async () => {
  const { drain, socket, post } = await startIdle();
  post();
  drain.announce();
  expect(String(await once(socket, 'data'))).toMatch(/^HTTP\/1\.1 200 /);
});

test('refuses a request that came just before the end of the notice with an answer', async () => {
  const { drain, socket, post } = await startIdle();
  post();
  const finished = drain.finish(10_000);
  expect(String(await once(socket, 'data'))).toMatch(/^HTTP\/1\.1 503 /);
  expect(await finished).toBe(0);
});

test('closes connections without a request', async () => {
  const { drain, socket } = await startIdle();
  drain.announce();
  await once(socket, 'close');
  expect(drain.isStopping()).toBe(true);
});
