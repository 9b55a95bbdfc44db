import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '@palisade/scanner/test/eventually';
import { expect, onTestFinished, test } from 'vitest';
import { runCommand, runServer, startServer } from './server-process.ts';

// proves: attack-D.19-3
test('a data folder is one server’s alone: a second one ends with one line that names the first', async () => {
  const DATA_DIR = mkdtempSync(join(tmpdir(), 'palisade-home-'));
  onTestFinished(() => rmSync(DATA_DIR, { recursive: true, force: true }));
  const first = await startServer({ DATA_DIR });
  const second = await runServer({ DATA_DIR, PORT: '0' });
  expect(second.code).toBe(1);
  expect(second.errors.trim().split('\n')).toHaveLength(1);
  const named = `palisade: The data folder ${DATA_DIR} is in use by another server (process ${first.pid} on `;
  expect(second.errors.slice(0, named.length)).toBe(named);
  expect(second.errors.slice(named.length)).toMatch(
    /^\S+, started \S+\)\. Stop that server, or set DATA_DIR to a separate folder\.\n$/,
  );
  // Commands run beside it.
  expect(await runCommand('outbox', { DATA_DIR })).toMatchObject({ code: 0 });
  expect(await runCommand('verify', { DATA_DIR })).toMatchObject({ code: 0 });
  expect((await fetch(`${first.url}/api/health`)).status).toBe(200);
  // The leftovers of a killed server do not disturb the next one.
  const id = readFileSync(join(DATA_DIR, 'home'), 'utf8');
  await first.kill('SIGKILL');
  expect(existsSync(join(DATA_DIR, 'server.json'))).toBe(true);
  const third = await startServer({ DATA_DIR });
  expect(readFileSync(join(DATA_DIR, 'home'), 'utf8')).toBe(id);
  await eventually(async () => expect((await fetch(`${third.url}/api/ready`)).status).toBe(200));
  expect(await third.kill('SIGTERM')).toBe(0);
  expect(existsSync(join(DATA_DIR, 'server.json'))).toBe(false);
});
