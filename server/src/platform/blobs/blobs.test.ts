import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { filesHaveThisClock } from '@palisade/scanner/test/needs';
import { beforeAll, describe, expect, test } from 'vitest';
import { openDisk } from '#platform/disk.ts';
import { HAS_S3_SERVER, NO_S3_SERVER, startS3 } from '#test/s3.ts';
import {
  allBlobs,
  BlobDamagedError,
  type BlobEntry,
  BlobKeyError,
  BlobNotFoundError,
  type Blobs,
  blobsIn,
  StoreFullError,
} from './blobs.ts';
import { openFolderBlobs } from './folder-blobs.ts';
import { openStorage } from './open-storage.ts';
import { parseStorageUrl } from './storage-url.ts';

const KIB = 1024;
const MIB = 1024 * KIB;
const sha256Of = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

function freshFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'palisade-blobs-'));
  return folder;
}

/** In pieces of all sizes, as a network gives them. */
async function* pieces(bytes: Buffer, size: number) {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}
async function* failing(bytes: Buffer) {
  yield bytes;
  throw new Error('the sender went away');
}

async function everything(blobs: Blobs, prefix = '') {
  const entries: BlobEntry[] = [];
  for await (const entry of allBlobs(blobs, prefix)) entries.push(entry);
  return entries;
}

interface Store {
  blobs: Blobs;
  /** Changes bytes of an object behind the back of the store's interface. */
  harm(key: string, how: (bytes: Buffer) => Buffer): Promise<void>;
  /** The same store with so many bytes free on the disk that it needs. */
  withFree(bytes: number): Promise<Blobs>;
  /** Files of failed writes, which must not stay. */
  leftovers(): string[];
}

function folderStore(): Store {
  const folder = freshFolder();
  return {
    blobs: openFolderBlobs({ folder, disk: openDisk(folder, 0) }),
    harm(key, how) {
      const path = join(folder, key);
      writeFileSync(path, how(readFileSync(path)));
      return Promise.resolve();
    },
    withFree: (bytes) => Promise.resolve(openFolderBlobs({ folder, disk: openDisk(folder, 0, () => bytes) })),
    leftovers: () => readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.includes('.')),
  };
}

async function s3Store(): Promise<Store> {
  const server = await startS3();
  const folder = freshFolder();
  const url = server.url();
  const open = (free?: number) =>
    openStorage({
      location: parseStorageUrl(url, undefined),
      folder,
      disk: openDisk(folder, 0, free === undefined ? undefined : () => free),
    });
  const blobs = await open();
  return {
    blobs,
    async harm(key, how) {
      // Swift keeps the bytes of an object in a file that ends with .data.
      const bytes = await buffer(await blobs.get(key));
      const { size } = await blobs.stat(key);
      for (const name of readdirSync(server.folder, { recursive: true, encoding: 'utf8' })) {
        const path = join(server.folder, name);
        if (!name.endsWith('.data') || statSync(path).size !== size || !readFileSync(path).equals(bytes)) continue;
        writeFileSync(path, how(bytes));
      }
    },
    withFree: open,
    leftovers: () => readdirSync(folder),
  };
}

if (!HAS_S3_SERVER) process.stdout.write(`skipped: the conformance of the S3 store: ${NO_S3_SERVER}\n`);

const stores: [string, boolean, () => Promise<Store>][] = [
  ['a folder', true, () => Promise.resolve(folderStore())],
  ['a bucket that speaks S3', HAS_S3_SERVER, s3Store],
];
for (const [name, is_there, openStore] of stores) {
  describe.runIf(is_there)(`${name} as a store`, () => {
    let store: Store;
    let blobs: Blobs;
    beforeAll(async () => {
      store = await openStore();
      blobs = store.blobs;
    });

    test.each([0, 1, 1_000, 256 * KIB, 256 * KIB + 1, 3 * MIB + 17])('gives back %d bytes as they were', async (size) => {
      const bytes = randomBytes(size);
      const facts = await blobs.put('some/object', pieces(bytes, 100_003));
      expect(facts).toEqual({ size, sha256: sha256Of(bytes) });
      expect((await buffer(await blobs.get('some/object', { expected: facts }))).equals(bytes)).toBe(true);
      expect(await blobs.put('announced', Readable.from(pieces(bytes, 70_001)), { size })).toEqual(facts);
      expect((await blobs.stat('announced')).size).toBe(size);
      expect(store.leftovers()).toEqual([]);
    });

    test('gives ranges, and says when there is none', async () => {
      const bytes = randomBytes(600 * KIB);
      await blobs.put('ranges', pieces(bytes, 64 * KIB));
      const part = async (start: number, end?: number) =>
        await buffer(await blobs.get('ranges', { range: { start, ...(end === undefined ? {} : { end }) } }));
      expect((await part(0, 0)).equals(bytes.subarray(0, 1))).toBe(true);
      expect((await part(300_000, 300_099)).equals(bytes.subarray(300_000, 300_100))).toBe(true);
      expect((await part(500_000)).equals(bytes.subarray(500_000))).toBe(true);
      expect((await part(bytes.length - 1, 10 * bytes.length)).equals(bytes.subarray(-1))).toBe(true);
      await expect(part(bytes.length)).rejects.toThrow(RangeError);
      await expect(part(10, 9)).rejects.toThrow(RangeError);
    });

    test('puts one object in the place of another, and tells them apart', async () => {
      const first = await blobs.put('replaced', pieces(Buffer.from('the first'), 4));
      const second = await blobs.put('replaced', pieces(Buffer.from('another 1'), 4));
      expect((await buffer(await blobs.get('replaced'))).toString()).toBe('another 1');
      expect((await buffer(await blobs.get('replaced', { expected: second }))).toString()).toBe('another 1');
      await expect(blobs.get('replaced', { expected: first }).then(buffer)).rejects.toThrow(BlobDamagedError);
      await blobs.put('replaced', pieces(Buffer.from('longer than the first'), 4));
      await expect(blobs.get('replaced', { expected: first })).rejects.toThrow(BlobDamagedError);
    });

    test('reports at its end that an object differs from the stored bytes', async () => {
      const bytes = randomBytes(400 * KIB);
      const expected = await blobs.put('harmed', pieces(bytes, 64 * KIB));
      await store.harm('harmed', (before) => {
        const harmed = Buffer.from(before);
        harmed[350_000] = (harmed[350_000] ?? 0) ^ 1;
        return harmed;
      });
      await expect(blobs.get('harmed', { expected }).then(buffer)).rejects.toThrow('its SHA-256 differs');
    });

    test('says that an object is not there, and takes a deletion of nothing', async () => {
      await expect(blobs.get('nothing')).rejects.toThrow(BlobNotFoundError);
      await expect(blobs.stat('nothing')).rejects.toThrow(BlobNotFoundError);
      await blobs.delete('nothing');
      await blobs.put('short-lived', pieces(Buffer.from('x'), 1));
      // Two servers at once.
      await Promise.all([blobs.delete('short-lived'), blobs.delete('short-lived'), blobs.delete('short-lived')]);
      await expect(blobs.get('short-lived')).rejects.toThrow(BlobNotFoundError);
    });

    test('keeps no part of a stream that fails, or has another length than it was announced with', async () => {
      const before = await blobs.put('kept', pieces(Buffer.from('as before'), 9));
      const bytes = randomBytes(700 * KIB);
      await expect(blobs.put('kept', failing(bytes))).rejects.toThrow('the sender went away');
      await expect(blobs.put('kept', pieces(bytes, 64 * KIB), { size: bytes.length - 1 })).rejects.toThrow('has more');
      await expect(blobs.put('kept', pieces(bytes, 64 * KIB), { size: bytes.length + 1 })).rejects.toThrow('has only');
      await expect(blobs.put('never', failing(Buffer.from('small')))).rejects.toThrow('the sender went away');
      expect((await buffer(await blobs.get('kept', { expected: before }))).toString()).toBe('as before');
      await expect(blobs.stat('never')).rejects.toThrow(BlobNotFoundError);
      expect(store.leftovers()).toEqual([]);
    });

    test('lists in the order of keys, page by page, what begins with a prefix', async () => {
      const keys = ['list/a', 'list/b/1', 'list/b/2', 'list/b-0', 'list/c', 'listing'];
      for (const key of keys) await blobs.put(key, pieces(Buffer.from(key), 2));
      const page = async (prefix: string, limit: number, after?: string) => {
        const { entries, next } = await blobs.list({ prefix, limit, after });
        return { keys: entries.map(({ key }) => key), next };
      };
      expect((await page('list/', 100)).keys).toEqual(['list/a', 'list/b-0', 'list/b/1', 'list/b/2', 'list/c']);
      expect((await page('list/b/', 100)).keys).toEqual(['list/b/1', 'list/b/2']);
      const first = await page('list/', 2);
      expect(first.keys).toEqual(['list/a', 'list/b-0']);
      expect((await page('list/', 2, first.next)).keys).toEqual(['list/b/1', 'list/b/2']);
      const all = (await everything(blobs, 'list')).map(({ key, size }) => [key, size]);
      expect(all).toEqual(keys.toSorted().map((key) => [key, key.length]));
      expect((await page('nothing-here/', 5)).keys).toEqual([]);
      const { entries } = await blobs.list({ prefix: 'listing', limit: 1 });
      const modified_ms = Date.parse(entries[0]?.modified_at ?? '');
      if (filesHaveThisClock()) expect(Math.abs(modified_ms - Date.now())).toBeLessThan(600_000);
      else expect(modified_ms).toBeGreaterThan(0);
    });

    test.each([
      '',
      '.',
      '..',
      '../outside',
      'a/../b',
      '/etc/passwd',
      'a//b',
      'a/',
      'a\\b',
      'a.part',
      'A',
      'a b',
      'a\0b',
      'a%2e',
      '-a',
      'ä',
      'a'.repeat(129),
      `${'a/'.repeat(8)}a`,
    ])('refuses the key %j', async (key) => {
      for (const call of [
        () => blobs.put(key, pieces(Buffer.from('x'), 1)),
        () => blobs.get(key),
        () => blobs.stat(key),
        () => blobs.delete(key),
        () => blobsIn(blobs, 'within').put(key, pieces(Buffer.from('x'), 1)),
      ])
        await expect(call()).rejects.toThrow(BlobKeyError);
      for (const prefix of ['../', '/', 'a//', 'a/../'])
        await expect(blobs.list({ prefix, limit: 1 })).rejects.toThrow(BlobKeyError);
    });

    test('is several stores in folders that are independent of each other', async () => {
      const [one, other] = [blobsIn(blobs, 'one'), blobsIn(blobs, 'other')];
      await one.put('same', pieces(Buffer.from('1'), 1));
      await other.put('same', pieces(Buffer.from('22'), 1));
      expect((await buffer(await one.get('same'))).toString()).toBe('1');
      expect((await one.stat('same')).size).toBe(1);
      expect((await other.list({ limit: 10 })).entries).toMatchObject([{ key: 'same', size: 2 }]);
      await other.delete('same');
      expect(await everything(other)).toEqual([]);
      expect((await buffer(await one.get('same'))).toString()).toBe('1');
    });

    test('releases objects that are not read, or only in part', async () => {
      const bytes = randomBytes(2 * MIB);
      await blobs.put('unread', pieces(bytes, 64 * KIB));
      for (let round = 0; round < 50; round += 1) {
        const stream = await blobs.get('unread');
        if (round % 2 === 0) for await (const _ of stream) break;
        stream.destroy();
        await new Promise((resolve) => (stream.closed ? resolve(undefined) : stream.once('close', resolve)));
      }
      expect((await buffer(await blobs.get('unread'))).equals(bytes)).toBe(true);
    });

    test('says that a disk that it needs is full, and leaves nothing there', async () => {
      const full = await store.withFree(-1);
      await expect(full.put('too-much', pieces(randomBytes(600 * KIB), 64 * KIB))).rejects.toThrow(StoreFullError);
      await expect(blobs.stat('too-much')).rejects.toThrow(BlobNotFoundError);
      expect(store.leftovers()).toEqual([]);
    });
  });
}

test('a folder and its files are their owner’s alone, and the leftovers of a killed server are removed', async () => {
  const folder = join(freshFolder(), 'objects');
  const open = () => openFolderBlobs({ folder, disk: openDisk(tmpdir(), 0) });
  await open().put('deep/down/object', pieces(Buffer.from('x'), 1));
  writeFileSync(join(folder, 'deep', 'object.1.part'), 'begun');
  open();
  const mode = (...names: string[]) => statSync(join(folder, ...names)).mode & 0o777;
  expect([mode(), mode('deep'), mode('deep', 'down'), mode('deep', 'down', 'object')]).toEqual([0o700, 0o700, 0o700, 0o600]);
  expect(readdirSync(join(folder, 'deep'))).toEqual(['down']);
});
