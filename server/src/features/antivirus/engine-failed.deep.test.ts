import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { EICAR, noise } from '@palisade/scanner/test/files';
import { expect, test, vi } from 'vitest';
import { isStoreShared, startScanningApp, type TestApp } from '#test/harness.ts';
import { ownDatabase } from '#test/own-database.ts';
import { scanned } from '#test/upload.ts';

const MIB = 1024 ** 2;
const PATIENCE = { timeout: 60_000, interval: 20 };
const TIGHT = { most: 24 * MIB, grown: 1024 * MIB };
const isLinux = process.platform === 'linux';

/** A server on a database and a folder that outlive it. */
function servers() {
  const database = ownDatabase();
  const spooled = (id: string, bytes: Buffer) => writeFileSync(join(database.folder, 'data', 'spool', id), bytes);
  /** As if everything had been rechecked by another engine alone: this server's own store has a fact for itself, a shared one has a list. */
  function forgetEditions() {
    database.run(`update installation set value = 'another' where name like 'scanner_edition:%'`);
    database.run(`update installation set value = '["another"]' where name = 'rechecked_editions'`);
  }
  const start = (surroundings: Parameters<typeof startScanningApp>[0] = {}) =>
    startScanningApp({
      environment: { DATA_DIR: join(database.folder, 'data') },
      surroundings: { database: database.location, scan_retry_ms: 20, ...surroundings.surroundings },
    });
  return { database, spooled, forgetEditions, start };
}

const rowOf = (app: TestApp, id: string) =>
  app.app.database.selectFrom('scans').selectAll().where('id', '=', id).executeTakeFirstOrThrow();

/** The editions that everything was rechecked by. */
async function rechecked(app: TestApp): Promise<string | undefined> {
  const name = isStoreShared() ? 'rechecked_editions' : 'scanner_edition:%';
  const facts = app.app.database.selectFrom('installation').select('value').where('name', 'like', name);
  return (await facts.executeTakeFirst())?.value;
}

test.runIf(isLinux)(
  'a file on which engines die twice is final until engine or signatures change',
  { timeout: 180_000 },
  async () => {
    const { database, forgetEditions, start } = servers();
    const before = await start({ surroundings: { engine_memory: TIGHT } });
    const { token } = await before.signIn();
    const bytes = noise(60 * MIB);
    const record = await scanned(before, token, 'heavy.bin', bytes);
    expect(record).toMatchObject({ scan_status: 'pending', status_detail: 'engine_failed', threat_detected: null });
    const row = await rowOf(before, record.id);
    expect(row).toMatchObject({ engine_deaths: 2, sealed: 1, spooled: 0 });

    // The same bytes again: the answer is there, and no engine reads them.
    await scanned(before, token, 'eicar.com', EICAR);
    const pids = before.app.engine.pids();
    expect(await scanned(before, token, 'another-name.bin', bytes)).toMatchObject({ status_detail: 'engine_failed' });
    expect(before.app.engine.pids()).toEqual(pids);
    await before.close();

    // A recheck looks at every kept file, and gives this one to no engine.
    forgetEditions();
    const after = await start({ surroundings: { engine_memory: TIGHT } });
    await vi.waitFor(async () => expect((await rowOf(after, record.id)).attempts).toBeGreaterThan(0), PATIENCE);
    await vi.waitFor(async () => expect(await rechecked(after)).toContain(row.edition), PATIENCE);
    expect(await rowOf(after, record.id)).toMatchObject({ status_detail: 'engine_failed', engine_deaths: 2 });
    await after.close();

    // Engines of another edition died of it: these may try.
    database.run(`update scans set engine_deaths_edition = 'another'`);
    forgetEditions();
    const renewed = await start();
    await vi.waitFor(
      async () => expect(await rowOf(renewed, record.id)).toMatchObject({ scan_status: 'clean', status_detail: null }),
      PATIENCE,
    );
  },
);

// proves: attack-A.3-3
test('a file over which the server ended again and again is not taken up for ever', { timeout: 120_000 }, async () => {
  const { database, spooled, start } = servers();
  const before = await start();
  const { token } = await before.signIn();
  const [bytes, other] = [randomBytes(1000), randomBytes(1000)];
  const record = await scanned(before, token, 'a.bin', bytes);
  const once = await scanned(before, token, 'b.bin', other);
  await before.close();
  // As five runs of the server leave it that were killed while they read it.
  database.run(`update scans set scan_status = 'pending', status_detail = 'queued', spooled = 1, edition = null`);
  database.run(`update scans set unended_readings = 5 where id = '${record.id}'`);
  database.run(`update scans set unended_readings = 4 where id = '${once.id}'`);
  spooled(record.id, bytes);
  spooled(once.id, other);

  const app = await start();
  await vi.waitFor(
    async () =>
      expect(await rowOf(app, record.id)).toMatchObject({
        scan_status: 'pending',
        status_detail: 'engine_failed',
        unended_readings: 0,
      }),
    PATIENCE,
  );
  await vi.waitFor(
    async () => expect(await rowOf(app, once.id)).toMatchObject({ scan_status: 'clean', unended_readings: 0 }),
    PATIENCE,
  );
});
