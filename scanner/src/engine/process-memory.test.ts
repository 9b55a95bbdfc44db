import { spawn } from 'node:child_process';
import { expect, test } from 'vitest';
import { isGone } from './process-memory.ts';

test.runIf(process.platform === 'linux')('a killed process is gone before its end is reported', async () => {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  try {
    expect(isGone(child.pid)).toBe(false);
  } finally {
    child.kill('SIGKILL');
  }
  // In the same turn: the end has not been read here.
  expect([child.signalCode, isGone(child.pid)]).toEqual([null, true]);
  await ended;
  expect(isGone(child.pid)).toBe(true);
  expect(isGone(undefined)).toBe(true);
});
