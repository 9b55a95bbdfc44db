import { chmodSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import SqliteDatabase from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { MARK, RESTORING, requireOwnFolder } from './data-folder.ts';
import { newId } from './id.ts';

function freshFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'palisade-folder-'));
  return folder;
}

const use = (data_dir: string, more: { key_files?: string[]; restores?: boolean } = {}) =>
  requireOwnFolder({ data_dir, key_files: [], ...more });
const isMarked = (folder: string) => readdirSync(folder).includes(MARK);

describe('a data folder', () => {
  test('is made with those above it, or taken when it is empty, and marked', () => {
    const root = freshFolder();
    use(root);
    use(join(root, 'a', 'b'));
    expect([isMarked(root), isMarked(join(root, 'a')), isMarked(join(root, 'a', 'b'))]).toEqual([true, false, true]);
    if (process.platform !== 'win32') expect(lstatSync(join(root, 'a')).mode & 0o777).toBe(0o700);
  });

  test('of an earlier version is known by its database, or by its id, and marked', () => {
    const embedded = freshFolder();
    new SqliteDatabase(join(embedded, 'palisade.sqlite')).exec('create table users (id text)').close();
    writeFileSync(join(embedded, 'something else'), '');
    use(embedded);
    const beside_postgres = freshFolder();
    writeFileSync(join(beside_postgres, 'home'), `${newId()}\n`);
    mkdirSync(join(beside_postgres, 'spool'));
    use(beside_postgres);
    expect([isMarked(embedded), isMarked(beside_postgres)]).toEqual([true, true]);
  });

  test("may hold its keys before the first start, and a file system's own names", () => {
    const folder = freshFolder();
    for (const name of ['keys', 'lost+found']) mkdirSync(join(folder, name));
    for (const name of ['audit.key', 'quarantine.key', 'two-factor.key.before-restore-20261122104500'])
      writeFileSync(join(folder, 'keys', name), '');
    writeFileSync(join(folder, 'own.key'), '');
    use(folder, { key_files: [join(folder, 'own.key')] });
    expect(isMarked(folder)).toBe(true);
  });

  test.each([
    ['people', ['home/', 'root/', 'etc/'], 'etc, home, root'],
    ['keys of somebody else', ['keys/'], 'keys'],
    ['a database that is none', ['palisade/', 'notes.txt'], 'notes.txt, palisade'],
    ['much', ['a', 'b', 'c', 'd', 'e'], 'a, b, c and 2 more'],
  ])('that holds %s is refused, and nothing in it is touched', (_what, names, shown) => {
    const folder = freshFolder();
    chmodSync(folder, 0o755);
    for (const name of names) {
      if (name.endsWith('/')) mkdirSync(join(folder, name), { mode: 0o755 });
      else writeFileSync(join(folder, name), '', { mode: 0o644 });
      if (name.endsWith('/')) writeFileSync(join(folder, name, 'id_rsa'), '', { mode: 0o644 });
    }
    const before = readdirSync(folder, { recursive: true }).map((name) => [name, lstatSync(join(folder, String(name))).mode]);
    expect(() => use(folder)).toThrow(
      `DATA_DIR ${folder} isn’t a Palisade folder: it contains ${shown}. Set DATA_DIR to a new or empty folder. Nothing was changed.`,
    );
    const after = readdirSync(folder, { recursive: true }).map((name) => [name, lstatSync(join(folder, String(name))).mode]);
    expect(after).toEqual(before);
    expect(lstatSync(folder).mode & 0o777).toBe(0o755);
  });

  test('is no file, and no link that leads nowhere; a link to a folder is that folder', () => {
    const root = freshFolder();
    writeFileSync(join(root, 'file'), '');
    expect(() => use(join(root, 'file'))).toThrow(/is a file\. Set it to a new or empty folder\.$/);
    expect(() => use(join(root, 'file', 'below'))).toThrow(/^We can’t write to the data folder .* \(ENOTDIR\)\./);
    symlinkSync(join(root, 'nowhere'), join(root, 'dangling'));
    expect(() => use(join(root, 'dangling'))).toThrow(/links to a missing folder\./);
    mkdirSync(join(root, 'real'));
    symlinkSync(join(root, 'real'), join(root, 'link'));
    use(join(root, 'link'));
    expect(isMarked(join(root, 'real'))).toBe(true);
  });

  test.runIf(process.platform === 'linux')('is not made on a file system of the kernel, nor of the root', () => {
    for (const path of ['/proc/x', '/proc/self/x/y', '/sys/x'])
      expect(() => use(path)).toThrow(/is on a kernel file system \(\w+\)\. Set it to a folder on a disk\.$/);
    expect(() => use('/')).toThrow(/^DATA_DIR \/ isn’t a Palisade folder: it contains /);
  });

  test('with a restore that has not ended is refused, but to the command that ends it', () => {
    const folder = freshFolder();
    use(folder);
    mkdirSync(join(folder, RESTORING));
    expect(() => use(folder)).toThrow(/was interrupted, or is under way.* palisade restore <file> --force$/);
    use(folder, { restores: true });
  });
});
