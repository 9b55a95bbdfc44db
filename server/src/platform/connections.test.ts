// proves: security-33

import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { eventually } from '@palisade/scanner/test/eventually';
import { afterEach, describe, expect, test } from 'vitest';
import { type ListeningApp, startListeningApp } from '#test/harness.ts';
import { type ConnectionLimits, connectionLimits } from './connections.ts';

const LIMITS: ConnectionLimits = {
  waiting_per_source: 40,
  waiting: 60,
  requests_per_source: 10,
  requests_per_shared_source: 20,
  open: 200,
};
const PUBLIC = { EXPOSURE: 'public', ADMIN_EMAILS: 'boss@example.com', RESET_DELIVERY: 'outbox' };
const GET = 'GET /api/health HTTP/1.1\r\nHost: localhost\r\n\r\n';
const HEAD =
  'POST /api/auth/login HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n{';

const opened = new Set<Socket>();
afterEach(() => {
  for (const socket of opened) socket.destroy();
  opened.clear();
});

/** A connection from an address of loopback, of which there are many on Linux alone, once it is there. */
async function dial(app: ListeningApp, text = '', from = '127.0.0.1'): Promise<Socket> {
  const socket = connect({ port: Number(new URL(app.url).port), host: '127.0.0.1', localAddress: from });
  opened.add(socket);
  socket.on('error', () => {});
  socket.resume();
  await once(socket, 'connect');
  if (text !== '') socket.write(text);
  return socket;
}

const isOpen = (socket: Socket) => !socket.destroyed && !socket.closed;
const openOf = (sockets: readonly Socket[]) => sockets.filter(isOpen).length;
const count = ({ app }: ListeningApp) =>
  new Promise<number>((resolve, reject) =>
    app.fastify.server.getConnections((error, connections) => (error ? reject(error) : resolve(connections))),
  );

/** The first bytes of the answer to a request on a new connection. */
async function ask(app: ListeningApp, text = GET, from = '127.0.0.1'): Promise<string> {
  const socket = await dial(app, text, from);
  const said = await new Promise<Buffer>((resolve) => socket.once('data', resolve));
  socket.destroy();
  return said.toString();
}

describe('of connections that ask nothing', async () => {
  const app = await startListeningApp({ surroundings: { connection_limits: LIMITS } });
  const flood = async (text: string, from?: string) => {
    const sockets: Socket[] = [];
    for (let index = 0; index < 560; index += 1) sockets.push(await dial(app, text, from));
    return sockets;
  };

  // proves: attack-C.17-1
  test.each([
    ['say nothing', ''],
    ['drip a header', 'GET /api/health HTTP/1.1\r\nHost: localhost\r\nX-Slow: '],
    ['were answered and stay', GET],
  ])('560 that %s leave as many as may be, and who asks is answered', async (_, text) => {
    const sockets = await flood(text);
    await eventually(() => expect(openOf(sockets)).toBe(LIMITS.waiting_per_source));
    // Those that came last.
    expect(sockets.slice(-LIMITS.waiting_per_source).every(isOpen)).toBe(true);
    for (let time = 0; time < 5; time += 1) expect(await ask(app)).toMatch(/^HTTP\/1.1 200 /);
    expect(await count(app)).toBeLessThanOrEqual(LIMITS.waiting_per_source + 1);
  });

  test.runIf(process.platform === 'linux')('another source keeps its own, as long as there is room in all', async () => {
    const theirs = [await dial(app, '', '127.0.0.2'), await dial(app, GET, '127.0.0.2')];
    const sockets = await flood('');
    await eventually(() => expect(openOf(sockets)).toBe(LIMITS.waiting_per_source));
    expect(openOf(theirs)).toBe(2);
    const more: Socket[] = [];
    for (let index = 0; index < 3 * LIMITS.waiting; index += 1) more.push(await dial(app, '', `127.0.1.${(index % 200) + 1}`));
    await eventually(async () => expect(await count(app)).toBe(LIMITS.waiting));
    expect(openOf(theirs)).toBe(0);
    expect(await ask(app, GET, '127.0.0.3')).toMatch(/^HTTP\/1.1 200 /);
  });

  test('those that ask are not among them, however many', async () => {
    const login = await dial(app, HEAD);
    const sockets = await flood('');
    await eventually(() => expect(openOf(sockets)).toBe(LIMITS.waiting_per_source));
    expect(isOpen(login)).toBe(true);
  });
});

describe('of requests whose bodies do not come', () => {
  test.runIf(process.platform === 'linux')('a source has no more than may be, and others are answered', async () => {
    const app = await startListeningApp({ environment: PUBLIC, surroundings: { connection_limits: LIMITS } });
    const sockets = [];
    for (let index = 0; index < LIMITS.requests_per_source; index += 1) sockets.push(await dial(app, HEAD));
    await eventually(async () => {
      const said = await ask(app);
      expect(said).toMatch(/^HTTP\/1.1 429 /);
      expect(said).toMatch(/connection: close/i);
      expect(said).toMatch(/retry-after: 5/i);
    });
    expect(await ask(app, GET, '127.0.0.2')).toMatch(/^HTTP\/1.1 200 /);
    expect(openOf(sockets)).toBe(LIMITS.requests_per_source);
    sockets[0]?.destroy();
    await eventually(async () => expect(await ask(app)).toMatch(/^HTTP\/1.1 200 /));
  });

  test('one that many people share has more', async () => {
    const app = await startListeningApp({ surroundings: { connection_limits: LIMITS } });
    const sockets = [];
    for (let index = 0; index < LIMITS.requests_per_shared_source - 1; index += 1) sockets.push(await dial(app, HEAD));
    expect(await ask(app)).toMatch(/^HTTP\/1.1 200 /);
    await dial(app, HEAD);
    await eventually(async () => expect(await ask(app)).toMatch(/^HTTP\/1.1 429 /));
  });
});

test.each([
  [256, 128],
  [1_024, 512],
  [65_536, 20_000],
])('of %i open files %i are left to connections, and no crowd of them can have them all', (files, open) => {
  const limits = connectionLimits(files);
  expect(limits.open).toBe(open);
  expect(limits.waiting + limits.requests_per_source).toBeLessThan(open);
  expect(limits.requests_per_shared_source).toBeLessThan(open);
  expect(limits.waiting_per_source).toBeLessThanOrEqual(limits.waiting / 2);
});

test('connections are bounded by the open files of this system', async () => {
  const app = await startListeningApp();
  expect(app.app.fastify.server.maxConnections).toBe(connectionLimits().open);
});
