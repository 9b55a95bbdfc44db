// Measures 100 MB into a store and out again, each in its own process: a folder, a bucket (OpenStack Swift on loopback), and a bare fetch to the same bucket. Time and memory growth.
// No bar. Keeps results/blobs.json. Needs the package python3-swift.
import { execFileSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { createReadStream, mkdirSync, mkdtempSync, openAsBlob, rmSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { z } from 'zod';
import { describeMachine, median, RESULTS, ROOT } from './server.ts';

const MB = 1_000_000;
const SIZE = 100 * MB;
const ROUNDS = 5;
const KEY = 'hundred';

interface Store {
  put(path: string): Promise<unknown>;
  get(): Promise<AsyncIterable<Uint8Array>>;
}
const figuresSchema = z.object({ put_ms: z.number(), get_ms: z.number(), rss_growth_mb: z.number() });

const isFunction = (value: unknown): value is (...args: never[]) => unknown => typeof value === 'function';

/** Of the server's source, as it runs it. */
async function loadFrom<T>(file: string, name: string): Promise<T> {
  const loaded = z.record(z.string(), z.unknown()).parse({ ...(await import(pathToFileURL(join(ROOT, file)).href)) });
  return z.custom<T>(isFunction).parse(loaded[name]);
}

interface OurStore {
  put(key: string, bytes: AsyncIterable<Uint8Array>, known: { size: number }): Promise<unknown>;
  get(key: string): Promise<AsyncIterable<Uint8Array>>;
}

function asStore(blobs: OurStore): Store {
  return {
    put: (path) => blobs.put(KEY, createReadStream(path, { highWaterMark: 256 * 1024 }), { size: SIZE }),
    get: () => blobs.get(KEY),
  };
}

async function openStore(kind: string, folder: string, url: string): Promise<Store> {
  const disk = { fits: () => true, require: () => {} };
  if (kind === 'folder') {
    type Open = (parts: { folder: string; disk: typeof disk }) => OurStore;
    return asStore(
      (await loadFrom<Open>('server/src/platform/blobs/folder-blobs.ts', 'openFolderBlobs'))({
        folder: join(folder, 'objects'),
        disk,
      }),
    );
  }
  type Location = { origin: string; bucket: string; region: string; access_key: string; secret_key: string };
  const location = (
    await loadFrom<(url: string, file: undefined) => Location>('server/src/platform/blobs/storage-url.ts', 'parseStorageUrl')
  )(url, undefined);
  if (kind === 's3') {
    type Open = (parts: { location: Location; folder: string; disk: typeof disk }) => OurStore;
    return asStore(
      (await loadFrom<Open>('server/src/platform/blobs/s3-blobs.ts', 'openS3Blobs'))({
        location,
        folder: join(folder, 'outgoing'),
        disk,
      }),
    );
  }
  type Sign = (
    account: Location,
    call: { method: string; url: string; headers: Record<string, string> },
  ) => Promise<Record<string, string>>;
  const sign = await loadFrom<Sign>('server/src/platform/blobs/s3-wire.ts', 'signed');
  const address = `${location.origin}/${location.bucket}/${KEY}-by-fetch`;
  return {
    async put(path) {
      const headers = await sign(location, {
        method: 'PUT',
        url: address,
        headers: { 'x-amz-content-sha256': 'UNSIGNED-PAYLOAD' },
      });
      const answer = await fetch(address, { method: 'PUT', headers, body: await openAsBlob(path) });
      if (!answer.ok) throw new Error(`the store answers ${answer.status}`);
    },
    async get() {
      const headers = await sign(location, { method: 'GET', url: address, headers: {} });
      const { body } = await fetch(address, { headers });
      if (body === null) throw new Error('the store answers without a body');
      return body;
    },
  };
}

/** In a process of its own, so that what it takes of memory is its own. */
async function measure(kind: string, folder: string, url: string, path: string): Promise<void> {
  const store = await openStore(kind, folder, url);
  const before = process.memoryUsage.rss();
  const times: { put_ms: number; get_ms: number }[] = [];
  const hashes = new Set<string>();
  for (let round = 0; round < ROUNDS; round += 1) {
    let began = performance.now();
    await store.put(path);
    const put_ms = performance.now() - began;
    began = performance.now();
    const hash = createHash('sha256');
    for await (const chunk of await store.get()) hash.update(chunk);
    hashes.add(hash.digest('hex'));
    times.push({ put_ms, get_ms: performance.now() - began });
  }
  const whole = createHash('sha256');
  for await (const chunk of createReadStream(path)) whole.update(chunk);
  if (hashes.size !== 1 || !hashes.has(whole.digest('hex'))) throw new Error(`${kind} gave other bytes back`);
  const figures: z.infer<typeof figuresSchema> = {
    put_ms: median(times.map((time) => time.put_ms)),
    get_ms: median(times.map((time) => time.get_ms)),
    rss_growth_mb: process.resourceUsage().maxRSS / 1_000 - before / MB,
  };
  process.stdout.write(JSON.stringify(figures));
  process.exit(0);
}

const [mode, ...given] = process.argv.slice(2);
if (mode !== undefined) {
  const [folder = '', url = '', path = ''] = given;
  await measure(mode, folder, url, path);
}

type Start = () => Promise<{ url: string; stop: () => Promise<void> } | { skipped: string }>;
const startS3 = await loadFrom<Start>('scripts/s3.mjs', 'startS3');
const [load_before = 0] = loadavg();
const store = await startS3();
if ('skipped' in store) throw new Error(store.skipped);
const folder = mkdtempSync(join(tmpdir(), 'palisade-bench-'));
try {
  const path = join(folder, 'file');
  writeFileSync(path, randomBytes(SIZE));
  const run = (kind: string) =>
    figuresSchema.parse(
      JSON.parse(
        execFileSync(process.execPath, [fileURLToPath(import.meta.url), kind, folder, store.url, path], { encoding: 'utf8' }),
      ),
    );
  const results = { folder: run('folder'), s3: run('s3'), fetch: run('fetch') };
  const ratios = {
    put_s3_to_fetch: results.s3.put_ms / results.fetch.put_ms,
    get_s3_to_fetch: results.s3.get_ms / results.fetch.get_ms,
    put_s3_to_folder: results.s3.put_ms / results.folder.put_ms,
    get_s3_to_folder: results.s3.get_ms / results.folder.get_ms,
  };
  mkdirSync(RESULTS, { recursive: true });
  const kept = {
    what: `100 MB into a store and out again, medians of ${ROUNDS}; the peer is a bare fetch that signs no body`,
    at: new Date().toISOString(),
    machine: { ...describeMachine(), load_before },
    results: { ...results, ratios },
  };
  writeFileSync(join(RESULTS, 'blobs.json'), `${JSON.stringify(kept, null, 2)}\n`);
  console.table(results);
  console.table(ratios);
} finally {
  await store.stop();
  rmSync(folder, { recursive: true, force: true });
}
