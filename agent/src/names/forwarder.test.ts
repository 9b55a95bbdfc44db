import { createServer } from 'node:http';
import { listenPlain } from '@palisade/names/listen';
import { plainUpstream } from '@palisade/names/upstream';
import { wireName } from '@palisade/names/wire';
import { afterEach, expect, test } from 'vitest';
import { Forwarder, PROBE_DOMAIN } from './forwarder.ts';
import { ServerQuestions } from './server-questions.ts';

const HOST = '127.0.0.1';
const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

function questionFor(name: string, id = 7): Buffer {
  const head = Buffer.from([0, id, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0]);
  return Buffer.concat([head, wireName(name) ?? Buffer.alloc(1), Buffer.from([0, 1, 0, 1])]);
}

/** An answer with one address, whose last byte says who gave it. */
function answerTo(query: Buffer, last: number): Buffer {
  const end = query.indexOf(0, 12) + 5;
  const data = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 192, 0, 2, last]);
  const answer = Buffer.concat([query.subarray(0, end), data]);
  answer.writeUInt16BE(0x8180, 2);
  answer.writeUInt16BE(1, 6);
  answer.writeUInt16BE(0, 10);
  return answer;
}

const FROM_SERVER = 1;
const FROM_BEFORE = 2;

/** A forwarder over loopback, with a server over HTTP and one from before. */
async function open() {
  const keys: (string | undefined)[] = [];
  const world = { status: 200, is_silent: false, keys, time: 0 };
  const server = createServer((request, response) => {
    world.keys.push(request.url);
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      if (!world.is_silent) response.writeHead(world.status).end(answerTo(Buffer.concat(parts), FROM_SERVER));
    });
  });
  await new Promise<void>((listening) => server.listen(0, HOST, listening));
  ends.push(
    () => server.closeAllConnections(),
    () => server.close(),
  );
  const before = await listenPlain({ host: HOST, port: 0 }, async (query) => ({ answer: answerTo(query, FROM_BEFORE) }));
  ends.push(() => before.close());
  const bound = server.address();
  const port = bound !== null && typeof bound === 'object' ? bound.port : 0;
  const questions = new ServerQuestions(new URL(`http://${HOST}:${port}`), (_name, _options, found) => found(null, HOST, 4));
  questions.key = 'a'.repeat(26);
  ends.push(() => questions.close());
  const forwarder = new Forwarder({
    server: questions.ask,
    before: () => [plainUpstream({ host: HOST, port: before.port })],
    domains: () => ['lan'],
    host: 'palisade.example',
    address: '127.0.0.88',
    now: () => world.time,
  });
  const listener = await listenPlain({ host: HOST, port: 0 }, forwarder.answer);
  ends.push(() => listener.close());
  const ask = plainUpstream({ host: HOST, port: listener.port });
  const lastOf = async (name: string) => (await ask(questionFor(name), AbortSignal.timeout(5_000))).at(-1);
  return { world, forwarder, lastOf };
}

test('names are asked of the server, as this device', async () => {
  const { world, forwarder, lastOf } = await open();
  expect(await lastOf('shop.example')).toBe(FROM_SERVER);
  expect(world.keys).toEqual([`/dns/${'a'.repeat(26)}`]);
  expect(forwarder.absent()).toBeUndefined();
});

test('names of this network, and the server’s own, never leave it', async () => {
  const { world, lastOf } = await open();
  for (const name of ['palisade.example', 'printer.lan', 'nas', 'tv.local', '1.1.168.192.in-addr.arpa'])
    expect(await lastOf(name)).toBe(FROM_BEFORE);
  expect(world.keys).toEqual([]);
});

test('the agent answers its own name', async () => {
  const { lastOf } = await open();
  expect(await lastOf(`x.${PROBE_DOMAIN}`)).toBe(88);
});

test.each<[string, (world: { status: number; is_silent: boolean }) => unknown, RegExp]>([
  ['is silent', (world) => (world.is_silent = true), /no answer in time/u],
  ['does not know the key', (world) => (world.status = 404), /key/u],
  ['fails', (world) => (world.status = 502), /502/u],
])('a server that %s: the servers from before answer, and the server is asked again later', async (_, goAway, reason) => {
  const { world, forwarder, lastOf } = await open();
  goAway(world);
  expect(await lastOf('shop.example')).toBe(FROM_BEFORE);
  expect(forwarder.absent()).toMatch(reason);
  expect(await lastOf('shop.example')).toBe(FROM_BEFORE);
  expect(world.keys).toHaveLength(1);
  Object.assign(world, { status: 200, is_silent: false, time: 2_000 });
  await forwarder.lookAtServer(0);
  expect(forwarder.absent()).toBeUndefined();
  expect(await lastOf('shop.example')).toBe(FROM_SERVER);
});

test('malformed messages get an error no longer than themselves, and no question', async () => {
  const { world, forwarder } = await open();
  const malformed = [Buffer.alloc(3), Buffer.from([0, 7, 1, 0, 0, 2, 0, 0, 0, 0, 0, 0]), Buffer.alloc(65_535, 0xc0)];
  for (const message of malformed) {
    const { answer } = await forwarder.answer(message);
    expect(answer?.length ?? 0).toBeLessThanOrEqual(message.length);
  }
  expect(world.keys).toEqual([]);
});
