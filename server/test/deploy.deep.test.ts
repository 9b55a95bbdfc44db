import { once } from 'node:events';
import { createServer } from 'node:http';
import { request } from 'node:https';
import { scanSchema, UPLOAD_MAXIMUM } from '@palisade/contract/antivirus';
import { login, register } from '@palisade/contract/auth';
import { serverFrameSchema } from '@palisade/contract/events';
import { listSessions } from '@palisade/contract/sessions';
import { eventually } from '@palisade/scanner/test/eventually';
import { noise } from '@palisade/scanner/test/files';
import { describe, expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import { z } from 'zod';
import { freePort } from './free-port.ts';
import { startListeningScanningApp } from './harness.ts';
import { startProxy } from './proxies.ts';
import { EXAMPLES, nginxBeforeTwo } from './proxy-examples.ts';
import { withoutProxy } from './proxy-programs.ts';

// The examples for proxies, run by nginx and Caddy. Tests that need no other program are in deploy.test.ts.

const KINDS = ['nginx', 'Caddy'] as const;

interface Said {
  status: number;
  headers: Record<string, unknown>;
  text: string;
}

/** A request to localhost over TLS, from an address of loopback of its own. */
function ask(
  port: number,
  path: string,
  how: { method?: string; headers?: Record<string, string | number>; body?: Buffer | string; from?: string } = {},
): Promise<Said> {
  const { method = how.body === undefined ? 'GET' : 'POST', headers = {}, body, from } = how;
  const target = { host: '127.0.0.1', port, servername: 'localhost', rejectUnauthorized: false, agent: false } as const;
  return new Promise((resolve, reject) => {
    const sent = request(
      { ...target, path, method, headers: { host: `localhost:${port}`, ...headers }, ...(from && { localAddress: from }) },
      (answer) => {
        const parts: Buffer[] = [];
        answer.on('data', (part: Buffer) => parts.push(part));
        answer.once('error', reject);
        answer.once('end', () =>
          resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text: Buffer.concat(parts).toString() }),
        );
      },
    );
    sent.once('error', reject);
    onTestFinished(() => void sent.destroy());
    // The head alone says how much is to come.
    if (headers['content-length'] !== undefined && body === undefined) sent.flushHeaders();
    else sent.end(body);
  });
}

describe.each(KINDS)('the example for %s', (kind) => {
  test.skipIf(withoutProxy(kind) !== undefined)(
    'passes on uploads, live events, large bodies and the true address of each client',
    async () => {
      const port = await freePort();
      const app = await startListeningScanningApp({
        environment: {
          PUBLIC_URL: `https://localhost:${port}`,
          EXPOSURE: 'public',
          ADMIN_EMAILS: 'boss@example.com',
          RESET_DELIVERY: 'outbox',
          TRUSTED_PROXIES: '127.0.0.1',
        },
      });
      await startProxy(kind, { url: app.url, at: port }, onTestFinished, EXAMPLES[kind]);
      const json = { 'content-type': 'application/json' };
      const person = { email: 'boss@example.com', password: 'a long enough password' };
      await eventually(async () => expect((await ask(port, '/api/ready')).status).toBe(200));

      const spoofed = { 'x-forwarded-for': '203.0.113.9', forwarded: 'for=203.0.113.9', 'x-real-ip': '203.0.113.9' };
      const made = await ask(port, `/api${register.path}`, {
        headers: json,
        body: JSON.stringify({ ...person, username: 'boss' }),
      });
      expect(made.status).toBe(201);
      const from = '127.0.0.57';
      const signed_in = await ask(port, `/api${login.path}`, {
        headers: { ...json, ...spoofed },
        body: JSON.stringify(person),
        from,
      });
      const { access_token } = z.object({ access_token: z.string() }).parse(JSON.parse(signed_in.text));
      const authorization = { authorization: `Bearer ${access_token}` };
      const sessions = await ask(port, `/api${listSessions.path}`, { headers: authorization });
      expect(sessions.text).toContain(from);
      expect(sessions.text).not.toContain('203.0.113.9');
      expect(signed_in.headers['strict-transport-security']).toContain('max-age=');

      const socket = new WebSocket(`wss://localhost:${port}/api/events`, {
        headers: { host: `localhost:${port}` },
        origin: `https://localhost:${port}`,
        rejectUnauthorized: false,
      });
      onTestFinished(() => socket.terminate());
      const kinds_heard: string[] = [];
      socket.on('message', (bytes: Buffer) => {
        const frame = serverFrameSchema.parse(JSON.parse(bytes.toString()));
        kinds_heard.push(frame.kind === 'event' ? frame.event.kind : frame.kind);
      });
      await new Promise((resolve, reject) => void socket.once('open', resolve).once('error', reject));
      socket.send(JSON.stringify({ kind: 'hello', access_token }));
      await eventually(() => expect(kinds_heard).toContain('welcome'));

      const [boundary, content] = ['example-boundary', noise(3 * 1024 ** 2)];
      const head = `--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="a.bin"\r\n\r\n`;
      const uploaded = await ask(port, '/api/antivirus/scan', {
        headers: { ...authorization, 'content-type': `multipart/form-data; boundary=${boundary}` },
        body: Buffer.concat([Buffer.from(head), content, Buffer.from(`\r\n--${boundary}--\r\n`)]),
      });
      expect(scanSchema.parse(JSON.parse(uploaded.text))).toMatchObject({ scan_status: 'clean', size: content.length });
      await eventually(() => expect(kinds_heard).toContain('scan_changed'));

      // A call without a session is refused before a byte of the body; Palisade itself refuses a body that is too large.
      const large = { 'content-length': UPLOAD_MAXIMUM + 1_000, 'content-type': `multipart/form-data; boundary=${boundary}` };
      const refused = await ask(port, '/api/antivirus/scan', { method: 'POST', headers: large });
      expect([refused.status, refused.headers['content-type']]).toEqual([401, 'application/problem+json; charset=utf-8']);
    },
  );
});

describe('two servers behind the example for nginx', () => {
  /** A server that answers 200, or 503 while it stops. */
  async function stub() {
    const server = { status: 200, at: 0 };
    const listening = createServer((asked, answer) => {
      asked.resume();
      asked.once('end', () => answer.writeHead(server.status).end());
    });
    listening.listen(0, '127.0.0.1');
    await once(listening, 'listening');
    const address = listening.address();
    server.at = address !== null && typeof address === 'object' ? address.port : 0;
    onTestFinished(() => {
      listening.closeAllConnections();
      listening.close();
    });
    return server;
  }

  async function two() {
    const [first, second] = [await stub(), await stub()];
    const port = await freePort();
    const url = `http://127.0.0.1:${first.at}`;
    await startProxy('nginx', { url, at: port }, onTestFinished, nginxBeforeTwo(first.at, second.at));
    await eventually(async () => expect((await ask(port, '/')).status).toBe(200));
    /** Answers to requests from 20 addresses, reads and writes, by status. */
    async function statuses(count: number): Promise<Record<string, number>> {
      const found: Record<string, number> = {};
      for (let index = 0; index < count; index += 1) {
        const body = index % 3 === 0 ? { body: '{}', headers: { 'content-type': 'application/json' } } : {};
        const { status } = await ask(port, `/api/${index}`, { from: `127.0.0.${2 + (index % 20)}`, ...body });
        found[status] = (found[status] ?? 0) + 1;
      }
      return found;
    }
    return { first, second, statuses };
  }

  test.skipIf(withoutProxy('nginx') !== undefined)('an answer 503 of one takes no server out', async () => {
    const { first, second, statuses } = await two();
    first.status = 503;
    second.status = 503;
    expect(await statuses(40)).toEqual({ 503: 40 });
    first.status = 200;
    second.status = 200;
    expect(await statuses(40)).toEqual({ 200: 40 });
  });
});
