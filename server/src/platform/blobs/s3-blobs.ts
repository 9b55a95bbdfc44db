import { createHash } from 'node:crypto';
import { createReadStream, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { type FileHandle, open, rm } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import type { Disk } from '#platform/disk.ts';
import { newId } from '#platform/id.ts';
import { isStorageError } from '#platform/storage-problem.ts';
import {
  BlobDamagedError,
  type BlobEntry,
  type BlobFacts,
  type BlobStat,
  type Blobs,
  type ByteRange,
  counted,
  isKey,
  proved,
  rangeIn,
  requireKey,
  requirePrefix,
  StoreAwayError,
  StoreFullError,
  streamOf,
} from './blobs.ts';
import { createS3Wire, drain, type S3Body, type S3Wire } from './s3-wire.ts';
import type { S3Location } from './storage-url.ts';

/** A call ends after this many ms without progress: callers of this server get an answer within 5 s. */
const PATIENCE_MS = 4_000;
/** Smaller objects are held in memory until they are sent; larger ones go through a file, because S3 requires size and checksums before the first byte. */
const HELD_BYTES = 256 * 1024;
const LOOK_EVERY_BYTES = 1024 ** 2;
const LIST_BYTES_MAXIMUM = 8 * 1024 ** 2;
/** Number of times a cut download resumes without having received another byte. */
const RESUMED_MOST = 3;
const SHA256_HEADER = 'x-amz-meta-sha256';

function sizeOf(response: IncomingMessage): number {
  const size = Number(response.headers['content-length'] ?? Number.NaN);
  if (Number.isSafeInteger(size)) return size;
  response.destroy();
  throw new StoreAwayError('The store’s answer has no length.');
}

function checksumOf({ headers }: IncomingMessage): string | undefined {
  const sha256 = headers[SHA256_HEADER];
  return typeof sha256 === 'string' && /^[0-9a-f]{64}$/.test(sha256) ? sha256 : undefined;
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/** Text of an XML element (www.w3.org/TR/xml section 4.6). Invalid character references stay as they are. */
function textOf(xml: string, name: string): string {
  const begin = xml.indexOf(`<${name}>`);
  const end = xml.indexOf(`</${name}>`, begin);
  if (begin === -1 || end === -1) return '';
  return xml
    .slice(begin + name.length + 2, end)
    .replaceAll(/&(#x[0-9a-f]{1,6}|#\d{1,7}|[a-z]{2,4});/gi, (all, entity: string) => {
      if (!entity.startsWith('#')) return ENTITIES[entity] ?? all;
      const code = entity[1] === 'x' ? Number.parseInt(entity.slice(2), 16) : Number(entity.slice(1));
      return code <= 0x10ffff ? String.fromCodePoint(code) : all;
    });
}

/** A page of ListObjectsV2. */
function parseList(xml: string): { entries: BlobEntry[]; is_truncated: boolean } {
  const contents = xml.split('<Contents>').slice(1);
  const entries = contents.map((content) => ({
    key: textOf(content, 'Key'),
    size: Number(textOf(content, 'Size')),
    modified_at: textOf(content, 'LastModified'),
  }));
  return { entries, is_truncated: textOf(xml, 'IsTruncated') === 'true' };
}

interface S3BlobsOptions {
  location: S3Location & { secret_key: string };
  folder: string;
  disk: Disk;
  patience_ms?: number;
}

/** A bucket, or a folder in one. `folder` holds bodies of more than 256 KiB while they are sent; it must hold no other files. @throws when that folder cannot be created. */
export class S3Blobs implements Blobs {
  private readonly folder: string;
  private readonly disk: Disk;
  private readonly wire: S3Wire;
  private readonly beginning: string;

  constructor(options: S3BlobsOptions) {
    this.folder = options.folder;
    this.disk = options.disk;
    const { patience_ms = PATIENCE_MS } = options;
    mkdirSync(this.folder, { recursive: true, mode: 0o700 });
    // Unsent files of a killed server.
    for (const name of readdirSync(this.folder)) rmSync(join(this.folder, name), { force: true });
    this.wire = createS3Wire({
      origin: options.location.origin,
      bucket: options.location.bucket,
      account: options.location,
      patience_ms,
    });
    this.beginning = options.location.folder === '' ? '' : `${options.location.folder}/`;
  }

  private within(key: string) {
    requireKey(key);
    return this.beginning + key;
  }

  /** Collects a whole stream, in memory or in a file, so that it can be sent more than once. */
  private async collect<T>(
    bytes: AsyncIterable<Uint8Array>,
    known: { size: number } | undefined,
    use: (body: S3Body) => Promise<T>,
  ): Promise<T> {
    const path = join(this.folder, newId());
    const md5 = createHash('md5');
    const held: Uint8Array[] = [];
    const facts: BlobFacts[] = [];
    let held_bytes = 0;
    let since_look = 0;
    let file: FileHandle | undefined;
    try {
      try {
        for await (const chunk of counted(bytes, known, (all) => facts.push(all))) {
          md5.update(chunk);
          since_look += chunk.length;
          if (file === undefined && held_bytes + chunk.length <= HELD_BYTES) {
            held.push(chunk);
            held_bytes += chunk.length;
            continue;
          }
          if (file === undefined || since_look >= LOOK_EVERY_BYTES) {
            this.disk.require(file === undefined ? (known?.size ?? 0) : 0);
            since_look = 0;
          }
          if (file === undefined) {
            file = await open(path, 'wx', 0o600);
            for (const earlier of held.splice(0)) await file.writeFile(earlier);
          }
          await file.writeFile(chunk);
        }
      } catch (error) {
        throw isStorageError(error)
          ? new StoreFullError('The disk is too full to send this to the store.', { cause: error })
          : error;
      }
      const [all] = facts;
      if (all === undefined) throw new Error('The stream ended early.');
      const is_held = file === undefined;
      async function* again() {
        if (is_held) yield* held;
        else yield* createReadStream(path, { highWaterMark: HELD_BYTES });
      }
      return await use({ ...all, md5: md5.digest('base64'), open: again });
    } finally {
      await file?.close();
      if (file !== undefined) await rm(path, { force: true });
    }
  }

  /** Bytes `start` to `end` of an object, resumed after a cut connection. */
  private async *download(
    key: string,
    first: IncomingMessage,
    range: { start: number; end: number },
    onResponse: (response: IncomingMessage) => void,
  ): AsyncGenerator<Uint8Array> {
    const { etag } = first.headers;
    let at = range.start;
    let response = first;
    for (let failed = 0; ; ) {
      try {
        const chunks: AsyncIterator<Uint8Array> = response[Symbol.asyncIterator]();
        for (;;) {
          const next = await this.wire.soon(chunks.next(), response);
          if (next.done === true) break;
          at += next.value.length;
          failed = 0;
          if (at > range.end + 1) throw new BlobDamagedError(`The store sent more of the object ${key} than requested.`);
          yield next.value;
        }
        if (at === range.end + 1) return;
      } catch (error) {
        // A store that hung once is not asked again.
        if (error instanceof BlobDamagedError || error instanceof StoreAwayError) throw error;
        if (failed >= RESUMED_MOST) throw new StoreAwayError(`The store sent only part of the object ${key}.`, { cause: error });
      }
      response.destroy();
      failed += 1;
      if (failed > RESUMED_MOST) throw new StoreAwayError(`The store sent only part of the object ${key}.`);
      response = await this.wire.call({
        method: 'GET',
        key,
        headers: { range: `bytes=${at}-${range.end}`, ...(etag === undefined ? {} : { 'if-match': etag }) },
      });
      onResponse(response);
      if (response.statusCode !== 206) throw new StoreAwayError('The store can’t send part of an object.');
    }
  }

  private async statOf(place: string) {
    const response = await this.wire.call({ method: 'HEAD', key: place });
    drain(response);
    const { 'last-modified': modified } = response.headers;
    return { size: sizeOf(response), sha256: checksumOf(response), modified_at: new Date(modified ?? 0).toISOString() };
  }

  /** Stores a whole stream atomically, replacing an existing object. `size` in bytes, if known: a stream of another length is refused. @throws StoreFullError, or the stream's error. */
  async put(key: string, bytes: AsyncIterable<Uint8Array>, known?: { size: number }): Promise<BlobFacts> {
    const place = this.within(key);
    return await this.collect(bytes, known, async (body) => {
      const headers = { 'content-type': 'application/octet-stream', [SHA256_HEADER]: body.sha256 };
      drain(await this.wire.call({ method: 'PUT', key: place, headers, body }));
      return { size: body.size, sha256: body.sha256 };
    });
  }

  /**
   * The bytes of an object. When a whole object is read to its end, its checksum is verified; the stream fails with BlobDamagedError if it differs. `expected` is the result
   * of `put`; without it the store's own checksum is compared, if there is one. @throws BlobNotFoundError, BlobDamagedError for another size than `expected`, RangeError for
   * a range that begins after the end.
   */
  async get(key: string, { range, expected }: { range?: ByteRange; expected?: BlobFacts | undefined } = {}): Promise<Readable> {
    const place = this.within(key);
    if (range !== undefined && range.end !== undefined && range.end < range.start)
      throw new RangeError(`A range can’t end at ${range.end} and start at ${range.start}.`);
    const headers = range === undefined ? {} : { range: `bytes=${range.start}-${range.end ?? ''}` };
    let response = await this.wire.call({ method: 'GET', key: place, headers }).catch(async (error: unknown) => {
      // Stores refuse a range after the end in different ways.
      if (range !== undefined && error instanceof StoreAwayError) rangeIn((await this.statOf(place)).size, range);
      throw error;
    });
    const sent = sizeOf(response);
    const [, from = '0', whole = String(sent)] = /^bytes (\d+)-\d+\/(\d+)$/.exec(response.headers['content-range'] ?? '') ?? [];
    const size = Number(whole);
    if (expected !== undefined && size !== expected.size) {
      response.destroy();
      throw new BlobDamagedError(`The object ${key} has changed: it has ${size} bytes, not ${expected.size}.`);
    }
    if (range !== undefined && (response.statusCode !== 206 || Number(from) !== range.start)) {
      response.destroy();
      rangeIn(size, range);
      throw new StoreAwayError('The store can’t send part of an object.');
    }
    const start = range?.start ?? 0;
    const bytes = this.download(place, response, { start, end: start + sent - 1 }, (next) => {
      response = next;
    });
    const sha256 = range === undefined ? (expected?.sha256 ?? checksumOf(response)) : undefined;
    return streamOf(proved(key, bytes, sha256), () => response.destroy());
  }

  /** @throws BlobNotFoundError */
  async stat(key: string): Promise<BlobStat> {
    return await this.statOf(this.within(key));
  }

  /** Deleting a missing object succeeds. */
  async delete(key: string): Promise<void> {
    try {
      drain(await this.wire.call({ method: 'DELETE', key: this.within(key) }));
    } catch (error) {
      if (!(error instanceof Error && error.name === 'BlobNotFoundError')) throw error;
    }
  }

  /** Objects whose keys begin with `prefix`, ordered by key, at most `limit` (1 to 1,000). `next` is the `after` of the next page, and set if there may be one. */
  async list({
    prefix = '',
    after,
    limit,
  }: {
    prefix?: string;
    after?: string | undefined;
    limit: number;
  }): Promise<{ entries: BlobEntry[]; next: string | undefined }> {
    requirePrefix(prefix);
    const response = await this.wire.call({
      method: 'GET',
      query: {
        'list-type': '2',
        prefix: this.beginning + prefix,
        'max-keys': String(limit),
        ...(after === undefined ? {} : { 'start-after': this.beginning + after }),
      },
    });
    const { entries, is_truncated } = parseList(await this.wire.soon(wholeText(response), response));
    const mine = entries.map((entry) => ({ ...entry, key: entry.key.slice(this.beginning.length) }));
    // Skip objects that other programs put into the bucket under invalid keys.
    return { entries: mine.filter(({ key }) => isKey(key)), next: is_truncated ? mine.at(-1)?.key : undefined };
  }

  /** Sends one request to the store. @throws StoreAwayError that says what is wrong with STORAGE_URL, or that the store does not answer. */
  async check(): Promise<void> {
    await this.list({ limit: 1 });
  }

  close(): void {
    this.wire.close();
  }
}

export function openS3Blobs(options: S3BlobsOptions): S3Blobs {
  return new S3Blobs(options);
}

async function wholeText(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response) {
    const bytes = Buffer.from(chunk);
    size += bytes.length;
    if (size > LIST_BYTES_MAXIMUM) throw new StoreAwayError('The store’s list is too long.');
    chunks.push(bytes);
  }
  return Buffer.concat(chunks).toString('utf8');
}
