import { existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Scan } from '@palisade/contract/antivirus';
import type { Endpoint } from '@palisade/contract/endpoint';
import { deleteAccount } from '@palisade/contract/privacy';
import { deleteFile, deleteScan, readScan, restoreFile, unlockFile } from '@palisade/contract/quarantine';
import { eventually } from '@palisade/scanner/test/eventually';
import { EICAR, noise, zip } from '@palisade/scanner/test/files';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newId } from '#platform/id.ts';
import { type Answer, problemOf, replyOf, sharedDatabase, startScanningApp, type TestApp } from './harness.ts';
import { updateRows } from './rows.ts';
import { scanned } from './upload.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const eicar = (index: number) => Buffer.concat([EICAR, Buffer.from(' '.repeat(index + 1))]);
const inFolder = (app: { data_dir: string }, name: string) => readdirSync(join(app.data_dir, name)).sort();
const soon = (check: () => unknown) => eventually(check);

describe('two servers on one database', async () => {
  const database = await sharedDatabase();
  const clock = { ahead_ms: 0 };
  const surroundings = { database, scan_retry_ms: 30, now: () => Date.now() + clock.ahead_ms, shares_database: true } as const;
  // Each keeps its own files, in any store of the other tests.
  const environment = { STORAGE_URL: '' };
  const one = await startScanningApp({ environment, surroundings });
  const { token } = await one.signIn();
  const signal = (name: NodeJS.Signals) => {
    for (const pid of one.app.engine.pids()) process.kill(pid, name);
  };
  const records = () => one.app.database.selectFrom('scans').selectAll().orderBy('id').execute();
  const sealed: Scan[] = [];
  const waiting: Promise<Scan>[] = [];
  const before: { records: unknown[]; spool: string[]; quarantine: string[] } = { records: [], spool: [], quarantine: [] };
  let two: TestApp;
  beforeAll(async () => {
    for (let index = 0; index < 8; index += 1) sealed.push(await scanned(one, token, `sealed-${index}`, eicar(index)));
    signal('SIGSTOP');
    for (let index = 0; index < 8; index += 1) waiting.push(scanned(one, token, `waiting-${index}`, noise(5_000, index + 1)));
    await soon(async () => expect((await records()).filter(({ spooled }) => spooled === 1)).toHaveLength(8));
    Object.assign(before, { records: await records(), spool: inFolder(one, 'spool'), quarantine: inFolder(one, 'quarantine') });
    two = await startScanningApp({ environment, surroundings });
  }, 60_000);
  afterAll(() => signal('SIGCONT'));
  const code = async <E extends Endpoint>(asked: Promise<Answer<E>>) => {
    const answer = await asked;
    return [answer.status, problemOf(answer).code, answer.headers.get('retry-after')];
  };
  /** Waits for one more finished sweep: a leftover is gone. */
  const swept = async (app: TestApp) => {
    const leftover = join(app.data_dir, 'quarantine', newId());
    writeFileSync(leftover, 'what no record knows');
    clock.ahead_ms += HOUR_MS;
    await soon(() => expect(existsSync(leftover)).toBe(false));
  };

  // proves: attack-D.19-1
  test("neither marks, removes nor takes up the other's files, at its start and in its sweeps", async () => {
    await swept(two);
    expect(inFolder(one, 'spool')).toEqual(before.spool);
    expect(inFolder(one, 'quarantine')).toEqual(before.quarantine);
    expect(await records()).toEqual(before.records);
    expect([before.spool.length, before.quarantine.length]).toEqual([8, 8]);
  });

  // proves: attack-D.19-2
  test('the second answers 503 for actions that need the bytes', async () => {
    const params = { id: sealed[0]?.id ?? '' };
    const elsewhere = [503, 'on_another_server', '5'];
    expect(await code(two.call(restoreFile, { token, params }))).toEqual(elsewhere);
    expect(await code(two.call(deleteFile, { token, params }))).toEqual(elsewhere);
    expect(await code(two.call(deleteScan, { token, params }))).toEqual(elsewhere);
    expect(await code(two.call(unlockFile, { token, params, body: { password: 'secret' } }))).toEqual(elsewhere);
    expect(replyOf(await two.call(readScan, { token, params }))).toMatchObject({ kept: 'sealed' });
    expect(inFolder(one, 'quarantine')).toEqual(before.quarantine);
    expect((await one.call(restoreFile, { token, params })).status).toBe(200);
  });

  test('new signatures have each server read its own again', async () => {
    const mine = await scanned(two, token, 'second.zip', zip([{ name: 'a', content: noise(64), flags: 1 }]));
    await two.app.database
      .insertInto('installation')
      .values({ name: 'scanner_edition', value: 'another' })
      .onConflict((conflict) => conflict.column('name').doUpdateSet({ value: 'another' }))
      .execute();
    // Last: a server that found neither would take itself for new.
    await two.app.database.deleteFrom('installation').where('name', 'like', 'scanner_edition:%').execute();
    // The engine of the first is stopped, so its reading does not end: its files are as they were.
    await soon(async () => {
      const done = await two.app.database
        .selectFrom('installation')
        .select('name')
        .where('name', 'like', 'scanner_edition:%')
        .execute();
      expect(done).toHaveLength(1);
    });
    const now = await records();
    expect(now.find(({ id }) => id === mine.id)).toMatchObject({ sealed: 1, attempts: 1 });
    for (const { id } of sealed) expect(now.find((row) => row.id === id)).toMatchObject({ sealed: 1, scan_status: 'infected' });
    expect(inFolder(one, 'quarantine')).toEqual(before.quarantine);
  });

  test('a waiting file is read by its own server, once that can', async () => {
    signal('SIGCONT');
    for (const record of await Promise.all(waiting)) expect(record).toMatchObject({ scan_status: 'clean' });
    // A verdict is stored before the bytes go.
    await soon(() => expect(inFolder(one, 'spool')).toEqual([]));
  });

  test('an account that is deleted on the second is gone from the first with its next sweep', async () => {
    const person = await one.signIn();
    const kept = await scanned(one, person.token, 'theirs', eicar(20));
    expect(inFolder(one, 'quarantine')).toContain(kept.id);
    const body = { password: person.password, confirmation: person.email };
    expect(replyOf(await two.call(deleteAccount, { token: person.token, body }))).toEqual({ success: true });
    await swept(one);
    await soon(() => expect(inFolder(one, 'quarantine')).not.toContain(kept.id));
  });

  test('records of a server that never comes back end a day after their time', async () => {
    const gone = await scanned(two, token, 'gone', eicar(30));
    await updateRows(
      one.app.database,
      'scans',
      { id: gone.id },
      { home: newId(), kept_until: new Date(surroundings.now() - 2 * HOUR_MS).toISOString() },
    );
    await swept(one);
    expect((await records()).find(({ id }) => id === gone.id)).toMatchObject({ sealed: 1 });
    clock.ahead_ms += DAY_MS;
    await soon(async () =>
      expect((await records()).find(({ id }) => id === gone.id)).toMatchObject({
        sealed: 0,
        kept_until: null,
        scan_status: 'infected',
      }),
    );
    expect((await two.call(deleteScan, { token, params: { id: gone.id } })).status).toBe(204);
  });
});

test('files from before servers were distinguished belong to the first one that starts', async () => {
  const database = await sharedDatabase();
  const folder = mkdtempSync(join(tmpdir(), 'palisade-home-'));
  const surroundings = { database, scan_retry_ms: 30, shares_database: true } as const;
  const keys = Object.fromEntries(
    ['QUARANTINE', 'TWO_FACTOR', 'AUDIT'].map((key) => [`${key}_KEY_FILE`, join(folder, 'keys', `${key.toLowerCase()}.key`)]),
  );
  const start = () => startScanningApp({ environment: { STORAGE_URL: '', DATA_DIR: folder, ...keys }, surroundings });
  const before = await start();
  const { token } = await before.signIn();
  const { id } = await scanned(before, token, 'eicar', EICAR);
  const home = readFileSync(join(folder, 'home'), 'utf8').trim();
  const homeOf = async (app: TestApp) =>
    (await app.app.database.selectFrom('scans').select('home').where('id', '=', id).executeTakeFirstOrThrow()).home;
  expect(await homeOf(before)).toBe(home);
  await before.app.database.updateTable('scans').set({ home: null }).execute();
  await before.app.close();
  const after = await start();
  expect(await homeOf(after)).toBe(home);
  const second = await startScanningApp({ environment: { STORAGE_URL: '', ...keys }, surroundings });
  expect(await homeOf(second)).toBe(home);
  expect((await after.call(restoreFile, { token, params: { id } })).status).toBe(200);
});
