import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { createConnection, createServer } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { answerTo, questionFor } from '#test/messages.ts';
import { forward, plainUpstream, Stream } from './upstream.ts';

const open: { close(): void }[] = [];
afterEach(() => {
  for (const server of open.splice(0)) server.close();
});

const address = (last: number) => [{ type: 1, data: Buffer.from([192, 0, 2, last]) }];
const lastOf = (answer: Buffer) => answer.at(-12);

/** A server on loopback that answers as told. */
async function served(answer: (query: Buffer, from: RemoteInfo, socket: Socket) => void) {
  const socket = createSocket('udp4');
  socket.on('message', (query, from) => answer(query, from, socket));
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  open.push(socket);
  return { host: '127.0.0.1', port: socket.address().port };
}
const asks = (...servers: { host: string; port: number }[]) =>
  forward(servers.map(plainUpstream), questionFor('shop.example'), 1_900);

it('passes over answers from another port, with another id or other letters', async () => {
  const other = createSocket('udp4');
  open.push(other);
  const server = await served((query, { port }, socket) => {
    other.send(answerTo(query, address(66)), port, '127.0.0.1', () => {
      const wrong = answerTo(query, address(67));
      wrong.writeUInt16BE(query.readUInt16BE(0) ^ 1, 0);
      socket.send(wrong, port);
      const letters = answerTo(query, address(68));
      letters[13] = (letters[13] ?? 0) ^ 0x20;
      socket.send(letters, port);
      socket.send(Buffer.from([1, 2, 3]), port);
      socket.send(answerTo(query, address(1)), port);
    });
  });
  expect(lastOf(await asks(server))).toBe(1);
});

it('asks the second upstream when the first is silent, refuses or is not there', async () => {
  const second = await served((query, { port }, socket) => socket.send(answerTo(query, address(2)), port));
  const silent = await served(() => {});
  const refusing = await served((query, { port }, socket) => socket.send(answerTo(query, [], { flags: 0x8185 }), port));
  for (const first of [silent, refusing, { host: '127.0.0.1', port: 1 }]) expect(lastOf(await asks(first, second))).toBe(2);
});

it('asks again over TCP what was truncated', async () => {
  const server = createServer((socket) => {
    socket.on('data', (bytes) => {
      const answer = answerTo(bytes.subarray(2), address(3));
      const length = Buffer.alloc(2);
      length.writeUInt16BE(answer.length);
      // In two parts, as a network may bring them.
      socket.write(Buffer.concat([length, answer.subarray(0, 5)]), () => socket.write(answer.subarray(5)));
    });
  });
  const udp = await served((query, { port }, socket) => socket.send(answerTo(query, [], { flags: 0x8380 }), port));
  server.listen(udp.port, '127.0.0.1');
  await once(server, 'listening');
  open.push(server);
  expect(lastOf(await asks(udp))).toBe(3);
});

it('fails where an address can’t be reached', async () => {
  await expect(
    plainUpstream({ host: 'fe80::1', port: 53 })(questionFor('shop.example'), AbortSignal.timeout(5_000)),
  ).rejects.toThrow(/EINVAL|ENETUNREACH|EADDRNOTAVAIL/u);
});

it('takes an answer that is too short for a failure', async () => {
  await expect(forward([async () => Buffer.from([1])], questionFor('shop.example'), 1_900)).rejects.toThrow(
    'no upstream answers',
  );
});

it('takes the first of two answers, and none that comes after the time', async () => {
  const twice = await served((query, { port }, socket) => {
    for (const last of [4, 5]) socket.send(answerTo(query, address(last)), port);
  });
  expect(lastOf(await asks(twice))).toBe(4);
  const late = Promise.withResolvers<Buffer>();
  const query = questionFor('shop.example');
  await expect(forward([() => late.promise], query, 0)).rejects.toThrow('no upstream answers');
  late.resolve(answerTo(query, address(6)));
  expect(await late.promise).toHaveLength(query.length + 16);
});

it('asks no upstream after it has an answer', async () => {
  const query = questionFor('shop.example');
  const asked: number[] = [];
  const failing = Promise.withResolvers<Buffer>();
  const ask = (index: number, answer: Promise<Buffer>) => () => {
    asked.push(index);
    return answer;
  };
  const answer = Promise.resolve(answerTo(query, address(7)));
  const first = ask(1, failing.promise);
  expect(lastOf(await forward([first, ask(2, answer), ask(3, answer)], query, 1_900))).toBe(7);
  failing.reject(new Error('too late'));
  await failing.promise.catch(() => {});
  expect(asked).toEqual([1, 2]);
});

it('ends a connection that is silent since a question ran out of time, and asks the next one on another', async () => {
  let now = 0;
  let opened = 0;
  const received = Promise.withResolvers<void>();
  const server = createServer((socket) => {
    const isSilent = ++opened === 1;
    socket.on('error', () => {});
    socket.on('data', (bytes) => {
      if (isSilent) return received.resolve();
      const answer = answerTo(bytes.subarray(2), address(8));
      socket.write(Buffer.concat([Buffer.from([0, answer.length]), answer]));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  open.push(server);
  const bound = server.address();
  const port = bound !== null && typeof bound === 'object' ? bound.port : 0;
  const stream = new Stream(
    () => createConnection({ host: '127.0.0.1', port }),
    () => now,
  );
  const [short, long] = [new AbortController(), new AbortController()];
  const asking = [short, long].map(({ signal }) => stream.ask(questionFor('shop.example'), signal));
  await received.promise;
  // Another upstream was quicker: that is no fault of the connection.
  now = 200;
  short.abort();
  await expect(asking[0]).rejects.toThrow('no answer');
  now = 1_900;
  long.abort();
  await expect(asking[1]).rejects.toThrow('no answer');
  expect(lastOf(await stream.ask(questionFor('shop.example'), AbortSignal.timeout(5_000)))).toBe(8);
  expect(opened).toBe(2);
});

it('fails when a connection ends within an answer', async () => {
  const server = createServer((socket) => {
    socket.on('data', (bytes) => socket.end(Buffer.concat([Buffer.from([0xff, 0xff]), bytes.subarray(2)])));
  });
  const udp = await served((query, { port }, socket) => socket.send(answerTo(query, [], { flags: 0x8380 }), port));
  server.listen(udp.port, '127.0.0.1');
  await once(server, 'listening');
  open.push(server);
  await expect(asks(udp)).rejects.toThrow('no upstream answers');
});
