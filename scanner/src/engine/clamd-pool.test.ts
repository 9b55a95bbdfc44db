import { createServer } from 'node:net';
import { expect, onTestFinished, test, vi } from 'vitest';
import { SILENT } from '#test/silent-log.ts';
import { createClamdPool } from './clamd-pool.ts';

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
