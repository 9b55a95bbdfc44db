import { spawn } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const DEBIAN = '/usr/lib/postgresql';
const FOLDERS = ['/usr/local/bin', '/opt/homebrew/bin', '/usr/bin'];
const CERTIFICATES = '/etc/ssl/certs/ca-certificates.crt';
const ERROR_LENGTH_MAXIMUM = 2_000;

/** Path of a PostgreSQL client program: the newest installed, since an older one refuses a newer server. @throws when there is none. */
function findProgram(name: string): string {
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN).sort((a, b) => Number(b) - Number(a)) : [];
  const folders = [...versions.map((version) => join(DEBIAN, version, 'bin')), ...FOLDERS];
  const found = folders.map((folder) => join(folder, name)).find((path) => existsSync(path));
  if (found === undefined)
    throw new Error(`${name} isn’t installed. Install PostgreSQL’s client programs (Debian: postgresql-client).`);
  return found;
}

/**
 * Connection options as libpq environment variables, which other users of the machine cannot see, unlike arguments. Certificates are checked where the server's driver does
 * so (every `sslmode` but `no-verify` and `disable`).
 */
function environmentOf(url: string): Record<string, string> {
  const { hostname, port, username, password, pathname, searchParams } = new URL(url);
  const asked = searchParams.get('sslmode');
  const checks = asked !== null && !['disable', 'no-verify'].includes(asked) && searchParams.get('uselibpqcompat') !== 'true';
  const root = searchParams.get('sslrootcert') ?? (checks ? (existsSync(CERTIFICATES) ? CERTIFICATES : 'system') : null);
  const values = {
    PGHOST: searchParams.get('host') ?? hostname.replace(/^\[|\]$/g, ''),
    PGPORT: searchParams.get('port') ?? port,
    PGUSER: searchParams.get('user') ?? decodeURIComponent(username),
    PGPASSWORD: searchParams.get('password') ?? decodeURIComponent(password),
    PGDATABASE: decodeURIComponent(pathname.slice(1)),
    PGSSLMODE: checks ? 'verify-full' : asked === 'no-verify' ? 'require' : asked,
    PGSSLROOTCERT: root,
    PGSSLCERT: searchParams.get('sslcert'),
    PGSSLKEY: searchParams.get('sslkey'),
  };
  return Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) => (value === null || value === '' ? [] : [[name, value]])),
  );
}

/** Runs `pg_dump` or `pg_restore` on the database of an address. @throws with the program's output when it fails. */
export async function runPostgresProgram(name: 'pg_dump' | 'pg_restore', url: string, args: readonly string[]): Promise<void> {
  const { PGDATABASE = '', ...environment } = environmentOf(url);
  const database = name === 'pg_restore' ? ['--dbname', PGDATABASE] : [];
  const child = spawn(findProgram(name), [...database, ...args], {
    env: { PATH: '/usr/bin:/bin', LC_ALL: 'C', ...environment, PGDATABASE },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr.on('data', (bytes: Buffer) => {
    said = (said + bytes.toString()).slice(-ERROR_LENGTH_MAXIMUM);
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  if (code !== 0) throw new Error(said.trim().replaceAll(/\s*\n\s*/g, '; ') || `${name} ended with ${code}`);
}
