import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { request } from 'node:https';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
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
import { caddyWith, nginxWith, withoutProxy } from './proxy-programs.ts';

// The examples for proxies, run by nginx and Caddy. Tests that need no other program are in deploy.test.ts.

const DEPLOY = fileURLToPath(new URL('../../deploy', import.meta.url));
const read = (name: string) => readFileSync(join(DEPLOY, name), 'utf8');

/** Puts something else in a text, which must be there once. */
function put(text: string, from: string, to: string): string {
  expect(text.split(from).length, from).toBe(2);
  return text.replace(from, to);
}

/** The examples with only names, ports and certificates changed: a machine without them needs these. */
const EXAMPLES = {
  nginx: ({ folder: place, port, upstream }: { folder: string; port: number; upstream: number }) => {
    const [key, certificate] = [join(place, 'privkey.pem'), join(place, 'fullchain.pem')];
    const subject = ['-nodes', '-subj', '/CN=localhost', '-days', '2'];
    execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', ...subject, '-keyout', key, '-out', certificate], {
      stdio: 'ignore',
    });
    let conf = read('nginx.conf').replaceAll('palisade.example.com', 'localhost');
    conf = put(conf, '/etc/ssl/palisade/privkey.pem', key);
    conf = put(conf, '/etc/ssl/palisade/fullchain.pem', certificate);
    conf = put(conf, 'listen 443 ssl http2;', `listen 127.0.0.1:${port} ssl http2;`);
    conf = put(conf, 'listen 80;', `listen unix:${join(place, 'http.socket')};`);
    return nginxWith(place, put(conf, 'server 127.0.0.1:3000 max_fails=0;', `server 127.0.0.1:${upstream} max_fails=0;`));
  },
  Caddy: ({ folder: place, port, upstream }: { folder: string; port: number; upstream: number }) =>
    caddyWith(place, ['admin off', 'auto_https disable_redirects', 'skip_install_trust'], read('Caddyfile'), {
      PALISADE_HOST: `localhost:${port}`,
      PALISADE_SERVERS: `127.0.0.1:${upstream}`,
    }),
} as const;
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
  async function stub(name: string) {
    const server = { name, status: 200, asked: 0, at: 0 };
    const listening = createServer((asked, answer) => {
      asked.resume();
      asked.once('end', () => {
        server.asked += 1;
        answer.writeHead(server.status, { 'content-type': 'text/plain' }).end(name);
      });
    });
    listening.listen(0, '127.0.0.1');
    await once(listening, 'listening');
    const address = listening.address();
    server.at = address !== null && typeof address === 'object' ? address.port : 0;
    onTestFinished(() => {
      listening.closeAllConnections();
      listening.close();
    });
    return {
      ...server,
      state: server,
      async end() {
        listening.closeAllConnections();
        await new Promise((resolve) => listening.close(resolve));
      },
      async begin() {
        listening.listen(server.at, '127.0.0.1');
        await once(listening, 'listening');
      },
    };
  }

  async function two() {
    const [first, second] = [await stub('first'), await stub('second')];
    const port = await freePort();
    await startProxy('nginx', { url: `http://127.0.0.1:${first.at}`, at: port }, onTestFinished, (place) => {
      const prepared = EXAMPLES.nginx(place);
      const conf = join(place.folder, 'nginx.conf');
      const line = `server 127.0.0.1:${first.at} max_fails=0;`;
      writeFileSync(conf, put(readFileSync(conf, 'utf8'), line, `${line} ${line.replace(String(first.at), String(second.at))}`));
      return prepared;
    });
    await eventually(async () => expect((await ask(port, '/')).status).toBe(200));
    /** Answers to requests from 20 addresses, reads and writes, by status. */
    async function statuses(count: number, between?: (index: number) => Promise<void>): Promise<Record<string, number>> {
      const found: Record<string, number> = {};
      for (let index = 0; index < count; index += 1) {
        await between?.(index);
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
    first.state.status = 503;
    second.state.status = 503;
    expect(await statuses(40)).toEqual({ 503: 40 });
    first.state.status = 200;
    second.state.status = 200;
    expect(await statuses(40)).toEqual({ 200: 40 });
  });

  test.skipIf(withoutProxy('nginx') !== undefined)('a rolling upgrade has no answer 502 or 504 in 1,000 requests', async () => {
    const { first, second, statuses } = await two();
    const steps = new Map<number, () => Promise<void> | void>();
    for (const [at, server] of [
      [100, first],
      [500, second],
    ] as const) {
      // STOP_NOTICE: it says that it stops, then it is gone, then the new version is there.
      steps.set(at, () => {
        server.state.status = 503;
      });
      steps.set(at + 100, () => server.end());
      steps.set(at + 250, async () => {
        server.state.status = 200;
        await server.begin();
      });
    }
    const found = await statuses(1_000, async (index) => await steps.get(index)?.());
    expect({ 502: found['502'] ?? 0, 504: found['504'] ?? 0 }).toEqual({ 502: 0, 504: 0 });
    expect(first.state.asked).toBeGreaterThan(0);
    expect(second.state.asked).toBeGreaterThan(0);
  });
});
