// proves: asvs-3.4.1, asvs-3.4.3, asvs-3.4.4, asvs-3.4.6, asvs-4.1.1, asvs-4.2.1, asvs-14.2.2, asvs-14.3.2, asvs-16.5.1, security-28
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { problemSchema } from '@palisade/contract/problem';
import { describe, expect, test } from 'vitest';
import { startListeningApp } from '#test/harness.ts';

/** A built application, and a file beside it that must not be served. */
function builtApplication(): string {
  const folder = mkdtempSync(join(tmpdir(), 'palisade-web-'));
  mkdirSync(join(folder, 'assets'));
  writeFileSync(join(folder, 'index.html'), '<!doctype html><title>Palisade</title>');
  writeFileSync(join(folder, 'favicon.svg'), '<svg xmlns="http://www.w3.org/2000/svg"/>');
  writeFileSync(join(folder, 'assets', 'main.js'), 'export {};');
  writeFileSync(join(folder, 'service-worker.js'), 'self.skipWaiting();');
  writeFileSync(join(folder, '.secret'), 'nobody may see this');
  return folder;
}

interface RawAnswer {
  status: number;
  headers: Headers;
  body: string;
}

// proves: asvs-1.1.1, asvs-3.4.2, asvs-13.4.3, asvs-13.4.4, security-29
describe('every answer', async () => {
  const app = await startListeningApp({
    environment: { PUBLIC_URL: 'https://shield.example.com', EXPOSURE: 'local' },
    surroundings: { web_folder: builtApplication() },
  });
  const { token } = await app.signIn();
  const { hostname, port } = new URL(app.url);

  /** As Node sends it, unlike fetch: with the path as it is, and with any method. */
  const ask = (method: string, path: string, headers: Record<string, string> = {}) =>
    new Promise<RawAnswer>((resolve, reject) => {
      const sent = request({ hostname, port, method, path, headers }, (response) => {
        let body = '';
        response.on('data', (chunk: Buffer) => {
          body += chunk.toString();
        });
        response.once('end', () => {
          const pairs = Object.entries(response.headersDistinct).flatMap(([name, values = []]) =>
            values.map((value): [string, string] => [name, value]),
          );
          resolve({ status: response.statusCode ?? 0, headers: new Headers(pairs), body });
        });
      });
      sent.once('error', reject);
      sent.end();
    });

  /** Bytes on the wire, and the answer before the server closed. */
  const say = (bytes: string) =>
    new Promise<RawAnswer>((resolve, reject) => {
      let said = '';
      const socket = connect(Number(port), hostname, () => socket.write(bytes));
      socket.on('data', (chunk) => {
        said += chunk.toString();
      });
      socket.once('error', reject);
      socket.once('close', () => {
        const [head = '', body = ''] = said.split(/\r\n\r\n(.*)/s);
        const [status = '', ...lines] = head.split('\r\n');
        const pairs = lines.map((line): [string, string] => {
          const colon = line.indexOf(':');
          return [line.slice(0, colon), line.slice(colon + 1).trim()];
        });
        resolve({ status: Number(status.split(' ')[1]), headers: new Headers(pairs), body });
      });
    });

  const signedIn = { authorization: `Bearer ${token}` };
  const DOCUMENTS: Record<string, [expected: number, answer: () => Promise<RawAnswer>]> = {
    'a reply': [200, () => ask('GET', '/api/auth/me', signedIn)],
    'a reply under a disguised address': [200, () => ask('GET', '/%61pi/auth/me', signedIn)],
    'a refusal': [401, () => ask('GET', '/api/auth/me')],
    'an address that is not there': [404, () => ask('GET', '/api/nothing')],
    'an address with broken encoding': [400, () => ask('GET', '/api/%zz')],
    'a page with broken encoding': [400, () => ask('GET', '/%c0%ae')],
    'an id that is too long': [404, () => ask('GET', `/api/antivirus/scans/${'x'.repeat(300)}`, signedIn)],
    'the method TRACE': [404, () => ask('TRACE', '/api/health')],
    'a method of WebDAV': [404, () => ask('PROPFIND', '/api/health')],
    'a method that an address does not have': [404, () => ask('DELETE', '/api/health')],
    'a preflight of another site': [404, () => ask('OPTIONS', '/api/auth/me', { origin: 'https://evil.example' })],
    'the description of the API': [200, () => ask('GET', '/api/openapi.json')],
    'the page of the API': [200, () => ask('GET', '/api/docs/')],
    'the page': [200, () => ask('GET', '/dashboard')],
    'the page in place of a script that is not there': [200, () => ask('GET', '/nothing.js')],
    'a hidden file': [404, () => ask('GET', '/.secret')],
    'an asset that is not there': [404, () => ask('GET', '/assets/nothing.js')],
    'a path out of the folder': [404, () => ask('GET', '/assets/../../package.json')],
    'a list of assets': [404, () => ask('GET', '/assets/')],
    'no HTTP at all': [400, () => say('hello\r\n\r\n')],
    'a length and chunks at once': [
      400,
      () => say('POST /api/auth/login HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'),
    ],
    'two lengths': [
      400,
      () => say('POST /api/auth/login HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\n{}{}'),
    ],
    'a length that is no number': [400, () => say('POST /api/auth/login HTTP/1.1\r\nHost: x\r\nContent-Length: +4\r\n\r\n{}{}')],
    'chunks by another name': [
      400,
      () => say('POST /api/auth/login HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n'),
    ],
    'a space before the colon': [400, () => say('GET /api/health HTTP/1.1\r\nHost : x\r\n\r\n')],
    'a header over two lines': [400, () => say('GET /api/health HTTP/1.1\r\nHost: x\r\nA: b\r\n c\r\n\r\n')],
    'lines that end with LF': [400, () => say('GET /api/health HTTP/1.1\nHost: x\n\n')],
    'headers of 20 KB': [431, () => say(`GET /api/health HTTP/1.1\r\nHost: x\r\nA: ${'a'.repeat(20_000)}\r\n\r\n`)],
  };

  // proves: asvs-3.2.1, asvs-3.4.5
  test.each(Object.entries(DOCUMENTS))('carries the headers of a document: %s', async (_name, [expected, answer]) => {
    const { status, headers, body } = await answer();
    expect(status, body).toBe(expected);
    expect(headers.get('strict-transport-security')).toBe('max-age=31536000; includeSubDomains');
    const policy = headers.get('content-security-policy')?.split('; ');
    expect(policy).toEqual(
      expect.arrayContaining(["script-src 'self'", "object-src 'none'", "base-uri 'none'", "frame-ancestors 'none'"]),
    );
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('referrer-policy')).toBe('no-referrer');
    expect(headers.get('cross-origin-opener-policy')).toBe('same-origin');
    expect(headers.get('cross-origin-resource-policy')).toBe('same-origin');
    expect(headers.get('set-cookie')).toBeNull();
    expect(headers.get('access-control-allow-origin')).toBeNull();
    expect(headers.get('server')).toBeNull();
    expect(headers.get('x-powered-by')).toBeNull();
    expect(headers.get('content-type')).toMatch(/; charset=utf-8$/);
    if (status >= 400) {
      expect(headers.get('content-type')).toBe('application/problem+json; charset=utf-8');
      const problem = problemSchema.parse(JSON.parse(body));
      expect(problem.status).toBe(status);
      expect(JSON.stringify(problem)).not.toMatch(/node_modules|\.ts\b|FST_ERR|HPE_|SQLITE|select |stack/i);
    }
    const kept = headers.get('cache-control');
    // Neither is personal.
    if (/^<!doctype html><title>Palisade|^\{"openapi":/.test(body)) expect(kept).toBe('no-cache');
    else expect(kept).toBe('no-store');
  });

  test('of the service worker carries the policy that it needs alone', async () => {
    const { headers } = await ask('GET', '/service-worker.js');
    expect(headers.get('content-security-policy')).toBe("default-src 'none'; connect-src 'self'; frame-ancestors 'none'");
    expect(headers.get('permissions-policy')).toBeNull();
  });

  test.each([
    ['/assets/main.js', 'application/javascript; charset=utf-8'],
    ['/favicon.svg', 'image/svg+xml; charset=utf-8'],
  ])('carries the headers of a file: %s', async (path, type) => {
    const { status, headers } = await ask('GET', path);
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe(type);
    expect(headers.get('content-security-policy')).toBe("frame-ancestors 'none'");
    expect(headers.get('strict-transport-security')).toBe('max-age=31536000; includeSubDomains');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('cross-origin-resource-policy')).toBe('same-origin');
    expect(headers.get('set-cookie')).toBeNull();
  });

  // proves: asvs-5.3.1, asvs-13.4.1
  test('never shows files that the build did not make', async () => {
    for (const path of [
      '/.secret',
      '/assets/../.secret',
      '/assets/%2e%2e/.secret',
      '/..%2f..%2fpackage.json',
      '/index.html/..%5c.secret',
    ])
      expect((await ask('GET', path)).body).not.toContain('nobody may see this');
  });
});

describe('without https', async () => {
  const app = await startListeningApp({ environment: { PUBLIC_URL: 'http://localhost:3000' } });

  test('sends no Strict-Transport-Security', async () => {
    expect((await app.fetch(`/api/health`)).headers.get('strict-transport-security')).toBeNull();
  });
});
