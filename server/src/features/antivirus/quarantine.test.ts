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
  reopenFalseAlarm,
  reportFalseAlarm,
  type ScanDetail,
  unlockFile,
} from '@palisade/contract/quarantine';
import { EICAR, noise, PDF, zip } from '@palisade/scanner/test/files';
import { PACKED_EICAR } from '@palisade/scanner/test/packed-eicar';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { allBlobs } from '#platform/blobs/blobs.ts';
import { openFolderBlobs } from '#platform/blobs/folder-blobs.ts';
import { openDisk } from '#platform/disk.ts';
import { isStoreShared, problemOf, replyOf, startScanningApp, type TestApp } from '#test/harness.ts';
import { listenAs } from '#test/socket.ts';
import { scanned } from '#test/upload.ts';
import { openQuarantine } from './quarantine.ts';

const KIB = 1024;
const DAY_MS = 86_400_000;
/** Patience with a machine that is busy; ms. */
const PATIENCE = 10_000;

async function quarantined(app: TestApp): Promise<string[]> {
  const keys: string[] = [];
  for await (const { key } of allBlobs(app.kept)) keys.push(key);
  return keys;
}
const spooled = (app: TestApp) => readdirSync(join(app.data_dir, 'spool'));
const detailOf = async (app: TestApp, token: string, { id }: Pick<Scan, 'id'>): Promise<ScanDetail> =>
  replyOf(await app.call(readScan, { token, params: { id } }));
const restore = (app: TestApp, token: string, { id }: Pick<Scan, 'id'>) =>
  fetch(`${app.url}/api/antivirus/scans/${id}/file`, { headers: { authorization: `Bearer ${token}` } });

describe('a sealed file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'palisade-quarantine-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
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
    [
      'has one bit changed in its salt',
      (path) => {
        const bytes = readFileSync(path);
        bytes[12] = (bytes[12] ?? 0) ^ 1;
        writeFileSync(path, bytes);
      },
    ],
  ])('that %s does not open to its end', async (_, harm) => {
    const file = await seal('harmed', randomBytes(600 * KIB));
    harm(sealed('harmed'));
    await expect(quarantine.read(file).then(buffer)).rejects.toThrow();
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

test('each person has so much room in quarantine; files beyond it are deleted, and others are not affected', async () => {
  const app = await startScanningApp({ surroundings: { quarantine_quota: 2 * EICAR.length + 1 } });
  const [maria, omar] = [await app.signIn('maria'), await app.signIn('omar')];
  const kept = async ({ token }: { token: string }, name: string) =>
    (await detailOf(app, token, await scanned(app, token, name, EICAR))).kept;
  expect([await kept(maria, '1.com'), await kept(maria, '2.com'), await kept(maria, '3.com')]).toEqual([
    'sealed',
    'sealed',
    'no',
  ]);
  expect(await kept(omar, '1.com')).toBe('sealed');
  expect(await quarantined(app)).toHaveLength(3);
  // Deleting a file frees its room.
  const [, second] = replyOf(await app.call(listScans, { token: maria.token }));
  await app.call(deleteFile, { token: maria.token, params: { id: second?.id ?? '' } });
  expect(await kept(maria, '4.com')).toBe('sealed');
});

describe('the bytes of an upload', async () => {
  // From now on: what a store says about the age of its files comes from the real clock.
  let clock = Date.now();
  const app = await startScanningApp({ surroundings: { now: () => clock, scan_retry_ms: 50, every_ms: { sweep: 50 } } });
  const { token } = await app.signIn();

  // proves: asvs-1.3.4, asvs-3.2.1
  test('are sealed for 30 days when something was found, and given back to their owner alone', async () => {
    const record = await scanned(app, token, 'eicar.com', EICAR);
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
    expect(answer.headers.get('content-disposition')).toBe(`attachment; filename="eicar.com"; filename*=UTF-8''eicar.com`);
    const { token: stranger } = await app.signIn();
    expect((await restore(app, stranger, record)).status).toBe(404);
  });

  // proves: asvs-1.2.1, asvs-5.4.1, asvs-5.4.2, security-36
  test('carry a name that cannot break out of its header', async () => {
    const name = 'in"voice\r\nSet-Cookie: a=b; ☃ (1)\'.exe';
    const record = await scanned(app, token, name, EICAR);
    const answer = await restore(app, token, record);
    expect(answer.headers.get('set-cookie')).toBeNull();
    expect(answer.headers.get('content-disposition')).toMatch(
      /^attachment; filename="[\w .()-]+"; filename\*=UTF-8''[\w.%!~-]+$/,
    );
  });

  test('are not kept when the file is clean', async () => {
    const record = await scanned(app, token, 'paper.pdf', PDF);
    expect(await detailOf(app, token, record)).toMatchObject({ kept: 'no', kept_until: null });
    expect(await quarantined(app)).not.toContain(record.id);
    expect(await (await restore(app, token, record)).json()).toMatchObject({ code: 'not_found' });
  });

  test('are sealed for 7 days when they could not be read', async () => {
    const record = await scanned(app, token, 'locked.zip', zip([{ name: 'a', content: noise(64), flags: 1 }]));
    const detail = await detailOf(app, token, record);
    expect(detail).toMatchObject({ scan_status: 'pending', kept: 'sealed' });
    expect(Date.parse(detail.kept_until ?? '') - clock).toBe(7 * DAY_MS);
  });

  test('are removed on demand, and the record stays', async () => {
    const record = await scanned(app, token, 'eicar.com', EICAR);
    expect((await app.call(deleteFile, { token, params: { id: record.id } })).status).toBe(204);
    expect(await quarantined(app)).not.toContain(record.id);
    expect(await detailOf(app, token, record)).toMatchObject({ scan_status: 'infected', kept: 'no', kept_until: null });
  });

  test('go with their record', async () => {
    const record = await scanned(app, token, 'eicar.com', EICAR);
    await app.call(deleteScan, { token, params: { id: record.id } });
    expect(await quarantined(app)).not.toContain(record.id);
  });

  test('that were tampered with are not given back', async () => {
    const record = await scanned(app, token, 'eicar.com', EICAR);
    const sealed = await buffer(await app.kept.get(record.id));
    await app.kept.put(record.id, Readable.from([sealed.fill(0, 50, 60)]));
    expect(await (await restore(app, token, record)).json()).toMatchObject({ code: 'unavailable' });
  });

  test('are gone when their time is over, and those of a removed account too', async () => {
    const pending = await scanned(app, token, 'cut.zip', zip([{ name: 'a', content: noise(900) }]).subarray(0, 500));
    const infected = await scanned(app, token, 'eicar.com', EICAR);
    const leaver = await app.signIn();
    const theirs = await scanned(app, leaver.token, 'eicar.com', EICAR);
    await app.app.database.deleteFrom('users').where('email', '=', leaver.email).execute();

    clock += 7 * DAY_MS + 1000;
    await vi.waitFor(async () => expect(await quarantined(app)).not.toContain(pending.id), PATIENCE);
    await vi.waitFor(async () => expect(await quarantined(app)).not.toContain(theirs.id), PATIENCE);
    expect(await quarantined(app)).toContain(infected.id);
    clock += 23 * DAY_MS;
    await vi.waitFor(async () => expect(await quarantined(app)).toEqual([]), PATIENCE);
    const rows = await app.app.database.selectFrom('scans').select(['sealed', 'kept_until']).execute();
    for (const row of rows) expect(row).toEqual({ sealed: 0, kept_until: null });
  });

  test('files that no engine read within 7 days are removed, and the record says so', async () => {
    const { token: person } = await app.signIn();
    await app.app.engine.close();
    const record = await scanned(app, person, 'paper.pdf', PDF);
    expect(record).toMatchObject({ scan_status: 'pending', status_detail: 'engine_down' });
    expect(await quarantined(app)).toEqual([record.id]);
    const page = await listenAs(app, person);
    clock += 8 * DAY_MS;
    await page.event((event) => event.kind === 'scan_changed' && event.scan.status_detail === 'expired');
    page.leave();
    await vi.waitFor(async () => expect(await quarantined(app)).toEqual([]), PATIENCE);
    const row = await app.app.database.selectFrom('scans').selectAll().where('id', '=', record.id).executeTakeFirst();
    expect(row).toMatchObject({ scan_status: 'pending', status_detail: 'expired', kept_until: null });
  });
});

if (isStoreShared()) process.stdout.write('skipped: a folder of quarantine that is gone: files are kept in a store\n');

describe.runIf(!isStoreShared())('a seal that fails', async () => {
  const app = await startScanningApp();
  const { token } = await app.signIn(undefined, 'admin');

  test('loses no verdict, leaves no bytes, and nothing claims that it was sealed', async () => {
    rmSync(join(app.data_dir, 'quarantine'), { recursive: true });
    const record = await scanned(app, token, 'eicar.com', EICAR);
    expect(await detailOf(app, token, record)).toMatchObject({ scan_status: 'infected', kept: 'no', kept_until: null });
    expect(spooled(app)).toEqual([]);
    const [alert] = await app.app.database.selectFrom('alerts').selectAll().execute();
    expect(alert).toMatchObject({
      outcome: 'blocked',
      description: 'We found EICAR-Test-File in eicar.com. This is a harmless test file. We deleted our copy.',
    });
  });
});

describe('a password', async () => {
  const app = await startScanningApp();
  const { token } = await app.signIn();
  const unlock = (id: string, password: string) => app.call(unlockFile, { token, params: { id }, body: { password } });

  test.each(['zip, aes', 'zip, zipcrypto', '7z, encrypted', '7z, names encrypted'])(
    'opens a %s, and the file is read',
    async (name) => {
      const record = await scanned(app, token, 'locked', PACKED_EICAR.get(name) ?? Buffer.alloc(0));
      expect(record).toMatchObject({ scan_status: 'pending', status_detail: 'encrypted' });
      const before = await detailOf(app, token, record);

      const wrong = problemOf(await unlock(record.id, 'not the password'));
      expect(wrong).toMatchObject({ status: 422, code: 'invalid_field', errors: [{ field: 'password' }] });
      expect(await detailOf(app, token, record)).toEqual(before);
      expect(spooled(app)).toEqual([]);

      expect(replyOf(await unlock(record.id, 'palisade'))).toMatchObject({
        scan_status: 'infected',
        threat_detected: 'EICAR-Test-File',
        status_detail: null,
        kept: 'sealed',
      });
      expect(problemOf(await unlock(record.id, 'palisade'))).toMatchObject({ code: 'conflict' });
    },
  );

  test('is written down nowhere', async () => {
    const record = await scanned(app, token, 'locked', PACKED_EICAR.get('zip, aes') ?? Buffer.alloc(0));
    replyOf(await unlock(record.id, 'palisade'));
    for (const table of ['scans', 'installation', 'alerts'] as const) {
      expect(JSON.stringify(await app.app.database.selectFrom(table).selectAll().execute())).not.toContain('"palisade"');
    }
  });

  test('must be one, and must be for a file that waits for one', async () => {
    const clean = await scanned(app, token, 'paper.pdf', PDF);
    expect(problemOf(await unlock(clean.id, 'palisade'))).toMatchObject({ code: 'conflict' });
    expect(problemOf(await unlock(clean.id, ''))).toMatchObject({ code: 'invalid_field' });
  });
});

describe('the same bytes again', async () => {
  const app = await startScanningApp();
  const { token } = await app.signIn();

  test.each([
    ['clean', PDF],
    ['infected', EICAR],
    ['pending', PACKED_EICAR.get('zip, aes') ?? Buffer.alloc(0)],
  ])('are answered without an engine, and the record says from when (%s)', async (scan_status, content) => {
    const first = await scanned(app, token, 'first', content);
    for (const pid of app.app.engine.pids()) process.kill(pid, 'SIGSTOP');
    const second = await scanned(app, token, 'second', content);
    const third = await scanned(app, token, 'third', content);
    for (const pid of app.app.engine.pids()) process.kill(pid, 'SIGCONT');
    expect(second).toMatchObject({ scan_status, engines: first.engines, coverage: first.coverage, media_type: first.media_type });
    expect((await detailOf(app, token, first)).answered_from).toBeNull();
    expect((await detailOf(app, token, second)).answered_from).toBe(first.scanned_at);
    expect((await detailOf(app, token, third)).answered_from).toBe(first.scanned_at);
    expect((await detailOf(app, token, third)).kept).toBe(scan_status === 'clean' ? 'no' : 'sealed');
    expect(spooled(app)).toEqual([]);
  });

  test("of another person are read anew: a verdict does not reveal other people's files", async () => {
    await scanned(app, token, 'paper.pdf', PDF);
    const { token: stranger } = await app.signIn();
    const theirs = await scanned(app, stranger, 'paper.pdf', PDF);
    expect((await detailOf(app, stranger, theirs)).answered_from).toBeNull();
  });

  test('under another name are read anew where names follow from it', async () => {
    const packed = PACKED_EICAR.get('bzip2') ?? Buffer.alloc(0);
    const first = await scanned(app, token, 'first.bz2', packed);
    const renamed = await scanned(app, token, 'second.bz2', packed);
    const same = await scanned(app, token, 'second.bz2', packed);
    expect([first.threat_member, renamed.threat_member, same.threat_member]).toEqual(['first', 'second', 'second']);
    expect((await detailOf(app, token, renamed)).answered_from).toBeNull();
    expect((await detailOf(app, token, same)).answered_from).toBe(renamed.scanned_at);
  });

  test('that were opened with a password are not answered from that', async () => {
    const packed = PACKED_EICAR.get('zip, zipcrypto') ?? Buffer.alloc(0);
    const { id } = await scanned(app, token, 'locked.zip', packed);
    await app.call(unlockFile, { token, params: { id }, body: { password: 'palisade' } });
    expect(await scanned(app, token, 'locked.zip', packed)).toMatchObject({ status_detail: 'encrypted' });
  });
});

describe('a finding that its owner holds to be a false alarm', async () => {
  const app = await startScanningApp();
  const { token, email } = await app.signIn();
  const { token: admin } = await app.signIn(undefined, 'admin');
  const report = (id: string) => app.call(reportFalseAlarm, { token, params: { id }, body: { reason: 'I wrote it myself.' } });

  test('is reported once, decided by an administrator, and the owner sees it', async () => {
    const { id } = await scanned(app, token, 'eicar.com', EICAR);
    expect(replyOf(await report(id)).report).toMatchObject({ status: 'open', decided_at: null });
    expect(problemOf(await report(id))).toMatchObject({ code: 'conflict' });

    const [seen] = replyOf(await app.call(listFalseAlarms, { token: admin }));
    expect(seen).toMatchObject({
      user_email: email,
      filename: 'eicar.com',
      threat_detected: 'EICAR-Test-File',
      reason: 'I wrote it myself.',
      status: 'open',
    });
    const decide = () => app.call(decideFalseAlarm, { token: admin, body: { report_id: seen?.id ?? '', decision: 'confirmed' } });
    expect(replyOf(await decide())).toEqual({ success: true });
    expect(problemOf(await decide())).toMatchObject({ code: 'not_found' });
    // The verdict is an engine's to change.
    expect(await detailOf(app, token, { id })).toMatchObject({ scan_status: 'infected', report: { status: 'confirmed' } });
  });

  const latest = async () => replyOf(await app.call(listFalseAlarms, { token: admin }))[0];
  const decide = (report_id: string, decision: 'confirmed' | 'rejected', by = admin) =>
    app.call(decideFalseAlarm, { token: by, body: { report_id, decision } });
  const reopen = (report_id: string, decided_at: string, by = admin) =>
    app.call(reopenFalseAlarm, { token: by, body: { report_id, decided_at } });

  test('is decided anew when the decision is taken back, by one of two administrators', async () => {
    const { token: other } = await app.signIn(undefined, 'admin');
    const { id } = await scanned(app, token, 'mine.com', EICAR);
    await report(id);
    const seen = (await latest())?.id ?? '';
    replyOf(await decide(seen, 'rejected'));
    const decided_at = (await latest())?.decided_at ?? '';
    const both = await Promise.all([reopen(seen, decided_at), reopen(seen, decided_at, other)]);
    expect(both.map(({ status }) => status).sort()).toEqual([200, 409]);
    expect(await latest()).toMatchObject({ status: 'open', decided_at: null });
    expect(await detailOf(app, token, { id })).toMatchObject({ report: { status: 'open' } });

    // The other one's decision meanwhile stays.
    replyOf(await decide(seen, 'confirmed', other));
    expect(problemOf(await reopen(seen, decided_at))).toMatchObject({ status: 409 });
    expect(await latest()).toMatchObject({ status: 'confirmed' });
    const kinds = await app.app.database.selectFrom('audit_entries').select('kind').orderBy('seq', 'desc').limit(3).execute();
    expect(kinds.map(({ kind }) => kind)).toEqual(['false_alarm_decided', 'false_alarm_reopened', 'false_alarm_decided']);
  });

  test('tells its owner’s pages about the decision', async () => {
    const { id } = await scanned(app, token, 'told.com', EICAR);
    await report(id);
    const page = await listenAs(app, token);
    const before = page.events().length;
    replyOf(await decide((await latest())?.id ?? '', 'confirmed'));
    await vi.waitFor(() => expect(page.events().slice(before)).toContainEqual({ kind: 'changed', topic: 'files' }));
    page.leave();
  });

  test('must be a finding', async () => {
    const { id } = await scanned(app, token, 'paper.pdf', PDF);
    expect(problemOf(await report(id))).toMatchObject({ code: 'conflict' });
  });
});

describe('the letter about a report', async () => {
  const WAIT_MS = 300;
  const app = await startScanningApp({
    environment: { EXPOSURE: 'local', PUBLIC_URL: 'https://guard.example' },
    surroundings: { false_alarm_told_ms: WAIT_MS },
  });
  const { token, email } = await app.signIn();
  const { token: admin } = await app.signIn(undefined, 'admin');
  const latest = async () => replyOf(await app.call(listFalseAlarms, { token: admin }))[0];
  const letters = async () =>
    (await app.app.database.selectFrom('mails').select('text').where('recipient', '=', email).orderBy('id').execute()).map(
      ({ text }) => text ?? '',
    );
  const jobsLeft = async () =>
    (await app.app.database.selectFrom('jobs').select('id').where('kind', '=', 'false_alarm_told').execute()).length;
  const report = async (name: string) => {
    const { id } = await scanned(app, token, name, EICAR);
    await app.call(reportFalseAlarm, { token, params: { id }, body: { reason: '' } });
    return (await latest())?.id ?? '';
  };
  const decide = (report_id: string, decision: 'confirmed' | 'rejected') =>
    app.call(decideFalseAlarm, { token: admin, body: { report_id, decision } });

  test('says the decision and its effect on the file; a decision that is taken back at once sends none', async () => {
    const id = await report('tool.com');
    await decide(id, 'rejected');
    await app.call(reopenFalseAlarm, { token: admin, body: { report_id: id, decided_at: (await latest())?.decided_at ?? '' } });
    await decide(id, 'confirmed');
    await vi.waitFor(async () => expect(await jobsLeft()).toBe(0), PATIENCE);
    const [letter, ...others] = await letters();
    expect(others).toEqual([]);
    expect(letter).toContain('“tool.com”');
    expect(letter).toContain('it’s a false alarm');
    expect(letter).toContain('The file stays in quarantine');
    expect(letter).toMatch(/\nhttps:\/\/guard\.example\/antivirus\?scan=[0-9a-f-]{36}\n/u);
  });

  test('is followed by another when the decision is taken back after it', async () => {
    const id = await report('late.com');
    await decide(id, 'rejected');
    await vi.waitFor(async () => expect(await letters()).toHaveLength(2), PATIENCE);
    expect((await letters())[1]).toContain('Don’t download it.');
    await app.call(reopenFalseAlarm, { token: admin, body: { report_id: id, decided_at: (await latest())?.decided_at ?? '' } });
    await vi.waitFor(async () => expect(await letters()).toHaveLength(3), PATIENCE);
    expect((await letters())[2]).toContain('We withdrew that decision');
  });
});
