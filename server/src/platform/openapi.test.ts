import { request } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { describe, expect, test, vi } from 'vitest';
import { startListeningApp } from '#test/harness.ts';

interface Answer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: Buffer;
}

/** Reads without the decompression that fetch does. */
function get(url: string, headers: Record<string, string> = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const asked = request(url, { headers, agent: false }, (answer) => {
      const parts: Buffer[] = [];
      answer.on('data', (part: Buffer) => parts.push(part));
      answer.once('end', () => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: Buffer.concat(parts) }));
    });
    asked.once('error', reject);
    asked.end();
  });
}

describe('the API description', async () => {
  const app = await startListeningApp({ environment: { LIMITS: 'document.source=40/1h' } });
  const url = `${app.url}/api/openapi.json`;

  // proves: attack-C.16-1
  test('is written once, however often it is asked for', async () => {
    const stringify = vi.spyOn(JSON, 'stringify');
    const answers = await Promise.all(Array.from({ length: 8 }, () => get(url)));
    const documents = stringify.mock.results.filter(({ value }) => typeof value === 'string' && value.startsWith('{"openapi"'));
    stringify.mockRestore();
    expect(documents).toHaveLength(1);
    expect(new Set(answers.map(({ body }) => body.toString())).size).toBe(1);
    expect(JSON.parse(answers[0]?.body.toString() ?? '')).toMatchObject({ openapi: '3.1.0', info: { title: 'Palisade' } });
  });

  // proves: attack-C.16-1
  test('is compressed for who takes that, and is at most a sixth then', async () => {
    const plain = await get(url, { 'accept-encoding': 'identity' });
    expect(plain.headers['content-encoding']).toBeUndefined();
    const zipped = await get(url, { 'accept-encoding': 'gzip, deflate' });
    expect([zipped.headers['content-encoding'], zipped.headers['vary']]).toEqual(['gzip', 'accept-encoding']);
    expect(gunzipSync(zipped.body)).toEqual(plain.body);
    const smaller = await get(url, { 'accept-encoding': 'gzip, br;q=0.5' });
    expect(smaller.headers['content-encoding']).toBe('br');
    expect(brotliDecompressSync(smaller.body)).toEqual(plain.body);
    expect(Math.max(zipped.body.length, smaller.body.length) * 6).toBeLessThan(plain.body.length);
    expect((await get(url, { 'accept-encoding': 'br;q=0, x-gzip, gzip;q=0.0' })).headers['content-encoding']).toBeUndefined();
  });

  // proves: attack-C.16-1
  test('is not sent again to who has it', async () => {
    const { headers } = await get(url);
    const etag = String(headers['etag']);
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const again = await get(url, { 'if-none-match': known });
      expect([again.status, again.body.length, again.headers['etag']]).toEqual([304, 0, etag]);
    }
    for (const other of [{ 'if-none-match': '"other"' }, { range: 'bytes=99999999-' }, { 'if-match': '"other"' }])
      expect((await get(url, other)).status).toBeLessThan(300);
  });

  test('is the same one on its page, which has it from nowhere else', async () => {
    const [document, ofPage] = [await get(url), await get(`${app.url}/api/docs/json`)];
    expect(ofPage.headers['etag']).toBe(document.headers['etag']);
    expect(ofPage.body).toEqual(document.body);
    expect((await get(`${app.url}/api/docs/yaml`)).headers['location']).toBe('/api/openapi.json');
    expect((await get(`${app.url}/api/docs/`)).body.toString()).toContain('swagger-ui');
  });

  // proves: attack-C.16-1
  test('is limited for each source', async () => {
    const paths = ['/api/openapi.json', '/api/docs/json', '/api/docs/', '/api/docs/yaml'];
    for (let count = 0; count < 10; count += 1) for (const path of paths) await get(app.url + path);
    for (const path of paths) expect((await get(app.url + path)).status).toBe(429);
    expect((await get(url)).headers['retry-after']).toMatch(/^\d+$/);
    expect((await get(`${app.url}/api/health`)).status).toBe(200);
  });
});
