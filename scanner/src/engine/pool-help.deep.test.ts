import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { SCAN_LIMITS } from '#scanner/reading/limits.ts';
import { EICAR, noise, zip } from '#test/files.ts';
import { processorTime } from '#test/processor-time.ts';
import { SIGNATURES_FOLDER } from '#test/signatures-folder.ts';
import { SILENT } from '#test/silent-log.ts';
import { createYaraPool } from './yara-pool.ts';

describe('processes that help', () => {
  const folder = mkdtempSync(join(tmpdir(), 'palisade-helping-'));
  const archive = zip([
    ...Array.from({ length: 700 }, (_, index) => ({ name: `${index}`, content: noise(100_000, index + 1) })),
    { name: 'test.com', content: EICAR },
  ]);
  const path = join(folder, 'archive');

  async function start(size: number, cores: number) {
    writeFileSync(path, archive);
    const pool = createYaraPool({
      signatures: { rules_folder: join(SIGNATURES_FOLDER, 'rules'), feeds: [] },
      size,
      cores,
      limits: SCAN_LIMITS,
      logger: SILENT,
    });
    onTestFinished(async () => {
      await pool.close();
      rmSync(folder, { recursive: true, force: true });
    });
    let files = 0;
    const scan = (bytes = archive) => {
      files += 1;
      const own = bytes === archive ? path : join(folder, `${files}`);
      if (bytes !== archive) writeFileSync(own, bytes);
      return pool.scan({ id: `${files}`, path: own, size: bytes.length, name: 'file', sha256: '', folder: `${own}.unpacked` });
    };
    return { pool, scan };
  }

  test('find the same, also when one is killed, and take a file that comes', { timeout: 180_000 }, async () => {
    const alone = await start(1, 1);
    const outcome = await alone.scan();
    await alone.pool.close();
    expect(outcome).toMatchObject({
      kind: 'examined',
      examination: { threat_member: 'test.com', coverage: { members_scanned: 701 } },
    });
    const duration: unknown = expect.any(Number);
    const expected = { ...outcome, duration_ms: duration };

    const { pool, scan } = await start(3, 2);
    await scan(EICAR);
    await vi.waitFor(() => expect(pool.status().processes.ready).toBe(2), { timeout: 60_000, interval: 10 });
    const before = new Map(pool.pids().map((pid) => [pid, processorTime(pid)]));
    expect(await scan()).toEqual(expected);
    // One has read the file, and another has matched for it. A process that has grown is replaced, and then nobody knows what it did.
    for (const pid of pool.pids()) {
      const used = before.get(pid);
      if (process.platform === 'linux' && used !== undefined) expect(processorTime(pid) - used).toBeGreaterThan(0.2);
    }

    const [, helper = 0] = pool.pids();
    const again = scan();
    const beside = scan(EICAR);
    setTimeout(() => process.kill(helper, 'SIGKILL'), 300);
    expect(await beside).toMatchObject({ kind: 'examined', examination: { threat: 'EICAR-Test-File' } });
    expect(await again).toEqual(expected);
  });
});
