import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { login, type Role, register } from '@palisade/contract/auth';
import type { BodySentOf, Endpoint, ReplyOf } from '@palisade/contract/endpoint';
import { type ProblemDocument, problemSchema } from '@palisade/contract/problem';
import { ENGINE_MEMORY } from '@palisade/scanner/process-memory';
import { fewSignatures } from '@palisade/scanner/test/few-signatures';
import { SIGNATURES_FOLDER } from '@palisade/scanner/test/signatures-folder';
import { createClient } from '@redis/client';
import type { FastifyInstance } from 'fastify';
import { Client } from 'pg';
import { hashPassword } from '#features/auth/password.ts';
import { usernameColumns } from '#features/auth/username.ts';
import { type Blobs, blobsIn } from '#platform/blobs/blobs.ts';
import { openFolderBlobs } from '#platform/blobs/folder-blobs.ts';
import { openStorage } from '#platform/blobs/open-storage.ts';
import type { DatabaseLocation } from '#platform/database.ts';
import { openDisk } from '#platform/disk.ts';
import { newId } from '#platform/id.ts';
import { createLog } from '#platform/log.ts';
import { parseSettings } from '#platform/settings.ts';
import type { AppOptions } from '#server/app/app-options.ts';
import { type App, createApp } from '#server/app.ts';
import { afterFile } from './after-file.ts';
import { createFakeEngine } from './fake-engine.ts';
import { migratedContents, migratedTemplate } from './migrated-database.ts';
import { insertRow } from './rows.ts';

/** An answer of the API: parsed by the endpoint's reply schema, or a problem document. */
export type Answer<E extends Endpoint> =
  | { ok: true; status: number; headers: Headers; reply: ReplyOf<E> }
  | { ok: false; status: number; headers: Headers; problem: ProblemDocument };

interface CallRequest<Body = unknown> {
  token?: string | undefined;
  body?: Body;
  query?: string;
  params?: Record<string, string>;
}

export interface TestApp {
  app: App;
  /** As `fetch`, of a path of the application: answered by `fastify.inject` where there is no port. The peer is 127.0.0.1. */
  fetch(path: string, init?: RequestInit): Promise<Response>;
  data_dir: string;
  /** The files in quarantine, sealed, wherever they are: in a folder, or in the store of TEST_STORAGE_URL. */
  kept: Blobs;
  /** The same of the files that people send to each other. */
  attached: Blobs;
  /** The settings of the keys that applications on the same database share. */
  keys: Record<string, string>;
  call<E extends Endpoint>(endpoint: E, request?: CallRequest<BodySentOf<E>>): Promise<Answer<E>>;
  /** A new person with a session, both written into the database; `role` in place of the one by registering. */
  signIn(name?: string, role?: Role): Promise<SignedInPerson>;
  /** Registers and signs in a person with an unproved address, which public exposure asks for. */
  signInUnproven(name?: string): Promise<SignedInPerson>;
  /** Registers and signs in by two calls, where what these leave behind is the subject: audit entries, events, mails. */
  registerAndSignIn(name?: string, role?: Role): Promise<SignedInPerson>;
  close(): Promise<void>;
}

interface SignedInPerson {
  id: string;
  token: string;
  email: string;
  password: string;
}

/** An application on a port of its own: for tests of sockets, streams and connections. */
export interface ListeningApp extends TestApp {
  url: string;
}

interface TestAppOptions {
  environment?: Record<string, string>;
  surroundings?: Partial<AppOptions>;
  engine?: 'fake' | 'real';
}

export const LEAKED_PASSWORDS = fileURLToPath(new URL('../passwords/leaked.bin', import.meta.url));
const PASSWORD = 'a long enough password';

async function withPostgres<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** Whether the tests run on PostgreSQL rather than SQLite. */
export function isPostgres(): boolean {
  return (process.env['TEST_DATABASE_URL'] ?? '') !== '';
}

/** Whether files are kept in a store that speaks S3 rather than in a folder. */
export function isStoreShared(): boolean {
  return (process.env['TEST_STORAGE_URL'] ?? '') !== '';
}

/** A database of this test's own, empty or with every migration: SQLite in memory, or a fresh one on the PostgreSQL server of TEST_DATABASE_URL. */
export async function freshDatabase({
  migrated = false,
} = {}): Promise<{ location: DatabaseLocation; dispose: () => Promise<void> }> {
  const server = process.env['TEST_DATABASE_URL'];
  if (server === undefined || server === '') {
    const contents = migrated ? { contents: await migratedContents() } : {};
    return { location: { sqlite: ':memory:', ...contents }, dispose: () => Promise.resolve() };
  }
  const name = `palisade_test_${randomBytes(6).toString('hex')}`;
  await withPostgres(server, async (client) => {
    const template = migrated ? ` template ${await migratedTemplate(server, client)}` : '';
    await client.query(`create database ${name}${template}`);
  });
  const url = new URL(server);
  url.pathname = `/${name}`;
  return {
    location: { postgres: url.href },
    dispose: async () => {
      await withPostgres(server, (client) => client.query(`drop database ${name} with (force)`));
    },
  };
}

/** A database for several servers of one test, gone after its file: SQLite in a file, or a fresh one on the PostgreSQL server of TEST_DATABASE_URL. */
export async function sharedDatabase(): Promise<DatabaseLocation> {
  const { location, dispose } = await freshDatabase();
  afterFile(dispose);
  if ('postgres' in location) return location;
  const folder = mkdtempSync(join(tmpdir(), 'palisade-shared-'));
  afterFile(() => rmSync(folder, { recursive: true, force: true }));
  return { sqlite: join(folder, 'palisade.sqlite') };
}

/** Applications of one test on one database have the keys in common, as servers of one database must. */
function sharedKeys(location: DatabaseLocation | undefined): Record<string, string> {
  const name = location === undefined ? ':memory:' : 'sqlite' in location ? location.sqlite : location.postgres;
  if (name === ':memory:') return {};
  const folder = join(tmpdir(), `palisade-keys-${createHash('sha256').update(name).digest('hex').slice(0, 16)}`);
  afterFile(() => rmSync(folder, { recursive: true, force: true }));
  return Object.fromEntries(
    ['QUARANTINE', 'TWO_FACTOR', 'AUDIT'].map((key) => [`${key}_KEY_FILE`, join(folder, `${key.toLowerCase()}.key`)]),
  );
}

/** A folder of the store of TEST_STORAGE_URL for this test's own; applications on one database share it. */
function storeOf(location: DatabaseLocation | undefined): Record<string, string> {
  const server = process.env['TEST_STORAGE_URL'] ?? '';
  if (server === '') return {};
  const name = location === undefined ? '' : 'sqlite' in location ? location.sqlite : location.postgres;
  const is_own = name === '' || name === ':memory:';
  const folder = is_own ? randomBytes(8).toString('hex') : createHash('sha256').update(name).digest('hex').slice(0, 16);
  const url = new URL(server);
  url.pathname += `/test-${folder}`;
  return { STORAGE_URL: url.href };
}

/**
 * For the environment of an application whose test moves its clock past what limits count: they are counted in the process, by that clock. Redis counts by its own clock,
 * which a test cannot move (docs/decisions/tests.md). All other uses of Redis are in memory there as well.
 */
export const COUNTED_IN_MEMORY = { REDIS_URL: '' } as const;

/** Databases of the Redis of TEST_REDIS_URL that applications of this test file have, by the location of what else they share. */
const redisNumbers = new Map<string, Promise<number>>();

async function nextRedis(server: string): Promise<number> {
  const client = createClient({ url: server });
  await client.connect();
  try {
    return await client.incr('databases of tests');
  } finally {
    client.destroy();
  }
}

/** A database of the Redis of TEST_REDIS_URL for this test's own; applications on one database share it. */
async function redisOf(location: DatabaseLocation | undefined): Promise<Record<string, string>> {
  const server = process.env['TEST_REDIS_URL'] ?? '';
  if (server === '') return {};
  const name = location === undefined ? '' : 'sqlite' in location ? location.sqlite : location.postgres;
  const is_own = name === '' || name === ':memory:';
  const number = is_own ? nextRedis(server) : (redisNumbers.get(name) ?? nextRedis(server));
  if (!is_own) redisNumbers.set(name, number);
  const url = new URL(server);
  url.pathname = `/${await number}`;
  return { REDIS_URL: url.href };
}

let passwordHash: Promise<string> | undefined;

/** The application with a real database, without a port. The engine is `fake-engine.ts`; `engine: 'real'` starts processes of the real one, for tests of scanning. */
export async function startTestApp(options: TestAppOptions = {}): Promise<TestApp> {
  return (await startApp(options, false)).testApp;
}

async function startApp(options: TestAppOptions, is_listening: boolean): Promise<{ testApp: TestApp; url: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'palisade-test-'));
  const given = options.surroundings?.database;
  const database =
    given === undefined ? await freshDatabase({ migrated: true }) : { location: given, dispose: () => Promise.resolve() };
  const keys = options.environment?.['DATA_DIR'] === undefined ? sharedKeys(given) : {};
  const settings = parseSettings({
    DATA_DIR: folder,
    ...keys,
    ...storeOf(given),
    ...(await redisOf(given)),
    LOG_LEVEL: process.env['TEST_LOG_LEVEL'] ?? 'silent',
    ...options.environment,
  });
  const app = await createApp({
    settings,
    database: database.location,
    signatures_folder: options.engine === 'real' ? fewSignatures() : SIGNATURES_FOLDER,
    leaked_passwords: LEAKED_PASSWORDS,
    web_folder: join(folder, 'no-web-here'),
    agent_folder: join(folder, 'no-agent-here'),
    logger: createLog(settings.log_level),
    ...(options.engine === 'real' ? { engine_processes: 1 } : { embedded_engine: createFakeEngine() }),
    database_idle_ms: 10_000,
    // Tests stop the present processes: none is replaced unasked.
    engine_memory: { ...ENGINE_MEMORY, grown: Number.POSITIVE_INFINITY },
    ...options.surroundings,
  });
  if (!is_listening)
    app.fastify.addHook('onRequest', (request, _reply, done) => {
      // The socket of `fastify.inject` has no connection that a limit could end.
      Object.assign(request.raw.socket, { destroy() {}, destroySoon() {} });
      done();
    });
  const url = is_listening ? await app.fastify.listen({ host: '127.0.0.1', port: 0 }) : 'http://127.0.0.1';
  if (!is_listening) await app.fastify.ready();
  const disk = openDisk(folder, 0);
  const { storage } = settings;
  const store = storage && (await openStorage({ location: storage, folder: join(folder, 'outgoing-of-the-test'), disk }));
  const blobsOf = (name: string) =>
    store ? blobsIn(store, name) : openFolderBlobs({ folder: join(settings.data_dir, name), disk, is_in_use: true });
  const [kept, attached] = [blobsOf('quarantine'), blobsOf('attachments')];

  const fetchInside: TestApp['fetch'] = (path, init) =>
    is_listening ? fetch(`${url}${path}`, init) : fetchFrom(app.fastify, `${url}${path}`, init);

  const call: TestApp['call'] = (endpoint, request) => callBy(fetchInside, endpoint, request);

  const now = options.surroundings?.now ?? Date.now;
  const provenAt = () => (settings.exposure === 'public' ? new Date(now()).toISOString() : null);

  async function newPerson(name: string, role: Role | undefined, email_proven_at: string | null): Promise<SignedInPerson> {
    const email = `${name}@example.com`.toLowerCase();
    const { database: tables } = app;
    const known = await tables.selectFrom('users').select('id').where('email', '=', email).executeTakeFirst();
    const id = known?.id ?? (await insertPerson(name, email, role, email_proven_at));
    const token = randomBytes(32).toString('base64url');
    const at = new Date(now()).toISOString();
    await insertRow(tables, 'sessions', {
      ...{ id: newId(), user_id: id, token_hash: createHash('sha256').update(token).digest('hex') },
      ...{ created_at: at, last_used_at: at, user_agent: null, source: '127.0.0.1' },
    });
    return { id, token, email, password: PASSWORD };
  }

  async function insertPerson(name: string, email: string, role: Role | undefined, email_proven_at: string | null) {
    const { database: tables } = app;
    const first =
      settings.exposure === 'local' && (await tables.selectFrom('users').select('id').executeTakeFirst()) === undefined;
    const [id, at] = [newId(), new Date(now()).toISOString()];
    passwordHash ??= hashPassword(PASSWORD);
    const account = {
      ...{ id, email, ...usernameColumns(name), role: role ?? (first ? 'admin' : 'customer') },
      ...{ password_hash: await passwordHash, common_password: 0 as const, created_at: at, email_proven_at },
    };
    await tables.insertInto('users').values(account).execute();
    return id;
  }

  async function registerAndSignIn(
    name: string,
    role: Role | undefined,
    email_proven_at: string | null,
  ): Promise<SignedInPerson> {
    const email = `${name}@example.com`;
    await call(register, { body: { email, username: name, password: PASSWORD } });
    const set = { ...(role !== undefined && { role }), ...(email_proven_at !== null && { email_proven_at }) };
    if (Object.keys(set).length > 0) await app.database.updateTable('users').set(set).where('email', '=', email).execute();
    const answer = await call(login, { body: { email, password: PASSWORD } });
    if (!answer.ok) throw new Error(`sign-in failed: ${answer.problem.detail}`);
    return { id: answer.reply.user_info.id, token: answer.reply.access_token, email, password: PASSWORD };
  }
  const someName = () => `person-${randomBytes(4).toString('hex')}`;

  let closed: Promise<void> | undefined;
  async function end(): Promise<void> {
    await app.close();
    await database.dispose();
    rmSync(folder, { recursive: true, force: true });
  }
  const testApp: TestApp = {
    app,
    fetch: fetchInside,
    data_dir: settings.data_dir,
    kept,
    attached,
    keys,
    call,
    signIn: (name = someName(), role) => newPerson(name, role, provenAt()),
    signInUnproven: (name = someName()) => registerAndSignIn(name, undefined, null),
    registerAndSignIn: (name = someName(), role) => registerAndSignIn(name, role, provenAt()),
    close: () => (closed ??= end()),
  };
  afterFile(testApp.close);
  return { testApp, url };
}

/** Asks an application without a port, in the words of `fetch`. */
async function fetchFrom(fastify: FastifyInstance, url: string, init?: RequestInit): Promise<Response> {
  const request = new Request(url, init);
  const body = init?.body === undefined || init.body === null ? undefined : Buffer.from(await request.arrayBuffer());
  const answer = await fastify.inject({
    method: request.method,
    url: url.slice(new URL(url).origin.length),
    // As a program sends them: a request without `connection` counts as one of a proxy.
    headers: { host: new URL(url).host, connection: 'keep-alive', ...Object.fromEntries(request.headers) },
    ...(body !== undefined && { payload: body }),
  });
  const headers = new Headers();
  for (const [name, value] of Object.entries(answer.headers))
    for (const one of [value].flat()) if (one !== undefined) headers.append(name, String(one));
  const is_empty = [204, 205, 304].includes(answer.statusCode);
  return new Response(is_empty ? null : new Uint8Array(answer.rawPayload), { status: answer.statusCode, headers });
}

/** Calls an endpoint by what fetches a path of the server. */
async function callBy<E extends Endpoint>(
  fetchPath: TestApp['fetch'],
  endpoint: E,
  { token, body, query = '', params = {} }: CallRequest = {},
): Promise<Answer<E>> {
  const path = endpoint.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ''));
  const response = await fetchPath(`/api${path}${query}`, {
    method: endpoint.method,
    headers: {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return await readAnswer(endpoint, response);
}

/** Calls an endpoint of the server at an address. */
export function callAt<E extends Endpoint>(server: { url: string }, endpoint: E, request?: CallRequest): Promise<Answer<E>> {
  return callBy((path, init) => fetch(`${server.url}${path}`, init), endpoint, request);
}

/** Reads an answer; a body that is neither the reply nor a problem document fails the test. */
export async function readAnswer<E extends Endpoint>(endpoint: E, response: Response): Promise<Answer<E>> {
  const { status, headers } = response;
  const text = await response.text();
  if (!response.ok) {
    if (headers.get('content-type') !== 'application/problem+json; charset=utf-8')
      throw new Error(`no problem document: ${status} ${text}`);
    return { ok: false, status, headers, problem: problemSchema.parse(JSON.parse(text)) };
  }
  if (status !== endpoint.status) throw new Error(`expected ${endpoint.status}, got ${status}`);
  const reply = endpoint.reply?.parse(JSON.parse(text));
  return { ok: true, status, headers, reply: asReply<E>(reply) };
}

// The reply was parsed by the endpoint's own schema; the type system cannot follow that through the generic.
function asReply<E extends Endpoint>(reply: unknown): ReplyOf<E> {
  return reply as ReplyOf<E>;
}

/** The problem of an answer that must be one. */
export function problemOf<E extends Endpoint>(answer: Answer<E>): ProblemDocument {
  if (answer.ok) throw new Error(`expected a problem, got ${answer.status}`);
  return answer.problem;
}

/** The reply of an answer that must be a success. */
export function replyOf<E extends Endpoint>(answer: Answer<E>): ReplyOf<E> {
  if (!answer.ok) throw new Error(`expected success, got ${answer.status}: ${answer.problem.detail}`);
  return answer.reply;
}

/** `startTestApp` with processes of the real engine, for tests of scanning. They have few rules: a test that needs the pack names its folder. */
export const startScanningApp: typeof startTestApp = (options = {}) => startTestApp({ ...options, engine: 'real' });

/** Both. */
export const startListeningScanningApp: typeof startListeningApp = (options = {}) =>
  startListeningApp({ ...options, engine: 'real' });

/** `startTestApp` on a port, where sockets, streams or connections are the subject. */
export async function startListeningApp(options: TestAppOptions = {}): Promise<ListeningApp> {
  const { testApp, url } = await startApp(options, true);
  return { ...testApp, url };
}
