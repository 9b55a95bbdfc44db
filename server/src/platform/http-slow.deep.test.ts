import { connect, type Socket } from 'node:net';
import { eventually } from '@palisade/scanner/test/eventually';
import { describe, expect, test } from 'vitest';
import { builtWeb, dial } from '#test/built-web.ts';
import { startListeningApp } from '#test/harness.ts';
import { PATIENCE } from './http.ts';

// proves: security-32
describe('a slow client', async () => {
  // Long enough for a sign-in on a machine that is busy.
  const patience = { ...PATIENCE, headers_ms: 500, look_ms: 20, body: { window_ms: 500, bytes: 1024 } };
  const hurried = await startListeningApp({ surroundings: { patience: { ...PATIENCE, small_body_ms: 500 } } });
  const app = await startListeningApp({ surroundings: { patience } });
  const { token } = await app.signIn();

  /**
   * Sends the beginning of a request, then one byte now and then, until the server cuts the connection; answers the server's
   * bytes.
   */
  const trickle = (beginning: string, to = app, drop = 'x') =>
    new Promise<string>((resolve, reject) => {
      let said = '';
      let drip: NodeJS.Timeout | undefined;
      const socket = connect(Number(new URL(to.url).port), '127.0.0.1', () => {
        socket.write(beginning);
        drip = setInterval(() => socket.write(drop), 10);
      });
      socket.on('data', (bytes) => {
        said += bytes.toString();
      });
      socket.on('error', (error: NodeJS.ErrnoException) => {
        if (error.code !== 'ECONNRESET' && error.code !== 'EPIPE') reject(error);
      });
      socket.once('close', () => {
        clearInterval(drip);
        resolve(said);
      });
    });
  const head = (path: string, type: string, length: number, authorization = '') =>
    `POST /api${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: ${type}\r\nContent-Length: ${length}\r\n${authorization}\r\n`;

  test('does not hold a connection by its headers', async () => {
    expect(await trickle('GET /api/health HTTP/1.1\r\nHost: localhost\r\nX-Slow: ')).toMatch(/^HTTP\/1.1 408 /);
  });

  test('does not hold a connection by a JSON body', async () => {
    expect(await trickle(head('/auth/login', 'application/json', 200_000))).toBe('');
  });

  test('does not hold a connection by a small body that comes just fast enough', async () => {
    expect(await trickle(head('/auth/login', 'application/json', 200_000), hurried, 'x'.repeat(30))).toBe('');
  });

  test('does not hold a connection by a body that was refused already', async () => {
    const type = 'multipart/form-data; boundary=x';
    expect(await trickle(head('/antivirus/scan', type, 200_000))).toMatch(/^HTTP\/1.1 401 /);
    const bearer = `Authorization: Bearer ${token}\r\n`;
    expect(await trickle(head('/antivirus/scan', 'text/plain', 200_000, bearer))).toMatch(/^HTTP\/1.1 415 /);
  });
});

// proves: security-11
describe('a client that does not read', async () => {
  const reading = { look_ms: 20, window_ms: 500, bytes: 1024 };
  const app = await startListeningApp({
    surroundings: { patience: { ...PATIENCE, reading }, web_folder: builtWeb() },
    environment: { LIMITS: 'document.source=1000/1m' },
  });
  const connections = () =>
    new Promise<number>((resolve, reject) =>
      app.app.fastify.server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
    );
  const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;
  /** Reads a file of 11 MB, with what happens between two pieces; throws when the server cuts the connection. */
  async function readAll(between: (socket: Socket) => void): Promise<void> {
    const socket = dial(app);
    let bytes = 0;
    socket.write(get('/assets/main.js'));
    await new Promise<void>((resolve, reject) => {
      socket.once('close', () => reject(new Error(`cut after ${bytes} bytes`)));
      socket.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes > 11_000_000) resolve();
        else between(socket);
      });
    });
    socket.destroy();
  }

  // More than the system keeps for a connection, so that the server itself has to.
  // proves: attack-C.16-2
  test.each([
    ['of a file', get('/assets/main.js').repeat(3)],
    ['of the API', get('/api/openapi.json').repeat(30)],
    ['of refusals', get(`/api/nothing/${'x'.repeat(100)}`).repeat(60_000)],
  ])('is cut before its answer %s is over', async (_, requests) => {
    await eventually(async () => expect(await connections()).toBe(0));
    const socket = dial(app);
    socket.pause();
    socket.write(requests);
    await eventually(async () => expect(await connections()).toBe(1));
    await eventually(async () => expect(await connections()).toBe(0));
    socket.destroy();
  });

  test('is not one who reads slowly: they get all of it, however long it takes', async () => {
    const began = performance.now();
    await readAll((socket) => {
      socket.pause();
      setTimeout(() => socket.resume(), 10);
    });
    expect(performance.now() - began).toBeGreaterThan(3 * reading.window_ms);
  });

  test('is not one whom a server that stood still sent nothing', async () => {
    let pieces = 0;
    await readAll((socket) => {
      socket.pause();
      setTimeout(() => {
        pieces += 1;
        if (pieces >= 20 && pieces < 24) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1.5 * reading.window_ms);
        socket.resume();
      }, 10);
    });
  });
});
