import { UPLOAD_KEY_HEADER } from '@palisade/contract/antivirus';
import type { UserInfo } from '@palisade/contract/auth';
import type { Endpoint } from '@palisade/contract/endpoint';
import { type ClientFrame, clientFrameSchema, type ServerFrame, serverFrameSchema } from '@palisade/contract/events';
import { TOTAL_HEADER } from '@palisade/contract/fields';
import { type FieldError, PROBLEMS, type ProblemCode, problemSchema, type SecondFactor } from '@palisade/contract/problem';
import { beforeEach, vi } from 'vitest';
import type { z } from 'zod';
import { startSession } from './session.ts';

/** The server in tests. The contract parses every reply before a screen gets it, so a fake cannot drift from the real format. */

type SchemaOf<E extends Endpoint> = Required<E>['reply'];
type ReplySent<E extends Endpoint> = SchemaOf<E> extends z.ZodType ? z.input<SchemaOf<E>> : undefined;

interface Answer {
  status: number;
  text: string;
  /** Seconds. */
  retry_after?: number | undefined;
  headers?: Record<string, string>;
}

/** A call as it was sent. Headers are separate, so that tests compare calls by method, path and body. */
class Call {
  readonly method: string;
  readonly path: string;
  readonly token: string | null;
  readonly body: unknown;
  readonly #headers: Headers;

  constructor(method: string, path: string, body: unknown, headers: Headers) {
    this.method = method;
    this.path = path;
    this.token = headers.get('authorization');
    this.body = body;
    this.#headers = headers;
  }

  get headers(): Headers {
    return this.#headers;
  }
}

/** An upload that the test controls. */
export interface FakeUpload {
  address: string;
  file: File;
  token: string | undefined;
  key: string | undefined;
  isAborted: () => boolean;
  progress: (share: number) => void;
  answer: (answer: Answer) => void;
  breakOff: () => void;
}

export function reply<E extends Endpoint>(endpoint: E, content: ReplySent<E>): Answer {
  return { status: endpoint.status, text: endpoint.reply ? JSON.stringify(endpoint.reply.parse(content)) : '' };
}

/** A reply with one page of a list, its next cursor and its total. */
export function page<E extends Endpoint>(
  endpoint: E,
  rows: ReplySent<E>,
  { next, total }: { next?: string; total?: number },
): Answer {
  return {
    ...reply(endpoint, rows),
    headers: {
      ...(next !== undefined && { link: `</api${endpoint.path}?cursor=${next}>; rel="next"` }),
      ...(total !== undefined && { [TOTAL_HEADER]: String(total) }),
    },
  };
}

export function refusal(
  code: ProblemCode,
  {
    detail,
    retry_after,
    ...more
  }: { detail?: string; errors?: FieldError[]; challenge?: string; methods?: SecondFactor[]; retry_after?: number } = {},
): Answer {
  const { status, title, detail: usual } = PROBLEMS[code];
  const problem = { type: 'about:blank', title, status, code, detail: detail ?? usual, ...more };
  return { status, text: JSON.stringify(problemSchema.parse(problem)), retry_after };
}

/** The endpoint at the path of a record. */
export function at<E extends Endpoint>(endpoint: E, { id }: { id: string }): E {
  return { ...endpoint, path: endpoint.path.replace('{id}', id) };
}

const LOST = Symbol('the connection is lost');

export class FakeServer {
  readonly calls: Call[] = [];
  readonly uploads: FakeUpload[] = [];
  /** The events sockets that pages have opened. Only the test answers them. */
  readonly sockets: FakeSocket[] = [];
  readonly #answers = new Map<string, (query: URLSearchParams) => Promise<Answer | typeof LOST>>();

  /** `user`: starts a session of this person in the page. */
  constructor(user?: UserInfo) {
    this.#begin(user);
  }

  /** One server for a file, which forgets everything before each test. */
  static ofEachTest(user?: UserInfo): FakeServer {
    const server = new FakeServer();
    beforeEach(() => server.#begin(user));
    return server;
  }

  #begin(user: UserInfo | undefined): void {
    this.#answers.clear();
    for (const list of [this.calls, this.uploads, this.sockets]) list.length = 0;
    if (user) startSession({ access_token: 'token-1', user_info: user });
    vi.stubGlobal('fetch', (address: string, init: RequestInit) => this.#fetch(address, init));
    const { uploads, sockets } = this;
    vi.stubGlobal(
      'WebSocket',
      class extends FakeSocket {
        constructor(address: string) {
          super(address);
          sockets.push(this);
        }
      },
    );
    vi.stubGlobal(
      'XMLHttpRequest',
      class extends FakeRequest {
        override send(form: FormData) {
          uploads.push(this.hold(form));
        }
      },
    );
  }

  /** Answers every later call of an endpoint. A function is called with the query of each call, and may be asynchronous. */
  on(endpoint: Endpoint, answer: Answer | ((query: URLSearchParams) => Answer | Promise<Answer>)): void {
    this.#answers.set(keyOf(endpoint.method, endpoint.path), async (query) =>
      typeof answer === 'function' ? answer(query) : answer,
    );
  }

  answer<E extends Endpoint>(endpoint: E, content: ReplySent<E>): void {
    this.on(endpoint, reply(endpoint, content));
  }

  /** The events socket that the page opened last. */
  get socket(): FakeSocket {
    const opened = this.sockets.at(-1);
    if (!opened) throw new Error('The page has opened no socket.');
    return opened;
  }

  /** Fails every later call of the endpoint as if the network were down. */
  lose(endpoint: Endpoint): void {
    this.#answers.set(keyOf(endpoint.method, endpoint.path), async () => LOST);
  }

  callsOf(endpoint: Endpoint): Call[] {
    return this.calls.filter(({ method, path }) => method === endpoint.method && path === endpoint.path);
  }

  async #fetch(address: string, init: RequestInit): Promise<Response> {
    const { pathname, searchParams } = new URL(address, 'http://palisade.test');
    const path = pathname.replace(/^\/api/u, '');
    const method = init.method ?? 'GET';
    const body: unknown = typeof init.body === 'string' ? JSON.parse(init.body) : undefined;
    this.calls.push(new Call(method, path, body, new Headers(init.headers)));
    const answer = this.#answers.get(keyOf(method, path));
    if (!answer) throw new TypeError(`The test has no answer to ${method} ${path}`);
    const result = await Promise.race([answer(searchParams), untilAborted(init.signal)]);
    if (result === LOST) throw new TypeError('fetch failed');
    const headers = new Headers(result.headers);
    if (result.retry_after !== undefined) headers.set('retry-after', String(result.retry_after));
    return new Response(result.text === '' ? null : result.text, { status: result.status, headers });
  }
}

function keyOf(method: string, path: string): string {
  return `${method} ${path}`;
}

function untilAborted(signal: AbortSignal | null | undefined): Promise<never> {
  return new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason), { once: true }));
}

/** The part of WebSocket that the events socket uses, and methods with which the test acts as the server. */
export class FakeSocket extends EventTarget {
  readonly address: string;
  readonly sent: ClientFrame[] = [];
  isClosed = false;

  constructor(address: string) {
    super();
    this.address = address;
  }

  send(text: string): void {
    this.sent.push(clientFrameSchema.parse(JSON.parse(text)));
  }

  close(): void {
    this.isClosed = true;
  }

  open(): void {
    this.dispatchEvent(new Event('open'));
  }

  say(frame: ServerFrame): void {
    this.dispatchEvent(new MessageEvent('message', { data: JSON.stringify(serverFrameSchema.parse(frame)) }));
  }

  breakOff(code = 1006): void {
    this.isClosed = true;
    this.dispatchEvent(new CloseEvent('close', { code }));
  }
}

/** The part of XMLHttpRequest that an upload uses. */
abstract class FakeRequest extends EventTarget {
  readonly upload = new EventTarget();
  status = 0;
  responseText = '';
  #isAborted = false;
  #address = '';
  #token: string | undefined;
  #key: string | undefined;

  abstract send(form: FormData): void;

  open(_method: string, address: string): void {
    this.#address = address;
  }

  getResponseHeader(): string | null {
    return null;
  }

  setRequestHeader(name: string, value: string): void {
    if (name === 'authorization') this.#token = value;
    if (name === UPLOAD_KEY_HEADER) this.#key = value;
  }

  abort(): void {
    this.#isAborted = true;
    this.#end('abort');
  }

  protected hold(form: FormData): FakeUpload {
    const file = form.get('file');
    if (!(file instanceof File)) throw new Error('The upload has no file in the field "file"');
    return {
      address: this.#address,
      file,
      token: this.#token,
      key: this.#key,
      isAborted: () => this.#isAborted,
      progress: (share) => {
        this.upload.dispatchEvent(new ProgressEvent('progress', { lengthComputable: true, loaded: share * 1000, total: 1000 }));
        if (share === 1) this.upload.dispatchEvent(new ProgressEvent('load'));
      },
      answer: ({ status, text }) => {
        this.status = status;
        this.responseText = text;
        this.#end('load');
      },
      breakOff: () => this.#end('error'),
    };
  }

  #end(event: 'load' | 'error' | 'abort'): void {
    this.dispatchEvent(new Event(event));
    this.dispatchEvent(new Event('loadend'));
  }
}
