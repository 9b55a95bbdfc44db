import { once } from 'node:events';
import { connect } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { fastify } from 'fastify';
import { expect, onTestFinished, test } from 'vitest';
import { createDrain } from './drain.ts';

const CONNECTION = /^connection: (.*)\r$/imu;

/** A server with one route, and a connection to it that has had an answer. */
async function startIdle(idle_grace_ms?: number) {
  const app = fastify();
  const drain = createDrain(app, idle_grace_ms);
  app.post('/letters', () => 'written');
  const url = await app.listen({ port: 0, host: '127.0.0.1' });
  onTestFinished(() => app.close());
  const socket = connect(Number(new URL(url).port), '127.0.0.1').setEncoding('utf8');
  onTestFinished(() => void socket.destroy());
  const post = async () => {
    socket.write('POST /letters HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n');
    const answer = String(await once(socket, 'data'));
    return { status: Number(answer.split(' ')[1]), connection: CONNECTION.exec(answer)?.[1] };
  };
  expect(await post()).toEqual({ status: 200, connection: 'keep-alive' });
  return { drain, socket, post };
}

/** Long enough for the kernel to have handed over what was written before. */
const turns = async () => {
  for (let turn = 0; turn < 20; turn += 1) await nextTurn();
};

// A proxy does not send a cut write again, and answers 502.
test('answers a request on an idle connection after the announcement, and ends the connection', async () => {
  const { drain, socket, post } = await startIdle();
  drain.announce();
  await turns();
  expect(await post()).toEqual({ status: 200, connection: 'close' });
  if (!socket.closed) await once(socket, 'close');
});

test('refuses a request on an idle connection after the end of the notice with an answer', async () => {
  const { drain, post } = await startIdle();
  const finished = drain.finish(10_000);
  await turns();
  expect(await post()).toEqual({ status: 503, connection: 'close' });
  expect(await finished).toBe(0);
});

test('closes a connection that stays idle once it had its time', async () => {
  const { drain, socket } = await startIdle(0);
  drain.announce();
  await turns();
  expect(socket.closed).toBe(false);
  const closed = once(socket, 'close');
  expect(await drain.finish(10_000)).toBe(0);
  await closed;
  expect(drain.isStopping()).toBe(true);
});

test('ends when the time is over, whatever is open', async () => {
  const { drain, socket } = await startIdle(10_000);
  expect(await drain.finish(0)).toBe(0);
  expect(socket.closed).toBe(false);
});
