import { mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { freePort } from './free-port.ts';
import { lacksPromtool, lint, samplesOf } from './prometheus-text.ts';
import { runServer, startServer } from './server-process.ts';

const TOKEN = 'a-token-for-tests-0123456789';

describe('metrics on a port of their own', () => {
  const folder = mkdtempSync(join(tmpdir(), 'palisade-metrics-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  /** A request with any host header. */
  const ask = (url: string, headers: Record<string, string> = {}, method = 'GET') =>
    new Promise<{ status: number; text: string }>((resolve, reject) => {
      request(url, { headers, method, agent: false }, (answer) => {
        const parts: Buffer[] = [];
        answer.on('data', (part: Buffer) => parts.push(part));
        answer.once('end', () => resolve({ status: answer.statusCode ?? 0, text: Buffer.concat(parts).toString() }));
      })
        .once('error', reject)
        .end();
    });

  test('are for the machine itself, and nowhere else', async () => {
    const port = await freePort();
    const server = await startServer({ DATA_DIR: join(folder, 'one'), METRICS_PORT: String(port) });
    const url = `http://127.0.0.1:${port}/metrics`;
    const { status, text } = await ask(url);
    expect(status).toBe(200);
    if (!lacksPromtool) expect(lint(text)).toBe('');
    expect(samplesOf(text).get('palisade_database_connections{state="most"}')).toBe(1);
    expect(await ask(url, { host: 'rebound.example.com' })).toMatchObject({ status: 421 });
    expect(await ask(`http://127.0.0.1:${port}/`)).toMatchObject({ status: 404 });
    expect(await ask(url, {}, 'POST')).toMatchObject({ status: 405 });
    const page = await ask(`${server.url.replace('localhost', '127.0.0.1')}/metrics`);
    expect(page.text).not.toContain('palisade_build_info');
    // An open connection of a scraper does not hold a stop up.
    const open = request(url, { headers: { connection: 'keep-alive' } }).end();
    open.once('error', () => {});
    onTestFinished(() => void open.destroy());
    expect(await server.kill('SIGTERM')).toBe(0);
  });

  // proves: security-39
  test('on an address that others reach need the token', async () => {
    const port = String(await freePort());
    const refused = await runServer({ DATA_DIR: join(folder, 'two'), PORT: '0', METRICS_PORT: port, METRICS_HOST: '0.0.0.0' });
    expect(refused.code).toBe(1);
    expect(refused.errors).toMatch(/^palisade: Others can reach METRICS_HOST 0\.0\.0\.0/);
    await startServer({ DATA_DIR: join(folder, 'two'), METRICS_PORT: port, METRICS_HOST: '0.0.0.0', METRICS_TOKEN: TOKEN });
    const url = `http://127.0.0.1:${port}/metrics`;
    expect(await ask(url)).toMatchObject({ status: 401 });
    expect(await ask(url, { authorization: `Bearer ${TOKEN}`, host: 'scraped.example.com' })).toMatchObject({ status: 200 });

    // A port that is taken ends the start with one line that names it.
    const { code, errors } = await runServer({ DATA_DIR: join(folder, 'three'), PORT: '0', METRICS_PORT: port });
    expect(code).toBe(1);
    expect(errors).toMatch(/^palisade: We can’t serve metrics at METRICS_HOST 127\.0\.0\.1, METRICS_PORT \d+ .*\n$/);
  });
});
