import { createServer } from 'node:net';
import { expect, onTestFinished, test, vi } from 'vitest';
import { startClamdDouble } from '#test/clamd-double.ts';
import { eventually } from '#test/eventually.ts';
import { nestedGzip, PDF } from '#test/files.ts';
import { SILENT } from '#test/silent-log.ts';
import { createClamdPool } from './clamd-pool.ts';
import type { ScannerAddress } from './scanner-url.ts';

test('a file that waits for a clamd of which nobody knows yet whether it answers can be taken back at once', async () => {
  // Timers never come: only the abort ends the wait of 10 s for the clamd.
  vi.useFakeTimers({ toFake: ['setTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  // Takes connections, and says nothing.
  const silent = createServer();
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void silent.close());
  const bound = silent.address();
  const port = bound !== null && typeof bound === 'object' ? bound.port : 0;
  const pool = createClamdPool({
    addresses: [{ host: '127.0.0.1', port }],
    time_ms: 60_000,
    logger: SILENT,
    onRenewed() {},
  });
  onTestFinished(() => pool.close());

  const abort = new AbortController();
  const opinion = pool.scan({ size: 1, bytes: Buffer.alloc(1) }, abort.signal);
  abort.abort();
  expect(await opinion).toEqual({ kind: 'missing', asked: false });
});

/** A pool whose members have all passed. */
async function trustedPool(doubles: readonly { address: ScannerAddress }[], look_ms: number) {
  const addresses = doubles.map(({ address }) => address);
  const pool = createClamdPool({ addresses, time_ms: 10_000, logger: SILENT, onRenewed() {}, look_ms });
  onTestFinished(() => pool.close());
  await eventually(() => {
    for (const { state } of pool.health()) expect(state).toBe('trusted');
  });
  return pool;
}
const clean = { kind: 'given', answer: { verdict: 'clean' }, detail: null };

test('a clamd that is down leaves its file to another of the pool', async () => {
  const [first, other] = [await startClamdDouble(), await startClamdDouble()];
  const pool = await trustedPool([first, other], 60_000);
  // The first is asked first, and has no look before that.
  await first.down();
  const { streams } = other;
  expect(await pool.scan({ size: PDF.length, bytes: PDF })).toMatchObject(clean);
  expect(other.streams).toBe(streams + 1);
  expect(pool.health().map(({ state }) => state === 'trusted')).toEqual([false, true]);
});

test('a clamd whose configuration changes between two looks is found out by the self-test that it takes now and then', async () => {
  const double = await startClamdDouble();
  const pool = await trustedPool([double], 10);
  const bytes = nestedGzip(PDF, 3);
  expect(await pool.scan({ size: bytes.length, bytes })).toMatchObject(clean);
  double.fails_open = true;
  await eventually(() => expect(pool.health()).toMatchObject([{ state: 'refused' }]));
  expect(await pool.scan({ size: bytes.length, bytes })).toEqual({ kind: 'missing', asked: false });
});
