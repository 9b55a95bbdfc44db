import { readHealth } from '@palisade/contract/platform';
import { readScan } from '@palisade/contract/quarantine';
import { eventually } from '@palisade/scanner/test/eventually';
import { EICAR, noise } from '@palisade/scanner/test/files';
import { needing } from '@palisade/scanner/test/needs';
import { describe, expect, test } from 'vitest';
import { createMetrics } from '#platform/metrics.ts';
import { isPostgres, startListeningScanningApp, startTestApp } from './harness.ts';
import { lacksPromtool, lint, samplesOf } from './prometheus-text.ts';
import { insertRow } from './rows.ts';
import { listenAs } from './socket.ts';
import { scanned } from './upload.ts';

const TOKEN = 'a-token-for-tests-0123456789';

describe('metrics of a server', async () => {
  const app = await startListeningScanningApp({ environment: { METRICS_TOKEN: TOKEN } });
  const { token } = await app.registerAndSignIn();
  const look = (headers: Record<string, string> = { authorization: `Bearer ${TOKEN}` }) => app.fetch(`/metrics`, { headers });
  const read = async () => samplesOf(await (await look()).text());

  test('count requests, scans and findings, and listeners', async () => {
    const socket = await listenAs(app, token);
    await scanned(app, token, 'clean.bin', noise(2000));
    await scanned(app, token, 'eicar.com', EICAR);
    await app.call(readHealth);
    const scan = '{method="POST",route="/api/antivirus/scan"';
    // A request is counted once its answer is out, which its client may see first.
    const samples = await eventually(async () => {
      const now = await read();
      expect(
        now.get(`palisade_http_requests_total${scan},status="200"}`) ??
          now.get(`palisade_http_requests_total${scan},status="201"}`),
      ).toBe(2);
      return now;
    });
    expect(samples.get(`palisade_http_request_duration_seconds_count${scan}}`)).toBe(2);
    expect(samples.get('palisade_verdicts_total{verdict="clean"}')).toBe(1);
    expect(samples.get('palisade_verdicts_total{verdict="infected"}')).toBe(1);
    expect(samples.get('palisade_scan_duration_seconds_count{size="64K"}')).toBe(2);
    expect(samples.get('palisade_engine_processes{engine="YARA-X",state="ready"}')).toBeGreaterThan(0);
    expect(samples.get('palisade_engine_memory_bytes')).toBeGreaterThan(1024 ** 2);
    expect(samples.get('palisade_sockets_open{state="known"}')).toBe(1);
    for (const kind of ['mail', 'recheck', 'feed']) expect(samples.get(`palisade_jobs_late{kind="${kind}"}`)).toBe(0);
    // Jobs by their kinds, by the table that all servers share.
    for (const kind of ['retention', 'digests', 'detection'])
      expect([samples.get(`palisade_jobs_late{kind="${kind}"}`), samples.get(`palisade_jobs_dead{kind="${kind}"}`)]).toEqual([
        0, 0,
      ]);
    const late = new Date(Date.now() - 3_600_000).toISOString();
    const done = { priority: 1, attempts: 8, claims: 8, asked_again: 0, cancelled: 0, last_error: null, created_at: late };
    const free = { once: null, payload: '{}', claimed_by: null, lease_until: null, ...done, run_at: late };
    await insertRow(app.app.database, 'jobs', [
      { id: 'waits', kind: 'nobodys', ...free, dead_at: null },
      { id: 'dead', kind: 'nobodys', ...free, dead_at: late },
    ]);
    const then = await read();
    expect(then.get('palisade_jobs_late{kind="nobodys"}')).toBe(1);
    expect(then.get('palisade_jobs_late_seconds{kind="nobodys"}')).toBeGreaterThanOrEqual(3_600);
    expect(then.get('palisade_jobs_dead{kind="nobodys"}')).toBe(1);
    expect(samples.get('palisade_scan_queue_files')).toBe(0);
    expect(samples.get('palisade_unread_files')).toBe(0);
    expect(samples.get('palisade_metrics_unread')).toBe(0);
    if (isPostgres()) expect(samples.get('palisade_database_connections{state="most"}')).toBe(10);
    socket.leave();
  });

  test("name routes by their templates and never by a caller's text, so that their number is bounded", async () => {
    const ids = () => Array.from({ length: 10 }, () => crypto.randomUUID());
    const ask = async () => {
      for (const id of ids()) {
        await app.call(readScan, { token, params: { id } });
        await app.fetch(`/api/${id}`);
        await app.fetch(`/${id}.php`, { method: 'PROPFIND' });
      }
    };
    await ask();
    const before = await eventually(async () => {
      const now = await read();
      expect(now.get('palisade_http_requests_total{method="GET",route="unknown",status="404"}')).toBeGreaterThanOrEqual(10);
      expect(now.get('palisade_http_requests_total{method="other",route="unknown",status="404"}')).toBeGreaterThanOrEqual(10);
      return now;
    });
    await ask();
    const after = await read();
    expect([...after.keys()].filter((key) => !before.has(key))).toEqual([]);
    expect([...after.keys()].filter((key) => /[\da-f]{8}-[\da-f]{4}/.test(key))).toEqual([]);
  });

  needing('promtool', !lacksPromtool).test('are what Prometheus reads and finds nothing wrong with', async () => {
    const answer = await look();
    expect(answer.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect(lint(await answer.text())).toBe('');
    expect(lint('# TYPE palisade_x gauge\npalisade_x_total{a="b} 1\n')).not.toBe('');
  });

  test.each([
    ['no token', {}],
    ['another token', { authorization: `Bearer ${TOKEN}x` }],
    ['half a token', { authorization: `Bearer ${TOKEN.slice(0, 10)}` }],
    ['the session of a person', { authorization: `Bearer ${token}` }],
  ])('are not for %s', async (_, headers) => {
    const answer = await look(headers);
    expect(answer.status).toBe(401);
    expect(await answer.text()).not.toContain('palisade_');
  });

  // proves: asvs-13.4.5
  test('are missing without the setting', async () => {
    const other = await startTestApp();
    expect((await other.fetch(`/metrics`)).status).toBe(404);
  });
});

describe('the text format', () => {
  test('keeps labels with its own syntax characters, and a histogram that adds up', async () => {
    const metrics = createMetrics();
    metrics.counter('x_total', 'Of tests.').add({ a: 'say "hi"\\\nbye' }, 3);
    const seconds = metrics.histogram('x_seconds', 'Of tests.', [1, 2]);
    for (const value of [0.5, 1, 1.5, 9]) seconds.observe({}, value);
    const text = await metrics.text();
    expect(text).toContain('x_total{a="say \\"hi\\"\\\\\\nbye"} 3\n');
    const samples = samplesOf(text);
    expect(['1', '2', '+Inf'].map((le) => samples.get(`x_seconds_bucket{le="${le}"}`))).toEqual([2, 3, 4]);
    expect([samples.get('x_seconds_sum'), samples.get('x_seconds_count')]).toEqual([12, 4]);
    if (!lacksPromtool) expect(lint(text)).toBe('');
  });

  test('has at most so many series, for any labels', async () => {
    const metrics = createMetrics();
    const counter = metrics.counter('x_total', 'Of tests.');
    for (let index = 0; index < 5_000; index += 1) counter.add({ a: String(index) });
    const samples = samplesOf(await metrics.text());
    expect(samples.size).toBe(2_002);
    expect(samples.get('x_total{a="other"}')).toBe(3_000);
  });

  test('leaves out what cannot be read now, or takes too long, and says how much that is', async () => {
    const metrics = createMetrics();
    metrics.gauge('x_fails', 'Of tests.', () => Promise.reject(new Error('away')));
    metrics.gauge('x_hangs', 'Of tests.', () => new Promise(() => {}));
    metrics.gauge('x_works', 'Of tests.', () => [{ value: 7 }]);
    const samples = samplesOf(await metrics.text());
    expect([...samples]).toEqual([
      ['x_works', 7],
      ['palisade_metrics_unread', 2],
    ]);
  });
});
