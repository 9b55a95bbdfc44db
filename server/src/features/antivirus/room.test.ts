// proves: security-35

import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { login } from '@palisade/contract/auth';
import { sendMessage } from '@palisade/contract/chat';
import { readReadiness } from '@palisade/contract/platform';
import { deleteAccount } from '@palisade/contract/privacy';
import { problemSchema } from '@palisade/contract/problem';
import { eventually } from '@palisade/scanner/test/eventually';
import { EICAR, noise, PDF } from '@palisade/scanner/test/files';
import { describe, expect, test } from 'vitest';
import { isStoreShared, type ListeningApp, replyOf, startListeningApp } from '#test/harness.ts';
import { oneRow } from '#test/rows.ts';
import { createSteeredEngine } from '#test/steered-engine.ts';
import { openUpload, scanned } from '#test/upload.ts';

const MIB = 1024 ** 2;
const spool = (app: ListeningApp) => readdirSync(join(app.data_dir, 'spool'));
/** The number of open uploads of which so many bytes have arrived. The multipart reader keeps a few back. */
const arrived = (app: ListeningApp, bytes: number) =>
  spool(app).filter((name) => statSync(join(app.data_dir, 'spool', name)).size > bytes - 1024).length;
const soon = (check: () => unknown) => eventually(check);
const refusalOf = async ({ answer }: { answer: Promise<{ status: number; body: string; retry_after: string | undefined }> }) => {
  const { body, retry_after } = await answer;
  return { retry_after, ...problemSchema.parse(JSON.parse(body)) };
};

describe('room for uploads', async () => {
  const app = await startListeningApp({ environment: { SPOOL_PERSON_MAXIMUM: '3M', SPOOL_MAXIMUM: '4M', DISK_RESERVE: '1M' } });
  const [eve, zoe, adam] = await Promise.all([app.signIn(), app.signIn(), app.signIn()]);

  // proves: attack-C.15-1
  test('is bounded for one person over all uploads, and a refused or finished one frees its room', async () => {
    const held = [openUpload(app, eve.token), openUpload(app, eve.token)];
    for (const one of held) await one.write(noise(MIB));
    await soon(() => expect(arrived(app, MIB)).toBe(2));
    const third = openUpload(app, eve.token);
    await third.write(noise(MIB + 4096));
    expect(await refusalOf(third)).toMatchObject({
      status: 429,
      code: 'too_many_requests',
      retry_after: '30',
      detail: 'Your waiting files fill your space. Wait until one is done.',
    });
    // Others have theirs, until all is taken.
    const hers = openUpload(app, zoe.token);
    await hers.write(noise(MIB));
    await soon(() => expect(arrived(app, MIB)).toBe(3));
    expect(await scanned(app, adam.token, 'small.pdf', PDF)).toMatchObject({ scan_status: 'clean' });
    const his = openUpload(app, adam.token);
    await his.write(noise(2 * MIB));
    expect(await refusalOf(his)).toMatchObject({ status: 503, code: 'storage_full', retry_after: '60' });
    for (const one of [...held, hers]) one.cut();
    await soon(() => expect(spool(app)).toEqual([]));
    expect(await scanned(app, eve.token, 'large.bin', noise(2 * MIB))).toMatchObject({ scan_status: 'clean' });
  });
});

if (isStoreShared()) process.stdout.write('skipped: sealing on a disk that is nearly full: files are kept in a store\n');

describe('a disk that is nearly full', async () => {
  const disk = { free: 100 * MIB };
  const { engine, steered, hold } = createSteeredEngine();
  const app = await startListeningApp({
    environment: { DISK_RESERVE: '50M' },
    surroundings: { embedded_engine: engine, free_bytes: () => disk.free, scan_retry_ms: 30 },
  });
  const person = await app.signIn();
  const { token } = person;

  // proves: attack-C.15-1
  test('takes no upload, says so, and serves everything else', async () => {
    await soon(async () => expect(replyOf(await app.call(readReadiness))).toMatchObject({ status: 'ready', storage: 'ok' }));
    disk.free = 50 * MIB - 1;
    // Before the body.
    expect(await refusalOf(openUpload(app, token))).toMatchObject({
      status: 503,
      code: 'storage_full',
      retry_after: '60',
      detail: 'The server is out of space. Try again later.',
    });
    expect(replyOf(await app.call(readReadiness))).toMatchObject({ status: 'ready', storage: 'low' });
    expect((await app.call(login, { body: person })).status).toBe(200);
    expect((await app.call(sendMessage, { token, body: { message: 'Is the server full?', sender: 'user' } })).ok).toBe(true);
    disk.free = 100 * MIB;
    expect(replyOf(await app.call(readReadiness))).toMatchObject({ status: 'ready', storage: 'ok' });
    expect(await scanned(app, token, 'paper.pdf', PDF)).toMatchObject({ scan_status: 'clean' });
  });

  test('takes those of several uploads at once that fit, and refuses the others before their bytes', async () => {
    const people = await Promise.all(Array.from({ length: 6 }, () => app.signIn()));
    disk.free = 50 * MIB + 10 * MIB;
    // Three of 3 MB have room; each says how long it is.
    const content = noise(3 * MIB);
    const contentLength = content.length + 200;
    const uploads = people.map((one) => openUpload(app, one.token, { contentLength }));
    const refused = new Set<number>();
    uploads.forEach(
      ({ answer }, index) =>
        void answer.then(
          ({ status }) => status === 503 && refused.add(index),
          () => {},
        ),
    );
    await soon(() => expect(refused.size).toBe(3));
    for (const [index, one] of uploads.entries()) {
      if (refused.has(index)) continue;
      await one.write(content.subarray(0, 2 * MIB));
      // A received file uses the disk, and no longer its reservation.
      disk.free -= 2 * MIB;
    }
    await soon(() => expect(spool(app)).toHaveLength(3));
    const late = openUpload(app, people[0]?.token ?? '', { contentLength });
    expect(await refusalOf(late)).toMatchObject({ status: 503, code: 'storage_full' });
    for (const one of uploads) one.cut();
    await soon(() => expect(spool(app)).toEqual([]));
    disk.free = 100 * MIB;
    expect(await scanned(app, token, 'after.bin', content)).toMatchObject({ scan_status: 'clean' });
  });

  test('refuses an upload in its middle when it becomes so', async () => {
    const sent = openUpload(app, token);
    await sent.write(noise(MIB));
    await soon(() => expect(spool(app)).toHaveLength(1));
    disk.free = 0;
    await sent.write(noise(2 * MIB));
    expect(await refusalOf(sent)).toMatchObject({ status: 503, code: 'storage_full' });
    expect(spool(app)).toEqual([]);
    disk.free = 100 * MIB;
  });

  test.runIf(!isStoreShared())('does not seal before there is room, and does then', async () => {
    const sent = openUpload(app, token, { name: 'eicar.zip' });
    const content = noise(MIB / 8, 3);
    steered.find = () => ({ threat: 'Some.Threat' });
    await sent.write(content);
    await soon(() => expect(arrived(app, content.length)).toBe(1));
    disk.free = 50 * MIB;
    sent.finish();
    expect(await sent.answer).toMatchObject({ status: 201 });
    expect(spool(app)).toHaveLength(1);
    disk.free = 100 * MIB;
    await soon(() => expect(spool(app)).toEqual([]));
    expect((await app.kept.list({ limit: 10 })).entries).toHaveLength(1);
    steered.find = () => ({});
  });

  test.runIf(!isStoreShared())('keeps a small file, which is in the folder from its verdict on', async () => {
    const let_go = hold();
    const answer = scanned(app, token, 'eicar.com', EICAR);
    await soon(() => expect(spool(app)).toHaveLength(1));
    disk.free = 50 * MIB;
    let_go();
    expect(await answer).toMatchObject({ scan_status: 'infected' });
    expect(spool(app)).toHaveLength(1);
    disk.free = 100 * MIB;
    await soon(() => expect(spool(app)).toEqual([]));
    expect(readdirSync(join(app.data_dir, 'quarantine'))).toHaveLength(2);
  });
});

describe('an account that is deleted', async () => {
  const { engine, hold } = createSteeredEngine();
  const app = await startListeningApp({ surroundings: { embedded_engine: engine } });
  // The first account is the administrator, who may not go.
  await app.signIn();
  const remove = async ({ token, email, password }: { token: string; email: string; password: string }) =>
    expect(replyOf(await app.call(deleteAccount, { token, body: { password, confirmation: email } }))).toEqual({ success: true });
  const nothingOf = async () => {
    expect(spool(app)).toEqual([]);
    expect((await app.kept.list({ limit: 10 })).entries).toEqual([]);
    expect(await app.app.database.selectFrom('scans').select('id').execute()).toEqual([]);
  };
  // proves: attack-B.14-3
  test('while a file arrives ends that: no 500, and nothing is left', async () => {
    const person = await app.signIn();
    const sent = openUpload(app, person.token);
    await sent.write(noise(MIB));
    await soon(() => expect(spool(app)).toHaveLength(1));
    await remove(person);
    expect(spool(app)).toEqual([]);
    expect(await refusalOf(sent)).toMatchObject({
      status: 401,
      code: 'unauthenticated',
      detail: 'Your account was deleted during the upload, so we kept nothing.',
    });
    await nothingOf();
  });

  test('while a file is read ends that too', async () => {
    const person = await app.signIn();
    const let_go = hold();
    const sent = openUpload(app, person.token);
    await sent.write(EICAR);
    sent.finish();
    await soon(async () =>
      expect(await app.app.database.selectFrom('scans').select('id').where('spooled', '=', 1).execute()).toHaveLength(1),
    );
    await remove(person);
    expect((await refusalOf(sent)).status).toBeLessThan(500);
    let_go();
    await nothingOf();
  });

  test('a deletion of the account between the last byte and the record is reported so', async () => {
    const person = await app.signIn();
    const { id } = await oneRow(app.app.database, 'users', { email: person.email });
    const sent = openUpload(app, person.token);
    await sent.write(noise(MIB));
    await soon(() => expect(spool(app)).toHaveLength(1));
    // As another server does it, with uploads of its own.
    await app.app.database.deleteFrom('users').where('id', '=', id).execute();
    sent.finish();
    expect(await refusalOf(sent)).toMatchObject({ status: 401, code: 'unauthenticated' });
    await nothingOf();
  });
});
