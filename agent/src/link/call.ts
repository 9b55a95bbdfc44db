import { randomBytes } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { LookupFunction } from 'node:net';
import { pipeline } from 'node:stream/promises';
import { problemSchema } from '@palisade/contract/problem';
import { trustSystem } from './trust.ts';
import { wholeAnswer } from './whole-answer.ts';

/** A server's response. `body` is the parsed JSON; undefined if the body is not JSON. */
export interface Answer {
  status: number;
  body: unknown;
}

/** Credentials of a device. */
export interface Proof {
  device_id: string;
  token: string;
}

interface CallOptions {
  timeout_ms: number;
  /** Credentials in the request's headers: the server can refuse them before it reads the body. */
  proof?: Proof | undefined;
  /** Maximum bytes of the response; a longer one is an error. */
  bytes_maximum: number;
  lookup?: LookupFunction | undefined;
}

const CALL: CallOptions = { timeout_ms: 10_000, bytes_maximum: 1024 ** 2 };

function requestFor(url: URL): typeof requestHttps {
  trustSystem(url);
  return url.protocol === 'https:' ? requestHttps : requestHttp;
}

const proofHeaders = ({ device_id, token }: Proof) => ({ authorization: `Bearer ${token}`, 'x-device-id': device_id });

function jsonHeaders(text: string, proof: Proof | undefined): Record<string, string | number> {
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) };
  return proof === undefined ? headers : { ...headers, ...proofHeaders(proof) };
}

/** Joins `https://host/base` and `/agent/verify` to `https://host/base/api/agent/verify`. */
export function addressOf(server: URL, path: string): URL {
  const url = new URL(server);
  url.pathname = `${url.pathname.replace(/\/+$/u, '')}/api${path}`;
  url.search = '';
  return url;
}

function parsedJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString());
  } catch {
    return undefined;
  }
}

/**
 * Posts JSON over a new connection and closes it. A reused connection would not prove that the server can be reached, because it stays open when no new one can be opened. @throws Error without a
 * complete answer
 */
export function post(url: URL, body: unknown, options: Partial<CallOptions> = {}): Promise<Answer> {
  const { timeout_ms, bytes_maximum, lookup, proof } = { ...CALL, ...options };
  const text = JSON.stringify(body);
  const request = requestFor(url);
  return new Promise((resolve, reject) => {
    const sent = request(
      url,
      {
        method: 'POST',
        agent: false,
        headers: jsonHeaders(text, proof),
        ...(lookup === undefined ? {} : { lookup }),
        signal: AbortSignal.timeout(timeout_ms),
      },
      (response) => {
        wholeAnswer(response, bytes_maximum).then(
          (bytes) => resolve({ status: response.statusCode ?? 0, body: parsedJson(bytes) }),
          reject,
        );
      },
    );
    sent.on('error', reject);
    sent.end(text);
  });
}

/** Posts JSON over a new connection and streams the response to a file. @returns the HTTP status @throws Error without a complete response, or with one longer than `bytes_maximum` */
export function download(url: URL, body: unknown, path: string, options: CallOptions): Promise<number> {
  const text = JSON.stringify(body);
  const request = requestFor(url);
  const { timeout_ms, bytes_maximum, lookup, proof } = options;
  return new Promise((resolve, reject) => {
    const sent = request(
      url,
      {
        method: 'POST',
        agent: false,
        signal: AbortSignal.timeout(timeout_ms),
        headers: jsonHeaders(text, proof),
        ...(lookup === undefined ? {} : { lookup }),
      },
      (response) => {
        const status = response.statusCode ?? 0;
        let bytes = 0;
        const bounded = async function* (parts: AsyncIterable<Buffer>) {
          for await (const part of parts) {
            bytes += part.length;
            if (bytes > bytes_maximum) throw new Error('the answer is too long');
            yield part;
          }
        };
        pipeline(response, bounded, createWriteStream(path, { flags: 'w', mode: 0o600 })).then(() => resolve(status), reject);
      },
    );
    sent.on('error', reject);
    sent.end(text);
  });
}

/** The server's response to an uploaded file. */
export interface Sent {
  status: number;
  /** The reason as a sentence if the server refused the file. */
  detail: string;
  retry_after_ms: number | undefined;
}

interface SentFile {
  /** Size in bytes. */
  size: number;
  read: () => AsyncIterable<Buffer>;
}

/**
 * Streams a file as the only part of a multipart request, over a new connection.
 * @param options `silence_ms` is the idle timeout; a server sends nothing while it scans a large file
 * @throws Error if there is no response, or the file could not be read completely
 */
export function sendFile(
  url: URL,
  { proof, field, file }: { proof: Proof; field: string; file: SentFile },
  { silence_ms, lookup, signal }: { silence_ms: number; lookup: LookupFunction; signal: AbortSignal },
): Promise<Sent> {
  const boundary = `palisade-${randomBytes(16).toString('hex')}`;
  const head = `--${boundary}\r\nContent-Disposition: form-data; name="${field}"; filename="found"\r\nContent-Type: application/octet-stream\r\n\r\n`;
  const tail = `\r\n--${boundary}--\r\n`;
  const request = requestFor(url);
  async function* body() {
    yield Buffer.from(head);
    yield* file.read();
    yield Buffer.from(tail);
  }
  return new Promise((resolve, reject) => {
    /** The server may respond before it has the whole file. Then the response counts, and a later write error does not. */
    let is_answered = false;
    const fail = (error: unknown) => {
      if (!is_answered) reject(error);
    };
    const sent = request(
      url,
      {
        method: 'POST',
        agent: false,
        lookup,
        signal,
        headers: {
          ...proofHeaders(proof),
          'content-type': `multipart/form-data; boundary=${boundary}`,
          'content-length': head.length + file.size + tail.length,
        },
      },
      (response) => {
        is_answered = true;
        wholeAnswer(response, CALL.bytes_maximum).then((bytes) => {
          const seconds = Number(response.headers['retry-after']);
          resolve({
            status: response.statusCode ?? 0,
            detail: problemSchema.safeParse(parsedJson(bytes)).data?.detail ?? '',
            retry_after_ms: Number.isFinite(seconds) && seconds > 0 ? seconds * 1_000 : undefined,
          });
        }, reject);
      },
    );
    sent.setTimeout(silence_ms, () => sent.destroy(new Error('the server fell silent')));
    sent.on('error', fail);
    pipeline(body, sent).catch(fail);
  });
}

/** A short reason for a failed call. */
export function failureOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === 'TimeoutError' || error.name === 'AbortError') return 'no answer in time';
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  const known: Record<string, string> = {
    ENOTFOUND: 'its name could not be resolved',
    EAI_AGAIN: 'its name could not be resolved',
    ECONNREFUSED: 'it refused the connection',
    EPERM: 'the connection was forbidden by a rule',
    EHOSTUNREACH: 'no way leads there',
    ENETUNREACH: 'no way leads there',
    ETIMEDOUT: 'no answer in time',
    ECONNRESET: 'it broke the connection off',
  };
  return known[code] ?? error.message;
}
