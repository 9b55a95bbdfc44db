import { execFileSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { VERSION } from '@palisade/contract/constants';
import SqliteDatabase from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { BASELINE, migrations } from '#migrations/all.ts';
import { databaseLocation, openDatabase } from '#platform/database.ts';
import { migrate } from '#platform/migrations.ts';
import { parseSettings } from '#platform/settings.ts';
import type { Tables } from '#platform/tables.ts';
import { createTarWriter } from '#platform/tar-file.ts';
import { afterFile } from '#test/after-file.ts';
import { addPerson } from '#test/feature-database.ts';
import { writeBackup } from './backup.ts';
import { FORMAT, HEAD, manifestSchema } from './backup-format.ts';
import { readBackup } from './restore.ts';

/** An archive that begins as a backup of this version does, with other migrations. */
async function archive(folder: string, migrations: readonly string[]): Promise<string> {
  const file = join(folder, 'backup.tar');
  const head = { format: FORMAT, version: VERSION, created_at: '2026-11-20T10:00:00.000Z', database: 'sqlite', migrations };
  const bytes = Buffer.from(JSON.stringify(head));
  const target = await open(file, 'w');
  const tar = createTarWriter(target, 0);
  await tar.add(
    HEAD,
    bytes.length,
    (async function* () {
      yield bytes;
    })(),
  );
  await tar.finish();
  await target.close();
  return file;
}

const OLD =
  'is from before commit 509b6c4c, the oldest that this version upgrades: start that commit once on the data, then this version. Nothing was changed.';

test.each([
  { of: 'a commit before 509b6c4c', migrations: BASELINE.replaces.slice(0, -1), said: OLD },
  {
    of: 'a newer version',
    migrations: [...BASELINE.replaces, '0999-later'],
    said: `needs Palisade ${VERSION}, which is newer than this version`,
  },
  { of: 'commit 509b6c4c, as far as its version', migrations: BASELINE.replaces, said: 'is damaged: it ends too early' },
  { of: 'this version, as far as its version', migrations: [BASELINE.name], said: 'is damaged: it ends too early' },
])('judges a backup of $of', async ({ migrations, said }) => {
  const folder = mkdtempSync(join(tmpdir(), 'palisade-restore-'));
  afterFile(() => rmSync(folder, { recursive: true, force: true }));
  const file = await archive(folder, migrations);
  const settings = parseSettings({ DATA_DIR: join(folder, 'data') });
  await expect(readBackup({ settings, file, force: false, end_sessions: false })).rejects.toThrow(said);
  expect(existsSync(join(folder, 'data', 'palisade.sqlite'))).toBe(false);
});

/** A data folder with a database of this version, and one person in it. */
async function installed() {
  const folder = mkdtempSync(join(tmpdir(), 'palisade-signed-'));
  afterFile(() => rmSync(folder, { recursive: true, force: true }));
  const placeOf = (name: string) => parseSettings({ DATA_DIR: join(folder, name) });
  const settings = placeOf('data');
  const database = openDatabase<Tables>(databaseLocation(settings));
  await migrate(database, migrations);
  await addPerson(database);
  await database.destroy();
  const archive = join(folder, 'palisade.tar');
  await writeBackup({ settings, target: archive, with_keys: false });
  /** The archive with another statement in its database, and new sums. */
  async function craft(statement: string): Promise<string> {
    const unpacked = mkdtempSync(join(folder, 'crafted-'));
    execFileSync('tar', ['-xf', archive, '-C', unpacked]);
    const copy = new SqliteDatabase(join(unpacked, 'database.sqlite'));
    copy.exec(statement);
    copy.close();
    const manifest = manifestSchema.parse(JSON.parse(readFileSync(join(unpacked, 'manifest.json'), 'utf8')));
    for (const entry of manifest.files) {
      const bytes = readFileSync(join(unpacked, entry.name));
      Object.assign(entry, { size: bytes.length, sha256: hash('sha256', bytes) });
    }
    const text = JSON.stringify(manifest);
    writeFileSync(join(unpacked, 'manifest.json'), text);
    writeFileSync(join(unpacked, 'manifest.sha256'), hash('sha256', text));
    const names = [...manifest.files.map(({ name }) => name), 'manifest.json', 'manifest.mac', 'manifest.sha256'];
    execFileSync('tar', ['--format=ustar', '-cf', join(unpacked, 'made.tar'), '-C', unpacked, ...names]);
    return join(unpacked, 'made.tar');
  }
  let count = 0;
  const restore = async (file: string, how: { trust?: boolean; BACKUP_KEY_FILE?: string } = {}) => {
    count += 1;
    const DATA_DIR = join(folder, `restored-${count}`);
    const { trust = false, BACKUP_KEY_FILE = settings.backup_key_file } = how;
    const into = parseSettings({ DATA_DIR, BACKUP_KEY_FILE });
    await readBackup({ settings: into, file, force: false, end_sessions: false, trust });
    return existsSync(join(DATA_DIR, 'palisade.sqlite'));
  };
  return { archive, craft, restore, settings };
}

const GRANT = "create trigger grant_all after insert on users begin update users set role = 'admin'; end";

describe('a backup of somebody else', async () => {
  const { archive, craft, restore, settings } = await installed();

  test('is refused without --trust, and its own is restored', async () => {
    expect(await restore(archive)).toBe(true);
    const row = "update users set role = 'admin'";
    await expect(restore(await craft(row))).rejects.toThrow(/isn’t signed with the key in \S+backup\.key.*--trust/);
    const elsewhere = { BACKUP_KEY_FILE: join(settings.data_dir, 'none', 'backup.key') };
    await expect(restore(archive, elsewhere)).rejects.toThrow(/can’t be checked without the key that signed it/);
    expect(await restore(archive, { ...elsewhere, trust: true })).toBe(true);
    expect(readFileSync(archive).includes(readFileSync(settings.backup_key_file))).toBe(false);
  });

  test.each([
    GRANT,
    'create view report as select * from users',
    'create table more (id text)',
    'create index users_by_role on users (role)',
    'drop trigger audit_entries_update',
    'drop index users_role',
    'alter table users add column secret text',
  ])('is refused with --trust as well when no migration makes its schema: %s', async (statement) => {
    await expect(restore(await craft(statement), { trust: true })).rejects.toThrow(
      /unlike the schema of its version.*Nothing was changed/,
    );
  });
});
