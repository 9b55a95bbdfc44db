import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { Scan } from '@palisade/contract/antivirus';
import { listScans } from '@palisade/contract/antivirus';
import { deleteFile, deleteScan, readScan, reportFalseAlarm, restoreFile, unlockFile } from '@palisade/contract/quarantine';
import { eventually } from '@palisade/scanner/test/eventually';
import { EICAR, noise, zip } from '@palisade/scanner/test/files';
import { needing } from '@palisade/scanner/test/needs';
import { PACKED_EICAR } from '@palisade/scanner/test/packed-eicar';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { moveKeptFiles } from '#features/antivirus/move-kept-files.ts';
import { allBlobs, type Blobs, blobsIn } from '#platform/blobs/blobs.ts';
import { openFolderBlobs } from '#platform/blobs/folder-blobs.ts';
import { openStorage } from '#platform/blobs/open-storage.ts';
import { parseStorageUrl } from '#platform/blobs/storage-url.ts';
import { openDisk } from '#platform/disk.ts';
import { newId } from '#platform/id.ts';
import { signedFeed, startFeedServer } from './feed-server.ts';
import { problemOf, replyOf, sharedDatabase, startScanningApp, type TestApp } from './harness.ts';
import { HAS_S3_SERVER, NO_S3_SERVER, startFaults, startS3 } from './s3.ts';
import { runServer } from './server-process.ts';
import { scanned, upload } from './upload.ts';

const DAY_MS = 86_400_000;
/** Time limit of an answer while the store is away; ms. A busy machine takes longer for everything. */
const TOLD_WITHIN_MS = 5_000;
const BUSY_MS = 5_000;
const folderOf = (app: TestApp, name: string) => readdirSync(join(app.data_dir, name));

test('a store that cannot be used is named at the start, in one line without its secret', async () => {
  const DATA_DIR = mkdtempSync(join(tmpdir(), 'palisade-home-'));
  afterAll(() => rmSync(DATA_DIR, { recursive: true, force: true }));
  const { code, errors } = await runServer({ DATA_DIR, PORT: '0', STORAGE_URL: 's3://key:hush@127.0.0.1:1/bucket?tls=0' });
  expect([code, errors]).toEqual([1, 'palisade: We can’t use the store of STORAGE_URL at 127.0.0.1:1: ECONNREFUSED.\n']);
});

if (!HAS_S3_SERVER) process.stdout.write(`skipped: servers that share a store: ${NO_S3_SERVER}\n`);

needing('an S3 server', HAS_S3_SERVER).describe('two servers that share a database and a store', () => {
  const clock = { ahead_ms: 0 };
  let way: Awaited<ReturnType<typeof startFaults>>;
  let store: Blobs;
  let one: TestApp;
  let two: TestApp;
  let token = '';
  let start: (environment?: Record<string, string>) => Promise<TestApp>;

  beforeAll(async () => {
    const s3 = await startS3();
    way = await startFaults(s3.port);
    const database = await sharedDatabase();
    const url = s3.url({ port: way.port, folder: 'palisade' });
    const own = mkdtempSync(join(tmpdir(), 'palisade-store-'));
    afterAll(() => rmSync(own, { recursive: true, force: true }));
    const direct = parseStorageUrl(s3.url({ folder: 'palisade' }), undefined);
    store = blobsIn(await openStorage({ location: direct, folder: own, disk: openDisk(own, 0) }), 'quarantine');
    start = (environment) =>
      startScanningApp({
        environment: { STORAGE_URL: url, ...environment },
        surroundings: {
          ...{ database, scan_retry_ms: 50, now: () => Date.now() + clock.ahead_ms, shares_database: true },
          signatures_look_ms: 100,
          every_ms: { sweep: 50 },
        },
      });
    one = await start();
    two = await start();
    ({ token } = await one.signIn());
  }, 120_000);

  const keys = async () => {
    const found: string[] = [];
    for await (const { key } of allBlobs(store)) found.push(key);
    return found;
  };
  const restore = (app: TestApp, { id }: Pick<Scan, 'id'>) =>
    app.fetch(`/api${restoreFile.path.replace('{id}', id)}`, { headers: { authorization: `Bearer ${token}` } });
  const detailOf = async (app: TestApp, { id }: Pick<Scan, 'id'>) => replyOf(await app.call(readScan, { token, params: { id } }));
  const rowOf = async ({ id }: Pick<Scan, 'id'>) =>
    await one.app.database.selectFrom('scans').selectAll().where('id', '=', id).executeTakeFirst();
  /** The editions that everything was rechecked by; with `to` they are those. */
  const editions = async (to?: string) => {
    const facts = one.app.database;
    if (to !== undefined)
      await facts.updateTable('installation').set({ value: to }).where('name', '=', 'rechecked_editions').execute();
    const fact = await facts
      .selectFrom('installation')
      .select('value')
      .where('name', '=', 'rechecked_editions')
      .executeTakeFirst();
    return fact?.value;
  };
  const whileAway = async <T>(work: () => Promise<T>): Promise<T> => {
    way.next(() => ({ kind: 'answer', status: 503 }));
    try {
      return await work();
    } finally {
      way.next(() => undefined);
    }
  };

  test('a kept file of one is given back, reported and deleted by the other', async () => {
    const record = await scanned(one, token, 'eicar.com', EICAR);
    expect(folderOf(one, 'quarantine')).toEqual([]);
    expect(folderOf(one, 'spool')).toEqual([]);
    expect(await keys()).toEqual([record.id]);
    const sealed = await buffer(await store.get(record.id));
    expect(sealed.includes('EICAR')).toBe(false);
    for (const app of [one, two]) {
      const answer = await restore(app, record);
      expect([answer.status, Buffer.from(await answer.arrayBuffer()).equals(EICAR)]).toEqual([200, true]);
    }
    const params = { id: record.id };
    const reported = replyOf(await two.call(reportFalseAlarm, { token, params, body: { reason: 'It is a test file.' } }));
    expect(reported).toMatchObject({ report: { status: 'open' } });
    expect((await two.call(deleteFile, { token, params })).status).toBe(204);
    expect(await keys()).toEqual([]);
    expect(await detailOf(one, record)).toMatchObject({ kept: 'no', kept_until: null });
    expect((await restore(one, record)).status).toBe(404);
  });

  test('a locked file of one is opened by the other with its password', async () => {
    const record = await scanned(one, token, 'locked.zip', PACKED_EICAR.get('zip, aes') ?? Buffer.alloc(0));
    expect(record).toMatchObject({ scan_status: 'pending', status_detail: 'encrypted' });
    const params = { id: record.id };
    expect(problemOf(await two.call(unlockFile, { token, params, body: { password: 'wrong' } })).status).toBe(422);
    const opened = replyOf(await two.call(unlockFile, { token, params, body: { password: 'palisade' } }));
    expect(opened).toMatchObject({ scan_status: 'infected', kept: 'sealed' });
    expect(folderOf(two, 'spool')).toEqual([]);
    expect((await two.call(deleteScan, { token, params })).status).toBe(204);
    expect(await rowOf(record)).toBeUndefined();
    expect(await keys()).toEqual([]);
  });

  test('both delete the same at once', async () => {
    const record = await scanned(one, token, 'eicar.com', EICAR);
    const params = { id: record.id };
    const answers = await Promise.all([one, two, one, two].map((app) => app.call(deleteFile, { token, params })));
    expect(answers.map(({ status }) => status)).toEqual([204, 204, 204, 204]);
    expect(await keys()).toEqual([]);
    expect(await detailOf(two, record)).toMatchObject({ kept: 'no' });
  });

  test('a clean file leaves nothing there, and an empty one never comes there', async () => {
    // Sweeps list the objects.
    const changes = () => way.calls.filter((call) => !call.startsWith('GET'));
    way.next(() => undefined);
    expect(await scanned(one, token, 'long.txt', Buffer.from('A line of a long text.\n'.repeat(10_000)))).toMatchObject({
      scan_status: 'clean',
    });
    expect(changes()).toEqual(['PUT', 'DELETE']);
    way.next(() => undefined);
    expect(await scanned(one, token, 'empty', Buffer.alloc(0))).toMatchObject({ scan_status: 'clean' });
    expect(changes()).toEqual([]);
    expect(await keys()).toEqual([]);
  });

  test('while the store is away nothing is accepted, nothing is lost, and everybody gets an answer within 5 s', async () => {
    const kept = await scanned(one, token, 'eicar.com', EICAR);
    const before = replyOf(await one.call(listScans, { token }));
    const params = { id: kept.id };
    const away = { status: 503, code: 'unavailable', detail: 'The file store doesn’t answer. Try again in a few seconds.' };
    await whileAway(async () => {
      const began = performance.now();
      const [refused, given, deleted, removed] = await Promise.all([
        upload(one, token, { name: 'other.com', content: Buffer.concat([EICAR, Buffer.from(' ')]) }),
        restore(two, kept),
        two.call(deleteFile, { token, params }),
        two.call(deleteScan, { token, params }),
      ]);
      expect(performance.now() - began).toBeLessThan(TOLD_WITHIN_MS + BUSY_MS);
      expect(refused.headers.get('retry-after')).toBe('5');
      for (const answer of [refused, deleted, removed]) expect(problemOf(answer)).toMatchObject(away);
      expect(await given.json()).toMatchObject(away);
      // Calls without files continue.
      expect(replyOf(await one.call(listScans, { token }))).toEqual(before);
      expect(folderOf(one, 'spool')).toEqual([]);
    });
    expect(await detailOf(one, kept)).toMatchObject({ kept: 'sealed' });
    expect((await restore(two, kept)).status).toBe(200);
    expect((await one.call(deleteScan, { token, params })).status).toBe(204);
    expect(await keys()).toEqual([]);
  });

  test('new signatures read files again that the store did not give at first', async () => {
    const kept = await scanned(one, token, 'eicar.com', EICAR);
    await whileAway(async () => {
      await editions('["another"]');
      await eventually(() => expect(way.calls.length).toBeGreaterThan(4));
      expect(await editions()).toBe('["another"]');
    });
    const before = await rowOf(kept);
    await eventually(async () => expect(JSON.parse((await editions()) ?? '')).toHaveLength(2));
    expect(await rowOf(kept)).toMatchObject({ scan_status: 'infected', sealed: 1, in_store: 1, attempts: 1 });
    expect(before).toMatchObject({ scan_status: 'infected' });
    // One of them read it for both.
    expect(way.calls.filter((call) => call.startsWith('GET')).length).toBeGreaterThan(0);
    await two.call(deleteScan, { token, params: { id: kept.id } });
  });

  test('a changed object is not given back', async () => {
    const record = await scanned(one, token, 'eicar.com', EICAR);
    const sealed = await buffer(await store.get(record.id));
    await store.put(record.id, Readable.from([sealed.fill(0, 50, 60)]));
    expect(await (await restore(two, record)).json()).toMatchObject({ detail: 'We couldn’t open our copy. Contact support.' });
    await store.delete(record.id);
    expect(await (await restore(two, record)).json()).toMatchObject({ detail: 'We couldn’t open our copy. Contact support.' });
    expect((await two.call(deleteScan, { token, params: { id: record.id } })).status).toBe(204);
  });

  test('a file that waits at a stopping server is read by another one, without its folder', async () => {
    const third = await start({ ...one.keys });
    for (const pid of third.app.engine.pids()) process.kill(pid, 'SIGSTOP');
    const content = Buffer.concat([EICAR, Buffer.from('  ')]);
    const answer = upload(third, token, { name: 'waiting.com', content }).catch(() => {});
    const waiting = await eventually(async () => {
      const row = await one.app.database.selectFrom('scans').selectAll().where('filename', '=', 'waiting.com').executeTakeFirst();
      expect(row).toMatchObject({ spooled: 1, in_store: 1 });
      return row;
    });
    const id = waiting?.id ?? '';
    expect(await keys()).toEqual([id]);
    // A file that one server reads is not taken up by another, nor opened with a password.
    expect(problemOf(await one.call(unlockFile, { token, params: { id }, body: { password: 'secret' } })).code).toBe('conflict');
    await third.app.close();
    await answer;
    await eventually(async () => expect(await rowOf({ id })).toMatchObject({ scan_status: 'infected', sealed: 1, spooled: 0 }));
    // A verdict is stored before the bytes go.
    for (const app of [one, two]) await eventually(() => expect(folderOf(app, 'spool')).toEqual([]));
    expect((await restore(two, { id })).status).toBe(200);
    await one.call(deleteScan, { token, params: { id } });
  });

  test('files of before there was a store are given back from their folder, by their server', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'palisade-home-'));
    afterAll(() => rmSync(folder, { recursive: true, force: true }));
    const before = await start({ DATA_DIR: folder, STORAGE_URL: '', ...one.keys });
    const record = await scanned(before, token, 'eicar.com', EICAR);
    expect(folderOf(before, 'quarantine')).toEqual([record.id]);
    const row = await rowOf(record);
    expect(row).toMatchObject({ in_store: 0, sealed: 1 });
    await before.app.close();
    const after = await start({ DATA_DIR: folder, ...one.keys });
    expect(Buffer.from(await (await restore(after, record)).arrayBuffer()).equals(EICAR)).toBe(true);
    expect(await (await restore(one, record)).json()).toMatchObject({ code: 'on_another_server' });
    // Moved, it is every server's.
    const moved = await moveKeptFiles({
      database: one.app.database.$pickTables<'scans'>(),
      home: row?.home ?? '',
      from: openFolderBlobs({ folder: join(folder, 'quarantine'), disk: openDisk(folder, 0), is_in_use: true }),
      to: store,
      onFailed: (_, error) => {
        throw error;
      },
    });
    expect(moved).toMatchObject({ moved: 1, failed: 0 });
    expect(folderOf(after, 'quarantine')).toEqual([]);
    expect(await keys()).toEqual([record.id]);
    expect(Buffer.from(await (await restore(one, record)).arrayBuffer()).equals(EICAR)).toBe(true);
    const shared = await rowOf(record);
    expect([shared?.in_store, shared?.sealed_sha256]).toEqual([1, row?.sealed_sha256]);
    expect((await one.call(deleteScan, { token, params: { id: record.id } })).status).toBe(204);
    expect(await keys()).toEqual([]);
  });

  test('a file without a record is removed after a day, an expired one by any server', async () => {
    const leftover = newId();
    await store.put(leftover, Readable.from([noise(100)]));
    const record = await scanned(one, token, 'eicar.com', EICAR);
    clock.ahead_ms += DAY_MS / 2;
    const sweeps = async () =>
      (await one.app.database.selectFrom('jobs').select('claims').where('kind', '=', 'sweep').executeTakeFirst())?.claims ?? 0;
    const before = await sweeps();
    // One that began afterwards has ended.
    await eventually(async () => expect(await sweeps()).toBeGreaterThan(before + 1));
    expect((await keys()).sort()).toEqual([leftover, record.id].sort());
    clock.ahead_ms += DAY_MS;
    await eventually(async () => expect(await keys()).toEqual([record.id]));
    clock.ahead_ms += 30 * DAY_MS;
    await eventually(async () => expect(await keys()).toEqual([]));
    expect(await rowOf(record)).toMatchObject({ sealed: 0, in_store: 0, sealed_sha256: null, kept_until: null });
  });

  test('a feed is fetched by one for both, the first time and when it has changed', async () => {
    const feeds = await startFeedServer();
    const word = (text: string) => Buffer.from(`A line with ${text} in it`);
    const put = (text: string) =>
      feeds.put(
        '/rules.zip',
        zip([{ name: 'one.yar', content: Buffer.from(`rule Fetched_Once { strings: $a = "${text}" condition: $a }\n`) }]),
      );
    put('palisade-first');
    const SIGNATURE_FEEDS = signedFeed('yara', `${feeds.url}/rules.zip`);
    const apps = [await start({ SIGNATURE_FEEDS, ...one.keys }), await start({ SIGNATURE_FEEDS, ...one.keys })];
    const fetched = () => feeds.asked.filter((line) => line.startsWith('GET /rules.zip '));
    const bothFind = async (text: string) => {
      const { token: of_today } = await one.signIn();
      for (const app of apps)
        await eventually(async () =>
          expect(await scanned(app, of_today, `${newId()}.txt`, word(text))).toMatchObject({ scan_status: 'infected' }),
        );
    };
    await bothFind('palisade-first');
    expect(fetched()).toEqual(['GET /rules.zip 200']);
    // Both know of the same update, and that it went well.
    for (const app of apps) {
      const feed = app.app.signatures.status().feeds[0];
      expect([feed?.ok, feed?.rules, app.app.signatures.late()]).toEqual([true, 1, 0]);
    }
    // A day is over for both at the same moment.
    put('palisade-second');
    clock.ahead_ms += 2 * DAY_MS;
    await bothFind('palisade-second');
    expect(fetched()).toEqual(['GET /rules.zip 200', 'GET /rules.zip 200']);
    expect(await one.app.database.selectFrom('jobs').select('id').where('kind', '=', 'update-signatures').execute()).toEqual([]);
  }, 60_000);
});
