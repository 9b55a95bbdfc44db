import { login } from '@palisade/contract/auth';
import { listSessions } from '@palisade/contract/sessions';
import { eventually } from '@palisade/scanner/test/eventually';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { builtWeb, dial } from '#test/built-web.ts';
import { readAnswer, replyOf, startListeningApp, startTestApp } from '#test/harness.ts';
import { createLog } from './log.ts';

/** The server's answer to a raw request, until it closes the connection. */
function say(app: { url: string }, request: string): Promise<string> {
  return new Promise((resolve) => {
    let said = '';
    const socket = dial(app);
    socket.on('data', (bytes) => {
      said += bytes.toString('latin1');
    });
    socket.once('close', () => resolve(said));
    socket.write(request);
  });
}
/** The status that an upgrade is answered with; a connection that was to be another one is not closed. */
function knock(app: { url: string }, headers: string, version = 13): Promise<number> {
  return new Promise((resolve) => {
    const socket = dial(app);
    socket.once('data', (bytes) => {
      socket.destroy();
      resolve(statusOf(bytes.toString('latin1')));
    });
    socket.write(`GET /api/events HTTP/1.1\r\n${headers}${UPGRADE}Sec-WebSocket-Version: ${version}\r\n\r\n`);
  });
}
const statusOf = (said: string) => Number(/^HTTP\/1\.1 (\d{3})/.exec(said)?.[1]);

const UPGRADE = 'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n';

const web_folder = builtWeb();
const app = await startListeningApp({ surroundings: { web_folder } });
const { port } = new URL(app.url);

describe('the host that a request names', () => {
  const get = (path: string, headers: string) => say(app, `GET ${path} HTTP/1.1\r\n${headers}Connection: close\r\n\r\n`);
  const PATHS = [
    '/',
    '/api/config',
    '/api/health',
    '/api/docs',
    '/api/openapi.json',
    '/assets/main.js',
    '/nothing',
    '/api/nothing',
  ];

  // proves: attack-B.14-2
  test('is one, wherever it goes', async () => {
    const twice = `Host: localhost:${port}\r\nhost: localhost:${port}\r\n`;
    for (const path of PATHS) expect(statusOf(await get(path, twice))).toBe(400);
    expect(await knock(app, twice)).toBe(400);
  });

  // proves: attack-B.6-3
  test.each([
    'evil.example',
    'evil.example:3000',
    '192.168.1.5:3000',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    '',
    'x',
  ])('is this machine in local exposure: "%s" is answered 421', async (host) => {
    for (const path of PATHS) {
      const said = await get(path, `Host: ${host}\r\n`);
      expect([path, statusOf(said)]).toEqual([path, 421]);
      expect(said).toContain('PUBLIC_URL');
      expect(said).not.toMatch(/openapi|3\.7\.9|<title>Palisade<\/title>/);
    }
    expect(await knock(app, `Host: ${host}\r\n`)).toBe(421);
  });

  test('is not left out by HTTP/1.0', async () => {
    expect(statusOf(await say(app, 'GET /api/health HTTP/1.0\r\n\r\n'))).toBe(421);
  });

  test.each(['localhost', '127.0.0.1', '[::1]', 'palisade.localhost', 'LOCALHOST'])('may be %s', async (host) => {
    expect(statusOf(await get('/api/health', `Host: ${host}:${port}\r\n`))).toBe(200);
    expect(await knock(app, `Host: ${host}\r\n`)).toBe(101);
  });

  test('and an upgrade that is refused leave no connection behind, however its client goes', async () => {
    const count = () =>
      new Promise<number>((resolve, reject) =>
        app.app.fastify.server.getConnections((error, connections) => (error ? reject(error) : resolve(connections))),
      );
    await eventually(async () => expect(await count()).toBe(0));
    const upgrade = `${UPGRADE}Sec-WebSocket-Version: 13\r\n\r\n`;
    // One that is no socket's is a request as any other, and its connection is kept for the next.
    const closing = upgrade.replace('Connection: Upgrade', 'Connection: Upgrade, close');
    expect(statusOf(await say(app, `GET /api/events HTTP/1.1\r\nHost: evil.example\r\n${upgrade}`))).toBe(421);
    expect(statusOf(await say(app, `GET /api/events/x HTTP/1.1\r\nHost: localhost\r\n${closing}`))).toBe(404);
    expect(statusOf(await say(app, `GET /api/health HTTP/1.1\r\nHost: localhost\r\n${closing}`))).toBe(200);
    await eventually(async () => expect(await count()).toBe(0));
  });

  test('is shown to a person in a browser as a page, which runs no script', async () => {
    const said = await get('/', 'Host: "><script>alert(1)</script>\r\nAccept: text/html,*/*\r\n');
    expect(statusOf(said)).toBe(421);
    expect(said).toMatch(/content-type: text\/html; charset=utf-8/i);
    expect(said).toContain('&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;');
    expect(said).not.toContain('<script');
    expect(said).toContain(`http://localhost:${port}`);
    expect(said).toMatch(/content-security-policy: default-src 'self'/i);
  });

  test('may be that of PUBLIC_URL', async () => {
    const named = await startListeningApp({ environment: { EXPOSURE: 'local', PUBLIC_URL: 'http://mypc.lan:3000' } });
    const ask = (host: string) => say(named, `GET /api/health HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
    expect([statusOf(await ask('mypc.lan:3000')), statusOf(await ask('MyPC.lan')), statusOf(await ask('other.lan'))]).toEqual([
      200, 200, 421,
    ]);
  });

  test('is anything in public exposure', async () => {
    const open = await startListeningApp({
      environment: { EXPOSURE: 'public', ADMIN_EMAILS: 'boss@example.com', RESET_DELIVERY: 'outbox' },
    });
    const said = await say(open, 'GET /api/health HTTP/1.1\r\nHost: anything.example\r\nConnection: close\r\n\r\n');
    expect(statusOf(said)).toBe(200);
  });
});

test('the notices of third parties are plain text for everybody', async () => {
  const answer = await app.fetch(`/third-party-notices.txt`);
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8']);
  expect(await answer.text()).toBe('Copyright (c) Hörl');
});

describe('well-known addresses', () => {
  const ask = (path: string) => app.fetch(path, { redirect: 'manual' });

  test('one leads to the page where the password is changed', async () => {
    const answer = await ask('/.well-known/change-password');
    expect([answer.status, answer.headers.get('location')]).toEqual([302, '/dashboard?open=security&tab=password']);
    expect((await ask('/dashboard?open=security&tab=password')).status).toBe(200);
  });

  test('the manifest of a page of a household lies below its address', async () => {
    const answer = await ask('/ask/abcdefghijklmnopqrstuvwxyz/ask.webmanifest');
    expect(await answer.json()).toEqual({ start_url: '.' });
    expect((await ask('/ask/abcdefghijklmnopqrstuvwxyz/')).headers.get('content-type')).toMatch('text/html');
  });

  test.each([
    '/.well-known',
    '/.well-known/',
    '/.well-known/resource-that-should-not-exist-whose-status-code-should-not-be-200',
    '/.well-known/security.txt',
    '/.well-known/change-password/more',
    '/%2Ewell-known/passkey-endpoints',
  ])('%s is unknown', async (path) => {
    expect((await ask(path)).status).toBe(404);
  });
});

// With an application of its own: lines about refused calls are few for each source.
describe('the id of a request', async () => {
  const lines: string[] = [];
  const logger = createLog('info', { write: (line) => void lines.push(line) });
  const app = await startListeningApp({ surroundings: { logger, web_folder } });
  const idOf = async (headers: Record<string, string>) =>
    (await app.fetch(`/api/health`, { headers })).headers.get('x-request-id') ?? '';

  test.each(['7', 'abc-123', 'Root=1-67891233-abcdef012345678912345678', 'a/b+c:d.e~f_g@h==', 'x'.repeat(128)])(
    "is the sender's own: %s",
    async (id) => {
      expect(await idOf({ 'x-request-id': id })).toBe(id);
    },
  );

  test.each(['', 'x'.repeat(129), 'a b', 'a,b', '{"a":1}', 'a;b', '"a"', 'é', '<b>'])(
    'is a new one for an invalid id: %s',
    async (id) => {
      expect(await idOf({ 'x-request-id': id })).toMatch(/^[\da-f]{8}-[\da-f-]{27}$/);
    },
  );

  // proves: attack-D.24-1
  test('is on the file, the refusal and the problem document as well', async () => {
    const headers = { 'x-request-id': 'from-the-proxy' };
    for (const path of ['/assets/main.js', '/', '/api/nothing', '/api/auth/me']) {
      const answer = await app.fetch(`${path}`, { headers });
      expect(answer.headers.get('x-request-id')).toBe('from-the-proxy');
      if (answer.status >= 400) expect(await answer.json()).toMatchObject({ request_id: 'from-the-proxy' });
    }
  });

  const trace_id = '4bf92f3577b34da6a3ce929d0e0e4736';
  // proves: attack-D.24-1
  test.each([
    [`00-${trace_id}-00f067aa0ba902b7-01`, trace_id],
    [`cc-${trace_id}-00f067aa0ba902b7-01-what-comes-later`, trace_id],
    [`00-${trace_id}-00f067aa0ba902b7-01-more`, undefined],
    [`00-${'0'.repeat(32)}-00f067aa0ba902b7-01`, undefined],
    [`00-${trace_id}-${'0'.repeat(16)}-01`, undefined],
    [`ff-${trace_id}-00f067aa0ba902b7-01`, undefined],
    [`00-${trace_id.toUpperCase()}-00f067aa0ba902b7-01`, undefined],
    ['garbage', undefined],
  ])('and its trace are on every line that a sign-in that failed leaves in the log: %s', async (traceparent, expected) => {
    const before = lines.length;
    const id = `sign-in-${before}`;
    const answer = await app.fetch(`/api/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-request-id': id, traceparent },
      body: JSON.stringify({ email: `${traceparent.slice(0, 2)}@example.com`, password: 'wrong' }),
    });
    expect(answer.status).toBe(401);
    const entrySchema = z.looseObject({
      reqId: z.string(),
      trace_id: z.string().optional(),
      security_event: z.string().optional(),
    });
    // Others may still end.
    const own = () => lines.slice(before).filter((line) => line.includes(id));
    await eventually(() => expect(own().filter((line) => line.includes('request completed'))).toHaveLength(1));
    const failed = lines.slice(before).filter((line) => line.includes('login_failed'));
    expect(failed).toHaveLength(1);
    expect(own()).toEqual(expect.arrayContaining(failed));
    for (const line of own()) {
      const { reqId, trace_id: traced } = entrySchema.parse(JSON.parse(line));
      expect([reqId, traced]).toEqual([id, expected]);
      expect(line.match(/"reqId"/g)).toHaveLength(1);
    }
  });
});

// A proxy reads the target up to its fragment, and a cache keeps the answer under that name (RFC 9112 section 3.2 has no fragment).
describe('a request target with a fragment', () => {
  test.each([
    '/api/health#limit=1',
    '/api/health?limit=1#',
    '/api/devices#limit=1',
    '/api/nothing#',
    '/#',
    '/assets/main.js#x',
    '/api/events?x=1#y',
    'http://localhost/api/health#x',
  ])('is refused: %s', async (target) => {
    for (const upgrade of [
      '',
      'Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: MTIzNDU2Nzg5MDEyMzQ1Ng==\r\n',
    ]) {
      const connection = upgrade === '' ? 'close' : 'Upgrade, close';
      const said = await say(app, `GET ${target} HTTP/1.1\r\nHost: localhost\r\n${upgrade}Connection: ${connection}\r\n\r\n`);
      expect(statusOf(said), upgrade).toBe(400);
    }
  });
});

describe('files', () => {
  // proves: attack-B.14-2
  test.each([
    '/api/docs/static/..%2f..%2fpackage.json',
    '/api/docs/static/%2e%2e%2f%2e%2e%2fpackage.json',
    '/api/docs/static/..%5c..%5cpackage.json',
    '/api/docs/static/../../../package.json',
    '/api/docs/static/%00',
    '/api/docs/static/.git/config',
    '/api/docs/static/nothing.js',
    '/assets/..%2f..%2fpackage.json',
    '/assets/%2e%2e/%2e%2e/package.json',
  ])('are not led out of by %s', async (path) => {
    const said = await say(app, `GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
    expect(said).not.toContain('"dependencies"');
    expect([400, 404]).toContain(statusOf(said));
  });

  test.each([
    ['a range that is none of it', { range: 'bytes=99999999-' }],
    ['a range that is no range', { range: 'bytes=z-' }],
    ['another version', { 'if-match': '"other"' }],
    ['an older version', { 'if-unmodified-since': 'Mon, 01 Jan 2001 00:00:00 GMT' }],
    ['a time that is none', { 'if-modified-since': 'yesterday' }],
  ])('are answered without a server error when asked for %s', async (_, headers) => {
    for (const path of ['/api/docs/static/swagger-ui.css', '/assets/main.js', '/index.html'])
      expect((await app.fetch(`${path}`, { headers })).status).toBeLessThan(500);
  });
});

const behind = await startTestApp({ environment: { TRUSTED_PROXIES: '127.0.0.1' } });

// The forms of both fields are in forwarded.test.ts.
// proves: asvs-4.1.3, asvs-15.3.4
test.each([
  ['a trusted proxy', 'X-Forwarded-For', '198.51.100.1, 203.0.113.9:51234', '203.0.113.9', behind],
  ['a trusted proxy', 'Forwarded', 'for="[2001:db8::7]:51234"', '2001:db8::7', behind],
  ['nobody whom the settings trust', 'X-Forwarded-For', '203.0.113.9', '127.0.0.1', app],
])('the source of a request that %s passes on is read from %s: %s', async (_who, name, value, source, asked) => {
  const { email, password } = await asked.signIn();
  const headers = { 'content-type': 'application/json', [name]: value };
  const answer = await asked.fetch('/api/auth/login', { method: 'POST', headers, body: JSON.stringify({ email, password }) });
  const { access_token } = replyOf(await readAnswer(login, answer));
  const sessions = replyOf(await asked.call(listSessions, { token: access_token }));
  expect(sessions.find(({ current }) => current)?.source).toBe(source);
});

// proves: attack-B.14-3
test('a client that leaves before its request is handled leaves no error', async () => {
  const lines: string[] = [];
  const logger = createLog('debug', { write: (line) => void lines.push(line) });
  const app = await startListeningApp({ surroundings: { logger } });
  const body = JSON.stringify({ email: 'maria@example.com', password: 'wrong' });
  const request = `POST /api/auth/login HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  await Promise.all(
    Array.from({ length: 60 }, () => {
      const socket = dial(app);
      return new Promise<void>((resolve) => {
        socket.once('close', () => resolve());
        socket.once('connect', () => socket.write(request.repeat(3), () => socket.resetAndDestroy()));
      });
    }),
  );
  // The server has handled all earlier bytes.
  await eventually(async () => expect((await app.fetch(`/api/health`)).status).toBe(200));
  await eventually(() => app.app.fastify.server.getConnections((_error, count) => expect(count).toBeLessThanOrEqual(1)));
  expect(lines.filter((line) => /TypeError|"level":(50|60)/.test(line))).toEqual([]);
});
