import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';

/** Facts about stored bytes: size, and SHA-256 in hex. A caller that keeps them can verify later that the store returns the same bytes. */
export interface BlobFacts {
  size: number;
  sha256: string;
}

/** A store's facts about an object. `sha256` is undefined if the store keeps none. */
export interface BlobStat {
  size: number;
  sha256: string | undefined;
  /** ISO, by the clock of the store. */
  modified_at: string;
}

export interface BlobEntry {
  key: string;
  /** Bytes. */
  size: number;
  /** ISO, by the clock of the store. */
  modified_at: string;
}

/** The bytes from `start` to `end`, both zero-based and inclusive; without `end`, to the last byte. */
export interface ByteRange {
  start: number;
  end?: number;
}

/**
 * A store of byte streams under keys. A key is one or more names separated by `/`; a name has lower-case letters, digits, `-` and `_`, and begins with a letter or digit.
 * Every call throws BlobKeyError for any other key, and StoreAwayError when the store does not answer in time or refuses this server.
 */
export interface Blobs {
  /** Stores a whole stream atomically, replacing an existing object. `size` in bytes, if known: a stream of another length is refused. @throws StoreFullError, or the stream's error. */
  put(key: string, bytes: AsyncIterable<Uint8Array>, known?: { size: number }): Promise<BlobFacts>;
  /**
   * The bytes of an object. When a whole object is read to its end, its checksum is verified; the stream fails with BlobDamagedError if it differs. `expected` is the result
   * of `put`; without it the store's own checksum is compared, if there is one. @throws BlobNotFoundError, BlobDamagedError for another size than `expected`, RangeError for
   * a range that begins after the end.
   */
  get(key: string, how?: { range?: ByteRange; expected?: BlobFacts | undefined }): Promise<Readable>;
  /** @throws BlobNotFoundError */
  stat(key: string): Promise<BlobStat>;
  /** Deleting a missing object succeeds. */
  delete(key: string): Promise<void>;
  /** Objects whose keys begin with `prefix`, ordered by key, at most `limit` (1 to 1,000). `next` is the `after` of the next page, and set if there may be one. */
  list(page: {
    prefix?: string;
    after?: string | undefined;
    limit: number;
  }): Promise<{ entries: BlobEntry[]; next: string | undefined }>;
}

export class BlobKeyError extends Error {
  override name = 'BlobKeyError';
}

export class BlobNotFoundError extends Error {
  override name = 'BlobNotFoundError';

  constructor(key: string) {
    super(`The store has no object ${key}.`);
  }
}

/** The bytes differ from the stored ones. */
export class BlobDamagedError extends Error {
  override name = 'BlobDamagedError';
}

/** The store does not answer, or refuses this server. `message` is a sentence for the log. */
export class StoreAwayError extends Error {
  override name = 'StoreAwayError';
}

/** Has the file system's error code, so that code for file-system errors handles this too. */
export class StoreFullError extends Error {
  override name = 'StoreFullError';
  readonly code = 'ENOSPC';
}

const NAME = '[a-z0-9][a-z0-9_-]{0,127}';
const KEY = new RegExp(`^${NAME}(?:/${NAME}){0,7}$`);
/** A valid key prefix: complete names, then the beginning of a name. */
const PREFIX = new RegExp(`^(?:${NAME}/){0,7}(?:${NAME})?$`);

export function isKey(key: string): boolean {
  return KEY.test(key);
}

/** @throws BlobKeyError */
export function requireKey(key: string): void {
  if (!isKey(key)) throw new BlobKeyError(`${JSON.stringify(key.slice(0, 200))} isn’t an object key.`);
}

/** @throws BlobKeyError */
export function requirePrefix(prefix: string): void {
  if (!PREFIX.test(prefix)) throw new BlobKeyError(`No key starts with ${JSON.stringify(prefix.slice(0, 200))}.`);
}

/** The objects of `blobs` under `folder/`, as a separate store. */
export function blobsIn(blobs: Blobs, folder: string): Blobs {
  requireKey(folder);
  const within = (key: string) => {
    requireKey(key);
    return `${folder}/${key}`;
  };
  return {
    put: async (key, bytes, known) => await blobs.put(within(key), bytes, known),
    get: async (key, how) => await blobs.get(within(key), how),
    stat: async (key) => await blobs.stat(within(key)),
    delete: async (key) => await blobs.delete(within(key)),
    async list({ prefix = '', ...page }) {
      requirePrefix(prefix);
      const { entries, next } = await blobs.list({ ...page, prefix: `${folder}/${prefix}` });
      return { entries: entries.map((entry) => ({ ...entry, key: entry.key.slice(folder.length + 1) })), next };
    },
  };
}

/** Every object that `list` returns, page by page. */
export async function* allBlobs(blobs: Pick<Blobs, 'list'>, prefix = ''): AsyncGenerator<BlobEntry> {
  let after: string | undefined;
  do {
    const page = await blobs.list({ prefix, after, limit: 1_000 });
    yield* page.entries;
    after = page.next;
  } while (after !== undefined);
}

/** Passes a stream through, counting and hashing its bytes. */
export async function* counted(
  bytes: AsyncIterable<Uint8Array>,
  known: { size: number } | undefined,
  onEnd: (facts: BlobFacts) => void,
): AsyncGenerator<Uint8Array> {
  const hash = createHash('sha256');
  let size = 0;
  for await (const chunk of bytes) {
    size += chunk.length;
    if (known !== undefined && size > known.size) break;
    hash.update(chunk);
    yield chunk;
  }
  if (known !== undefined && size !== known.size)
    throw new Error(`The stream should have ${known.size} bytes but has ${size > known.size ? 'more' : `only ${size}`}.`);
  onEnd({ size, sha256: hash.digest('hex') });
}

/** Passes the bytes of a whole object through. @throws BlobDamagedError at their end if they differ from the stored ones. */
export async function* proved(
  key: string,
  bytes: AsyncIterable<Uint8Array>,
  sha256: string | undefined,
): AsyncGenerator<Uint8Array> {
  const hash = createHash('sha256');
  for await (const chunk of bytes) {
    if (sha256 !== undefined) hash.update(chunk);
    yield chunk;
  }
  if (sha256 !== undefined && hash.digest('hex') !== sha256)
    throw new BlobDamagedError(`The object ${key} has changed: its SHA-256 differs.`);
}

/** A stream of `bytes`. The generator of an unread stream neither starts nor ends, so `dispose` is called in any case. */
export function streamOf(bytes: AsyncIterable<Uint8Array>, dispose: () => void): Readable {
  return Readable.from(bytes, { objectMode: false }).once('close', dispose);
}

/** The bytes of a range in an object of `size` bytes. @throws RangeError when it begins after the end. */
export function rangeIn(size: number, range: ByteRange | undefined): { start: number; end: number } {
  const { start = 0, end = size - 1 } = range ?? {};
  if (range !== undefined && (start >= size || end < start || start < 0))
    throw new RangeError(`The object has ${size} bytes, so ${start} to ${end} is out of range.`);
  return { start, end: Math.min(end, size - 1) };
}
