import { createHash } from 'node:crypto';
import { EventEmitter } from 'node:events';
import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Busboy, type BusboyInstance } from '@fastify/busboy';
import { refuse, refuseField } from './platform.refusals.ts';
import { Problem } from './problem.ts';
import { sentName } from './sent-name.ts';
import { storageProblem } from './storage-problem.ts';

/** A stored file: its size in bytes, SHA-256 in hex, and its bytes if they are in memory and not at `path`. */
interface Stored {
  size: number;
  sha256: string;
  bytes: Buffer | undefined;
}

/** A received file, with its name as sent (untrusted). */
export interface Upload extends Stored {
  filename: string;
}

interface UploadOptions {
  /** The multipart field of the file. */
  field: string;
  /** The path for the bytes; must not exist. Removed if the upload fails in any way. */
  path: string;
  /** A file of at most this many bytes stays in memory instead. */
  memory_bytes: number;
  /** Bytes. */
  maximum: number;
  /** An upload of which no byte arrives for this long is dropped, in ms. */
  stall_ms: number;
  /** Fewer bytes than this in any `window_ms` also drop the upload. */
  slow: { window_ms: number; bytes: number };
  /** An upload that is incomplete after this many ms is also dropped. */
  total_ms: number;
  /** Reserves this many more bytes before they are written. Its exception refuses the upload. */
  take: (bytes: number) => void;
  /** Its abort reason becomes the refusal of the upload. */
  signal: AbortSignal;
}

/** The part of a request that an upload is read from. `complete`: the whole body has arrived. */
interface UploadRequest {
  raw: Readable & { complete: boolean };
  headers: IncomingHttpHeaders;
}

const WRITE_BUFFER_BYTES = 256 * 1024;
const OTHER_FIELDS_MAXIMUM = 20;
const OTHER_FIELD_BYTES_MAXIMUM = 64 * 1024;

/** Stores a small stream in memory and a larger one in a file, and hashes it. Memory use does not depend on the size. */
async function store(stream: Readable, options: UploadOptions): Promise<Stored> {
  const hash = createHash('sha256');
  let size = 0;
  async function* hashed(chunks: AsyncIterable<Buffer>) {
    for await (const chunk of chunks) {
      size += chunk.length;
      if (size > options.maximum) throw refuse('upload.too_large', { maximum: options.maximum });
      options.take(chunk.length);
      hash.update(chunk);
      yield chunk;
    }
  }
  const arriving = hashed(stream);
  const held: Buffer[] = [];
  while (size <= options.memory_bytes) {
    const chunk = await arriving.next();
    if (chunk.done) return { size, sha256: hash.digest('hex'), bytes: Buffer.concat(held) };
    held.push(chunk.value);
  }
  async function* all() {
    yield* held.splice(0);
    yield* arriving;
  }
  try {
    await pipeline(all, createWriteStream(options.path, { flags: 'wx', mode: 0o600, highWaterMark: WRITE_BUFFER_BYTES }));
  } catch (error) {
    throw storageProblem(error);
  }
  return { size, sha256: hash.digest('hex'), bytes: undefined };
}

function createParser(request: UploadRequest): BusboyInstance {
  try {
    return new Busboy({
      headers: { ...request.headers, 'content-type': request.headers['content-type'] ?? '' },
      limits: { fields: OTHER_FIELDS_MAXIMUM, fieldSize: OTHER_FIELD_BYTES_MAXIMUM, parts: OTHER_FIELDS_MAXIMUM + 2 },
    });
  } catch (error) {
    throw refuse('upload.no_boundary', {}, { cause: error });
  }
}

/**
 * Receives the one file of a multipart request into `options.path`. On any error the rest of the request is drained, so that the client can read the answer, and no part of
 * the file remains. @throws Problem `invalid_field` (no file, two files, or the wrong field), `too_large`, `malformed` (cut off, or not multipart), `upload_stalled`,
 * `storage_full`, what `take` throws, or the signal's reason.
 */
export async function receiveUpload(request: UploadRequest, options: UploadOptions): Promise<Upload> {
  const body = request.raw;
  const parser = createParser(request);
  const parsed = Promise.withResolvers<void>();
  let writing: Promise<Stored> | undefined;
  let file: Readable | undefined;
  let filename = '';
  let disposition = '';

  const cutOff = () => refuse('upload.interrupted');
  // The raw headers of a part: the parser itself treats backslashes as escapes.
  const parts: unknown = Reflect.get(Object(Reflect.get(parser, '_parser')), 'parser');
  if (parts instanceof EventEmitter)
    parts.prependListener('part', (part: EventEmitter) => {
      part.prependListener('header', (header: Record<string, string[]>) => {
        disposition = Buffer.from(header['content-disposition']?.[0] ?? '', 'latin1').toString();
      });
    });
  parser.on('file', (field, stream, name) => {
    if (field !== options.field || writing) {
      const refusal = writing
        ? refuseField(options.field, 'upload.several_files')
        : refuseField(options.field, 'upload.other_field', { field: options.field });
      parsed.reject(refusal);
      stream.on('error', () => {});
      stream.resume();
      return;
    }
    filename = sentName(disposition) ?? name ?? '';
    file = stream;
    writing = store(stream, options);
    writing.catch(parsed.reject);
  });
  parser.once('finish', parsed.resolve);
  parser.once('error', () => parsed.reject(cutOff()));
  body.once('error', () => parsed.reject(cutOff()));
  body.once('close', () => {
    if (!body.complete) parsed.reject(cutOff());
  });

  const stall = setTimeout(() => parsed.reject(new Problem('upload_stalled')), options.stall_ms);
  const total = setTimeout(() => parsed.reject(refuse('upload.too_long')), options.total_ms);
  let arrived = 0;
  body.on('data', (chunk: Buffer) => {
    arrived += chunk.length;
    stall.refresh();
  });
  const slow = setInterval(() => {
    if (arrived < options.slow.bytes) parsed.reject(refuse('upload.too_slow'));
    arrived = 0;
  }, options.slow.window_ms);
  const abort = () => parsed.reject(options.signal.reason);
  options.signal.addEventListener('abort', abort, { once: true });
  body.pipe(parser);
  try {
    await parsed.promise;
    if (writing === undefined) throw refuseField(options.field, 'upload.no_file', { field: options.field });
    return { filename, ...(await writing) };
  } catch (error) {
    body.unpipe(parser);
    body.resume();
    file?.destroy(error instanceof Error ? error : undefined);
    await writing?.catch(() => {});
    await rm(options.path, { force: true });
    throw error;
  } finally {
    clearTimeout(stall);
    clearTimeout(total);
    clearInterval(slow);
    options.signal.removeEventListener('abort', abort);
  }
}
