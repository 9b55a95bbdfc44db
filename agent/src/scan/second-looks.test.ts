import { createHash } from 'node:crypto';
import { lstatSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { type DeviceEvent, type SecondLook, toldSchema } from '@palisade/contract/agent';
import { eventually } from '@palisade/scanner/test/eventually';
import { heldBytes } from '@palisade/scanner/test/held-bytes';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { newId } from '#agent/ids.ts';
import { sendFound } from '#link/identity.ts';
import { createResolver } from '#link/resolver.ts';
import { createFoundFiles } from './found-files.ts';
import { Quarantine } from './quarantine.ts';
import { SecondLooks } from './second-looks.ts';

const CONTENT = Buffer.from('what was found here\n'.repeat(50_000));
const OTHER = Buffer.from('something different\n'.repeat(50_000));
const hashOf = (content: Buffer) => createHash('sha256').update(content).digest('hex');
const TOKEN = 'a'.repeat(64);
const DEVICE = newId();

let root: string;
let server: Server;
let looks: SecondLooks;
let events: DeviceEvent[];
let lines: string[];
let is_allowed: boolean;
/** The server's answers, in order; 201 afterwards. */
let answers: { status: number; detail?: string; retry_after?: number }[];
/** The complete requests, and the number of those that were broken off. */
let came: { url: string; authorization: string | undefined; body: Buffer }[];
let broken: number;
/** Called once a file was looked at, and before it is read to be sent. */
let beforeSending: () => void;
/** Called for a request before the server reads it. */
let meanwhile: (request: IncomingMessage) => Promise<void> | void;

beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), 'palisade-look-'));
  [events, lines, is_allowed, answers, came, broken] = [[], [], true, [], [], 0];
  [beforeSending, meanwhile] = [() => {}, () => {}];
  server = createServer((request, response) => {
    void (async () => {
      try {
        await meanwhile(request);
        const body = await buffer(request);
        came.push({ url: request.url ?? '', authorization: request.headers.authorization, body });
      } catch {
        broken += 1;
        return;
      }
      const { status, detail = '', retry_after } = answers.shift() ?? { status: 201 };
      const problem = { type: 'about:blank', title: 'No', status, detail, code: 'conflict' };
      response.writeHead(status, {
        'content-type': 'application/json',
        ...(retry_after === undefined ? {} : { 'retry-after': String(retry_after) }),
      });
      response.end(JSON.stringify(status === 201 ? { id: newId() } : problem));
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const listening = server.address();
  if (listening === null || typeof listening === 'string') throw new Error('no port');
  const address = `http://127.0.0.1:${listening.port}/base/`;
  const identity = { server: address, device_id: DEVICE, token: TOKEN, device_name: 'laptop', public_key: '', private_key: '' };
  const { lookup } = createResolver(new URL(address));
  looks = new SecondLooks({
    quarantine: new Quarantine(join(root, 'quarantine')),
    folder: join(root, 'found'),
    send(order_id, { size, read }, signal) {
      const readLater = () => {
        beforeSending();
        return read();
      };
      return sendFound(identity, order_id, { size, read: readLater }, { lookup, signal });
    },
    isAllowed: () => is_allowed,
    happened: (event) => events.push(event),
    log: (line) => lines.push(line),
    wait: () => new Promise((resolve) => setImmediate(resolve)),
  });
});
afterEach(async () => {
  looks.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const soon = (check: () => void) => eventually(check);
const refused = (message: string) => soon(() => expect(events).toMatchObject([{ event: 'order_done', ok: false, message }]));

/** A file that was found, and lies where it was or is sealed. */
async function found(how: 'sealed' | 'left'): Promise<{ look: SecondLook; path: string }> {
  const [id, path] = [newId(), join(root, 'found.bin')];
  writeFileSync(path, CONTENT);
  const file = { path: Buffer.from(path), file_hash: hashOf(CONTENT), size: CONTENT.length };
  await createFoundFiles(join(root, 'found')).keep(id, file);
  if (how === 'sealed') {
    const taken = await new Quarantine(join(root, 'quarantine')).take(id, file.path, lstatSync(path, { bigint: true }));
    expect(taken).toEqual({ ok: true });
  }
  return { look: { id: newId(), finding_id: id, file_hash: file.file_hash }, path };
}

/** The file in the one multipart request that came. */
function fileOf({ body }: { body: Buffer }): Buffer {
  const from = body.indexOf('\r\n\r\n') + 4;
  return body.subarray(from, body.lastIndexOf('\r\n--palisade-'));
}

describe('a second look', () => {
  it.each(['sealed', 'left'] as const)(
    'sends a file that is %s, as it was found, once and to the order that asked',
    async (how) => {
      const { look } = await found(how);
      looks.want([]);
      looks.want([look]);
      looks.want([look]);
      await soon(() => expect(came).toHaveLength(1));
      const [one] = came;
      expect([one?.url, one?.authorization]).toEqual([
        `/base/api/agent/second-look?device_id=${DEVICE}&order_id=${look.id}`,
        `Bearer ${TOKEN}`,
      ]);
      expect(one !== undefined && fileOf(one).equals(CONTENT)).toBe(true);
      // Named in this computer's own log, whether the server's answer is waited for or not.
      looks.want([]);
      await soon(() => expect(lines.join('\n')).toContain(`${look.file_hash} was sent to the server`));
      const second = await found('left');
      looks.want([second.look]);
      await soon(() => expect(came).toHaveLength(2));
      expect(events).toEqual([]);
    },
  );

  // proves: device-hostile-server-5
  it('sends only found files, for any hash in an order', async () => {
    const { look, path } = await found('left');
    const never = { ...look, id: newId(), finding_id: newId() };
    looks.want([never]);
    await refused('This device has not found such a file, so it was not sent.');
    events.length = 0;
    // A server that knows the hash of another file of this computer.
    writeFileSync(path, OTHER);
    looks.want([{ ...look, file_hash: hashOf(OTHER) }]);
    await refused('This device has not found such a file, so it was not sent.');
    expect([came.length, broken]).toEqual([0, 0]);
  });

  // proves: device-hostile-server-5
  it('has no words for a path: one in place of a finding is refused with all that came with it', () => {
    const desired = {
      kind: 'desired',
      rev: 1,
      hash: 'a'.repeat(64),
      defaults: { inbound: 'allow', outbound: 'allow' },
      rules: [],
      block_list: [],
      scan_jobs: [],
      file_orders: [],
      exclusions: [],
      watched: [],
      is_watching: false,
      signatures: null,
    };
    const look = { id: newId(), finding_id: newId(), file_hash: 'a'.repeat(64) };
    expect(toldSchema.safeParse({ ...desired, second_looks: [look] }).success).toBe(true);
    for (const finding_id of ['../../etc/shadow', '/etc/shadow', ''])
      expect(toldSchema.safeParse({ ...desired, second_looks: [{ ...look, finding_id }] }).success).toBe(false);
  });

  // proves: device-hostile-server-5
  it.each([
    ['was changed', (path: string) => writeFileSync(path, OTHER)],
    ['became longer', (path: string) => writeFileSync(path, Buffer.concat([CONTENT, OTHER]))],
    [
      'is a folder now',
      (path: string) => {
        rmSync(path);
        mkdirSync(path);
      },
    ],
  ])('sends no file that %s since it was found', async (_, change) => {
    const { look, path } = await found('left');
    change(path);
    looks.want([look]);
    await refused('The file is not what was found any more, so it was not sent.');
    expect([came.length, broken]).toEqual([0, 0]);
  });

  // proves: device-hostile-server-5
  it('follows no link, and says that a file is gone', async () => {
    const linked = await found('left');
    renameSync(linked.path, join(root, 'elsewhere'));
    symlinkSync(join(root, 'elsewhere'), linked.path);
    looks.want([linked.look]);
    await refused('The file could not be read, so it was not sent.');
    rmSync(linked.path);
    events.length = 0;
    looks.want([{ ...linked.look, id: newId() }]);
    await refused('The file could not be read, so it was not sent.');
    expect([came.length, broken]).toEqual([0, 0]);
  });

  it('breaks off when the file changes while it is sent, so that no server takes it for whole', async () => {
    const { look, path } = await found('left');
    beforeSending = () => writeFileSync(path, OTHER);
    looks.want([look]);
    await refused('The file is not what was found any more, so it was not sent.');
    await soon(() => expect([came.length, broken]).toEqual([0, 1]));
  });

  it('is not sent on once it is taken back', async () => {
    const { look } = await found('sealed');
    const arrived = Promise.withResolvers<void>();
    meanwhile = (request) => {
      arrived.resolve();
      return new Promise((_, reject) => request.once('close', () => reject(new Error('gone'))));
    };
    looks.want([look]);
    await arrived.promise;
    looks.want([]);
    await soon(() => expect(broken).toBe(1));
    expect([came.length, events]).toEqual([0, []]);
  });

  it('is tried again while the server has no room, and not where it refuses', async () => {
    const { look } = await found('sealed');
    answers = [{ status: 429, retry_after: 1 }, { status: 503 }, { status: 201 }];
    looks.want([look]);
    await soon(() => expect(came).toHaveLength(3));
    answers = [{ status: 409, detail: 'That was another file.' }];
    looks.want([{ ...look, id: newId() }]);
    await refused('That was another file.');
    expect(came).toHaveLength(4);
    // The server does not ask for it any more: there is no report.
    events.length = 0;
    answers = [{ status: 404 }];
    looks.want([{ ...look, id: newId() }]);
    await soon(() => expect(came).toHaveLength(5));
    expect(events).toEqual([]);
  });

  // proves: device-hostile-server-6
  it('drops orders that are withdrawn, however many there were', async () => {
    const { look } = await found('sealed');
    const arrived = Promise.withResolvers<void>();
    meanwhile = (request) => {
      arrived.resolve();
      return new Promise((_, reject) => request.once('close', () => reject(new Error('gone'))));
    };
    looks.want([look]);
    await arrived.promise;
    const before = heldBytes();
    // While one is under way, and none of these has its turn.
    for (let turn = 0; turn < 2_000; turn += 1)
      looks.want([look, ...Array.from({ length: 100 }, () => ({ ...look, id: newId() }))]);
    expect((heldBytes() - before) / 1024 ** 2).toBeLessThan(4);
    looks.want([]);
    await soon(() => expect(broken).toBe(1));
    meanwhile = () => {};
    looks.want([look]);
    await soon(() => expect(came).toHaveLength(1));
    expect(events).toEqual([]);
  });

  // proves: device-hostile-server-7
  it('sends nothing from a computer on which that is switched off', async () => {
    const { look } = await found('sealed');
    is_allowed = false;
    looks.want([look]);
    await refused('Files are not sent from this computer: that was switched off on it.');
    expect([came.length, broken]).toEqual([0, 0]);
  });

  it('does not send a sealed file that was changed', async () => {
    const { look } = await found('sealed');
    writeFileSync(join(root, 'quarantine', `${look.finding_id}.sealed`), OTHER);
    looks.want([look]);
    await refused('The file could not be read, so it was not sent.');
    expect([came.length, broken]).toEqual([0, 0]);
  });
});

it('findings are noted for as many files as the server keeps, the newest', async () => {
  const files = createFoundFiles(join(root, 'found'), 3);
  const ids = Array.from({ length: 5 }, newId).sort();
  const file = { path: Buffer.from([0x2f, 0xff, 0xfe]), file_hash: 'a'.repeat(64), size: 1 };
  for (const id of ids) await files.keep(id, file);
  const kept = await Promise.all(ids.map((id) => files.find(id)));
  expect(kept.map((one) => one !== undefined)).toEqual([false, false, true, true, true]);
  expect(Buffer.from(kept[4]?.path ?? '', 'base64').equals(file.path)).toBe(true);
});
