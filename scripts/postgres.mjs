// Starts a PostgreSQL server for tests: a new cluster in a temporary folder, on loopback, removed afterwards.
import { chownSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findPostgres } from './packages.mjs';
import { run } from './run.mjs';

/** @returns {Promise<number>} */
export function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });
}

/** Ids of the system user postgres, because PostgreSQL refuses to run as root. */
async function postgresUser() {
  if (process.getuid?.() !== 0) return undefined;
  const ids = await Promise.all(['-u', '-g'].map((flag) => run('id', [flag, 'postgres'], { quiet: true })));
  return ids.every(({ code }) => code === 0) ? ids.map(({ output }) => Number(output)) : undefined;
}

/**
 * Starts a server if its programs are installed.
 * @returns {Promise<{ url: string, stop: () => Promise<void> } | { skipped: string }>}
 */
export async function startPostgres() {
  const folder = findPostgres();
  if (folder === undefined)
    return { skipped: 'no PostgreSQL server on this machine (set TEST_DATABASE_URL, or install the package "postgresql")' };
  const isRoot = process.getuid?.() === 0;
  const user = await postgresUser();
  if (isRoot && user === undefined) return { skipped: 'PostgreSQL does not run as root, and there is no user "postgres"' };

  const home = mkdtempSync(join(tmpdir(), 'palisade-postgres-'));
  if (user) chownSync(home, user[0] ?? 0, user[1] ?? 0);
  const cluster = join(home, 'cluster');
  const as = user ? ['runuser', '-u', 'postgres', '--'] : [];
  const program = async (/** @type {string} */ name, /** @type {string[]} */ ...args) => {
    const [command = '', ...rest] = [...as, join(folder, name), ...args];
    return await run(command, rest, { quiet: true, cwd: home });
  };
  const port = await freePort();
  const made = await program(
    'initdb',
    '-D',
    cluster,
    '-U',
    'postgres',
    '--auth=trust',
    '--encoding=UTF8',
    '--locale=C',
    '--no-sync',
  );
  const options = `-p ${port} -k ${home} -c listen_addresses=127.0.0.1 -c fsync=off -c max_connections=400`;
  const started =
    made.code === 0 ? await program('pg_ctl', '-D', cluster, '-w', '-l', join(home, 'log'), '-o', options, 'start') : made;
  if (started.code !== 0) {
    rmSync(home, { recursive: true, force: true });
    return { skipped: `PostgreSQL did not start: ${started.output.trim().split('\n').at(-1) ?? ''}` };
  }
  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    stop: async () => {
      await program('pg_ctl', '-D', cluster, '-m', 'immediate', 'stop');
      rmSync(home, { recursive: true, force: true });
    },
  };
}
