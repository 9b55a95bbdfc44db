import { createHash, randomBytes } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Found, sendForSecondLook } from '@palisade/contract/agent';
import { countScans, listScans } from '@palisade/contract/antivirus';
import { listActivity } from '@palisade/contract/audit';
import { askSecondLook, listDeviceFindings, orderDeviceFinding, withdrawSecondLook } from '@palisade/contract/devices';
import { EICAR } from '@palisade/scanner/test/files';
import { describe, expect, test, vi } from 'vitest';
import { newId } from '#platform/id.ts';
import { AgentDouble, type AgentIdentity, enrol, helloOf, scanReportOf } from '#test/agent-double.ts';
import { problemOf, readAnswer, replyOf, sharedDatabase, startTestApp, type TestApp } from '#test/harness.ts';

const soon = <T>(check: () => T) => vi.waitFor(check, { timeout: 15_000, interval: 20 });
const agreed = { agreed: true } as const;
const hashOf = (content: Buffer) => createHash('sha256').update(content).digest('hex');

/** Sends bytes as an agent does. */
async function send(
  app: Pick<TestApp, 'url'>,
  { device_id, token }: AgentIdentity,
  order_id: string,
  content: Buffer,
  name = 'found',
) {
  const form = new FormData();
  form.append('file', new Blob([new Uint8Array(content)]), name);
  const query = new URLSearchParams({ device_id, order_id });
  const response = await fetch(`${app.url}/api${sendForSecondLook.path}?${query.toString()}`, {
    method: 'POST',
    body: form,
    headers: { authorization: `Bearer ${token}` },
  });
  return await readAnswer(sendForSecondLook, response);
}

/** A person with a device that has found a file. */
async function withFinding(app: TestApp, content = Buffer.from(EICAR), parts: Partial<Found> = {}) {
  const person = await app.signIn();
  const identity = await enrol(app, person.token);
  // The same start of an agent may come again at any time.
  const instance = randomBytes(16).toString('hex');
  const agent = await AgentDouble.connect(app.url, identity, { instance });
  const file: Found = {
    ...{ id: newId(), path: '/home/maria/games/eicar.com', file_hash: hashOf(content), size: content.length },
    ...{ threat: 'EICAR_Test_File', member: null, found_at: new Date().toISOString(), outcome: 'quarantined', reason: null },
    ...parts,
  };
  await agent.report(scanReportOf({ seq: 1, found: [file] }));
  const find = async (on: TestApp = app) => {
    const [finding] = replyOf(await on.call(listDeviceFindings, { token: person.token }));
    if (finding === undefined) throw new Error('no finding');
    return finding;
  };
  const { id } = await find();
  const asked = (on: TestApp = app) => on.call(askSecondLook, { token: person.token, params: { id }, body: agreed });
  const order = async () => (await agent.desired(({ second_looks }) => second_looks.length === 1)).second_looks[0]?.id ?? '';
  return { ...person, ...{ identity, instance, agent, file, find, id, params: { id }, content, asked, order } };
}

const kindsOf = async (app: TestApp, token: string) => replyOf(await app.call(listActivity, { token })).map(({ kind }) => kind);

describe('a second look', async () => {
  const app = await startTestApp();
  const { call } = app;

  test('is asked for by its person, sent by the device, scanned as an upload, and answered beside the finding', async () => {
    const { token, identity, agent, file, find, content, asked, order } = await withFinding(app);
    expect((await agent.desired()).second_looks).toEqual([]);
    const before = replyOf(await call(countScans, { token }));
    expect(replyOf(await asked()).second_look).toMatchObject({ state: 'asked', scan: null, reason: null });
    const order_id = await order();
    expect((await agent.desired()).second_looks).toEqual([{ id: order_id, finding_id: file.id, file_hash: file.file_hash }]);
    expect(problemOf(await asked()).code).toBe('conflict');
    // The name that is sent with it means nothing.
    const { id } = replyOf(await send(app, identity, order_id, content, '../../etc/passwd'));
    await soon(async () => {
      const look = (await find()).second_look;
      expect(look).toMatchObject({ state: 'answered', scan: { id, scan_status: 'infected' } });
      expect(look?.scan?.threat_detected).toContain('EICAR');
    });
    const scans = replyOf(await call(listScans, { token }));
    expect(scans.find((scan) => scan.id === id)).toMatchObject({ filename: 'eicar.com', size: content.length });
    expect(replyOf(await call(countScans, { token })).infected).toBe(before.infected + 1);
    expect(await kindsOf(app, token)).toEqual(expect.arrayContaining(['second_look_asked', 'second_look_received']));
    await agent.desired(({ second_looks }) => second_looks.length === 0);
    // It was asked for once.
    expect(problemOf(await send(app, identity, order_id, content)).code).toBe('not_found');
    expect(replyOf(await call(countScans, { token })).infected).toBe(before.infected + 1);
    // It can be asked for again.
    expect(replyOf(await asked()).second_look?.state).toBe('asked');
  });

  // proves: device-hostile-agent-4
  test('accepts no other file than the found one, and removes it', async () => {
    const { token, identity, find, content, asked, order } = await withFinding(app);
    replyOf(await asked());
    const before = replyOf(await call(listScans, { token })).length;
    const problem = problemOf(await send(app, identity, await order(), Buffer.from('A'.repeat(content.length))));
    expect([problem.code, problem.detail]).toEqual(['conflict', 'The device sent a different file, so we didn’t accept it.']);
    expect((await find()).second_look).toMatchObject({ state: 'failed', reason: problem.detail, scan: null });
    expect(replyOf(await call(listScans, { token }))).toHaveLength(before);
    expect(await kindsOf(app, token)).toContain('second_look_refused');
    expect(readdirSync(join(app.data_dir, 'spool'))).toEqual([]);
  });

  // proves: device-hostile-agent-4
  test('accepts no byte more than the found file has, nor a large file with other content', async () => {
    const { identity, find, asked, order } = await withFinding(app, Buffer.alloc(200_000, 'a'));
    replyOf(await asked());
    const order_id = await order();
    expect(problemOf(await send(app, identity, order_id, Buffer.alloc(200_001, 'a'))).code).toBe('too_large');
    // It may be sent again.
    expect((await find()).second_look?.state).toBe('asked');
    expect(problemOf(await send(app, identity, order_id, Buffer.alloc(200_000, 'b'))).code).toBe('conflict');
    expect(readdirSync(join(app.data_dir, 'spool'))).toEqual([]);
  });

  // proves: device-hostile-agent-4
  test('is taken from the device alone that was asked, and only while it is asked', async () => {
    const mine = await withFinding(app);
    const other = await withFinding(app);
    replyOf(await mine.asked());
    const order_id = await mine.order();
    expect(problemOf(await send(app, other.identity, order_id, mine.content)).code).toBe('not_found');
    const forged = { ...mine.identity, token: 'f'.repeat(64) };
    expect(problemOf(await send(app, forged, order_id, mine.content)).code).toBe('device_revoked');
    expect(problemOf(await send(app, { ...forged, token: mine.token }, order_id, mine.content)).code).toBe('device_revoked');
    expect(problemOf(await send(app, other.identity, newId(), mine.content)).code).toBe('not_found');
    replyOf(await call(withdrawSecondLook, { token: mine.token, params: mine.params }));
    expect((await mine.find()).second_look).toBeNull();
    expect(problemOf(await send(app, mine.identity, order_id, mine.content)).code).toBe('not_found');
    expect(problemOf(await call(withdrawSecondLook, { token: mine.token, params: mine.params })).code).toBe('conflict');
    expect(await kindsOf(app, mine.token)).toContain('second_look_withdrawn');
  });

  test('of two that come at once takes one', async () => {
    const { token, identity, content, asked, order } = await withFinding(app);
    replyOf(await asked());
    const order_id = await order();
    const before = replyOf(await call(countScans, { token })).infected;
    const both = await Promise.all([1, 2].map(() => send(app, identity, order_id, content)));
    expect(both.map(({ status }) => status).sort()).toEqual([201, 404]);
    expect(replyOf(await call(countScans, { token })).infected).toBe(before + 1);
  });

  test('is not asked for without agreement, of a deleted file, or of a device that does not send', async () => {
    const { token, identity, instance, agent, params, asked } = await withFinding(app);
    const silent = await fetch(`${app.url}/api/devices/findings/${params.id}/second-look`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: '{"agreed":false}',
    });
    expect(silent.status).toBe(422);
    const { capabilities } = helloOf(identity);
    agent.close();
    await agent.ending();
    const reason = 'Files are not sent from this computer: that was switched off on it.';
    const off = { ...capabilities, second_look: false, second_look_reason: reason };
    const again = await AgentDouble.connect(app.url, identity, { instance, capabilities: off });
    await soon(async () => expect(problemOf(await asked()).detail).toBe(reason));
    replyOf(await call(orderDeviceFinding, { token, params, body: { action: 'delete' } }));
    const [deletion] = (await again.desired(({ file_orders }) => file_orders.length === 1)).file_orders;
    const event = { kind: 'event', id: newId(), at: new Date().toISOString() } as const;
    again.say({ ...event, event: { event: 'order_done', order_id: deletion?.id ?? '', ok: true, message: null } });
    await soon(async () => expect(problemOf(await asked()).detail).toBe('This file was deleted.'));
  });

  test('says why the device could not send it, and believes that of its own orders alone', async () => {
    const mine = await withFinding(app);
    const other = await withFinding(app);
    replyOf(await mine.asked());
    const order_id = await mine.order();
    const said = {
      event: 'order_done',
      order_id,
      ok: false,
      message: 'The file could not be read, so it was not sent.',
    } as const;
    const eventOf = () => ({ kind: 'event', id: newId(), at: new Date().toISOString(), event: said }) as const;
    const noted = (of: AgentDouble, id: string) =>
      soon(() => expect(of.told.some((frame) => frame.kind === 'noted' && frame.events.includes(id))).toBe(true));
    const [first, second] = [eventOf(), eventOf()];
    other.agent.say(first);
    await noted(other.agent, first.id);
    expect((await mine.find()).second_look?.state).toBe('asked');
    mine.agent.say(second);
    await noted(mine.agent, second.id);
    expect((await mine.find()).second_look).toMatchObject({ state: 'failed', reason: said.message });
  });
});

test('two servers on one database: asked for at one, sent to the other', async () => {
  const database = await sharedDatabase();
  const surroundings = { database, shares_database: true } as const;
  const one = await startTestApp({ surroundings });
  const two = await startTestApp({ surroundings });
  const { identity, instance, find, content, asked } = await withFinding(one);
  replyOf(await asked(two));
  // These servers share no topics: the agent gets it with its next connection.
  const agent = await AgentDouble.connect(two.url, identity, { instance });
  const [order] = (await agent.desired()).second_looks;
  replyOf(await send(two, identity, order?.id ?? '', content));
  expect((await find(one)).second_look).toMatchObject({ state: 'answered', scan: { scan_status: 'infected' } });
});
