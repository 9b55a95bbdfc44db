import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SCAN_LIMITS } from '@palisade/scanner/limits';
import { ENGINE_MEMORY } from '@palisade/scanner/process-memory';
import { eventually } from '@palisade/scanner/test/eventually';
import { EICAR } from '@palisade/scanner/test/files';
import { SIGNATURES_FOLDER } from '@palisade/scanner/test/signatures-folder';
import { SILENT } from '@palisade/scanner/test/silent-log';
import { createYaraPool, type YaraPool } from '@palisade/scanner/yara-pool';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { createFakeEngine } from './fake-engine.ts';

const engines = {
  fake: createFakeEngine,
  real: () =>
    createYaraPool({
      signatures: { rules_folder: join(SIGNATURES_FOLDER, 'rules'), feeds: [] },
      size: 1,
      limits: SCAN_LIMITS,
      memory: ENGINE_MEMORY,
      logger: SILENT,
    }),
};

/** Requirements of the server on an engine, the real one and the fake of tests. */
describe.each(Object.entries(engines))('the %s engine', (_, start) => {
  const folder = mkdtempSync(join(tmpdir(), 'palisade-engine-'));
  const engine = start();
  afterAll(async () => {
    await engine.close();
  });

  const jobOf = (bytes: Buffer, more: Partial<Parameters<YaraPool['scan']>[0]> = {}) => {
    const path = join(folder, 'file');
    writeFileSync(path, bytes);
    return { id: 'file', path, size: bytes.length, name: 'file', sha256: '', folder: `${path}.unpacked`, ...more };
  };

  test('becomes ready, with an edition and a process count', async () => {
    await eventually(() => expect(engine.ready()).toBe(true));
    expect(engine.complete()).toBe(true);
    expect(engine.edition()).toEqual(expect.any(String));
    expect(engine.status()).toMatchObject({ name: 'YARA-X', state: 'ready', processes: { ready: 1, wanted: 1 } });
  });

  test.each([
    ['the EICAR test file, from disk', EICAR, false, 'EICAR-Test-File'],
    ['the EICAR test file, from memory', EICAR, true, 'EICAR-Test-File'],
    ['a text', Buffer.from('A harmless text.\n'), false, null],
    ['an empty file', Buffer.alloc(0), true, null],
  ])('reads %s', async (_name, bytes, isInMemory, threat) => {
    await eventually(() => expect(engine.ready()).toBe(true));
    const onBegin = vi.fn();
    const outcome = await engine.scan(jobOf(bytes, isInMemory ? { bytes, onBegin } : { onBegin }));
    expect(outcome).toMatchObject({
      kind: 'examined',
      name: 'YARA-X',
      edition: engine.edition(),
      examination: {
        threat,
        threat_member: null,
        threat_facts: threat === null ? null : { severity: 'low' },
        unread: [],
        coverage: { members_total: 0, members_scanned: 0, bytes_scanned: bytes.length, encrypted: 0 },
      },
    });
    expect(onBegin).toHaveBeenCalledOnce();
  });

  test('fails a scan without a waiting caller', async () => {
    const outcome = await engine.scan(jobOf(EICAR, { signal: AbortSignal.abort() }));
    expect(outcome).toMatchObject({ kind: 'failed' });
  });

  test('is down once it is closed', async () => {
    await engine.close();
    expect(engine.ready()).toBe(false);
    expect(await engine.scan(jobOf(EICAR))).toMatchObject({ kind: 'failed', detail: 'engine_down' });
    expect(engine.pids()).toEqual([]);
  });
});
