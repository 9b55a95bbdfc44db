import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { listScans } from '@palisade/contract/antivirus';
import { SCAN_LIMITS } from '@palisade/scanner/limits';
import { eventually } from '@palisade/scanner/test/eventually';
import { EICAR, noise, PDF } from '@palisade/scanner/test/files';
import { describe, expect, test, vi } from 'vitest';
import { replyOf, startScanningApp } from '#test/harness.ts';
import { scanned } from '#test/upload.ts';

const MIB = 1024 ** 2;

describe('an engine process', { timeout: 300_000 }, async () => {
  const app = await startScanningApp({ surroundings: { scan_retry_ms: 50 } });
  const { token } = await app.signIn();
  const signalAll = (signal: NodeJS.Signals) => {
    for (const pid of app.app.engine.pids()) process.kill(pid, signal);
  };
  const queued = () =>
    eventually(async () =>
      expect(replyOf(await app.call(listScans, { token }))[0]).toMatchObject({ scan_status: 'pending', status_detail: 'queued' }),
    );

  test('killed in the middle of a scan is replaced, and the file is scanned again', async () => {
    await scanned(app, token, 'warm-up', PDF);
    const [before] = app.app.engine.pids();
    signalAll('SIGSTOP');
    const record = scanned(app, token, 'eicar.com', EICAR);
    await queued();
    signalAll('SIGKILL');
    expect(await record).toMatchObject({ scan_status: 'infected' });
    expect(app.app.engine.pids()).not.toContain(before);
  });

  test('killed while its unpacked files are on the disk is replaced, and the file is read whole', async () => {
    const record = scanned(app, token, 'packed.gz', gzipSync(noise(60 * MIB), { level: 0 }));
    const unpacked = await vi.waitFor(
      () => {
        const [folder] = readdirSync(join(app.data_dir, 'spool')).filter((name) => name.endsWith('.unpacked'));
        const inside = folder === undefined ? [] : readdirSync(join(app.data_dir, 'spool', folder));
        expect(inside).toHaveLength(1);
        return inside;
      },
      { timeout: 60_000, interval: 1 },
    );
    signalAll('SIGKILL');
    expect(await record).toMatchObject({
      scan_status: 'clean',
      status_detail: null,
      coverage: { members_scanned: unpacked.length },
    });
    expect(readdirSync(join(app.data_dir, 'spool'))).toEqual([]);
  });

  test('that dies twice over a file leaves it pending, kept, and scanned when an engine is back', async () => {
    const record = scanned(app, token, 'large.bin', noise(60 * MIB));
    const killing = setInterval(() => signalAll('SIGKILL'), 1);
    expect(await record.finally(() => clearInterval(killing))).toMatchObject({
      scan_status: 'pending',
      status_detail: 'engine_down',
    });
    await vi.waitFor(
      async () => expect(replyOf(await app.call(listScans, { token }))[0]).toMatchObject({ scan_status: 'clean' }),
      { timeout: 120_000 },
    );
    // A verdict is stored before the bytes go.
    await eventually(() => expect(readdirSync(join(app.data_dir, 'spool'))).toEqual([]));
  });
});

describe('an engine that does not come to an end', async () => {
  const app = await startScanningApp({ surroundings: { scan_limits: { ...SCAN_LIMITS, time_ms: 1500 } } });
  const { token } = await app.signIn();
  test('is killed and replaced, and the file is pending', { timeout: 20_000 }, async () => {
    expect(await scanned(app, token, 'before.pdf', PDF)).toMatchObject({ scan_status: 'clean' });
    const [stuck = 0] = app.app.engine.pids();
    process.kill(stuck, 'SIGSTOP');
    const [endless, next] = [scanned(app, token, 'endless.com', EICAR), scanned(app, token, 'next.com', EICAR)];
    const records = await Promise.all([endless, next]);
    expect(records.map(({ scan_status, status_detail }) => [scan_status, status_detail]).sort()).toEqual([
      ['infected', null],
      ['pending', 'time_limit'],
    ]);
    expect(app.app.engine.pids()).not.toContain(stuck);
    expect(readdirSync(join(app.data_dir, 'spool'))).toEqual([]);
  });
});
