import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { SCAN_LIMITS } from '#scanner/reading/limits.ts';
import { EICAR, noise } from '#test/files.ts';
import { SIGNATURES_FOLDER } from '#test/signatures-folder.ts';
import { SILENT } from '#test/silent-log.ts';
import { ENGINE_MEMORY, type EngineMemory } from './process-memory.ts';
import { createYaraPool, type Deaths, type YaraPool } from './yara-pool.ts';

const MIB = 1024 ** 2;
const PATIENCE = { timeout: 60_000, interval: 10 };
/** A file that is matched in one piece of this size takes more than this of its engine. */
const BIG = noise(60 * MIB);
const TIGHT: EngineMemory = { most: 24 * MIB, grown: 1024 * MIB };

/** A pool of its own, with files that it can be given. */
function start(memory: EngineMemory, size: number, start_ms?: number, idle_ms?: number) {
  const folder = mkdtempSync(join(tmpdir(), 'palisade-pool-'));
  const pool = createYaraPool({
    signatures: { rules_folder: join(SIGNATURES_FOLDER, 'rules'), feeds: [] },
    size,
    limits: SCAN_LIMITS,
    memory,
    ...(start_ms === undefined ? {} : { start_ms }),
    ...(idle_ms === undefined ? {} : { idle_ms }),
    logger: SILENT,
  });
  onTestFinished(async () => {
    await pool.close();
    rmSync(folder, { recursive: true, force: true });
  });
  let files = 0;
  const scan = (bytes: Buffer, more: Partial<Parameters<YaraPool['scan']>[0]> = {}) => {
    files += 1;
    const path = join(folder, `${files}`);
    writeFileSync(path, bytes);
    return pool.scan({ id: `${files}`, path, size: bytes.length, name: 'file', sha256: '', folder: `${path}.unpacked`, ...more });
  };
  return { pool, scan };
}

test('processes beyond the first end when they have been idle, and come again with files', async () => {
  const { pool, scan } = start(ENGINE_MEMORY, 3, undefined, 200);
  const all = async () => await Promise.all([scan(EICAR), scan(EICAR), scan(EICAR)]);
  for (let round = 0; round < 2; round += 1) {
    for (const outcome of await all())
      expect(outcome).toMatchObject({ kind: 'examined', examination: { threat: 'EICAR-Test-File' } });
    // The first stays, so that the next file finds one that has compiled its rules.
    await vi.waitFor(() => {
      expect(pool.pids()).toHaveLength(1);
      expect(pool.status()).toMatchObject({ state: 'ready', processes: { ready: 1, wanted: 1 } });
    }, PATIENCE);
  }
});

test('a file is not blamed for processes that die together, of which it had one', { timeout: 120_000 }, async () => {
  const { pool, scan } = start(ENGINE_MEMORY, 3);
  await Promise.all([scan(EICAR), scan(EICAR), scan(EICAR)]);
  await vi.waitFor(() => expect(pool.status().processes.ready).toBe(3), PATIENCE);
  const told: Deaths[] = [];
  const begun = Promise.withResolvers<void>();
  const file = scan(BIG, { onBegin: () => begun.resolve(), onDeath: async (deaths) => void told.push(deaths) });
  await begun.promise;
  for (const pid of pool.pids()) process.kill(pid, 'SIGKILL');
  expect(await file).toMatchObject({ kind: 'examined' });
  expect(told.map(({ count }) => count)).toEqual([1]);
});

describe.runIf(process.platform === 'linux')('a process over its memory', () => {
  // proves: attack-A.3-1, attack-A.3-3
  test('is ended and replaced, while the scan of another file continues; the second time is final for engines of this edition', {
    timeout: 120_000,
  }, async () => {
    const { pool, scan } = start(TIGHT, 2);
    expect(await scan(EICAR)).toMatchObject({ kind: 'examined' });
    await vi.waitFor(() => expect(pool.status().processes.ready).toBe(2), PATIENCE);
    const before = pool.pids();
    const edition = pool.edition();
    const told: Deaths[] = [];
    const big = scan(BIG, { onDeath: async (deaths) => void told.push(deaths) });
    expect(await scan(EICAR)).toMatchObject({ kind: 'examined', examination: { threat: 'EICAR-Test-File' } });

    const outcome = await big;
    expect(outcome).toEqual({ kind: 'failed', detail: 'engine_failed', edition });
    expect(told).toEqual([
      { count: 1, edition },
      { count: 2, edition },
    ]);
    await vi.waitFor(() => expect(pool.status().processes.ready).toBe(2), PATIENCE);
    expect(before.filter((pid) => pool.pids().includes(pid)).length).toBeLessThan(2);

    // Known of before, it is not read: no engine dies.
    const pids = pool.pids();
    expect(await scan(BIG, { deaths: { count: 2, edition: edition ?? '' } })).toEqual(outcome);
    expect(pool.pids()).toEqual(pids);
    expect(await scan(EICAR)).toMatchObject({ kind: 'examined' });

    // Engines of another edition died of it, not these.
    expect(await scan(EICAR, { deaths: { count: 2, edition: 'another' } })).toMatchObject({ kind: 'examined' });
  });

  // proves: attack-A.3-1
  test('has a bound of the kernel as well', async () => {
    const { pool, scan } = start(TIGHT, 1);
    await scan(EICAR);
    const limits = readFileSync(`/proc/${pool.pids()[0]}/limits`, 'utf8');
    expect(limits).toMatch(new RegExp(`^Max data size +${1536 * MIB} +${1536 * MIB} `, 'm'));
  });
});

// proves: attack-A.3-2
test('a process that has grown is replaced, and at each moment there is one that is ready', { timeout: 120_000 }, async () => {
  // Less than a file leaves behind: whatever it is.
  const { pool, scan } = start({ most: 1024 * MIB, grown: -1024 * MIB }, 1);
  await scan(EICAR);
  const [before = 0] = pool.pids();
  expect(await scan(BIG)).toMatchObject({ kind: 'examined' });
  await vi.waitFor(async () => {
    expect(pool.ready()).toBe(true);
    expect(await scan(EICAR)).toMatchObject({ kind: 'examined' });
    expect(pool.pids()).not.toContain(before);
  }, PATIENCE);
  expect(pool.status().processes.ready).toBe(1);
});

test('a process that does not become ready is ended, and another one takes its place', { timeout: 120_000 }, async () => {
  const { pool, scan } = start(TIGHT, 1, 15_000);
  const [stuck = 0] = pool.pids();
  process.kill(stuck, 'SIGSTOP');
  expect(await scan(EICAR)).toMatchObject({ kind: 'examined' });
  expect(pool.pids()).not.toContain(stuck);
});
