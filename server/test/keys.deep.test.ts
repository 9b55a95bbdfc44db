import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sendMessage } from '@palisade/contract/chat';
import { listMessages } from '@palisade/contract/chat-read';
import { deleteAccount } from '@palisade/contract/privacy';
import { eventually } from '@palisade/scanner/test/eventually';
import { EICAR } from '@palisade/scanner/test/files';
import SqliteDatabase from 'better-sqlite3';
import { describe, expect, onTestFinished, test } from 'vitest';
import { replyOf, startScanningApp } from './harness.ts';
import { runCommand, runServer, startServer } from './server-process.ts';
import { scanned } from './upload.ts';

function freshFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'palisade-keys-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** All paths at or below a folder with the rights of others. */
function modesBelow(path: string): [string, number][] {
  const stat = lstatSync(path);
  if (stat.isSymbolicLink()) return [];
  const below = stat.isDirectory() ? readdirSync(path).flatMap((name) => modesBelow(join(path, name))) : [];
  return [[path, stat.mode & 0o777], ...below];
}

const openToOthers = (folder: string) => modesBelow(folder).filter(([, mode]) => (mode & 0o077) !== 0);
const onSqlite = <T>(path: string, work: (sqlite: SqliteDatabase.Database) => T): T => {
  const sqlite = new SqliteDatabase(path);
  try {
    return work(sqlite);
  } finally {
    sqlite.close();
  }
};

const hasModes = process.platform !== 'win32';
if (!hasModes) process.stdout.write('skipped: Windows has no file modes for others\n');

// proves: security-21
describe.runIf(hasModes)('files of DATA_DIR', () => {
  // proves: attack-B.12-1
  test('is its user’s alone from the first file on, with any umask', async () => {
    const DATA_DIR = join(freshFolder(), 'data');
    const before = process.umask(0);
    onTestFinished(() => void process.umask(before));
    const server = await startServer({ DATA_DIR });
    const token = await server.signIn('anna');
    await eventually(async () => expect((await server.fetch(`/api/ready`)).status).toBe(200));
    expect((await scanned(server, token, 'eicar.com', EICAR)).scan_status).toBe('infected');
    await eventually(() => expect(readdirSync(join(DATA_DIR, 'keys'))).toContain('audit.head'));
    expect(readdirSync(DATA_DIR)).toEqual(
      expect.arrayContaining(['keys', 'palisade.sqlite', 'palisade.sqlite-shm', 'palisade.sqlite-wal', 'quarantine', 'spool']),
    );
    expect(readdirSync(join(DATA_DIR, 'quarantine'))).toHaveLength(1);
    expect(openToOthers(DATA_DIR)).toEqual([]);
    expect(server.errors()).not.toContain('Other users');
  });

  // proves: attack-B.12-1
  test('is mended where others could read it, which is logged once, with its count', async () => {
    const DATA_DIR = freshFolder();
    const first = await startServer({ DATA_DIR });
    await first.signIn('anna');
    await first.kill('SIGKILL');
    const all = modesBelow(DATA_DIR);
    for (const [path] of all) chmodSync(path, lstatSync(path).isDirectory() ? 0o755 : 0o644);
    const elsewhere = join(freshFolder(), 'not-ours');
    writeFileSync(elsewhere, '', { mode: 0o644 });
    symlinkSync(elsewhere, join(DATA_DIR, 'spool', 'a-link'));

    const second = await startServer({ DATA_DIR });
    expect(openToOthers(DATA_DIR)).toEqual([]);
    expect(lstatSync(elsewhere).mode & 0o777).toBe(0o644);
    expect(second.errors()).toContain(`"msg":"Other users could read ${all.length} files and folders in ${DATA_DIR}.`);
    await second.kill('SIGTERM');
    const third = await startServer({ DATA_DIR });
    expect(third.errors()).not.toContain('could read');
  });

  test('is mended by the commands as well', async () => {
    const DATA_DIR = freshFolder();
    const server = await startServer({ DATA_DIR });
    await server.kill('SIGTERM');
    for (const [file, args] of [
      ['verify', []],
      ['outbox', []],
      ['update-signatures', []],
      ['accept-keys', ['audit']],
    ] as const) {
      chmodSync(join(DATA_DIR, 'palisade.sqlite'), 0o644);
      expect(await runCommand(file, { DATA_DIR }, args)).toMatchObject({ code: 0 });
      expect(openToOthers(DATA_DIR)).toEqual([]);
    }
  });

  test("leaves other programs' files alone, and warns of them", async () => {
    const DATA_DIR = freshFolder();
    expect(await (await startServer({ DATA_DIR })).kill('SIGTERM')).toBe(0);
    chmodSync(DATA_DIR, 0o755);
    mkdirSync(join(DATA_DIR, 'bin'), { mode: 0o755 });
    writeFileSync(join(DATA_DIR, 'bin', 'program'), '', { mode: 0o755 });
    const server = await startServer({ DATA_DIR });
    expect(server.errors()).toContain('also contains other files (bin)');
    expect(openToOthers(DATA_DIR).map(([path]) => path)).toEqual([
      DATA_DIR,
      join(DATA_DIR, 'bin'),
      join(DATA_DIR, 'bin', 'program'),
    ]);
  });

  test('warns of a key file elsewhere that others can read, and does not change it', async () => {
    const AUDIT_KEY_FILE = join(freshFolder(), 'secret');
    writeFileSync(AUDIT_KEY_FILE, Buffer.alloc(32, 7), { mode: 0o644 });
    const server = await startServer({ DATA_DIR: freshFolder(), AUDIT_KEY_FILE });
    expect(server.errors()).toContain(`Other users can read the key file ${AUDIT_KEY_FILE}. Remove their access: chmod 600`);
    expect(lstatSync(AUDIT_KEY_FILE).mode & 0o777).toBe(0o644);
  });

  const isRoot = process.geteuid?.() === 0;
  if (!isRoot) process.stdout.write('skipped: only root can give a folder to another user\n');
  test.runIf(isRoot)('warns of a folder that belongs to another user', async () => {
    const DATA_DIR = freshFolder();
    chownSync(DATA_DIR, 12_345, 12_345);
    const server = await startServer({ DATA_DIR });
    expect(server.errors()).toContain('belongs to another user (number 12345), who can read it');
  });
});

// Each starts several servers and commands, one after the other.
describe('the keys of a database', { timeout: 180_000 }, () => {
  // proves: attack-D.23-1, security-22
  test('are never replaced by new ones, unless asked for', async () => {
    const DATA_DIR = freshFolder();
    const first = await startServer({ DATA_DIR });
    await first.signIn('anna');
    await first.kill('SIGTERM');
    for (const [name, lost] of [
      ['quarantine', 'quarantined files can’t be opened'],
      ['two-factor', 'authenticator codes don’t work'],
      ['audit', 'the audit log can’t be checked or extended'],
    ] as const) {
      const file = join(DATA_DIR, 'keys', `${name}.key`);
      const kept = readFileSync(file);
      rmSync(file);
      const gone = await runServer({ DATA_DIR, PORT: '0' });
      expect(gone).toMatchObject({ code: 1 });
      expect(gone.errors).toMatch(/^palisade: [^\n]*\n$/);
      expect(gone.errors).toContain(`The key file ${file} is missing. Without its key, ${lost}`);
      expect(gone.errors).toContain(`palisade accept-keys ${name}`);
      expect(readdirSync(join(DATA_DIR, 'keys'))).not.toContain(`${name}.key`);
      writeFileSync(file, kept, { mode: 0o600 });
    }
    const audit_key = join(DATA_DIR, 'keys', 'audit.key');
    writeFileSync(audit_key, Buffer.alloc(32, 1));
    const other = await runServer({ DATA_DIR, PORT: '0' });
    expect(other).toMatchObject({ code: 1 });
    expect(other.errors).toContain('has a different key than this database. Without its key');

    rmSync(audit_key);
    expect(await runCommand('accept-keys', { DATA_DIR }, ['audit', 'quarantine'])).toMatchObject({ code: 0 });
    const accepted = await startServer({ DATA_DIR });
    await accepted.signIn('bert');
    await accepted.kill('SIGTERM');
    const verified = await runCommand('verify', { DATA_DIR });
    expect(verified).toMatchObject({ code: 0 });
    expect(verified.output).toContain('Entries before 3 were not checked. They expired, or their key was replaced.');
  });

  test('the audit log is accepted as it is after an older copy of the database was put back, and only then', async () => {
    const DATA_DIR = freshFolder();
    const database = join(DATA_DIR, 'palisade.sqlite');
    const first = await startServer({ DATA_DIR });
    await first.signIn('anna');
    await first.kill('SIGTERM');
    onSqlite(database, (sqlite) => sqlite.exec(`vacuum into '${join(DATA_DIR, 'palisade.copy')}'`));
    const second = await startServer({ DATA_DIR });
    await second.signIn('bert');
    await second.kill('SIGTERM');
    renameSync(join(DATA_DIR, 'palisade.copy'), database);

    const found = await runCommand('verify', { DATA_DIR });
    expect(found).toMatchObject({ code: 1 });
    expect(found.output).toContain('Entry 3: The end was cut off: this server’s own note is at entry 4.');
    expect(await runCommand('accept-keys', { DATA_DIR }, ['audit'])).toMatchObject({ code: 0 });
    expect(await runCommand('verify', { DATA_DIR })).toMatchObject({ code: 0 });
    onSqlite(database, (sqlite) => {
      sqlite.exec('drop trigger audit_entries_update');
      sqlite.exec("update audit_entries set kind = 'signed_out' where seq = 1");
    });
    expect(await runCommand('accept-keys', { DATA_DIR }, ['audit'])).toMatchObject({ code: 1 });
  });

  test('a command without a name of a key says which there are', async () => {
    const { code, output } = await runCommand('accept-keys', { DATA_DIR: freshFolder() }, ['all']);
    expect(code).toBe(1);
    expect(output).toContain('There is no key named all: palisade accept-keys quarantine two-factor audit');
  });
});

// proves: attack-D.23-3
test('a database that a newer version made is refused in one line, and nothing is changed', async () => {
  const DATA_DIR = freshFolder();
  const path = join(DATA_DIR, 'palisade.sqlite');
  const server = await startServer({ DATA_DIR });
  await server.kill('SIGTERM');
  onSqlite(path, (sqlite) => {
    sqlite.exec("insert into kysely_migration (name, timestamp) values ('9999-later', '2030-01-01T00:00:00.000Z')");
    sqlite.pragma('wal_checkpoint(truncate)');
  });
  const before = readFileSync(path);
  const { code, errors } = await runServer({ DATA_DIR, PORT: '0' });
  expect(code).toBe(1);
  expect(errors).toMatch(
    /^palisade: A newer Palisade version upgraded this database \(unknown here: 9999-later\)\. Start that version, or .* Nothing was changed\.\n$/,
  );
  expect(readFileSync(path).equals(before)).toBe(true);
  for (const file of ['verify', 'outbox', 'accept-keys'])
    expect((await runCommand(file, { DATA_DIR }, file === 'accept-keys' ? ['audit'] : [])).output).toContain(
      'A newer Palisade version upgraded this database',
    );
});

describe('deleted text', () => {
  const TEXT = 'the words that shall be gone 8d1f';
  /** Whether any file of the database has the bytes. */
  const stands = (folder: string) =>
    readdirSync(folder)
      .filter((name) => name.startsWith('palisade.sqlite'))
      .filter((name) => readFileSync(join(folder, name)).includes(TEXT));

  // proves: attack-B.14-4
  test('of an account is in no byte of the database, its log included, once the account is deleted', async () => {
    const folder = freshFolder();
    const place = { environment: { DATA_DIR: folder }, surroundings: { database: { sqlite: join(folder, 'palisade.sqlite') } } };
    const { call, signIn } = await startScanningApp(place);
    await signIn('boss');
    const { token, email, password } = await signIn('maria');
    for (let count = 0; count < 50; count += 1) {
      const message = `${TEXT} ${count} ${'x'.repeat(300)}`;
      replyOf(await call(sendMessage, { token, body: { message, sender: 'user' } }));
    }
    expect(replyOf(await call(listMessages, { token })).filter(({ sender }) => sender === 'user').length).toBe(50);
    expect(stands(folder)).not.toEqual([]);
    replyOf(await call(deleteAccount, { token, body: { password, confirmation: email } }));
    expect(stands(folder)).toEqual([]);
  });
});
