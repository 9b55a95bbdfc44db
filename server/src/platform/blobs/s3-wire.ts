import { once } from 'node:events';
import http, { type ClientRequest, type IncomingMessage } from 'node:http';
import https from 'node:https';
import { BlobDamagedError, BlobNotFoundError, StoreAwayError, StoreFullError } from './blobs.ts';

/** A body that can be sent more than once. */
export interface S3Body {
  size: number;
  /** Hex. */
  sha256: string;
  /** Base64. */
  md5: string;
  open(): AsyncIterable<Uint8Array>;
}

interface S3Call {
  method: 'GET' | 'HEAD' | 'PUT' | 'DELETE';
  /** Undefined: the bucket itself. */
  key?: string;
  query?: Readonly<Record<string, string>>;
  headers?: Readonly<Record<string, string>>;
  body?: S3Body;
}

export interface S3Wire {
  /**
   * Sends a call and retries it while that may help: all calls are idempotent. The caller reads the body of the answer or calls `drain`. @throws StoreAwayError,
   * StoreFullError, BlobNotFoundError
   */
  call(call: S3Call): Promise<IncomingMessage>;
  /** Waits for `coming` as long as a silent store may take. Otherwise destroys `of`. @throws StoreAwayError */
  soon<T>(coming: Promise<T>, of: { destroy(): unknown }, more_ms?: number): Promise<T>;
  close(): void;
}

interface Account {
  region: string;
  access_key: string;
  secret_key: string;
}

/** SHA-256 of the empty body. */
const EMPTY_SHA256 = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';
/** Waits before the second and later tries, in ms. */
const PAUSES_MS = [100, 300, 900];
const ERROR_BYTES_MAXIMUM = 16 * 1024;
/** Additional time for the store to answer, in ms per MiB of the body. */
const PER_MIB_MS = 20;
const MIB = 1024 ** 2;

/** Error codes of a store without free space. */
const FULL = new Set([
  'QuotaExceeded',
  'InsufficientStorage',
  'XMinioStorageFull',
  'ServiceQuotaExceededException',
  'EntityTooLarge',
]);
/** Error codes of a body that was damaged in transit. */
const HARMED = new Set(['BadDigest', 'IncompleteBody', 'XAmzContentSHA256Mismatch', 'RequestTimeout', 'InvalidDigest']);

/** Headers of a call, signed with AWS Signature Version 4 (docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html). `at` is ISO 8601 in its basic format. */
export async function signed(
  account: Account,
  call: { method: string; url: string; headers: Readonly<Record<string, string>>; at?: string; every_header?: boolean },
): Promise<Record<string, string>> {
  // Loaded only if a store is configured.
  const { AwsV4Signer } = await import('aws4fetch');
  const signer = new AwsV4Signer({
    method: call.method,
    url: call.url,
    headers: { ...call.headers },
    accessKeyId: account.access_key,
    secretAccessKey: account.secret_key,
    region: account.region,
    service: 's3',
    ...(call.at === undefined ? {} : { datetime: call.at }),
    ...(call.every_header === undefined ? {} : { allHeaders: call.every_header }),
  });
  return Object.fromEntries((await signer.sign()).headers);
}

/** Reads the rest of an answer, so that its connection can serve another call. */
export function drain(response: IncomingMessage): void {
  response.on('error', () => {}).resume();
}

function codeOf(text: string): string {
  return /<Code>([A-Za-z0-9.]{1,64})<\/Code>/.exec(text)?.[1] ?? '';
}

function reasonOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : error instanceof Error ? error.message : String(error);
}

/** A failure after which the same call may succeed. */
class PassingError extends Error {}

/** Whether an error needs no translation for the caller. */
function isFinal(error: unknown): boolean {
  return [StoreAwayError, StoreFullError, BlobNotFoundError, BlobDamagedError].some((type) => error instanceof type);
}

/** Whether a retry may help: a network error, or a busy store. */
function isPassing(error: unknown): boolean {
  if (error instanceof PassingError) return true;
  return error instanceof Error && 'code' in error && /^(E[A-Z_]+|ERR_STREAM_\w+|HPE_\w+)$/.test(String(error.code));
}

/** The error for an unsuccessful answer. */
function failureOf(call: S3Call, status: number, code: string): Error {
  const said = code === '' ? String(status) : `${status} ${code}`;
  if (status === 507 || FULL.has(code)) return new StoreFullError(`The store is full (${said}).`);
  if (code === 'NoSuchBucket') return new StoreAwayError(`The bucket in STORAGE_URL doesn’t exist (${said}).`);
  if (status === 412) return new BlobDamagedError(`The object ${call.key ?? ''} was replaced while we read it.`);
  if (status === 404) return new BlobNotFoundError(call.key ?? 'there');
  if (status === 429 || status >= 500 || HARMED.has(code)) return new PassingError(`it answers ${said}`);
  if (code === 'RequestTimeTooSkewed')
    return new StoreAwayError(`The clocks of this server and the store differ too much (${said}).`);
  if (status === 401 || status === 403)
    return new StoreAwayError(`The store refuses the key or secret in STORAGE_URL (${said}).`);
  return new StoreAwayError(`The store refused the request (${said}). Check the address, bucket, and region in STORAGE_URL.`);
}

/** Speaks S3 with one bucket, addressed by path. A call ends after `patience_ms` without progress, so that its caller gets an answer; a body has no time limit while bytes arrive. */
export function createS3Wire(parts: { origin: string; bucket: string; account: Account; patience_ms: number }): S3Wire {
  const { origin, bucket, account, patience_ms } = parts;
  const transport = origin.startsWith('https:') ? https : http;
  const agent = new transport.Agent({ keepAlive: true });

  async function soon<T>(coming: Promise<T>, of: { destroy(): unknown }, more_ms = patience_ms): Promise<T> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        reject(new StoreAwayError(`The store at STORAGE_URL didn’t answer for ${Math.round(more_ms / 100) / 10} s.`));
        of.destroy();
      }, more_ms);
    });
    try {
      return await Promise.race([coming, late]);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Sends a body with backpressure, until all is sent or the answer has arrived. */
  async function send(request: ClientRequest, body: S3Body, answer: Promise<IncomingMessage>, wait_ms: number): Promise<void> {
    let is_answered = false;
    const answered = answer.then(() => {
      is_answered = true;
    });
    answered.catch(() => {});
    for await (const chunk of body.open()) {
      if (is_answered) return;
      if (!request.write(chunk)) await soon(Promise.race([once(request, 'drain'), answered]), request, wait_ms);
    }
    request.end();
  }

  async function textOf(response: IncomingMessage): Promise<string> {
    let text = '';
    for await (const chunk of response) {
      text += String(chunk);
      if (text.length > ERROR_BYTES_MAXIMUM) break;
    }
    return text;
  }

  async function attempt(call: S3Call, wait_ms: number): Promise<IncomingMessage> {
    const { method, key, query = {}, body } = call;
    const url = new URL(`${origin}/${bucket}${key === undefined ? '' : `/${key}`}`);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    const headers = await signed(account, {
      method,
      url: url.href,
      headers: {
        ...call.headers,
        'x-amz-content-sha256': body?.sha256 ?? EMPTY_SHA256,
        ...(body === undefined ? {} : { 'content-length': String(body.size), 'content-md5': body.md5 }),
      },
    });
    const request = transport.request(url, { method, headers, agent });
    const answer = new Promise<IncomingMessage>((resolve, reject) => {
      request.once('response', resolve);
      request.on('error', reject);
      request.once('close', () => reject(new PassingError('the connection ended before the answer')));
    });
    answer.catch(() => {});
    let response: IncomingMessage;
    try {
      if (body === undefined) request.end();
      else await send(request, body, answer, wait_ms);
      response = await soon(answer, request, wait_ms + Math.round(((body?.size ?? 0) / MIB) * PER_MIB_MS));
    } catch (error) {
      request.destroy();
      throw error;
    }
    const { statusCode = 0 } = response;
    if (statusCode >= 200 && statusCode < 300) return response;
    const code = codeOf(await soon(textOf(response), response, wait_ms).catch(() => ''));
    // If the store answered before it read the whole body, the rest is not sent.
    if (!request.writableFinished) request.destroy();
    throw failureOf(call, statusCode, code);
  }

  return {
    async call(call) {
      const began = performance.now();
      for (let tried = 0; ; tried += 1) {
        const left_ms = patience_ms - (performance.now() - began);
        try {
          return await attempt(call, Math.max(left_ms, patience_ms / 4));
        } catch (error) {
          if (isFinal(error)) throw error;
          const pause_ms = PAUSES_MS[tried];
          if (pause_ms === undefined || !isPassing(error) || performance.now() - began + pause_ms >= patience_ms)
            throw new StoreAwayError(`We can’t use the store of STORAGE_URL at ${new URL(origin).host}: ${reasonOf(error)}.`, {
              cause: error,
            });
          await new Promise((resolve) => setTimeout(resolve, pause_ms * (1 + Math.random() / 2)));
        }
      }
    },
    soon,
    close: () => agent.destroy(),
  };
}
