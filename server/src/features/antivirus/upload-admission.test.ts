// proves: asvs-15.2.2
import { createHash, randomBytes } from 'node:crypto';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { cancelUpload, listScans } from '@palisade/contract/antivirus';
import type { LiveEvent } from '@palisade/contract/events';
import { problemSchema } from '@palisade/contract/problem';
import { EICAR, noise, PDF } from '@palisade/scanner/test/files';
import { describe, expect, test, vi } from 'vitest';
import { problemOf, replyOf, startScanningApp } from '#test/harness.ts';
import { listenAs } from '#test/socket.ts';
import { newUploadKey, openUpload, scanned, upload } from '#test/upload.ts';
import { HELD_BYTES_MAXIMUM } from './spool.ts';

const MIB = 1024 ** 2;

/** New bytes: known ones have their verdict without an engine. */
const newPdf = () => Buffer.concat([PDF, Buffer.from(`\n% ${randomBytes(16).toString('hex')}\n`)]);

const progressOf = (key: string) => (event: LiveEvent) =>
  event.kind === 'scan_progress' && event.upload_key === key ? event.progress : undefined;

describe('a file on its way', async () => {
  const app = await startScanningApp();
  const { token } = await app.signIn();
  const spool = () => readdirSync(join(app.data_dir, 'spool'));
  const records = async () => replyOf(await app.call(listScans, { token }));
  const signal = (name: NodeJS.Signals) => {
    for (const pid of app.app.engine.pids()) process.kill(pid, name);
  };
  const cancel = (key: string, by = token) => app.call(cancelUpload, { token: by, params: { key } });
  /** An upload that is complete, with the answer still to come. */
  const send = async (name: string, content: Buffer = newPdf()) => {
    const key = newUploadKey();
    const sent = openUpload(app, token, { name, key });
    await sent.write(content);
    sent.finish();
    return { ...sent, key, name };
  };
  const untilRecorded = (name: string) =>
    vi.waitFor(async () => expect((await records()).map(({ filename }) => filename)).toContain(name));

  test('reports its progress', async () => {
    const socket = await listenAs(app, token);
    const { key, answer } = await send('large.bin', noise(100 * MIB));
    expect(await answer).toMatchObject({ status: 201 });
    const told = socket.events().flatMap((event) => progressOf(key)(event) ?? []);
    const shares = told.flatMap((progress) => (progress.stage === 'reading' ? [progress.share] : []));
    expect(shares.length).toBeGreaterThan(0);
    expect(shares).toEqual(shares.toSorted((a, b) => a - b));
    expect(shares.some((share) => share > 0 && share < 1)).toBe(true);
    socket.leave();
  });

  test('tells its place while it waits, also to a page that comes later, and can be cancelled there and while it is read', async () => {
    await scanned(app, token, 'warm-up.pdf', PDF);
    const socket = await listenAs(app, token);
    signal('SIGSTOP');
    const read = await send('being read.pdf');
    await untilRecorded(read.name);
    const waits = await send('waits.pdf');
    await socket.event((event) => progressOf(waits.key)(event)?.stage === 'queued');
    const later = await listenAs(app, token);
    const { event } = await later.event((event) => progressOf(waits.key)(event) !== undefined);
    expect(event).toMatchObject({ progress: { stage: 'queued', place: 1 } });

    const stranger = await app.signIn();
    expect(problemOf(await cancel(waits.key, stranger.token)).code).toBe('not_found');
    const scan_id = event.kind === 'scan_progress' ? event.scan_id : '';
    expect((await cancel(waits.key)).status).toBe(204);
    expect(spool()).toHaveLength(1);
    expect(await waits.answer).toMatchObject({ status: 409 });
    expect((await records()).map(({ filename }) => filename)).not.toContain(waits.name);
    await socket.event((told) => told.kind === 'scan_removed' && told.scan_id === scan_id);

    const began = performance.now();
    expect((await cancel(read.key)).status).toBe(204);
    expect(performance.now() - began).toBeLessThan(1000);
    expect(spool()).toEqual([]);
    expect(JSON.parse((await read.answer).body)).toMatchObject({ status: 409, code: 'upload_cancelled' });
    expect((await records()).map(({ filename }) => filename)).not.toContain(read.name);
    // A new process has taken the place of the one that was killed.
    signal('SIGCONT');
    expect(await scanned(app, token, 'next.pdf', newPdf())).toMatchObject({ scan_status: 'clean' });
    later.leave();
    socket.leave();
  });

  test('can be cancelled while it arrives', async () => {
    const key = newUploadKey();
    const sent = openUpload(app, token, { key });
    await sent.write(noise(MIB));
    await vi.waitFor(() => expect(spool()).toHaveLength(1));
    expect((await cancel(key)).status).toBe(204);
    expect(spool()).toEqual([]);
    expect(JSON.parse((await sent.answer).body)).toMatchObject({ code: 'upload_cancelled' });
  });

  test('cannot be cancelled once it has its verdict', async () => {
    const { key, answer } = await send('done.pdf');
    expect(await answer).toMatchObject({ status: 201 });
    expect(problemOf(await cancel(key)).code).toBe('not_found');
    expect((await records())[0]).toMatchObject({ filename: 'done.pdf', scan_status: 'clean' });
  });

  test('is scanned when its page goes away once the upload is complete', async () => {
    signal('SIGSTOP');
    const left = await send('left.pdf');
    await untilRecorded(left.name);
    left.cut();
    await expect(left.answer).rejects.toThrow();
    signal('SIGCONT');
    await vi.waitFor(async () => expect((await records())[0]).toMatchObject({ filename: 'left.pdf', scan_status: 'clean' }));
  });

  test('has a key of its own, or none', async () => {
    const [one, two] = [openUpload(app, token, { key: 'a'.repeat(32) }), openUpload(app, token, { key: 'b'.repeat(32) })];
    await Promise.all([one.write(noise(MIB)), two.write(noise(MIB))]);
    await vi.waitFor(() => expect(spool()).toHaveLength(2));
    expect(await openUpload(app, token, { key: 'a'.repeat(32) }).answer).toMatchObject({ status: 409 });
    expect(await openUpload(app, token, { key: 'not a key' }).answer).toMatchObject({ status: 422 });
    one.finish();
    two.finish();
    expect([(await one.answer).status, (await two.answer).status]).toEqual([201, 201]);
  });
});

/** Bounds to be waited for. */
const FOREVER_MS = 600_000;

describe('a small file that is read before it is recorded', async () => {
  const app = await startScanningApp({ surroundings: { scan_record_ms: FOREVER_MS } });
  const { token } = await app.signIn();
  const spool = join(app.data_dir, 'spool');
  const rows = (filename: string) => app.app.database.selectFrom('scans').selectAll().where('filename', '=', filename).execute();
  const statusesOf = (filename: string) => (event: LiveEvent) =>
    event.kind === 'scan_changed' && event.scan.filename === filename ? [event.scan.scan_status] : [];

  test('is recorded once, with its verdict, and never touches the disk', async () => {
    const socket = await listenAs(app, token);
    // Changes with each name that comes or goes.
    const before = statSync(spool, { bigint: true }).mtimeNs;
    const record = await scanned(app, token, 'small.pdf', newPdf());
    expect(statSync(spool, { bigint: true }).mtimeNs).toBe(before);
    expect(record).toMatchObject({ scan_status: 'clean', coverage: { bytes_scanned: record.size } });
    await socket.event((event) => statusesOf('small.pdf')(event).includes('clean'));
    expect(socket.events().flatMap(statusesOf('small.pdf'))).toEqual(['clean']);
    expect(await rows('small.pdf')).toMatchObject([{ spooled: 0, sealed: 0, home: null, kept_until: null, attempts: 1 }]);
    socket.leave();
  });

  test('is recorded and kept when its verdict is another', async () => {
    const socket = await listenAs(app, token);
    expect(await scanned(app, token, 'eicar.com', EICAR)).toMatchObject({ scan_status: 'infected' });
    expect(await rows('eicar.com')).toMatchObject([{ spooled: 0, sealed: 1 }]);
    await socket.event((event) => statusesOf('eicar.com')(event).includes('infected'));
    expect(socket.events().flatMap(statusesOf('eicar.com'))).toEqual(['pending', 'infected']);
    expect(readdirSync(spool)).toEqual([]);
    socket.leave();
  });

  test('over which its engine ends is recorded before it is read again', async () => {
    const before = app.app.engine.pids();
    for (const pid of before) process.kill(pid, 'SIGSTOP');
    const given = vi.spyOn(app.app.engine, 'scan');
    const answer = scanned(app, token, 'again.pdf', newPdf());
    await vi.waitFor(() => expect(given).toHaveBeenCalled());
    given.mockRestore();
    for (const pid of before) process.kill(pid, 'SIGKILL');
    expect(await answer).toMatchObject({ scan_status: 'clean' });
    expect(await rows('again.pdf')).toMatchObject([{ engine_deaths: 1, spooled: 0 }]);
    expect(readdirSync(spool)).toEqual([]);
  });

  test('taken back while it is read leaves nothing, and no record', async () => {
    for (const pid of app.app.engine.pids()) process.kill(pid, 'SIGSTOP');
    const key = newUploadKey();
    const given = vi.spyOn(app.app.engine, 'scan');
    const sent = openUpload(app, token, { name: 'back.pdf', key });
    await sent.write(newPdf());
    sent.finish();
    await vi.waitFor(() => expect(given).toHaveBeenCalled());
    given.mockRestore();
    expect((await app.call(cancelUpload, { token, params: { key } })).status).toBe(204);
    expect(JSON.parse((await sent.answer).body)).toMatchObject({ status: 409, code: 'upload_cancelled' });
    expect(await rows('back.pdf')).toEqual([]);
    expect(await scanned(app, token, 'next.pdf', newPdf())).toMatchObject({ scan_status: 'clean' });
  });
});

describe('a small file', async () => {
  const app = await startScanningApp();
  const { token } = await app.signIn();
  const spool = () => readdirSync(join(app.data_dir, 'spool'));
  const signal = (name: NodeJS.Signals) => {
    for (const pid of app.app.engine.pids()) process.kill(pid, name);
  };
  const rows = (filename: string) => app.app.database.selectFrom('scans').selectAll().where('filename', '=', filename).execute();

  test.each([HELD_BYTES_MAXIMUM, HELD_BYTES_MAXIMUM + 1])(
    'and one that is larger, of %i bytes, are the bytes that were sent',
    async (size) => {
      const content = randomBytes(size);
      const file_hash = createHash('sha256').update(content).digest('hex');
      expect(await scanned(app, token, `${size}.bin`, content)).toMatchObject({
        size,
        file_hash,
        coverage: { bytes_scanned: size },
      });
      expect(spool()).toEqual([]);
    },
  );

  test('that has to wait lies in the folder, with its record, and is read from there', async () => {
    signal('SIGSTOP');
    const answers = [scanned(app, token, 'eicar.com', EICAR), scanned(app, token, 'waits.pdf', newPdf())];
    await vi.waitFor(async () => {
      expect(await rows('eicar.com')).toMatchObject([{ spooled: 1, scan_status: 'pending', status_detail: 'queued' }]);
      expect(await rows('waits.pdf')).toMatchObject([{ spooled: 1, scan_status: 'pending', status_detail: 'queued' }]);
    });
    expect(spool()).toHaveLength(2);
    signal('SIGCONT');
    expect(await Promise.all(answers)).toMatchObject([{ scan_status: 'infected' }, { scan_status: 'clean' }]);
    expect(spool()).toEqual([]);
    expect(await rows('eicar.com')).toMatchObject([{ spooled: 0, sealed: 1 }]);
  });
});

describe('too much at once', async () => {
  const app = await startScanningApp({ surroundings: { admission_limits: { per_person: 2, all: 3 } } });
  const [maria, zoe] = await Promise.all([app.signIn(), app.signIn()]);
  const spool = () => readdirSync(join(app.data_dir, 'spool'));
  const hold = async (token: string, count: number) => {
    const held = openUpload(app, token);
    await held.write(noise(2 * HELD_BYTES_MAXIMUM));
    await vi.waitFor(() => expect(spool()).toHaveLength(count));
    return async () => {
      held.finish();
      return (await held.answer).status;
    };
  };

  // proves: asvs-2.3.2, asvs-2.4.1
  test('is 429 with Retry-After before the body: of one person, and of everybody', async () => {
    const first = await hold(maria.token, 1);
    const second = await hold(maria.token, 2);
    // The file is neither sent nor ended here.
    const refused = await openUpload(app, maria.token).answer;
    expect(refused).toMatchObject({ status: 429, retry_after: '5' });
    expect(JSON.parse(refused.body)).toMatchObject({
      code: 'too_many_requests',
      detail: 'You have 2 uploads in progress. Wait until one is done.',
    });
    const third = await hold(zoe.token, 3);
    expect(await openUpload(app, zoe.token).answer).toMatchObject({ status: 429, retry_after: '15' });
    expect(await Promise.all([first(), second(), third()])).toEqual([201, 201, 201]);
    expect((await upload(app, maria.token, { name: 'a.pdf', content: PDF })).status).toBe(201);
  });
});

describe('an upload that arrives too slowly', async () => {
  const app = await startScanningApp({ surroundings: { upload_limits: { slow: { window_ms: 200, bytes: 1000 } } } });
  const { token } = await app.signIn();

  test('is 408, though it never stalls, and is removed', async () => {
    const slow = openUpload(app, token);
    const dripping = setInterval(() => void slow.write(noise(4)), 10);
    const answer = await slow.answer.finally(() => clearInterval(dripping));
    expect(answer.status).toBe(408);
    expect(problemSchema.parse(JSON.parse(answer.body))).toMatchObject({
      code: 'upload_stalled',
      detail: 'The upload was too slow and stopped. Upload the file again over a faster connection.',
    });
    expect(readdirSync(join(app.data_dir, 'spool'))).toEqual([]);
  });
});
