import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';

/** Of util-linux, so on every Linux. */
const SETPRIV = '/usr/bin/setpriv';

/**
 * Starts a program that ends with this process, however that ends: no hook ends the programs of a group of tests when all of them are left out (`-t`), or when the run
 * is killed. Where the kernel cannot do that, it is for hooks alone.
 */
export function spawnBound(
  program: string,
  args: readonly string[],
  { stdout = 'ignore', ...as }: { uid?: number; gid?: number; stdout?: 'pipe' | 'ignore' } = {},
): ChildProcess {
  const [command, ...rest] = existsSync(SETPRIV) ? [SETPRIV, '--pdeathsig', 'KILL', '--', program, ...args] : [program, ...args];
  return spawn(command, rest, { ...as, stdio: ['ignore', stdout, 'ignore'] });
}
