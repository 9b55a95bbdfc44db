import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants, getPriority } from 'node:os';
import { expect, it } from 'vitest';
import { lowerPriority } from './scan-engines.ts';

it('an engine has the lowest priority for processor and disk', async () => {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
  try {
    await once(child, 'spawn');
    const pid = child.pid ?? 0;
    await lowerPriority(pid);
    expect(getPriority(pid)).toBe(constants.priority.PRIORITY_LOW);
    expect(execFileSync('ionice', ['-p', `${pid}`], { encoding: 'utf8' })).toContain('idle');
  } finally {
    child.kill('SIGKILL');
  }
});
