// proves: asvs-15.2.2

import { createHash, randomBytes } from 'node:crypto';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { cancelUpload, listScans } from '@palisade/contract/antivirus';
import type { LiveEvent } from '@palisade/contract/events';
import { eventually } from '@palisade/scanner/test/eventually';
import { EICAR, noise } from '@palisade/scanner/test/files';
import { describe, expect, test } from 'vitest';
import { problemOf, replyOf, startListeningApp } from '#test/harness.ts';
import { listenAs } from '#test/socket.ts';
import { createSteeredEngine, HALF_READ } from '#test/steered-engine.ts';
import { newUploadKey, openUpload, scanned } from '#test/upload.ts';
import { HELD_BYTES_MAXIMUM } from './spool.ts';

/** New bytes: known ones have their verdict without an engine. */
const newBytes = () => randomBytes(100);
/** Bounds to be waited for. */
const FOREVER_MS = 600_000;

const progressOf = (key: string) => (event: LiveEvent) =>
  event.kind === 'scan_progress' && event.upload_key === key ? event.progress : undefined;

async function start(surroundings: NonNullable<Parameters<typeof startListeningApp>[0]>['surroundings'] = {}) {
  const { engine, steered, hold } = createSteeredEngine();
  const app = await startListeningApp({ surroundings: { embedded_engine: engine, engine_processes: 1, ...surroundings } });
  const { token } = await app.signIn();
  const records = async () => replyOf(await app.call(listScans, { token }));
  return {
    ...{ app, token, steered, hold, records },
    spool: () => readdirSync(join(app.data_dir, 'spool')),
    names: async () => (await records()).map(({ filename }) => filename),
    rows: (filename: string) => app.app.database.selectFrom('scans').selectAll().where('filename', '=', filename).execute(),
    cancel: (key: string, by = token) => app.call(cancelUpload, { token: by, params: { key } }),
    /** An upload that is complete, with the answer still to come. */
    async send(name: string, content: Buffer = newBytes()) {
      const key = newUploadKey();
      const sent = openUpload(app, token, { name, key });
      await sent.write(content);
      sent.finish();
      return { ...sent, key, name };
    },
  };
}

const cancelled = async ({ answer }: { answer: Promise<{ body: string }> }) =>
  expect(JSON.parse((await answer).body)).toMatchObject({ status: 409, code: 'upload_cancelled' });

describe('a file on its way', async () => {
  const { app, token, steered, hold, records, names, spool, cancel, send } = await start({ scan_record_ms: 0 });

  test('tells its place while it waits and how much of it is read, also to a page that comes later, and can be cancelled in both', async () => {
    const socket = await listenAs(app, token);
    const let_go = hold();
    const read = await send('being read.pdf');
    await eventually(async () => expect(await names()).toContain(read.name));
    const waits = await send('waits.pdf');
    await socket.event((event) => progressOf(waits.key)(event)?.stage === 'queued');
    const reading = { stage: 'reading', engine: 'YARA-X', ...HALF_READ };
    await socket.event((told) => isDeepStrictEqual(progressOf(read.key)(told), reading));
    const later = await listenAs(app, token);
    await later.event((told) => isDeepStrictEqual(progressOf(read.key)(told), reading));
    const { event } = await later.event((told) => progressOf(waits.key)(told) !== undefined);
    expect(event).toMatchObject({ progress: { stage: 'queued', place: 1 } });
    expect(problemOf(await cancel(waits.key, (await app.signIn()).token)).code).toBe('not_found');
    const scan_id = event.kind === 'scan_progress' ? event.scan_id : '';
    expect((await cancel(waits.key)).status).toBe(204);
    await cancelled(waits);
    await socket.event((told) => told.kind === 'scan_removed' && told.scan_id === scan_id);
    expect((await cancel(read.key)).status).toBe(204);
    expect(spool()).toEqual([]);
    await cancelled(read);
    expect(await names()).toEqual([]);
    let_go();
    expect(await scanned(app, token, 'next.pdf', newBytes())).toMatchObject({ scan_status: 'clean' });
    for (const page of [later, socket]) page.leave();
  });

  test('can be cancelled while it arrives, and not once it has its verdict', async () => {
    const key = newUploadKey();
    const sent = openUpload(app, token, { key });
    await sent.write(noise(2 * HELD_BYTES_MAXIMUM));
    await eventually(() => expect(spool()).toHaveLength(1));
    expect((await cancel(key)).status).toBe(204);
    expect(spool()).toEqual([]);
    await cancelled(sent);
    const done = await send('done.pdf');
    expect(await done.answer).toMatchObject({ status: 201 });
    expect(problemOf(await cancel(done.key)).code).toBe('not_found');
    expect((await records())[0]).toMatchObject({ filename: 'done.pdf', scan_status: 'clean' });
  });

  test('is scanned when its page goes away once the upload is complete', async () => {
    const let_go = hold();
    const left = await send('left.pdf');
    await eventually(async () => expect(await names()).toContain(left.name));
    left.cut();
    await expect(left.answer).rejects.toThrow();
    let_go();
    await eventually(async () => expect((await records())[0]).toMatchObject({ filename: 'left.pdf', scan_status: 'clean' }));
  });

  test('has a key of its own, or none', async () => {
    const [one, two] = ['a', 'b'].map((letter) => openUpload(app, token, { key: letter.repeat(32) }));
    if (one === undefined || two === undefined) throw new Error('no upload');
    await Promise.all([one, two].map((each) => each.write(noise(2 * HELD_BYTES_MAXIMUM))));
    await eventually(() => expect(spool()).toHaveLength(2));
    expect(await openUpload(app, token, { key: 'a'.repeat(32) }).answer).toMatchObject({ status: 409 });
    expect(await openUpload(app, token, { key: 'not a key' }).answer).toMatchObject({ status: 422 });
    for (const each of [one, two]) each.finish();
    expect([(await one.answer).status, (await two.answer).status]).toEqual([201, 201]);
    expect(steered.begun).toBeGreaterThan(0);
  });

  test('that has to wait lies in the folder, with its record, and is read from there', async () => {
    const let_go = hold();
    const answers = [scanned(app, token, 'eicar.com', EICAR), scanned(app, token, 'waits.bin', newBytes())];
    await eventually(async () => {
      const rows = app.app.database.selectFrom('scans').select('spooled').where('status_detail', '=', 'queued').execute();
      expect(await rows).toEqual([{ spooled: 1 }, { spooled: 1 }]);
    });
    expect(spool()).toHaveLength(2);
    let_go();
    expect(await Promise.all(answers)).toMatchObject([{ scan_status: 'infected' }, { scan_status: 'clean' }]);
    expect(spool()).toEqual([]);
  });
});

describe('a small file that is read before it is recorded', async () => {
  const { app, token, steered, hold, rows, spool, cancel, send } = await start({ scan_record_ms: FOREVER_MS });
  const statusesOf = (filename: string) => (event: LiveEvent) =>
    event.kind === 'scan_changed' && event.scan.filename === filename ? [event.scan.scan_status] : [];

  test('is recorded once, with its verdict, and never touches the disk; another verdict is recorded and kept', async () => {
    const socket = await listenAs(app, token);
    // Changes with each name that comes or goes.
    const changed = () => statSync(join(app.data_dir, 'spool'), { bigint: true }).mtimeNs;
    const before = changed();
    const record = await scanned(app, token, 'small.pdf', newBytes());
    expect(changed()).toBe(before);
    expect(record).toMatchObject({ scan_status: 'clean', coverage: { bytes_scanned: record.size } });
    expect(await rows('small.pdf')).toMatchObject([{ spooled: 0, sealed: 0, home: null, kept_until: null, attempts: 1 }]);
    expect(await scanned(app, token, 'eicar.com', EICAR)).toMatchObject({ scan_status: 'infected' });
    expect(await rows('eicar.com')).toMatchObject([{ spooled: 0, sealed: 1 }]);
    await socket.event((event) => statusesOf('eicar.com')(event).includes('infected'));
    expect(socket.events().flatMap(statusesOf('small.pdf'))).toEqual(['clean']);
    expect(socket.events().flatMap(statusesOf('eicar.com'))).toEqual(['pending', 'infected']);
    expect(spool()).toEqual([]);
    socket.leave();
  });

  test('taken back while it is read leaves nothing, and no record', async () => {
    const let_go = hold();
    const { begun } = steered;
    const sent = await send('back.pdf');
    await eventually(() => expect(steered.begun).toBeGreaterThan(begun));
    expect((await cancel(sent.key)).status).toBe(204);
    await cancelled(sent);
    expect(await rows('back.pdf')).toEqual([]);
    let_go();
  });

  test.each([HELD_BYTES_MAXIMUM, HELD_BYTES_MAXIMUM + 1])(
    'and one that is larger, of %i bytes, are the sent bytes',
    async (size) => {
      const content = randomBytes(size);
      const file_hash = createHash('sha256').update(content).digest('hex');
      const coverage = { bytes_scanned: size };
      expect(await scanned(app, token, `${size}.bin`, content)).toMatchObject({ size, file_hash, coverage });
      expect(spool()).toEqual([]);
    },
  );
});

// proves: asvs-2.3.2, asvs-2.4.1
test('too much at once is 429 with Retry-After before the body: of one person, and of everybody', async () => {
  const { app, token, spool } = await start({ admission_limits: { per_person: 2, all: 3 } });
  const zoe = await app.signIn();
  const hold = async (of: string, count: number) => {
    const held = openUpload(app, of);
    await held.write(noise(2 * HELD_BYTES_MAXIMUM));
    await eventually(() => expect(spool()).toHaveLength(count));
    return held;
  };
  const held = [await hold(token, 1), await hold(token, 2)];
  // The file is neither sent nor ended here.
  const refused = await openUpload(app, token).answer;
  expect(refused).toMatchObject({ status: 429, retry_after: '5' });
  expect(JSON.parse(refused.body)).toMatchObject({
    ...{ code: 'too_many_requests', detail: 'You have 2 uploads in progress. Wait until one is done.' },
  });
  held.push(await hold(zoe.token, 3));
  expect(await openUpload(app, zoe.token).answer).toMatchObject({ status: 429, retry_after: '15' });
  for (const one of held) one.finish();
  for (const one of held) expect((await one.answer).status).toBe(201);
  expect(await scanned(app, token, 'a.pdf', newBytes())).toMatchObject({ scan_status: 'clean' });
});
