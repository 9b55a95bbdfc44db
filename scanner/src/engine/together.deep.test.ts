import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { SCAN_LIMITS } from '#scanner/reading/limits.ts';
import { EICAR } from '#test/files.ts';
import { SIGNATURES_FOLDER } from '#test/signatures-folder.ts';
import { SILENT } from '#test/silent-log.ts';
import { createYaraPool, type EngineOutcome } from './yara-pool.ts';

const PATIENCE = { timeout: 60_000, interval: 5 };
const FOUND = { kind: 'examined', examination: { threat: 'EICAR-Test-File' } };
const NOT_READ = { kind: 'failed', detail: 'engine_down' };

/** A pool with one process, and what happened to each file. */
async function start() {
  const folder = mkdtempSync(join(tmpdir(), 'palisade-together-'));
  const signatures = { rules_folder: join(SIGNATURES_FOLDER, 'rules'), feeds: [] };
  const pool = createYaraPool({ signatures, size: 1, limits: SCAN_LIMITS, logger: SILENT });
  onTestFinished(async () => {
    await pool.close();
    rmSync(folder, { recursive: true, force: true });
  });
  await vi.waitFor(() => expect(pool.ready()).toBe(true), PATIENCE);
  const told: string[] = [];
  const scan = (id: string, more: { signal?: AbortSignal; onBegin?: () => void; is_alone?: boolean } = {}) => {
    const { is_alone, onBegin, ...rest } = more;
    const file = {
      id,
      path: join(folder, id),
      bytes: EICAR,
      size: EICAR.length,
      name: id,
      sha256: '',
      folder: join(folder, `${id}.unpacked`),
    };
    return pool.scan({
      ...file,
      ...rest,
      onBegin() {
        told.push(`${id} begun`);
        onBegin?.();
      },
      onDeath: async ({ count }) => void told.push(`${id} died ${count}`),
      together: is_alone
        ? undefined
        : { onLong: () => void told.push(`${id} is long`), onSetAside: () => void told.push(`${id} set aside`) },
    });
  };
  const signal = (name: NodeJS.Signals) => {
    for (const pid of pool.pids()) process.kill(pid, name);
  };

  /** Sends three files as one message to a process that is stopped when it comes. */
  function stopped(second: { signal?: AbortSignal } = {}): { first: Promise<EngineOutcome>; others: Promise<EngineOutcome>[] } {
    const before = scan('before', { is_alone: true });
    let is_begun = false;
    const onBegin = () => {
      if (!is_begun) signal('SIGSTOP');
      is_begun = true;
    };
    const first = scan('first', { onBegin });
    const others = [scan('second', second), scan('third')];
    void before.then((outcome) => told.push(`before ${outcome.kind}`));
    return { first, others };
  }
  return { pool, told, scan, signal, stopped };
}

describe.runIf(process.platform === 'linux')('files that one process is given together', () => {
  test('are read in their order, and each is answered', { timeout: 60_000 }, async () => {
    const { told, scan } = await start();
    const before = scan('before', { is_alone: true });
    // On a busy machine even these take long.
    const read = async (id: string) => {
      const outcome = await scan(id);
      return told.includes(`${id} set aside`) ? await scan(id, { is_alone: true }) : outcome;
    };
    for (const outcome of await Promise.all([before, read('first'), read('second'), read('third')]))
      expect(outcome).toMatchObject(FOUND);
    expect(told.filter((line) => line.endsWith('begun'))).toEqual(
      ['before', 'first', 'second', 'third'].map((id) => `${id} begun`),
    );
  });

  test('are given back when the first one takes long, and the process does not begin them any more', {
    timeout: 60_000,
  }, async () => {
    const { told, scan, signal, stopped } = await start();
    const { first, others } = stopped();
    expect(await Promise.all(others)).toEqual([NOT_READ, NOT_READ]);
    expect(told.slice(-3)).toEqual(['first is long', 'second set aside', 'third set aside']);
    signal('SIGCONT');
    expect(await first).toMatchObject(FOUND);
    expect(await scan('second', { is_alone: true })).toMatchObject(FOUND);
    expect(told.filter((line) => line === 'second begun')).toHaveLength(1);
  });

  test('do not count a death over another one', { timeout: 60_000 }, async () => {
    const { told, signal, stopped } = await start();
    const { first, others } = stopped();
    await vi.waitFor(() => expect(told).toContain('first begun'), PATIENCE);
    signal('SIGKILL');
    expect(await Promise.all(others)).toEqual([NOT_READ, NOT_READ]);
    // The second reading of the first one is by another process.
    expect(await first).toMatchObject(FOUND);
    expect(told).toContain('second set aside');
    expect(told.filter((line) => line.includes('died'))).toEqual(['first died 1']);
  });

  test('do not end a process when one that is not begun is cancelled', { timeout: 60_000 }, async () => {
    const { pool, told, signal, stopped } = await start();
    const pids = pool.pids();
    const abort = new AbortController();
    const { first, others } = stopped({ signal: abort.signal });
    await vi.waitFor(() => expect(told).toContain('first begun'), PATIENCE);
    abort.abort();
    expect(await others[0]).toEqual(NOT_READ);
    signal('SIGCONT');
    expect(await first).toMatchObject(FOUND);
    await others[1];
    expect(pool.pids()).toEqual(pids);
    expect(told).not.toContain('second set aside');
  });
});
