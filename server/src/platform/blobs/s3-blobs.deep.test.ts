import { randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { needing } from '@palisade/scanner/test/needs';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { openDisk } from '#platform/disk.ts';
import { freePort } from '#test/free-port.ts';
import { type Fault, HAS_S3_SERVER, NO_S3_SERVER, startFaults, startS3, type TestS3 } from '#test/s3.ts';
import { BlobDamagedError, StoreAwayError, StoreFullError } from './blobs.ts';
import { openStorage } from './open-storage.ts';
import { openS3Blobs } from './s3-blobs.ts';
import { signed } from './s3-wire.ts';
import { parseStorageUrl } from './storage-url.ts';

/** Longest time until a caller of the server has an answer; ms. */
const TOLD_WITHIN_MS = 5_000;
/** Patience of tests with a silent store; ms. */
const PATIENCE_MS = 1_000;

function freshFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'palisade-blobs-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

async function* once(bytes: Buffer) {
  yield bytes;
}

function openAt(url: string, patience_ms?: number) {
  const location = { ...parseStorageUrl(url, undefined), secret_key: parseStorageUrl(url, undefined).secret_key ?? '' };
  const folder = freshFolder();
  const blobs = openS3Blobs({
    location,
    folder,
    disk: openDisk(folder, 0),
    ...(patience_ms === undefined ? {} : { patience_ms }),
  });
  afterAll(() => blobs.close());
  return { blobs, folder };
}

// The examples of docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html.
describe('the signature of a call', () => {
  const account = {
    access_key: 'AKIAIOSFODNN7EXAMPLE',
    secret_key: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
    region: 'us-east-1',
  };
  const nothing = { 'x-amz-content-sha256': 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855' };
  test.each([
    [
      'GET Object',
      { method: 'GET', url: 'https://examplebucket.s3.amazonaws.com/test.txt', headers: { ...nothing, range: 'bytes=0-9' } },
      'f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41',
    ],
    [
      'PUT Object',
      {
        method: 'PUT',
        url: 'https://examplebucket.s3.amazonaws.com/test%24file.text',
        headers: {
          date: 'Fri, 24 May 2013 00:00:00 GMT',
          'x-amz-storage-class': 'REDUCED_REDUNDANCY',
          'x-amz-content-sha256': '44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072',
        },
      },
      '98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd',
    ],
    [
      'GET Bucket Lifecycle',
      { method: 'GET', url: 'https://examplebucket.s3.amazonaws.com/?lifecycle', headers: nothing },
      'fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543',
    ],
    [
      'GET Bucket (List Objects)',
      { method: 'GET', url: 'https://examplebucket.s3.amazonaws.com/?max-keys=2&prefix=J', headers: nothing },
      '34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7',
    ],
  ])('is that of AWS’s example %s', async (_, call, signature) => {
    const headers = await signed(account, { ...call, at: '20130524T000000Z', every_header: true });
    expect(headers['authorization']).toMatch(
      /^AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE\/20130524\/us-east-1\/s3\/aws4_request, SignedHeaders=/,
    );
    expect(headers['authorization']).toContain(`Signature=${signature}`);
  });
});

describe('STORAGE_URL', () => {
  test('names a bucket, an account and how to reach them', () => {
    expect(parseStorageUrl('s3://key:se%2Fcret@store.example:9000/bucket/some/folder?region=eu-west-3&tls=0', undefined)).toEqual(
      {
        origin: 'http://store.example:9000',
        bucket: 'bucket',
        folder: 'some/folder',
        region: 'eu-west-3',
        access_key: 'key',
        secret_key: 'se/cret',
        secret_file: undefined,
      },
    );
    expect(parseStorageUrl('s3://key@[::1]:443/my.bucket/', '/run/secret')).toMatchObject({
      ...{ origin: 'https://[::1]', bucket: 'my.bucket', folder: '', region: 'us-east-1' },
      ...{ secret_key: undefined, secret_file: '/run/secret' },
    });
  });

  test.each([
    ['https://key:hush@host/bucket', 'must be an address, like'],
    ['s3:key:hush@host/bucket', 'must be an address, like'],
    ['s3://host', 'must name a bucket'],
    ['s3://key:hush@host/', 'must name a bucket'],
    ['s3://key:hush@host/bu%20cket', 'must name a bucket'],
    ['s3://key:hush@host/bucket/Upper', 'must name a folder'],
    ['s3://host/bucket', 'must include a key'],
    ['s3://key@host/bucket', 'has no secret'],
    ['s3://key:100%@host/bucket', 'must use %25 for a %'],
    ['s3://key:hush@host/bucket?tls=yes', 'must have tls=1 or tls=0'],
    ['s3://key:hush@host/bucket?region=a/b', 'must have a region'],
    ['s3://key:hush@host/bucket?regoin=eu', 'allows only region and tls after the ?, not "regoin"'],
  ])('that is %s is refused with what is wrong, and without its secret', (url, said) => {
    expect(() => parseStorageUrl(url, undefined)).toThrow(said);
    expect(() => parseStorageUrl(url, undefined)).not.toThrow('hush');
  });

  test('takes its secret from one place', async () => {
    expect(() => parseStorageUrl('s3://key:secret@host/bucket', '/run/secret')).toThrow('remove one of them');
    const folder = freshFolder();
    const secret_file = join(folder, 'secret');
    const open = () =>
      openStorage({
        location: parseStorageUrl('s3://key@127.0.0.1:1/bucket?tls=0', secret_file),
        folder: join(folder, 'out'),
        disk: openDisk(folder, 0),
      });
    await expect(open()).rejects.toThrow(`We can’t read the file ${secret_file} of STORAGE_SECRET_FILE.`);
    writeFileSync(secret_file, '\n');
    await expect(open()).rejects.toThrow('is empty');
    writeFileSync(secret_file, 'secret\n');
    await expect(open()).rejects.toThrow('We can’t use the store of STORAGE_URL at 127.0.0.1:1: ECONNREFUSED.');
  });
});

test('reports an unreachable or silent store within 5 s', async () => {
  const port = await freePort();
  // Takes connections and bytes, and never answers.
  const silent = createServer((socket) => socket.on('error', () => {}).resume());
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void silent.close());
  const address = silent.address();
  const silent_port = typeof address === 'object' && address !== null ? address.port : 0;
  const tried = async (at: number, work: (blobs: ReturnType<typeof openAt>['blobs']) => Promise<unknown>) => {
    const began = performance.now();
    await expect(work(openAt(`s3://key:secret@127.0.0.1:${at}/bucket?tls=0`).blobs)).rejects.toThrow(StoreAwayError);
    return performance.now() - began;
  };
  const took = await Promise.all([
    tried(port, (blobs) => blobs.get('object')),
    tried(port, (blobs) => blobs.put('object', once(randomBytes(1_000)))),
    tried(silent_port, (blobs) => blobs.get('object')),
    tried(silent_port, (blobs) => blobs.put('object', once(randomBytes(1_000)))),
    tried(silent_port, (blobs) => blobs.delete('object')),
    tried(silent_port, (blobs) => blobs.list({ limit: 1 })),
  ]);
  for (const ms of took) expect(ms).toBeLessThan(TOLD_WITHIN_MS + 1_000);
});

if (!HAS_S3_SERVER) process.stdout.write(`skipped: faults of an S3 store: ${NO_S3_SERVER}\n`);

needing('an S3 server', HAS_S3_SERVER).describe('a store that speaks S3', () => {
  let server: TestS3;
  let way: Awaited<ReturnType<typeof startFaults>>;
  const BYTES = randomBytes(700_000);
  const opened = (patience_ms?: number) => openAt(server.url({ port: way.port, folder: 'faults' }), patience_ms);
  beforeAll(async () => {
    server = await startS3();
    way = await startFaults(server.port);
  });
  /** The first calls meet these, the later ones none. */
  const meet = (...faults: Fault[]) => way.next(() => faults.shift());

  test('reports a refused secret or a missing bucket once, at the start', async () => {
    const start = (url: string) => {
      const folder = freshFolder();
      return openStorage({ location: parseStorageUrl(url, undefined), folder, disk: openDisk(folder, 0) });
    };
    meet();
    await expect(start(server.url({ port: way.port, secret: 'wrong' }))).rejects.toThrow(
      'The store refuses the key or secret in STORAGE_URL (403 SignatureDoesNotMatch).',
    );
    expect(way.calls).toHaveLength(1);
    await expect(start(server.url({ bucket: 'another' }))).rejects.toThrow(
      'The bucket in STORAGE_URL doesn’t exist (404 NoSuchBucket).',
    );
    await expect(start(server.url().replace('us-east-1', 'eu-west-1'))).rejects.toThrow('region in STORAGE_URL');
    (await start(server.url())).close();
  });

  test.each<[string, Fault, number]>([
    ['fails', { kind: 'answer', status: 500 }, 2],
    ['asks to slow down', { kind: 'answer', status: 503, code: 'SlowDown' }, 2],
    ['got a body that was harmed on the way', { kind: 'answer', status: 400, code: 'BadDigest' }, 2],
    ['cuts a body', { kind: 'cut_body', after: 300_000 }, 2],
  ])('that %s is given the object again', async (_, fault, calls) => {
    const { blobs, folder } = opened();
    meet(fault);
    const expected = await blobs.put('again', once(BYTES));
    expect(way.calls).toEqual(Array.from({ length: calls }, () => 'PUT'));
    expect((await buffer(await blobs.get('again', { expected }))).equals(BYTES)).toBe(true);
    expect(readdirSync(folder)).toEqual([]);
  });

  test('that fails for good is away, and the object is as it was before', async () => {
    const { blobs, folder } = opened();
    meet();
    const before = await blobs.put('as-before', once(Buffer.from('before')));
    for (const fault of [
      { kind: 'answer', status: 500 },
      { kind: 'cut_body', after: 100_000 },
    ] as const) {
      way.next(() => fault);
      await expect(blobs.put('as-before', once(BYTES))).rejects.toThrow(StoreAwayError);
    }
    way.next(() => undefined);
    expect((await buffer(await blobs.get('as-before', { expected: before }))).toString()).toBe('before');
    expect(readdirSync(folder)).toEqual([]);
  });

  test('that has no room says so, and is not asked again', async () => {
    const { blobs } = opened();
    for (const fault of [
      { kind: 'answer', status: 507 },
      { kind: 'answer', status: 403, code: 'QuotaExceeded' },
    ] as const) {
      meet(fault);
      await expect(blobs.put('no-room', once(BYTES))).rejects.toThrow(StoreFullError);
      expect(way.calls).toEqual(['PUT']);
    }
  });

  test('that cuts an object is asked for the rest', async () => {
    const { blobs } = opened();
    meet();
    const expected = await blobs.put('cut', once(BYTES));
    meet({ kind: 'cut_answer', after: 200_000 }, { kind: 'cut_answer', after: 300_000 });
    expect((await buffer(await blobs.get('cut', { expected }))).equals(BYTES)).toBe(true);
    expect(way.calls).toHaveLength(3);
    expect(way.calls[2]).toMatch(/^GET bytes=\d+-699999$/);
    // One that never gives more is away.
    way.next(() => ({ kind: 'cut_answer', after: 0 }));
    await expect(blobs.get('cut', { expected }).then(buffer)).rejects.toThrow(StoreAwayError);
  });

  test('that replaces an object while it is read does not give a mixture', async () => {
    const { blobs } = opened();
    meet();
    await blobs.put('mixed', once(BYTES));
    meet({ kind: 'cut_answer', after: 200_000 });
    const stream = await blobs.get('mixed');
    way.next(() => undefined);
    await blobs.put('mixed', once(randomBytes(BYTES.length)));
    await expect(buffer(stream)).rejects.toThrow(BlobDamagedError);
  });

  test('that stops in the middle of an object is away, and a slow reader does not wait for it', async () => {
    const { blobs } = opened(PATIENCE_MS);
    meet();
    const expected = await blobs.put('slow', once(BYTES));
    meet({ kind: 'hang', after: 200_000 });
    await expect(blobs.get('slow', { expected }).then(buffer)).rejects.toThrow('didn’t answer for 1 s');
    way.next(() => undefined);
    const chunks: Buffer[] = [];
    let paused = false;
    for await (const chunk of await blobs.get('slow', { expected })) {
      chunks.push(Buffer.from(chunk));
      // Longer than the store may be silent.
      if (!paused) await new Promise((resolve) => setTimeout(resolve, 1.5 * PATIENCE_MS));
      paused = true;
    }
    expect(Buffer.concat(chunks).equals(BYTES)).toBe(true);
  });

  test('that gives other bytes than it took is found out, with the checksum that it keeps itself as well', async () => {
    const { blobs } = opened();
    meet();
    const expected = await blobs.put('flipped', once(BYTES));
    for (const how of [{ expected }, {}]) {
      meet({ kind: 'flip', at: 650_000 });
      await expect(blobs.get('flipped', how).then(buffer)).rejects.toThrow(BlobDamagedError);
    }
    expect(await blobs.stat('flipped')).toMatchObject(expected);
  });

  test('that was away is used again when it is back', async () => {
    const { blobs } = opened();
    const impatient = opened(PATIENCE_MS).blobs;
    meet();
    const expected = await blobs.put('away', once(BYTES));
    server.freeze();
    await expect(impatient.get('away')).rejects.toThrow(StoreAwayError);
    server.thaw();
    expect((await buffer(await blobs.get('away', { expected }))).equals(BYTES)).toBe(true);
    await server.stop();
    await expect(impatient.put('away', once(BYTES))).rejects.toThrow(StoreAwayError);
    await server.start();
    expect((await buffer(await blobs.get('away', { expected }))).equals(BYTES)).toBe(true);
  });

  test('may hold objects of others, which are not listed', async () => {
    const { blobs } = openAt(server.url({ folder: 'shared' }));
    const bucket = openAt(server.url({ folder: '' }).replace('/?', '?')).blobs;
    await blobs.put('mine', once(Buffer.from('x')));
    await bucket.put('shared-but-not', once(Buffer.from('x')));
    expect((await blobs.list({ limit: 100 })).entries.map(({ key }) => key)).toEqual(['mine']);
    expect((await bucket.list({ prefix: 'shared', limit: 100 })).entries.map(({ key }) => key)).toEqual([
      'shared-but-not',
      'shared/mine',
    ]);
  });
});
