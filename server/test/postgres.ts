import { type ChildProcess, execFileSync } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { spawnBound } from '@palisade/scanner/test/bound-process';
import { eventually } from '@palisade/scanner/test/eventually';
import { Client } from 'pg';

import { freePort } from './free-port.ts';
import { childrenOf } from './server-process.ts';

const ROOT = '/usr/lib/postgresql';

/** Folder of PostgreSQL's server programs on this machine, or undefined (scripts/packages.mjs installs them in CI). */
export const POSTGRES_PROGRAMS = [
  '/usr/local/bin',
  '/opt/homebrew/bin',
  ...(existsSync(ROOT) ? readdirSync(ROOT).map((version) => join(ROOT, version, 'bin')) : []),
].findLast((folder) => existsSync(join(folder, 'initdb')));

/** PostgreSQL refuses to run as root; the package made an OS user for it. */
function unprivileged(): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const idOf = (flag: string) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
  return { uid: idOf('-u'), gid: idOf('-g') };
}

export interface TestPostgres {
  url: string;
  start(): Promise<void>;
  /** Ends it as a machine that fails does. */
  stop(): Promise<void>;
  /** Stops its processes, with their connections open, and continues them. */
  freeze(): void;
  thaw(): void;
  dispose(): Promise<void>;
}

/** A PostgreSQL server of a test's own, in a temporary folder and on loopback, that can be away and hang. */
export async function startPostgres(): Promise<TestPostgres> {
  const programs = POSTGRES_PROGRAMS ?? '';
  const as = unprivileged();
  const home = mkdtempSync(join(tmpdir(), 'palisade-postgres-'));
  if (as.uid !== undefined && as.gid !== undefined) chownSync(home, as.uid, as.gid);
  const cluster = join(home, 'cluster');
  const made = ['-D', cluster, '-U', 'postgres', '--auth=trust', '--encoding=UTF8', '--locale=C', '--no-sync'];
  execFileSync(join(programs, 'initdb'), made, { ...as, cwd: home, stdio: 'ignore' });
  const port = await freePort();
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  let child: ChildProcess | undefined;
  let ended = Promise.resolve();

  /** The server and the processes that it made. */
  function signalAll(signal: NodeJS.Signals): void {
    const parent = child?.pid;
    if (parent === undefined || child?.exitCode !== null || child.signalCode !== null) return;
    for (const pid of [parent, ...childrenOf(parent)]) {
      try {
        process.kill(pid, signal);
      } catch {
        // It has ended meanwhile.
      }
    }
  }

  const postgres: TestPostgres = {
    url,
    async start() {
      const options = ['-D', cluster, '-p', String(port), '-k', home, '-c', 'listen_addresses=127.0.0.1', '-c', 'fsync=off'];
      const started = spawnBound(join(programs, 'postgres'), options, as);
      child = started;
      ended = new Promise((resolve) => started.once('exit', () => resolve()));
      const answers = async () => {
        const client = new Client({ connectionString: url });
        client.on('error', () => {});
        await client.connect();
        await client.end();
      };
      await eventually(answers);
    },
    async stop() {
      child?.kill('SIGQUIT');
      await ended;
    },
    freeze: () => signalAll('SIGSTOP'),
    thaw: () => signalAll('SIGCONT'),
    async dispose() {
      signalAll('SIGCONT');
      await postgres.stop();
      rmSync(home, { recursive: true, force: true });
    },
  };
  await postgres.start();
  return postgres;
}
