import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { afterEach, expect, it, vi } from 'vitest';
import { questionFor } from '#test/messages.ts';
import { carry, type Listener, listenPlain, networkOf } from './listen.ts';
import { NameList } from './name-list.ts';
import { Resolver } from './resolver.ts';

const open: Listener[] = [];
afterEach(async () => {
  for (const listener of open.splice(0)) await listener.close();
});

const framed = (message: Buffer) => Buffer.concat([Buffer.from([0, message.length]), message]);

async function listening() {
  const resolver = new Resolver({ upstreams: [], local: [], never: NameList.of([]), now: () => 0 });
  const policy = { levels: [], safe_search: 'off', seconds_maximum: 60 } as const;
  const listener = await listenPlain({ host: '127.0.0.1', port: 0 }, async (message) => resolver.resolve(message, policy));
  open.push(listener);
  return listener.port;
}

it('answers over UDP, and nothing to what is no question', async () => {
  const port = await listening();
  const client = createSocket('udp4');
  const answered = new Promise<Buffer>((resolve) => client.once('message', resolve));
  client.send(Buffer.from([1, 2, 3]), port, '127.0.0.1');
  client.send(questionFor('localhost', { id: 9 }), port, '127.0.0.1');
  const answer = await answered;
  client.close();
  expect([answer.readUInt16BE(0), answer.readUInt16BE(6)]).toEqual([9, 1]);
});

it('answers several questions of a connection that come in pieces, and ends it at a malformed one', async () => {
  const port = await listening();
  const socket = connect(port, '127.0.0.1');
  const both = Buffer.concat([framed(questionFor('localhost', { id: 1 })), framed(questionFor('localhost', { id: 2 }))]);
  socket.write(both.subarray(0, 20), () => socket.write(both.subarray(20)));
  const parts: Buffer[] = [];
  const ids = () => {
    const bytes = Buffer.concat(parts);
    const found = [];
    for (let at = 0; at + 4 <= bytes.length; at += 2 + bytes.readUInt16BE(at)) found.push(bytes.readUInt16BE(at + 2));
    return found;
  };
  for await (const part of socket) {
    parts.push(part);
    if (ids().length === 2) socket.write(Buffer.from([0, 3, 1, 2, 3]));
  }
  expect(ids()).toEqual([1, 2]);
});

it.each([
  ['whose answer is too long', 70_000, 1],
  ['that leaves its answers unread', 65_000, 99],
])('ends a connection %s', async (_what, bytes, count) => {
  const listener = await listenPlain({ host: '127.0.0.1', port: 0 }, async () => ({ answer: Buffer.alloc(bytes) }));
  open.push(listener);
  const socket = connect(listener.port, '127.0.0.1').on('error', () => {});
  socket.write(Buffer.concat(Array.from({ length: count }, () => framed(questionFor('shop.example')))));
  let received = 0;
  socket.on('data', (part) => (received += part.length));
  await new Promise((closed) => socket.once('close', closed));
  expect(received).toBeLessThan(bytes * count);
});

it.each([
  ['192.0.2.1', '192.0.2.1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['2001:db8::1', '2001:db8:0:0'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
  ['fe80::1%eth0', 'fe80:0:0:0'],
  ['::1', '0:0:0:0'],
])('counts connections of %s for %s', (address, network) => {
  expect(networkOf(address)).toBe(network);
});

it('ends the connections of a source beyond a hundred, and holds no other source up', async () => {
  const port = await listening();
  const held = await Promise.all(
    Array.from({ length: 100 }, async () => {
      const socket = connect(port, '127.0.0.1');
      await once(socket, 'connect');
      return socket;
    }),
  );
  const further = connect(port, '127.0.0.1').on('error', () => {});
  await once(further, 'close');
  const other = connect({ port, host: '127.0.0.1', localAddress: '127.0.0.2' });
  other.write(framed(questionFor('localhost', { id: 3 })));
  const answer = await new Promise<Buffer>((resolve) => other.once('data', resolve));
  expect(answer.readUInt16BE(2)).toBe(3);
  other.destroy();
  held[0]?.destroy();
  for (const socket of held) expect(socket.readableEnded).toBe(false);
  for (const socket of held) socket.destroy();
});

it('ends a connection that sends a byte a second ten seconds after the first, and none that has asked', async () => {
  const server = createServer();
  const connected = new Promise<Socket>((resolve) => server.once('connection', resolve));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  open.push({ host: '', port: 0, close: () => new Promise((closed) => server.close(() => closed())) });
  const bound = server.address();
  const client = connect(bound !== null && typeof bound === 'object' ? bound.port : 0, '127.0.0.1').on('error', () => {});
  const socket = await connected;
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    carry(socket, async () => ({ answer: Buffer.alloc(12) }));
    socket.emit('data', framed(Buffer.alloc(12)));
    vi.advanceTimersByTime(20_000);
    expect(socket.destroyed).toBe(false);
    for (let second = 0; second < 10; second++) {
      expect(socket.destroyed).toBe(false);
      socket.emit('data', Buffer.from([1]));
      vi.advanceTimersByTime(1_000);
    }
    expect(socket.destroyed).toBe(true);
  } finally {
    vi.useRealTimers();
    client.destroy();
  }
});
