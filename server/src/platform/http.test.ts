import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import { startTestApp } from '#test/harness.ts';

describe('a slow client', async () => {
  // Long enough for a sign-in on a machine that is busy.
  const patience = { headers_ms: 500, look_ms: 20, body: { window_ms: 500, bytes: 1024 } };
  const app = await startTestApp({ surroundings: { patience } });
  const { token } = await app.signIn();

  /** Sends the beginning of a request, then one byte now and then, until the server cuts the connection; answers what it said. */
  const trickle = (beginning: string) =>
    new Promise<string>((resolve, reject) => {
      let said = '';
      let drip: NodeJS.Timeout | undefined;
      const socket = connect(Number(new URL(app.url).port), '127.0.0.1', () => {
        socket.write(beginning);
        drip = setInterval(() => socket.write('x'), 10);
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
    `POST /api${path} HTTP/1.1\r\nHost: x\r\nContent-Type: ${type}\r\nContent-Length: ${length}\r\n${authorization}\r\n`;

  test('does not hold a connection by its headers', async () => {
    expect(await trickle('GET /api/health HTTP/1.1\r\nHost: x\r\nX-Slow: ')).toMatch(/^HTTP\/1.1 408 /);
  });

  test('does not hold a connection by a JSON body', async () => {
    expect(await trickle(head('/auth/login', 'application/json', 200_000))).toBe('');
  });

  test('does not hold a connection by a body that was refused already', async () => {
    const type = 'multipart/form-data; boundary=x';
    expect(await trickle(head('/antivirus/scan', type, 200_000))).toMatch(/^HTTP\/1.1 401 /);
    const bearer = `Authorization: Bearer ${token}\r\n`;
    expect(await trickle(head('/antivirus/scan', 'text/plain', 200_000, bearer))).toMatch(/^HTTP\/1.1 415 /);
  });
});
