import { eventually } from '@palisade/scanner/test/eventually';
import { pino } from 'pino';
import { afterAll, expect, test } from 'vitest';
import { dial } from '#test/built-web.ts';
import { connectionLimits } from './connections.ts';
import type { DirectRequests } from './direct-requests.ts';
import { createDrain } from './drain.ts';
import { createHttp, PATIENCE } from './http.ts';

const LIMIT = 2;
const errors: unknown[] = [];
const measured: string[] = [];
/** Addresses of the requests whose answer began, and what it waits for. */
const begun: string[] = [];
let held: Promise<void> | undefined;

/** A server whose direct route answers the caller’s address, the body’s length and the address of the request. */
async function start() {
  let way: DirectRequests | undefined;
  const fastify = await createHttp({
    logger: pino({ level: 'silent' }),
    trusted_proxies: ['127.0.0.1'],
    patience: { ...PATIENCE, small_body_ms: 200 },
    public_url: undefined,
    channels: [],
    connections: { ...connectionLimits(), requests_per_source: LIMIT },
    isShared: () => false,
    exposure: 'local',
    onArrival: () => {},
    onDirect: (direct) => {
      way = direct;
    },
  });
  const drain = createDrain(fastify);
  fastify.get('/fast/one/more', () => 'a route of Fastify');
  way?.serve(
    {
      address: /^\/fast\/\w+(?:\?|$)/u,
      name: '/fast/{key}',
      body: { type: 'text/direct', maximum: 100_000 },
      async answer({ url, ip, body }) {
        begun.push(url);
        await held;
        if (url.endsWith('broken')) throw new TypeError('broken');
        return { headers: ['content-type', 'text/direct'], body: Buffer.from(`${ip} ${body?.length} ${url} \xff`, 'latin1') };
      },
    },
    {
      drain,
      measure: ({ method, route, status }) => measured.push(`${method} ${route} ${status}`),
      onError: (error) => errors.push(error),
    },
  );
  const url = await fastify.listen({ host: '127.0.0.1', port: 0 });
  afterAll(() => fastify.close());
  return { fastify, drain, url };
}

const app = await start();
const post = (body: string | Buffer, headers: Record<string, string> = {}, to = app) =>
  fetch(`${to.url}/fast/key`, {
    method: 'POST',
    headers: { 'content-type': 'text/direct', ...headers },
    body: typeof body === 'string' ? body : new Uint8Array(body),
  });

const HEAD = 'POST /fast/key HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/direct\r\nContent-Length: 3\r\n';

/** All that a server says on a connection after these pieces, until it closes it. */
function say(pieces: readonly string[], to = app): Promise<string> {
  return new Promise((resolve) => {
    let said = '';
    const socket = dial(to);
    socket.on('data', (bytes) => {
      said += bytes.toString('latin1');
    });
    socket.once('close', () => resolve(said));
    const next = (index: number) => {
      const piece = pieces[index];
      if (piece !== undefined) socket.write(piece, 'latin1', () => setImmediate(next, index + 1));
    };
    next(0);
  });
}

test('answers GET, HEAD and POST byte by byte as the route does, and measures them', async () => {
  const got = await fetch(`${app.url}/fast/key?a=1`);
  expect(Buffer.from(await got.arrayBuffer())).toEqual(Buffer.from('127.0.0.1 undefined /fast/key?a=1 \xff', 'latin1'));
  expect([got.headers.get('content-type'), got.headers.get('x-content-type-options')]).toEqual(['text/direct', 'nosniff']);
  expect((await fetch(`${app.url}/fast/key`, { method: 'HEAD' })).headers.get('content-length')).not.toBe('0');
  expect(await (await post(Buffer.alloc(70_000))).text()).toContain('127.0.0.1 70000 ');
  await eventually(() =>
    expect(measured.slice(0, 3)).toEqual(['GET', 'HEAD', 'POST'].map((method) => `${method} /fast/{key} 200`)),
  );
});

test('leaves other methods and paths to Fastify, and takes what comes through it', async () => {
  expect(await (await fetch(`${app.url}/fast/one/more`)).text()).toBe('a route of Fastify');
  expect((await fetch(`${app.url}/fast/key`, { method: 'PUT' })).status).toBe(404);
  const injected = await app.fastify.inject({ url: '/fast/key', headers: { host: 'localhost' } });
  expect([injected.statusCode, injected.body]).toEqual([200, expect.stringContaining('/fast/key')]);
});

test('keeps a connection, and reads a body that comes in pieces', async () => {
  const said = await say([`${HEAD}\r\na`, 'b', `c${HEAD}Connection: close\r\n\r\nabc`]);
  expect(said.match(/HTTP\/1\.1 200/gu)).toHaveLength(2);
  expect(said.match(/ 3 \/fast\/key/gu)).toHaveLength(2);
});

test('takes the address of the nearest hop that is no trusted proxy', async () => {
  const answer = await post('', { 'x-forwarded-for': '198.51.100.1, 203.0.113.9, 127.0.0.1' });
  expect(await answer.text()).toMatch(/^203\.0\.113\.9 /u);
});

async function getWith(headers: string): Promise<{ status: number }> {
  const said = await say([`GET /fast/key HTTP/1.1\r\n${headers}Connection: close\r\n\r\n`]);
  return { status: Number(said.slice(9, 12)) };
}

test.each([
  ['another type', 415, () => post('x', { 'content-type': 'text/plain' })],
  ['a body that is too large', 413, () => post(Buffer.alloc(100_001))],
  ['another host', 421, () => getWith('Host: evil.example\r\n')],
  ['two hosts', 400, () => getWith('Host: localhost\r\nhost: localhost\r\n')],
  ['an error', 500, () => fetch(`${app.url}/fast/broken`)],
])('answers %s by a problem with status %i', async (_what, status, ask) => {
  expect((await ask()).status).toBe(status);
});

test('says a problem as the API does, and tells the watch of storage', async () => {
  const refused = await fetch(`${app.url}/fast/broken`);
  expect(refused.headers.get('content-type')).toBe('application/problem+json; charset=utf-8');
  expect(await refused.json()).toMatchObject({ code: 'internal', status: 500 });
  expect(errors.at(-1)).toBeInstanceOf(TypeError);
});

/** Begins requests that wait for their answer until they are released. */
async function hold(to: typeof app, count: number) {
  const release = Promise.withResolvers<void>();
  held = release.promise;
  const before = begun.length;
  const answers = Promise.all(Array.from({ length: count }, () => fetch(`${to.url}/fast/held`)));
  await eventually(() => expect(begun.length - before).toBe(count));
  held = undefined;
  return async () => {
    release.resolve();
    return (await answers).map(({ status }) => status);
  };
}

test('refuses more requests of one source at once than it may have', async () => {
  const release = await hold(app, LIMIT);
  const more = await fetch(`${app.url}/fast/key`);
  expect([more.status, more.headers.get('retry-after'), more.headers.get('connection')]).toEqual([429, '5', 'close']);
  expect(await release()).toEqual([200, 200]);
  expect((await fetch(`${app.url}/fast/key`)).status).toBe(200);
});

test('cuts a body that is late', async () => {
  expect(await say([`${HEAD}\r\na`])).toBe('');
});

test('lets a request under way finish while the server stops, and takes no other', async () => {
  const stopping = await start();
  const release = await hold(stopping, 1);
  const finished = stopping.drain.finish(60_000);
  const late = await fetch(`${stopping.url}/fast/key`);
  expect([late.status, late.headers.get('connection')]).toEqual([503, 'close']);
  expect(await release()).toEqual([200]);
  expect(await finished).toBe(0);
});
