import { connect } from 'node:net';
import { problemSchema } from '@palisade/contract/problem';
import { describe, expect, test } from 'vitest';
import { startTestApp } from '#test/harness.ts';

describe('a slow client', async () => {
  const patience = { headers_ms: 100, look_ms: 20, body: { window_ms: 100, bytes: 1024 } };
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

describe('what cannot be read as a request of ours', async () => {
  const app = await startTestApp();

  /** Sends bytes as they are; answers the status and the problem document. */
  const send = (bytes: string) =>
    new Promise<{ status: number; code: unknown }>((resolve, reject) => {
      let said = '';
      const socket = connect(Number(new URL(app.url).port), '127.0.0.1', () => socket.write(bytes));
      socket.on('data', (part) => {
        said += part.toString();
      });
      socket.once('error', reject);
      socket.once('close', () => {
        const [head = '', body = ''] = said.split('\r\n\r\n');
        expect(head.toLowerCase()).toContain('content-type: application/problem+json');
        const { status, code } = problemSchema.parse(JSON.parse(body));
        expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
        resolve({ status, code });
      });
    });
  const rest = 'Host: x\r\nConnection: close\r\n\r\n';

  test.each([
    ['a line that is no request', `?\r\n${rest}`, 400, 'malformed'],
    ['two lengths', `POST /api/auth/login HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n${rest}`, 400, 'malformed'],
    [
      'a length and chunks',
      `POST /api/auth/login HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n${rest}`,
      400,
      'malformed',
    ],
    ['endless headers', `GET /api/health HTTP/1.1\r\nX-Long: ${'x'.repeat(20_000)}\r\n${rest}`, 413, 'too_large'],
    ['an address with a broken escape', `GET /api/antivirus/scans/%E0%A4%A HTTP/1.1\r\n${rest}`, 404, 'not_found'],
    ['an address with an endless id', `GET /api/antivirus/scans/${'x'.repeat(2_000)} HTTP/1.1\r\n${rest}`, 404, 'not_found'],
  ])('is answered with a problem document: %s', async (_, bytes, status, code) => {
    expect(await send(bytes)).toEqual({ status, code });
  });
});
