import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { VERSION } from '@palisade/contract/constants';
import { expect, test } from 'vitest';
import { BASELINE } from '#migrations/all.ts';
import { parseSettings } from '#platform/settings.ts';
import { createTarWriter } from '#platform/tar-file.ts';
import { afterFile } from '#test/after-file.ts';
import { FORMAT, HEAD } from './backup-format.ts';
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
