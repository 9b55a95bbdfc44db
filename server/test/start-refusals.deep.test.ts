import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { freePort } from './free-port.ts';
import { POSTGRES_PROGRAMS, startPostgres } from './postgres.ts';
import { runServer } from './server-process.ts';

// Whole servers that must not start: 9 of them, about 30 s.

function freshFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'palisade-refused-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** All that a server says that does not start: one line. */
async function refusal(environment: Record<string, string>): Promise<string> {
  const { code, errors } = await runServer({ DATA_DIR: freshFolder(), PORT: '0', ...environment });
  expect(code).toBe(1);
  // Warnings come before: about files that were readable for others, for example.
  const lines = errors.split('\n').filter((line) => line !== '' && !line.startsWith('{'));
  expect(lines).toHaveLength(1);
  return `${lines.join('')}\n`;
}

describe('a server that cannot start says one sentence', { timeout: 120_000 }, () => {
  test('for a damaged database', async () => {
    const DATA_DIR = freshFolder();
    writeFileSync(join(DATA_DIR, 'palisade.sqlite'), Buffer.concat([Buffer.from('SQLite format 3\0'), Buffer.alloc(8192, 7)]));
    expect(await refusal({ DATA_DIR })).toMatch(
      /^palisade: The database .*palisade\.sqlite is damaged \(SQLITE_\w+\)\. Put back a backup: /,
    );
  });

  test('for a key file that cannot be read', async () => {
    const folder = freshFolder();
    const AUDIT_KEY_FILE = join(folder, 'audit.key');
    // Root reads every file, and no folder.
    if (process.geteuid?.() === 0) mkdirSync(AUDIT_KEY_FILE);
    else writeFileSync(AUDIT_KEY_FILE, Buffer.alloc(32), { mode: 0 });
    const said = await refusal({ AUDIT_KEY_FILE });
    expect(said).toContain(AUDIT_KEY_FILE);
    expect(said).toMatch(/^palisade: We can’t read the key file |is a folder, not a key file/);
    chmodSync(AUDIT_KEY_FILE, 0o700);
  });

  test('for a HOST that is no name', async () => {
    expect(await refusal({ HOST: 'no-such-name.invalid', EXPOSURE: 'local' })).toMatch(
      /can’t resolve HOST no-such-name\.invalid/,
    );
  });

  test('for a database that nobody answers for', async () => {
    const port = await freePort();
    expect(await refusal({ DATABASE_URL: `postgres://shield@127.0.0.1:${port}/palisade` })).toMatch(
      /^palisade: We can’t reach the database at DATABASE_URL: .*ECONNREFUSED.*\. Start it, or correct the address in DATABASE_URL\.\n$/,
    );
  });

  test.runIf(POSTGRES_PROGRAMS !== undefined)('for a role and a database that are not there', async () => {
    const postgres = await startPostgres();
    onTestFinished(() => postgres.dispose());
    const url = (change: (parts: URL) => void) => {
      const parts = new URL(postgres.url);
      change(parts);
      return parts.href;
    };
    expect(await refusal({ DATABASE_URL: url((parts) => (parts.username = 'nobody_here')) })).toMatch(
      /role "nobody_here" does not exist\. Create the role \(createuser\)/,
    );
    expect(await refusal({ DATABASE_URL: url((parts) => (parts.pathname = '/nothing_here')) })).toMatch(
      /database "nothing_here" does not exist\. Create it \(createdb\)/,
    );
  });

  test.runIf(process.platform === 'linux')('for a folder of the kernel, and for that of everything', async () => {
    expect(await refusal({ DATA_DIR: '/proc/x' })).toMatch(/is on a kernel file system \(proc\)/);
    expect(await refusal({ DATA_DIR: '/' })).toMatch(/isn’t a Palisade folder/);
  });

  test('for a folder with files of somebody else, which it leaves as they are', async () => {
    const DATA_DIR = freshFolder();
    mkdirSync(join(DATA_DIR, 'home'));
    writeFileSync(join(DATA_DIR, 'home', 'letter'), 'kept', { mode: 0o644 });
    expect(await refusal({ DATA_DIR })).toMatch(
      /it contains home\. Set DATA_DIR to a new or empty folder\. Nothing was changed\.\n$/,
    );
    expect(readFileSync(join(DATA_DIR, 'home', 'letter'), 'utf8')).toBe('kept');
  });
});
