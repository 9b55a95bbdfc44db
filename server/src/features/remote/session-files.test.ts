import { deleteAccount } from '@palisade/contract/privacy';
import { completeSession, createSession, joinSession } from '@palisade/contract/remote';
import {
  beginRecording,
  downloadSessionFile,
  listSessionFiles,
  RECORDING_PATIENCE,
  refuseSessionFile,
  SESSION_FILE_LIFETIME,
  SESSION_FILES_MAXIMUM,
  sendRecording,
  sendSessionFile,
} from '@palisade/contract/remote-files';
import { approveSession, grantInSession, listSessionAudit, revokeInSession } from '@palisade/contract/remote-session';
import { eventually } from '@palisade/scanner/test/eventually';
import { EICAR } from '@palisade/scanner/test/files';
import { describe, expect, test } from 'vitest';
import { BlobNotFoundError } from '#platform/blobs/blobs.ts';
import { newId } from '#platform/id.ts';
import { problemOf, readAnswer, replyOf, startListeningApp } from '#test/harness.ts';
import { listenAs } from '#test/socket.ts';
import { createSteeredEngine, unreadAs } from '#test/steered-engine.ts';

const LOCKED = Buffer.from('a file that nobody opens');
const { engine, steered } = createSteeredEngine();
steered.find = (bytes) => (bytes.equals(LOCKED) ? unreadAs('encrypted') : {});
const clock = { now: Date.parse('2026-11-20T10:00:00Z') };
const app = await startListeningApp({ surroundings: { embedded_engine: engine, now: () => clock.now } });
const { call, signIn } = app;
await signIn('boss');
const tina = await signIn('tina', 'support');
const tom = await signIn('tom', 'support');
const TEXT = Buffer.from('just a few words');

/** A session that runs, with a page of each side; files or recording are allowed as said. */
async function start(...allowed: ('files' | 'recording')[]) {
  const customer = await signIn();
  const { id, session_code } = replyOf(await call(createSession, { token: customer.token }));
  replyOf(await call(joinSession, { token: tina.token, body: { session_code } }));
  const pages = [];
  for (const { token } of [customer, tina]) {
    const page = await listenAs(app, token);
    page.say({ kind: 'listen_remote', session_id: id });
    await page.event((event) => event.kind === 'remote_changed');
    pages.push(page);
  }
  const of = (token = customer.token) => ({ token, params: { id } });
  replyOf(await call(approveSession, { ...of(), body: { view: 'talk' } }));
  const grant = async (what: 'files' | 'recording') =>
    replyOf(await call(grantInSession, { ...of(), body: { grant: what, device_id: null } }));
  for (const what of allowed) await grant(what);
  const list = async (token = customer.token) => replyOf(await call(listSessionFiles, of(token)));
  return {
    ...{ customer, id, pages, of, grant, list },
    send: (token: string, name: string, content: Buffer) => upload(sendSessionFile, id, token, name, content),
    revoke: async (what: 'files' | 'recording' | 'all') =>
      replyOf(await call(revokeInSession, { ...of(), body: { grant: what } })),
    end: async () => replyOf(await call(completeSession, of())),
    /** The state of a file once its transfer and scan are over. */
    settled: (file_id: string) =>
      eventually(async () => {
        const file = (await list()).find((one) => one.id === file_id);
        if (file === undefined || file.status === 'scanning') throw new Error('It is being scanned.');
        return file;
      }),
    record: async () =>
      replyOf(await call(listSessionAudit, of())).flatMap(({ kind, details, by }) =>
        kind.startsWith('remote_file') || kind === 'remote_recording_started'
          ? [`${kind} ${details['filename'] ?? ''} ${details['reason'] ?? ''} ${by}`]
          : [],
      ),
  };
}

async function upload<E extends typeof sendSessionFile | typeof sendRecording>(
  endpoint: E,
  id: string,
  token: string,
  name: string,
  content: Buffer,
) {
  const form = new FormData();
  form.append('file', new Blob([new Uint8Array(content)]), name);
  const headers = { authorization: `Bearer ${token}` };
  const address = `${app.url}/api${endpoint.path.replace('{id}', id)}`;
  return await readAnswer(endpoint, await fetch(address, { method: 'POST', body: form, headers }));
}

const open = (token: string, id: string) =>
  app.fetch(`/api${downloadSessionFile.path.replace('{id}', id)}`, { headers: { authorization: `Bearer ${token}` } });
const refuse = (token: string, id: string) => call(refuseSessionFile, { token, params: { id } });
const isKept = async (id: string) =>
  await app.attached.stat(id).then(
    () => true,
    (error: unknown) => {
      if (error instanceof BlobNotFoundError) return false;
      throw error;
    },
  );
const { sweepSessionFiles } = app.app;
/** As if it had ended then. */
const endedAt = (id: string, time: number) =>
  app.app.database
    .updateTable('remote_sessions')
    .set({ ended_at: new Date(time).toISOString() })
    .where('id', '=', id)
    .execute();

describe('a file of a session', () => {
  test('goes both ways once it was found clean, to the two sides alone, and each step is in the record', async () => {
    const { customer, send, settled, list, record, id } = await start('files');
    const stranger = await signIn();
    for (const [from, to, name] of [
      [customer.token, tina.token, '../../etc/notes [1].txt'],
      [tina.token, customer.token, 'answer.txt'],
    ] as const) {
      const file = replyOf(await send(from, name, TEXT));
      expect(await settled(file.id)).toMatchObject({ status: 'clean', size: TEXT.length, session_id: id, deleted_at: null });
      const arrived = await open(to, file.id);
      expect(Buffer.from(await arrived.arrayBuffer())).toEqual(TEXT);
      expect(arrived.headers.get('content-type')).toBe('application/octet-stream');
      expect(arrived.headers.get('content-disposition')).toMatch(/^attachment;/u);
      for (const other of [tom, stranger]) expect((await open(other.token, file.id)).status).toBe(404);
      // Sealed where it lies.
      expect(await isKept(file.id)).toBe(true);
    }
    expect((await list(tina.token)).map(({ side, author, filename }) => [side, author, filename])).toEqual([
      ['customer', expect.any(String), 'notes [1].txt'],
      ['technician', 'tina', 'answer.txt'],
    ]);
    expect(await record()).toEqual([
      'remote_file_sent notes [1].txt  self',
      'remote_file_opened notes [1].txt  support',
      'remote_file_sent answer.txt  support',
      'remote_file_opened answer.txt  self',
    ]);
  });

  // proves: security-41
  test('that is infected or was not read arrives at no side; both hear why, and it is removed', async () => {
    const { customer, send, settled, list, record } = await start('files');
    for (const from of [customer.token, tina.token])
      for (const [name, content, status] of [
        ['tool.zip', EICAR, 'infected'],
        ['locked.zip', LOCKED, 'unread'],
      ] as const) {
        const { id } = replyOf(await send(from, name, content));
        expect((await settled(id)).status).toBe(status);
        for (const token of [customer.token, tina.token])
          expect(problemOf(await readAnswer(listSessionFiles, await open(token, id))).code).toBe('conflict');
        expect(await isKept(id)).toBe(false);
      }
    const seen = await list(tina.token);
    expect(seen.map(({ status }) => status)).toEqual(['infected', 'unread', 'infected', 'unread']);
    expect(seen[0]?.threat).toMatch(/eicar/iu);
    expect((await record()).filter((line) => line.startsWith('remote_file_stopped'))).toEqual([
      'remote_file_stopped tool.zip infected server',
      'remote_file_stopped locked.zip unread server',
      'remote_file_stopped tool.zip infected server',
      'remote_file_stopped locked.zip unread server',
    ]);
  });

  test('is sent only while the session runs and its customer allows it', async () => {
    const { customer, send, grant, revoke, end, list } = await start();
    const refused = async (token: string) => expect(problemOf(await send(token, 'a.txt', TEXT)).code).toBe('conflict');
    for (const { token } of [customer, tina]) await refused(token);
    await grant('files');
    replyOf(await send(tina.token, 'a.txt', TEXT));
    for (const other of [tom, await signIn()]) expect((await send(other.token, 'a.txt', TEXT)).status).toBe(404);
    await revoke('files');
    for (const { token } of [customer, tina]) await refused(token);
    await grant('files');
    await end();
    for (const { token } of [customer, tina]) await refused(token);
    expect(await list()).toHaveLength(1);
  });

  test('is refused by the customer alone, from either side, and is removed then', async () => {
    const { customer, send, settled } = await start('files');
    for (const from of [customer.token, tina.token]) {
      const { id } = replyOf(await send(from, 'a.txt', TEXT));
      await settled(id);
      for (const other of [tina, tom]) expect((await refuse(other.token, id)).status).toBe(404);
      expect(replyOf(await refuse(customer.token, id)).status).toBe('refused');
      expect(await isKept(id)).toBe(false);
      for (const token of [customer.token, tina.token]) expect((await open(token, id)).status).toBe(409);
      expect((await refuse(customer.token, id)).status).toBe(409);
    }
  });

  test('is one of few, none of them empty or large', async () => {
    const { customer, send, id } = await start('files');
    expect(problemOf(await send(customer.token, 'empty', Buffer.alloc(0))).code).toBe('invalid_field');
    expect(problemOf(await send(customer.token, 'large', Buffer.alloc(25 * 1024 ** 2 + 1))).code).toBe('too_large');
    const row = {
      session_id: id,
      user_id: customer.id,
      kind: 'file',
      side: 'technician',
      author: 'tina',
      filename: 'x',
      size: 1,
    } as const;
    const rest = { sha256: 'x', threat: null, sent_at: '2026-11-20T10:00:00.000Z', arrived_at: '2026-11-20T10:00:00.000Z' };
    const add = (count: number, status: 'scanning' | 'clean') =>
      app.app.database
        .insertInto('remote_files')
        .values(Array.from({ length: count }, () => ({ id: newId(), ...row, ...rest, status })))
        .execute();
    await add(5, 'scanning');
    expect(problemOf(await send(tina.token, 'a.txt', TEXT)).detail).toContain('on their way');
    // The other side's queue is its own.
    replyOf(await send(customer.token, 'a.txt', TEXT));
    await add(SESSION_FILES_MAXIMUM - 6, 'clean');
    expect(problemOf(await send(customer.token, 'a.txt', TEXT)).detail).toContain('at most');
  });

  test('is kept until a day after the end, and its time is shown', async () => {
    const { customer, send, settled, end, list, id: session_id } = await start('files');
    const { id } = replyOf(await send(tina.token, 'a.txt', TEXT));
    await settled(id);
    await end();
    const [file] = await list();
    expect(file?.deleted_at).toBe(new Date(clock.now + SESSION_FILE_LIFETIME).toISOString());
    const longAgo = clock.now - SESSION_FILE_LIFETIME;
    await endedAt(session_id, longAgo + 1_000);
    expect((await open(customer.token, id)).status).toBe(200);
    await sweepSessionFiles();
    expect(await isKept(id)).toBe(true);
    await endedAt(session_id, longAgo - 1_000);
    expect((await open(customer.token, id)).status).toBe(404);
    await sweepSessionFiles();
    expect(await isKept(id)).toBe(false);
    expect(await list()).toEqual([]);
  });

  test('goes with its customer’s account', async () => {
    const { customer, send, settled } = await start('files');
    const { id } = replyOf(await send(tina.token, 'a.txt', TEXT));
    await settled(id);
    const body = { password: customer.password, confirmation: customer.email };
    replyOf(await call(deleteAccount, { token: customer.token, body }));
    await eventually(async () => expect(await isKept(id)).toBe(false));
    expect((await open(tina.token, id)).status).toBe(404);
  });
});

describe('a recording', () => {
  test('is begun by the technician alone, while the customer allows it, one at a time', async () => {
    const { customer, of, grant, revoke, record, list } = await start('files');
    expect(problemOf(await call(beginRecording, of(tina.token))).code).toBe('conflict');
    await grant('recording');
    for (const other of [customer, tom]) expect((await call(beginRecording, of(other.token))).status).toBe(404);
    expect(replyOf(await call(beginRecording, of(tina.token)))).toMatchObject({
      kind: 'recording',
      status: 'recording',
      size: 0,
    });
    // A reloaded page begins anew; its recording is lost, and reported as failed.
    replyOf(await call(beginRecording, of(tina.token)));
    expect((await list()).map(({ status }) => status)).toEqual(['failed', 'recording']);
    await revoke('recording');
    expect(problemOf(await call(beginRecording, of(tina.token))).code).toBe('conflict');
    expect((await record()).map((line) => line.replace(/remote-session-\S+/u, 'FILE'))).toEqual([
      'remote_recording_started   support',
      'remote_file_stopped FILE failed server',
      'remote_recording_started   support',
    ]);
  });

  test('is handed in once, also after the end, and both sides download it', async () => {
    const { customer, of, end, settled } = await start('recording');
    const { id } = replyOf(await call(beginRecording, of(tina.token)));
    await end();
    for (const other of [customer, tom]) expect((await upload(sendRecording, id, other.token, 'r.webm', TEXT)).status).toBe(404);
    replyOf(await upload(sendRecording, id, tina.token, 'r.webm', TEXT));
    expect(await settled(id)).toMatchObject({ status: 'clean', size: TEXT.length });
    for (const token of [customer.token, tina.token])
      expect(Buffer.from(await (await open(token, id)).arrayBuffer())).toEqual(TEXT);
    expect(problemOf(await upload(sendRecording, id, tina.token, 'r.webm', TEXT)).code).toBe('conflict');
  });

  test('that does not come is lost ten minutes after the end, and both sides see it', async () => {
    const { of, end, list, record, id: session_id } = await start('recording');
    const { id } = replyOf(await call(beginRecording, of(tina.token)));
    await end();
    await endedAt(session_id, clock.now - RECORDING_PATIENCE - 1_000);
    expect(problemOf(await upload(sendRecording, id, tina.token, 'r.webm', TEXT)).code).toBe('conflict');
    await sweepSessionFiles();
    expect((await list(tina.token)).map(({ status }) => status)).toEqual(['failed']);
    expect((await record()).at(-1)).toMatch(/^remote_file_stopped remote-session-.*\.webm failed server$/u);
  });
});
