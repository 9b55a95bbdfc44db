// proves: asvs-16.5.3, security-35

import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { listScans, scanSchema } from '@palisade/contract/antivirus';
import { login } from '@palisade/contract/auth';
import { sendMessage } from '@palisade/contract/chat';
import { readReadiness } from '@palisade/contract/platform';
import { deleteFile, deleteScan, readScan, restoreFile } from '@palisade/contract/quarantine';
import { eventually } from '@palisade/scanner/test/eventually';
import { EICAR, noise, PDF, zip } from '@palisade/scanner/test/files';
import { needing } from '@palisade/scanner/test/needs';
import { packWith7Zip } from '@palisade/scanner/test/seven-zip-pack';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { isPostgres, isStoreShared, problemOf, readAnswer, replyOf, startScanningApp, type TestApp } from './harness.ts';
import { startServer } from './server-process.ts';
import { scanned, upload } from './upload.ts';

const MIB = 1024 ** 2;

/** An upload, and the final state of its record. */
const KINDS = [
  { name: 'eicar', content: (index: number) => Buffer.concat([EICAR, Buffer.from(' '.repeat(index))]), ends: 'infected' },
  { name: 'paper', content: (index: number) => Buffer.concat([PDF, Buffer.from(`%${index}\n`)]), ends: 'clean' },
  { name: 'locked', content: (index: number) => zip([{ name: `${index}`, content: noise(64), flags: 1 }]), ends: 'pending' },
] as const;
const kindOf = (index: number) => KINDS[index % KINDS.length] ?? KINDS[0];
const endOf = (filename: string) => KINDS.find(({ name }) => filename.startsWith(name))?.ends;

/** A file system of so many bytes at `folder`; false where that is not permitted. */
function mountSmall(folder: string, bytes: number): boolean {
  mkdirSync(folder, { recursive: true });
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${bytes}`, 'tmpfs', folder]).status === 0;
  if (mounted) afterAll(() => void spawnSync('umount', ['-l', folder]));
  return mounted;
}

const DATA_DIR = mkdtempSync(join(tmpdir(), 'palisade-full-'));
afterAll(() => rmSync(DATA_DIR, { recursive: true, force: true }));
const isMounted = mountSmall(join(DATA_DIR, 'spool'), 4 * MIB) && mountSmall(join(DATA_DIR, 'quarantine'), 128 * 1024);
if (!isMounted) process.stdout.write('skipped: tests of a full disk may not mount a small file system here\n');

needing('the right to mount', isMounted).describe('a disk that is full', async () => {
  const app = await startScanningApp({ environment: { DATA_DIR, DISK_RESERVE: '0' } });
  const { token } = await app.signIn();
  const inFolder = (name: string) => readdirSync(join(DATA_DIR, name));

  test('refuses the upload with 503, keeps no part of it, and the server continues', async () => {
    const problem = problemOf(await upload(app, token, { name: 'large.bin', content: noise(8 * MIB) }));
    expect(problem).toMatchObject({ status: 503, code: 'storage_full' });
    expect(inFolder('spool')).toEqual([]);
    expect(replyOf(await app.call(listScans, { token }))).toEqual([]);
    expect(await scanned(app, token, 'small.bin', noise(MIB))).toMatchObject({ scan_status: 'clean' });
  });

  test('refuses a small file that has to wait, removes it, and the server continues', async () => {
    const filling = join(DATA_DIR, 'spool', 'filling');
    const engines = app.app.engine.pids();
    for (const pid of engines) process.kill(pid, 'SIGSTOP');
    expect(spawnSync('dd', ['if=/dev/zero', `of=${filling}`, 'bs=4096']).status).not.toBe(0);
    const problem = problemOf(await upload(app, token, { name: 'small.bin', content: noise(1000) }));
    rmSync(filling);
    expect(problem).toMatchObject({ status: 503, code: 'storage_full' });
    expect(inFolder('spool')).toEqual([]);
    const records = await app.app.database.selectFrom('scans').select('id').where('size', '=', 1000).execute();
    expect(records).toEqual([]);
    // The file was refused before an engine had it.
    for (const pid of engines) process.kill(pid, 'SIGCONT');
    expect(await scanned(app, token, 'next.bin', noise(1001))).toMatchObject({ scan_status: 'clean' });
  });

  const unpacked = Buffer.concat(Array.from({ length: 20 * 64 }, (_, index) => Buffer.alloc(16_384, noise(1024, index + 1))));
  test.each([
    ['gzip', gzipSync(unpacked, { level: 1 })],
    ['7z', await packWith7Zip({ unpacked }, ['-t7z', '-mx=1'])],
  ])('on which a %s has no room unpacked does not make it damaged: it waits', async (name, content) => {
    const { id, ...record } = await scanned(app, token, name, content);
    expect(record).toMatchObject({ scan_status: 'pending', status_detail: 'engine_down' });
    expect(inFolder('spool').filter((file) => file !== id)).toEqual([]);
    expect((await app.call(deleteScan, { token, params: { id } })).status).toBe(204);
    expect(inFolder('spool')).toEqual([]);
  });

  test('in the middle of 50 uploads gives each that it accepted its verdict, and refuses the rest', async () => {
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, index) => {
        const kind = kindOf(index);
        // After the head of its format, so much that not all of them fit at once.
        const content = Buffer.concat([
          kind.content(index),
          Buffer.alloc(kind.name === 'paper' ? 512 * 1024 : 0, `% ${index}\n`),
        ]);
        return upload(app, token, { name: `${kind.name}-${index}`, content });
      }),
    );
    for (const answer of answers) {
      if (answer.ok) expect(answer.reply).toMatchObject({ scan_status: endOf(answer.reply.filename) });
      else expect(answer.problem).toMatchObject({ status: 503, code: 'storage_full' });
    }
    const accepted = answers.flatMap((answer) => (answer.ok ? [answer.reply.id] : []));
    expect(accepted.length).toBeGreaterThan(0);
    const records = replyOf(await app.call(listScans, { token, query: '?limit=200' }));
    expect(records.map(({ id }) => id)).toEqual(expect.arrayContaining(accepted));
    for (const { filename, scan_status } of records.filter(({ filename }) => endOf(filename) !== undefined)) {
      expect([filename, scan_status]).toEqual([filename, endOf(filename)]);
    }
    // There is room for some sealed files only: the others wait.
    const waiting = await app.app.database.selectFrom('scans').select('id').where('spooled', '=', 1).execute();
    expect(inFolder('spool').sort()).toEqual(waiting.map(({ id }) => id).sort());
  });
});

// In a shared store the sealed copy is in no server's folder.
needing('the right to mount', isMounted && !isStoreShared()).describe(
  'a disk that is full when an infected file is to be sealed',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'palisade-full-'));
    afterAll(() => rmSync(folder, { recursive: true, force: true }));
    const quarantine = join(folder, 'quarantine');
    mountSmall(quarantine, 128 * 1024);
    const database = { sqlite: join(folder, 'palisade.sqlite') };
    const start = () =>
      startScanningApp({
        environment: { DATA_DIR: folder, DISK_RESERVE: '0' },
        surroundings: { scan_retry_ms: 30, ...(isPostgres() ? {} : { database }) },
      });
    const first = await start();
    const { token } = await first.signIn();
    const infected = (name: string) =>
      zip([
        { name, content: EICAR },
        { name: 'noise.bin', content: noise(MIB) },
      ]);
    const detailOf = async (app: TestApp, id: string) => replyOf(await app.call(readScan, { token, params: { id } }));

    // proves: attack-C.15-3
    test('keeps it out of reach until there is room, over a restart too, then seals it', async () => {
      const { id } = await scanned(first, token, 'infected.zip', infected('eicar.com'));
      expect(await detailOf(first, id)).toMatchObject({ scan_status: 'infected', kept: 'waiting' });
      expect(readdirSync(quarantine)).toEqual([]);
      expect(readdirSync(join(folder, 'spool'))).toEqual([id]);
      expect(problemOf(await first.call(restoreFile, { token, params: { id } })).code).toBe('not_found');
      // Its owner may do without the copy.
      const other = await scanned(first, token, 'other.zip', infected('other.com'));
      // While it is tried once more to seal it, it is not deleted.
      await eventually(async () => expect((await first.call(deleteFile, { token, params: { id: other.id } })).status).toBe(204));
      expect(await detailOf(first, other.id)).toMatchObject({ kept: 'no', kept_until: null });
      expect(readdirSync(join(folder, 'spool'))).toEqual([id]);

      let app = first;
      if (!isPostgres()) {
        await first.close();
        app = await start();
        expect(await detailOf(app, id)).toMatchObject({ scan_status: 'infected', kept: 'waiting' });
      }
      expect(spawnSync('mount', ['-o', `remount,size=${8 * MIB}`, quarantine]).status).toBe(0);
      await eventually(async () => expect(await detailOf(app, id)).toMatchObject({ scan_status: 'infected', kept: 'sealed' }));
      await eventually(() => expect(readdirSync(join(folder, 'spool'))).toEqual([]));
      expect(readdirSync(quarantine)).toEqual([id]);
    });
  },
);

needing('the right to mount', isMounted).describe('a disk that is full for the database', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'palisade-full-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const small = join(folder, 'database');
  mountSmall(small, 8 * MIB);
  const app = await startScanningApp({ surroundings: { database: { sqlite: join(small, 'palisade.sqlite') } } });
  const person = await app.signIn();
  const { token } = person;

  test('refuses the upload with 503, removes it, and the server continues', async () => {
    expect(spawnSync('dd', ['if=/dev/zero', `of=${join(small, 'filling')}`, 'bs=4096']).status).not.toBe(0);
    // Space that SQLite has reserved may be enough for a few records.
    const problem = await eventually(async () => problemOf(await upload(app, token, { name: 'paper.pdf', content: PDF })));
    expect(problem).toMatchObject({ status: 503, code: 'storage_full' });
    expect(readdirSync(join(app.data_dir, 'spool'))).toEqual([]);
    // Of everything else that writes, the same: never a bare 500, and readiness says so.
    const full = { status: 503, code: 'storage_full' };
    const said = await app.call(sendMessage, { token, body: { message: 'Is the server full?', sender: 'user' } });
    expect(problemOf(said)).toMatchObject(full);
    expect(said.headers.get('retry-after')).toBe('60');
    expect(problemOf(await app.call(login, { body: person }))).toMatchObject(full);
    expect(problemOf(await app.call(readReadiness))).toMatchObject(full);
    rmSync(join(small, 'filling'));
    await eventually(async () => expect((await app.call(readReadiness)).status).toBe(200));
    expect((await app.call(login, { body: person })).status).toBe(200);
    expect(await scanned(app, token, 'paper.pdf', PDF)).toMatchObject({ scan_status: 'clean' });
    expect(await scanned(app, token, 'eicar.com', EICAR)).toMatchObject({ scan_status: 'infected' });
  });
});

test('engines that are killed in the middle of 50 uploads lose none, and none is called falsely clean', async () => {
  const app = await startScanningApp({ surroundings: { engine_processes: 3, scan_retry_ms: 100 } });
  const { token } = await app.signIn();
  const list = async () => replyOf(await app.call(listScans, { token, query: '?limit=200' }));
  let answered = 0;
  const uploads = Array.from({ length: 50 }, async (_, index) => {
    const kind = kindOf(index);
    const record = await scanned(app, token, `${kind.name}-${index}`, kind.content(index));
    answered += 1;
    if (answered === 10 || answered === 25) for (const pid of app.app.engine.pids()) process.kill(pid, 'SIGKILL');
    return record;
  });
  const records = await Promise.all(uploads);
  for (const { filename, scan_status, status_detail } of records) {
    // On a busy machine an answer may come before an engine is back.
    const is_unread = status_detail === 'engine_down' || status_detail === 'queued';
    expect([filename, scan_status]).toEqual([filename, is_unread ? 'pending' : endOf(filename)]);
  }
  await eventually(async () => {
    const ends = (await list()).map(({ filename, scan_status, status_detail }) => [
      filename,
      scan_status,
      status_detail === 'engine_down' || status_detail === 'queued',
    ]);
    expect(ends).toHaveLength(50);
    expect(ends).toEqual(ends.map(([filename]) => [filename, endOf(String(filename)), false]));
  });
});

test('a server that is killed in the middle of 50 uploads has lost none that it answered, and calls none falsely clean', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'palisade-killed-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const server = await startServer({ DATA_DIR: folder });
  const token = await server.signIn('anna');
  await eventually(async () => expect((await server.fetch(`/api/ready`)).status).toBe(200));

  const answered = new Map<string, string>();
  let killed: Promise<unknown> | undefined;
  const uploads = Array.from({ length: 50 }, async (_, index) => {
    const kind = kindOf(index);
    const record = await scanned(server, token, `${kind.name}-${index}`, kind.content(index));
    answered.set(record.id, record.scan_status);
    if (answered.size === 15) killed = server.kill('SIGKILL');
  });
  await Promise.allSettled(uploads);
  await killed;
  expect(answered.size).toBeGreaterThanOrEqual(15);
  expect(answered.size).toBeLessThan(50);

  const again = await startServer({ DATA_DIR: folder });
  const get = (path: string) => again.fetch(`/api${path}`, { headers: { authorization: `Bearer ${token}` } });
  const records = await eventually(async () => {
    const list = replyOf(await readAnswer(listScans, await get('/antivirus/scans')));
    expect(list.filter(({ status_detail }) => status_detail === 'queued' || status_detail === 'engine_down')).toEqual([]);
    return list;
  });
  for (const [id, scan_status] of answered) expect(records.find((record) => record.id === id)).toMatchObject({ scan_status });
  for (const { filename, scan_status } of records) {
    expect([filename, scan_status]).toEqual([filename, endOf(filename)]);
  }
  // Kept files match the records exactly, and none is unsealed.
  await eventually(() => expect(readdirSync(join(folder, 'spool'))).toEqual([]));
  const sealed = records.filter(({ scan_status }) => scan_status !== 'clean').map(({ id }) => id);
  await eventually(() => expect(readdirSync(join(folder, 'quarantine')).sort()).toEqual(sealed.sort()));
  const [first] = sealed;
  expect(scanSchema.parse(await (await get(`/antivirus/scans/${first}`)).json()).id).toBe(first);
});
