// proves: asvs-14.2.4

import { randomBytes } from 'node:crypto';
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { listScans, type Scan } from '@palisade/contract/antivirus';
import {
  decideFalseAlarm,
  deleteFile,
  deleteScan,
  listFalseAlarms,
  readScan,
  reportFalseAlarm,
  restoreFile,
  type ScanDetail,
  unlockFile,
} from '@palisade/contract/quarantine';
import { eventually } from '@palisade/scanner/test/eventually';
import { EICAR, PDF } from '@palisade/scanner/test/files';
import { PACKED_EICAR } from '@palisade/scanner/test/packed-eicar';
import { describe, expect, test } from 'vitest';
import { allBlobs } from '#platform/blobs/blobs.ts';
import { openFolderBlobs } from '#platform/blobs/folder-blobs.ts';
import { openDisk } from '#platform/disk.ts';
import { isStoreShared, problemOf, replyOf, startListeningApp, startScanningApp, type TestApp } from '#test/harness.ts';
import { listenAs } from '#test/socket.ts';
import { createSteeredEngine, unreadAs } from '#test/steered-engine.ts';
import { scanned } from '#test/upload.ts';
import { openQuarantine } from './quarantine.ts';

const KIB = 1024;
const DAY_MS = 86_400_000;
/** Patience with a machine that is busy; ms. */

async function quarantined(app: TestApp): Promise<string[]> {
  const keys: string[] = [];
  for await (const { key } of allBlobs(app.kept)) keys.push(key);
  return keys;
}
const spooled = (app: TestApp) => readdirSync(join(app.data_dir, 'spool'));
const detailOf = async (app: TestApp, token: string, { id }: Pick<Scan, 'id'>): Promise<ScanDetail> =>
  replyOf(await app.call(readScan, { token, params: { id } }));
const restore = (app: TestApp, token: string, { id }: Pick<Scan, 'id'>) =>
  app.fetch(`/api${restoreFile.path.replace('{id}', id)}`, { headers: { authorization: `Bearer ${token}` } });

describe('a sealed file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'palisade-quarantine-'));
  const key_file = join(folder, 'keys', 'quarantine.key');
  const blobs = openFolderBlobs({ folder: join(folder, 'sealed'), disk: openDisk(folder, 0) });
  const quarantine = openQuarantine({ blobs, key_file });
  const sealed = (id: string) => join(folder, 'sealed', id);
  const seal = async (id: string, content: Buffer) => {
    const file = { id, file_hash: 'ab', size: content.length };
    // In chunks whose size is not the seal's.
    await quarantine.seal(file, Readable.from([content.subarray(0, 70_000), content.subarray(70_000)]));
    return file;
  };

  test.each([1, 100, 256 * KIB - 1, 256 * KIB, 256 * KIB + 1, 600 * KIB])('of %d bytes opens unchanged', async (size) => {
    const content = randomBytes(size);
    const file = await seal('whole', content);
    expect((await buffer(await quarantine.read(file))).equals(content)).toBe(true);
    expect(readFileSync(sealed('whole')).includes(content.subarray(0, 16)) && size >= 16).toBe(false);
  });

  test('is never the same twice', async () => {
    await seal('one', EICAR);
    const first = readFileSync(sealed('one'));
    await seal('one', EICAR);
    expect(readFileSync(sealed('one')).equals(first)).toBe(false);
  });

  // proves: asvs-11.3.3
  test.each<[string, (path: string) => void]>([
    ['was cut between two pieces', (path) => truncateSync(path, 40 + 256 * KIB + 16)],
    ['was cut in a piece', (path) => truncateSync(path, statSync(path).size - 1)],
    ['lost its beginning', (path) => writeFileSync(path, readFileSync(path).subarray(1))],
    [
      'has two pieces exchanged',
      (path) => {
        const bytes = readFileSync(path);
        const piece = 256 * KIB + 16;
        writeFileSync(
          path,
          Buffer.concat([
            bytes.subarray(0, 40),
            bytes.subarray(40 + piece, 40 + 2 * piece),
            bytes.subarray(40, 40 + piece),
            bytes.subarray(40 + 2 * piece),
          ]),
        );
      },
    ],
    [
      'has one bit changed in its last piece',
      (path) => {
        const bytes = readFileSync(path);
        const at = bytes.length - 20;
        bytes[at] = (bytes[at] ?? 0) ^ 1;
        writeFileSync(path, bytes);
      },
    ],
  ])('that %s does not open to its end', async (_, harm) => {
    const file = await seal('harmed', randomBytes(600 * KIB));
    harm(sealed('harmed'));
    await expect(quarantine.read(file).then(buffer)).rejects.toThrow();
  });

  test('does not open without the last byte of its tag, even where that is zero', async () => {
    let file = await seal('cut', EICAR);
    while (readFileSync(sealed('cut')).at(-1) !== 0) file = await seal('cut', EICAR);
    truncateSync(sealed('cut'), statSync(sealed('cut')).size - 1);
    await expect(quarantine.read(file)).rejects.toThrow('The quarantined file was cut.');
  });

  test('of one scan does not open as that of another', async () => {
    const file = await seal('mine', EICAR);
    copyFileSync(sealed('mine'), sealed('yours'));
    await expect(quarantine.read({ ...file, id: 'yours' })).rejects.toThrow();
    await expect(quarantine.read({ ...file, file_hash: 'cd' })).rejects.toThrow();
  });

  // proves: asvs-13.3.2, security-37
  test('does not open with another key, and the key is its owner’s alone', async () => {
    const file = await seal('keyed', EICAR);
    const other = openQuarantine({ blobs, key_file: join(folder, 'other.key') });
    await expect(other.read(file)).rejects.toThrow();
    expect(statSync(key_file).mode & 0o777).toBe(0o600);
    expect((await buffer(await openQuarantine({ blobs, key_file }).read(file))).equals(EICAR)).toBe(true);
    writeFileSync(join(folder, 'bad.key'), 'short');
    expect(() => openQuarantine({ blobs, key_file: join(folder, 'bad.key') })).toThrow('doesn’t contain a key');
  });
});

const LOCKED = Buffer.from('a file that nobody opens');

/** An application whose engine cannot read `LOCKED`. */
async function start(surroundings: Parameters<typeof startListeningApp>[0] = {}) {
  const { engine, steered, hold } = createSteeredEngine();
  steered.find = (bytes) => (bytes.equals(LOCKED) ? unreadAs('encrypted') : {});
  const app = await startListeningApp({
    ...surroundings,
    surroundings: { embedded_engine: engine, ...surroundings.surroundings },
  });
  return { app, steered, hold, ...(await app.signIn()) };
}

test('each person has so much room in quarantine; files beyond it are deleted, and others are not affected', async () => {
  const { app, token } = await start({ surroundings: { quarantine_quota: 2 * EICAR.length + 1 } });
  const omar = await app.signIn('omar');
  const kept = async (of: string, name: string) => (await detailOf(app, of, await scanned(app, of, name, EICAR))).kept;
  for (const [name, state] of [
    ['1.com', 'sealed'],
    ['2.com', 'sealed'],
    ['3.com', 'no'],
  ] as const)
    expect(await kept(token, name)).toBe(state);
  expect(await kept(omar.token, '1.com')).toBe('sealed');
  expect(await quarantined(app)).toHaveLength(3);
  // Deleting a file frees its room.
  const [, second] = replyOf(await app.call(listScans, { token }));
  await app.call(deleteFile, { token, params: { id: second?.id ?? '' } });
  expect(await kept(token, '4.com')).toBe('sealed');
});

describe('the bytes of an upload', async () => {
  // From now on: what a store says about the age of its files comes from the real clock.
  let clock = Date.now();
  const { app, token } = await start({ surroundings: { now: () => clock, scan_retry_ms: 50, every_ms: { sweep: 50 } } });

  // proves: asvs-1.2.1, asvs-1.3.4, asvs-3.2.1, asvs-5.4.1, asvs-5.4.2, security-36
  test('are sealed for 30 days when something was found, and given back under a name that cannot break out of its header', async () => {
    const record = await scanned(app, token, 'in"voice\r\nSet-Cookie: a=b; ☃ (1)\'.exe', EICAR);
    const detail = await detailOf(app, token, record);
    expect(detail).toMatchObject({ scan_status: 'infected', kept: 'sealed' });
    expect(Date.parse(detail.kept_until ?? '') - clock).toBe(30 * DAY_MS);
    expect(spooled(app)).toEqual([]);
    expect((await buffer(await app.kept.get(record.id))).includes('EICAR')).toBe(false);
    const answer = await restore(app, token, record);
    expect(answer.status).toBe(200);
    expect(Buffer.from(await answer.arrayBuffer()).equals(EICAR)).toBe(true);
    expect(answer.headers.get('content-type')).toBe('application/octet-stream');
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
    expect(answer.headers.get('set-cookie')).toBeNull();
    expect(answer.headers.get('content-disposition')).toMatch(
      /^attachment; filename="[\w .()-]+"; filename\*=UTF-8''[\w.%!~-]+$/,
    );
  });

  test('are sealed for 7 days when they could not be read, and not kept when the file is clean', async () => {
    const locked = await detailOf(app, token, await scanned(app, token, 'locked.zip', LOCKED));
    expect(locked).toMatchObject({ scan_status: 'pending', kept: 'sealed' });
    expect(Date.parse(locked.kept_until ?? '') - clock).toBe(7 * DAY_MS);
    const clean = await scanned(app, token, 'paper.pdf', PDF);
    expect(await detailOf(app, token, clean)).toMatchObject({ kept: 'no', kept_until: null });
    expect(await quarantined(app)).not.toContain(clean.id);
    expect(await (await restore(app, token, clean)).json()).toMatchObject({ code: 'not_found' });
  });

  test('are removed on demand, and the record stays; they go with their record', async () => {
    const [one, other] = [await scanned(app, token, 'one.com', EICAR), await scanned(app, token, 'other.com', EICAR)];
    expect((await app.call(deleteFile, { token, params: { id: one.id } })).status).toBe(204);
    expect(await detailOf(app, token, one)).toMatchObject({ scan_status: 'infected', kept: 'no', kept_until: null });
    await app.call(deleteScan, { token, params: { id: other.id } });
    for (const { id } of [one, other]) expect(await quarantined(app)).not.toContain(id);
  });

  test('that were tampered with are not given back', async () => {
    const record = await scanned(app, token, 'eicar.com', EICAR);
    const sealed = await buffer(await app.kept.get(record.id));
    await app.kept.put(record.id, Readable.from([sealed.fill(0, 50, 60)]));
    expect(await (await restore(app, token, record)).json()).toMatchObject({ code: 'unavailable' });
  });

  test('are the subject of an event for their person’s pages when their time is over, or an administrator has decided on a false alarm', async () => {
    const record = await scanned(app, token, 'told.com', EICAR);
    const { token: admin } = await app.signIn(undefined, 'admin');
    replyOf(await app.call(reportFalseAlarm, { token, params: { id: record.id }, body: { reason: '' } }));
    const page = await listenAs(app, token);
    const [report] = replyOf(await app.call(listFalseAlarms, { token: admin }));
    const body = { report_id: report?.id ?? '', decision: 'confirmed' } as const;
    replyOf(await app.call(decideFalseAlarm, { token: admin, body }));
    await page.event((event) => event.kind === 'changed' && event.topic === 'files');
    page.leave();

    const later = await listenAs(app, token);
    const kept_until = new Date(clock - 1).toISOString();
    await app.app.database.updateTable('scans').set({ kept_until }).where('id', '=', record.id).execute();
    // Expired files are looked for once an hour.
    clock += 3_600_000;
    await later.event((event) => event.kind === 'scan_changed' && event.scan.id === record.id);
    expect(await quarantined(app)).not.toContain(record.id);
    later.leave();
  });

  test('are gone when their time is over, and those of a removed account too', async () => {
    const pending = await scanned(app, token, 'cut.zip', LOCKED);
    const infected = await scanned(app, token, 'eicar.com', EICAR);
    const leaver = await app.signIn();
    const theirs = await scanned(app, leaver.token, 'eicar.com', EICAR);
    await app.app.database.deleteFrom('users').where('email', '=', leaver.email).execute();
    clock += 7 * DAY_MS + 1000;
    await eventually(async () => {
      const kept = await quarantined(app);
      for (const { id } of [pending, theirs]) expect(kept).not.toContain(id);
    });
    expect(await quarantined(app)).toContain(infected.id);
    clock += 23 * DAY_MS;
    await eventually(async () => expect(await quarantined(app)).toEqual([]));
    const rows = await app.app.database.selectFrom('scans').select(['sealed', 'kept_until']).execute();
    for (const row of rows) expect(row).toEqual({ sealed: 0, kept_until: null });
  });

  test('that no engine read within 7 days are removed, and the record says so', async () => {
    // The clock has moved on: sessions from before have ended.
    const { token: late } = await app.signIn();
    await app.app.engine.close();
    const record = await scanned(app, late, 'late.pdf', Buffer.from('a file that came too late'));
    expect(record).toMatchObject({ scan_status: 'pending', status_detail: 'engine_down' });
    expect(await quarantined(app)).toEqual([record.id]);
    clock += 8 * DAY_MS;
    await eventually(async () => expect(await quarantined(app)).toEqual([]));
    const row = await app.app.database.selectFrom('scans').selectAll().where('id', '=', record.id).executeTakeFirst();
    expect(row).toMatchObject({ scan_status: 'pending', status_detail: 'expired', kept_until: null });
  });
});

if (isStoreShared()) process.stdout.write('skipped: a folder of quarantine that is gone: files are kept in a store\n');

test.runIf(!isStoreShared())(
  'a seal that fails loses no verdict, leaves no bytes, and nothing claims that it was sealed',
  async () => {
    const { app, token } = await start();
    rmSync(join(app.data_dir, 'quarantine'), { recursive: true });
    const record = await scanned(app, token, 'eicar.com', EICAR);
    expect(await detailOf(app, token, record)).toMatchObject({ scan_status: 'infected', kept: 'no', kept_until: null });
    expect(spooled(app)).toEqual([]);
    const [alert] = await app.app.database.selectFrom('alerts').selectAll().execute();
    expect(alert).toMatchObject({
      outcome: 'blocked',
      description: 'We found EICAR-Test-File in eicar.com. This is a harmless test file. We deleted our copy.',
    });
  },
);

test('a password opens a locked file, which is read; a wrong one changes nothing, and none is written down', async () => {
  const app = await startScanningApp();
  const { token } = await app.signIn();
  const unlock = (id: string, password: string) => app.call(unlockFile, { token, params: { id }, body: { password } });
  const locked = PACKED_EICAR.get('zip, aes') ?? Buffer.alloc(0);
  const record = await scanned(app, token, 'locked', locked);
  expect(record).toMatchObject({ scan_status: 'pending', status_detail: 'encrypted' });
  const before = await detailOf(app, token, record);
  const wrong = problemOf(await unlock(record.id, 'not the password'));
  expect(wrong).toMatchObject({ status: 422, code: 'invalid_field', errors: [{ field: 'password' }] });
  expect(problemOf(await unlock(record.id, ''))).toMatchObject({ code: 'invalid_field' });
  expect(await detailOf(app, token, record)).toEqual(before);
  expect(spooled(app)).toEqual([]);
  expect(replyOf(await unlock(record.id, 'palisade'))).toMatchObject({
    ...{ scan_status: 'infected', threat_detected: 'EICAR-Test-File', status_detail: null, kept: 'sealed' },
  });
  expect(problemOf(await unlock(record.id, 'palisade'))).toMatchObject({ code: 'conflict' });
  for (const table of ['scans', 'installation', 'alerts'] as const)
    expect(JSON.stringify(await app.app.database.selectFrom(table).selectAll().execute())).not.toContain('"palisade"');
  // The same bytes are not answered from that.
  expect(await scanned(app, token, 'locked', locked)).toMatchObject({ status_detail: 'encrypted' });
});

describe('the same bytes again', async () => {
  const { app, token, steered } = await start();

  test.each([
    ['clean', PDF],
    ['infected', EICAR],
    ['pending', LOCKED],
  ])('are answered without an engine, and the record says from when (%s)', async (scan_status, content) => {
    const first = await scanned(app, token, 'first', content);
    const { begun } = steered;
    const second = await scanned(app, token, 'second', content);
    expect(steered.begun).toBe(begun);
    expect(second).toMatchObject({ scan_status, engines: first.engines, coverage: first.coverage, media_type: first.media_type });
    expect((await detailOf(app, token, first)).answered_from).toBeNull();
    expect(await detailOf(app, token, second)).toMatchObject({
      answered_from: first.scanned_at,
      kept: scan_status === 'clean' ? 'no' : 'sealed',
    });
    expect(spooled(app)).toEqual([]);
  });

  test("of another person are read anew: a verdict does not reveal other people's files", async () => {
    await scanned(app, token, 'paper.pdf', PDF);
    const { token: stranger } = await app.signIn();
    const theirs = await scanned(app, stranger, 'paper.pdf', PDF);
    expect((await detailOf(app, stranger, theirs)).answered_from).toBeNull();
  });

  test('under another name are read anew where names follow from it', async () => {
    const content = Buffer.from('a packed file');
    steered.find = () => ({ named_after_upload: true });
    const [, renamed, same] = [
      await scanned(app, token, 'first.bz2', content),
      await scanned(app, token, 'second.bz2', content),
      await scanned(app, token, 'second.bz2', content),
    ];
    expect((await detailOf(app, token, renamed)).answered_from).toBeNull();
    expect((await detailOf(app, token, same)).answered_from).toBe(renamed.scanned_at);
  });
});
