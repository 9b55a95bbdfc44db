import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { needing } from '@palisade/scanner/test/needs';
import { expect, onTestFinished } from 'vitest';
import { hiddenName, READY } from './owner-jobs.ts';

const FILE = fileURLToPath(new URL('./owner-process.ts', import.meta.url));
/** Node's own end seldom waits for a thread that waits for it (nodejs/node#54918). */
const NEVER_ENDS = 'data:text/javascript,process.exit = () => {}; setInterval(() => {}, 1000);';

needing('root', process.getuid?.() === 0).test(
  'a process of a person ends with its answer, also where Node’s own end never comes',
  async () => {
    const child = spawn(process.execPath, ['--import', NEVER_ENDS, FILE, '4001', '4001'], { stdio: ['pipe', 'pipe', 'inherit'] });
    onTestFinished(() => void child.kill('SIGKILL'));
    let said = '';
    child.stdout.on('data', (bytes: Buffer) => (said += bytes.toString()));
    const path = Buffer.from('/no-such-folder/file').toString('base64');
    const set_aside = hiddenName();
    child.stdin.end(`${JSON.stringify({ kind: 'remove', path, dev: '1', ino: '1', size: '1', mtime_ns: '1', set_aside })}\n`);
    await once(child, 'close', { signal: AbortSignal.timeout(15_000) });
    expect(said).toBe(`${READY}{"ok":false,"code":"ENOENT","at":"folder"}\n`);
  },
);
