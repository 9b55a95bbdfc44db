import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { needing } from '@palisade/scanner/test/needs';
import { expect, onTestFinished } from 'vitest';
import { readKeyFile } from './key-file.ts';

const isWindows = process.platform === 'win32';

needing('named pipes', !isWindows).test('a pipe in place of a key is refused, and not waited for', () => {
  const folder = mkdtempSync(join(tmpdir(), 'palisade-key-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'audit.key');
  execFileSync('mkfifo', [path]);
  // In a process of its own: a read that waits could not be ended here.
  const code = `import { readKeyFile } from '${new URL('./key-file.ts', import.meta.url).href}'; readKeyFile(process.argv[1]);`;
  const run = () =>
    execFileSync(process.execPath, ['--input-type=module', '-e', code, path], {
      timeout: 20_000,
      killSignal: 'SIGKILL',
      stdio: 'pipe',
      encoding: 'utf8',
    });
  expect(run).toThrow(/audit\.key isn’t a key file/u);
});

needing('devices of Unix', !isWindows).test('a device in place of a key is refused, and not read without end', () => {
  expect(() => readKeyFile('/dev/zero')).toThrow('/dev/zero isn’t a key file.');
});
