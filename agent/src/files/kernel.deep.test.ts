import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { kernelNames } from './kernel.ts';

// proves: attack-E.8-1
test('no process is missed while somebody starts and ends many others', async () => {
  const flood = spawn('sh', ['-c', 'while :; do for i in 1 2 3 4 5 6 7 8; do : & done; wait; done'], { stdio: 'ignore' });
  await once(flood, 'spawn');
  let missed = 0;
  for (const end = performance.now() + 3_000; performance.now() < end; )
    if (!kernelNames('/proc').includes(`${process.pid}`)) missed += 1;
  flood.kill('SIGKILL');
  expect(missed).toBe(0);
});
