import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { helloOf } from '#test/hello.ts';
import { askRevoked, downloadSet, type Identity, leave, sendFound } from './identity.ts';
import { Link } from './link.ts';
import { createResolver } from './resolver.ts';

// The device's proof is in the header of each call, so that a server refuses a stranger before it reads a body.

const DEVICE_ID = '01930000-0000-7000-8000-000000000001';
const TOKEN = 'a'.repeat(64);
const PROOF = { authorization: `Bearer ${TOKEN}`, 'x-device-id': DEVICE_ID };
const bodySchema = z.looseObject({});

interface Call {
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
}
let calls: Call[];
let identity: Identity;
let stopSockets = true;

beforeEach(async () => {
  calls = [];
  stopSockets = true;
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      calls.push({ path: new URL(request.url ?? '', 'http://server').pathname, headers: request.headers, body });
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"told":[]}');
    });
  });
  server.on('upgrade', (_: IncomingMessage, socket) => {
    if (stopSockets) socket.end('HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const address = server.address();
  const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/`;
  identity = { server: url, device_id: DEVICE_ID, token: TOKEN, device_name: 'a', public_key: '', private_key: '' };
});

const resolver = () => createResolver(new URL(identity.server));

it('sends its proof in the head when it verifies, leaves and fetches signatures, and in the body for servers of the version before', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'palisade-proof-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  await askRevoked(identity);
  await leave(identity);
  await downloadSet(identity, { version: '1', bytes: 1_000 }, join(folder, 'set'), resolver().lookup);
  expect(calls.map(({ path }) => path)).toEqual(['/api/agent/verify', '/api/agent/leave', '/api/agent/signatures']);
  for (const { headers, body } of calls) {
    expect(headers).toMatchObject(PROOF);
    expect(bodySchema.parse(JSON.parse(body))).toMatchObject({ device_id: DEVICE_ID, token: TOKEN });
  }
});

it('sends its proof in the head when it sends a file', async () => {
  async function* read() {
    yield Buffer.from('abc');
  }
  const signal = AbortSignal.timeout(10_000);
  await sendFound(identity, DEVICE_ID, { size: 3, read }, { lookup: resolver().lookup, signal });
  expect(calls).toMatchObject([{ path: '/api/agent/second-look', headers: PROOF }]);
});

it('sends its proof in the head of each poll', async () => {
  const link = new Link({
    server: new URL(identity.server),
    resolver: resolver(),
    hello: () => helloOf(DEVICE_ID, TOKEN),
    onDesired() {},
    onNoted() {},
    onSkew() {},
    onState() {},
    // The first answer by HTTP ends it.
    onConnected: () => link.stop(),
    askRevoked: () => Promise.resolve(undefined),
    wait: () => Promise.resolve(),
  });
  await link.run();
  expect(calls[0]).toMatchObject({ path: '/api/agent/poll', headers: PROOF });
});
