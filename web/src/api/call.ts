import type { Endpoint } from '@palisade/contract/endpoint';
import { TOTAL_HEADER } from '@palisade/contract/fields';
import { PROBLEMS, type ProblemDocument, problemCodes, problemSchema } from '@palisade/contract/problem';
import { defaultOf } from '@palisade/contract/reader';
import type { z } from 'zod';
import { reportConnection, reportWait } from './connection.ts';
import { headersOf, takeEarly } from './early.ts';
import { currentSession, endSession, holdSession } from './session.ts';
import { readAnswer } from './unknown-values.ts';

type Schema = z.ZodType | undefined;
type AnyEndpoint = Endpoint<`/${string}`>;

/** The schemas of an endpoint. `Required` removes the optional modifier, so that a declared schema is never undefined. */
type SchemaOf<E extends AnyEndpoint, Key extends 'params' | 'query' | 'body' | 'reply'> = Required<E>[Key];
type Sent<S> = S extends z.ZodType ? z.input<S> : never;
type Reply<E extends AnyEndpoint> =
  SchemaOf<E, 'reply'> extends infer S ? (S extends z.ZodType ? z.output<S> : undefined) : never;

/** A part is required when the endpoint has a schema for it, and forbidden otherwise. */
type Part<Key extends string, S> = [S] extends [z.ZodType] ? { [K in Key]: Sent<S> } : { [K in Key]?: never };

type CallOptions<E extends AnyEndpoint> = Part<'params', SchemaOf<E, 'params'>> &
  Part<'body', SchemaOf<E, 'body'>> & {
    query?: SchemaOf<E, 'query'> extends z.ZodType ? Partial<Sent<SchemaOf<E, 'query'>>> : never;
    signal?: AbortSignal;
  };

/** Options may be omitted when none of them is required. */
type CallArguments<E extends AnyEndpoint> =
  Record<never, never> extends CallOptions<E> ? [options?: CallOptions<E>] : [options: CallOptions<E>];

interface Options {
  params?: Record<string, string>;
  query?: Record<string, unknown>;
  body?: unknown;
  signal?: AbortSignal;
}

export type CallErrorKind = 'problem' | 'network' | 'unreadable';

const SENTENCES: Record<Exclude<CallErrorKind, 'problem'>, string> = {
  network: 'Network error. Please try again.',
  unreadable: 'Something went wrong. Try again, or reload the page.',
};

/** The only error type of calls. `sentence` is shown to the person; `status` is 0 without a reply; `retry_after` is in seconds, if the server sent it. An aborted call throws the signal's reason instead. */
export class CallError extends Error {
  readonly kind: CallErrorKind;
  readonly status: number;
  readonly problem: ProblemDocument | undefined;
  readonly sentence: string;
  readonly retry_after: number | undefined;

  constructor(kind: 'problem', status: number, problem: ProblemDocument, retry_after?: number);
  constructor(kind: 'network' | 'unreadable', status: number);
  constructor(kind: CallErrorKind, status: number, problem?: ProblemDocument, retry_after?: number) {
    const sentence = problem ? problem.detail : kind === 'problem' ? SENTENCES.unreadable : SENTENCES[kind];
    super(sentence);
    this.name = 'CallError';
    this.kind = kind;
    this.status = status;
    this.problem = problem;
    this.sentence = sentence;
    this.retry_after = retry_after;
  }
}

function addressOf(endpoint: AnyEndpoint, { params = {}, query = {} }: Options): string {
  const path = endpoint.path.replace(/\{(\w+)\}/gu, (_, name: string) => encodeURIComponent(params[name] ?? ''));
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) search.set(name, String(value));
  }
  return `/api${path}${search.size > 0 ? `?${search}` : ''}`;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const RETRY_AFTER = 'retry-after';

interface Answer {
  status: number;
  text: string;
  retry_after: string | null;
  /** Headers of a list: the link to the next page, and the total number of rows. */
  link: string | null;
  total: string | null;
}

async function answerOf(response: Response): Promise<Answer> {
  const { status, headers } = response;
  return {
    status,
    text: await response.text(),
    retry_after: headers.get(RETRY_AFTER),
    link: headers.get('link'),
    total: headers.get(TOTAL_HEADER),
  };
}

/** Turns a refusal in the format of the specification, only a `detail`, into a problem document with the first code of its status. */
function asProblem(body: unknown, status: number): unknown {
  if (typeof body !== 'object' || body === null || !('detail' in body) || 'type' in body || 'code' in body) return body;
  const code = problemCodes.find((one) => PROBLEMS[one].status === status) ?? 'internal';
  return { type: 'about:blank', title: '', status, code, ...body };
}

/** Parses a reply, and ends the session of `token` when the server no longer knows it. */
function readReply(
  { reply, reply_unspecified = false }: { reply?: Schema; reply_unspecified?: boolean | undefined },
  { status, text, retry_after }: Pick<Answer, 'status' | 'text' | 'retry_after'>,
  token: string | undefined,
): unknown {
  reportConnection('online');
  if (status >= 200 && status < 300) {
    if (!reply) return undefined;
    const read = readAnswer(reply, parseJson(text)) ?? (reply_unspecified ? { data: defaultOf(reply) } : undefined);
    if (read === undefined) throw new CallError('unreadable', status);
    return read.data;
  }
  const problem = readAnswer(problemSchema, asProblem(parseJson(text), status))?.data;
  if (!problem) throw new CallError('unreadable', status);
  // A late reply to an older token must not end the newer session.
  if (problem.code === 'unauthenticated' && token !== undefined && token === currentSession()?.access_token)
    endSession('session_ended');
  if (problem.code === 'two_factor_setup_required' && token !== undefined) holdSession(token, true);
  throw new CallError('problem', status, problem, Number(retry_after) || undefined);
}

/** Moves the header fields of an endpoint from the body to `headers`, and returns the rest of the body. */
function headed(endpoint: AnyEndpoint, body: unknown, headers: Headers): unknown {
  if (endpoint.header_fields === undefined || typeof body !== 'object' || body === null) return body;
  const rest = Object.entries(body).filter(([name, value]) => {
    const header = endpoint.header_fields?.[name];
    if (header !== undefined && typeof value === 'string') headers.set(header, value);
    return header === undefined;
  });
  return Object.fromEntries(rest);
}

/** Sends a call and returns the raw reply. Throws a `CallError` when no reply came, or the signal's reason when aborted. */
async function send(endpoint: AnyEndpoint, options: Options, token: string | undefined): Promise<Answer> {
  const headers = headersOf(token);
  if (options.body !== undefined) headers.set('content-type', 'application/json');
  const body = headed(endpoint, options.body, headers);
  let answer: Answer;
  try {
    const address = addressOf(endpoint, options);
    const request = { method: endpoint.method, headers, body: body === undefined ? null : JSON.stringify(body) };
    const early = endpoint.method === 'GET' ? takeEarly(address, token) : undefined;
    answer = await answerOf(await (early ?? fetch(address, { ...request, signal: options.signal ?? null })));
  } catch {
    options.signal?.throwIfAborted();
    reportConnection('offline');
    throw new CallError('network', 0);
  }
  // The screen shows the limit next to a person's action; for a background request the page shows the wait.
  if (answer.status === 429 && endpoint.method === 'GET' && token !== undefined) reportWait(Number(answer.retry_after));
  return answer;
}

/**
 * Calls an endpoint and returns its parsed reply; `undefined` for an endpoint without a reply.
 * Throws a `CallError`, or the signal's reason when aborted.
 */
export async function call<E extends AnyEndpoint>(endpoint: E, ...args: CallArguments<E>): Promise<Reply<E>> {
  const token = currentSession()?.access_token;
  return readReply(endpoint, await send(endpoint, (args[0] ?? {}) as Options, token), token) as Reply<E>;
}

export interface Page<Rows> {
  rows: Rows;
  /** Cursor of the next page; undefined after the last page. */
  next: string | undefined;
  /** Number of rows on all pages; the server counts them only for the first page. */
  total: number | undefined;
}

/** Calls a list and returns its page with cursor and total. Throws as `call` does. */
export async function callPage<E extends AnyEndpoint>(endpoint: E, ...args: CallArguments<E>): Promise<Page<Reply<E>>> {
  const token = currentSession()?.access_token;
  const answer = await send(endpoint, (args[0] ?? {}) as Options, token);
  const rows = readReply(endpoint, answer, token) as Reply<E>;
  return { rows, next: /[?&]cursor=([^&>]+)/u.exec(answer.link ?? '')?.[1], total: readTotal(answer.total) };
}

function readTotal(header: string | null): number | undefined {
  return header === null || !/^\d+$/u.test(header) ? undefined : Number(header);
}

/** Downloads the file of an endpoint. Throws as `call` does. */
export async function download<E extends AnyEndpoint & { download?: true }>(
  endpoint: E,
  ...args: CallArguments<E>
): Promise<Blob> {
  const options: Options = (args[0] ?? {}) as Options;
  const token = currentSession()?.access_token;
  const headers = new Headers(token === undefined ? {} : { authorization: `Bearer ${token}` });
  try {
    if (options.body !== undefined) headers.set('content-type', 'application/json');
    const response = await fetch(addressOf(endpoint, options), {
      method: endpoint.method,
      headers,
      body: options.body === undefined ? null : JSON.stringify(options.body),
    });
    if (response.ok) return await response.blob();
    // Throws the refusal.
    readReply({}, await answerOf(response), token);
  } catch (error) {
    if (error instanceof CallError) throw error;
    reportConnection('offline');
  }
  throw new CallError('network', 0);
}

export interface UploadOptions {
  /** Called with the share of the file that has been sent, from 0 to 1. */
  onProgress?: (share: number) => void;
  signal?: AbortSignal;
  headers?: Record<string, string>;
  /** Path parameters of the endpoint. */
  params?: Record<string, string>;
}

/** Sends one file in the endpoint's multipart field. Uses XMLHttpRequest because fetch reports no upload progress. Throws as `call` does. */
export function upload<E extends AnyEndpoint & { upload?: string }>(
  endpoint: E,
  file: File,
  { onProgress, signal, headers = {}, params = {} }: UploadOptions = {},
): Promise<Reply<E>> {
  const token = currentSession()?.access_token;
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(signal.reason);
      return;
    }
    const request = new XMLHttpRequest();
    const abort = () => request.abort();
    signal?.addEventListener('abort', abort, { once: true });
    request.upload.addEventListener('progress', (event) => {
      if (event.lengthComputable && event.total > 0) onProgress?.(event.loaded / event.total);
    });
    request.upload.addEventListener('load', () => onProgress?.(1));
    request.addEventListener('load', () => {
      try {
        const { status, responseText: text } = request;
        resolve(readReply(endpoint, { status, text, retry_after: request.getResponseHeader(RETRY_AFTER) }, token) as Reply<E>);
      } catch (error) {
        reject(error);
      }
    });
    request.addEventListener('error', () => {
      reportConnection('offline');
      reject(new CallError('network', 0));
    });
    request.addEventListener('abort', () => reject(signal?.reason));
    request.addEventListener('loadend', () => signal?.removeEventListener('abort', abort));
    request.open(endpoint.method, addressOf(endpoint, { params }));
    request.setRequestHeader('accept', 'application/json');
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
    if (token !== undefined) request.setRequestHeader('authorization', `Bearer ${token}`);
    const form = new FormData();
    form.append(endpoint.upload ?? 'file', file, file.name);
    request.send(form);
  });
}

/** A message for the person about any thrown value. */
export function sentenceOf(error: unknown): string {
  return error instanceof CallError ? error.sentence : 'Something went wrong on this page. Try again, or reload the page.';
}
