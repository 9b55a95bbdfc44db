import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Found, pollAgent, sendForSecondLook } from '@palisade/contract/agent';
import { countScans, listScans } from '@palisade/contract/antivirus';
import { askSecondLook, listDeviceFindings } from '@palisade/contract/devices';
import { EICAR } from '@palisade/scanner/test/files';
import { describe, expect, test } from 'vitest';
import { newId } from '#platform/id.ts';
import { type AgentIdentity, enrol, helloOf, scanReportOf } from '#test/agent-double.ts';
import { openDevices } from '#test/device-parts.ts';
import { ORIGIN } from '#test/feature-database.ts';
import { problemOf, readAnswer, replyOf, startTestApp } from '#test/harness.ts';

const hashOf = (content: Buffer) => createHash('sha256').update(content).digest('hex');
const fileOf = (content: Buffer): Found => ({
  ...{ id: newId(), path: '/home/maria/games/eicar.com', file_hash: hashOf(content), size: content.length },
  ...{ threat: 'EICAR_Test_File', member: null, found_at: new Date().toISOString(), outcome: 'quarantined', reason: null },
});

describe('a second look', async () => {
  const parts = await openDevices();
  const { database, devices, secondLooks, withDevice, connect } = parts;
  const BY_DEVICE = { origin: ORIGIN, actor_id: null };

  /** A device that has found a file. */
  async function withFinding() {
    const device = await withDevice({ instance: 'a'.repeat(32) });
    const file = fileOf(Buffer.from(EICAR));
    await device.hear(scanReportOf({ found: [file] }));
    const find = async () => (await device.findings())[0] ?? expect.fail('no finding');
    const row = async () => (await devices.findFinding((await find()).id)) ?? expect.fail('no finding');
    const kinds = async () =>
      (
        await database
          .selectFrom('audit_entries')
          .select('kind')
          .where('subject_id', '=', device.user_id)
          .orderBy('seq')
          .execute()
      ).flatMap(({ kind }) => (kind.startsWith('second_look') ? [kind] : []));
    const ask = async () => await secondLooks.ask(await row(), device.doer);
    const awaited = async (order_id: string) => await secondLooks.find(await device.row(), order_id);
    const orderOf = async () => (await device.looks())[0]?.id ?? '';
    return { ...device, deviceRow: device.row, ...{ file, find, row, kinds, ask, awaited, orderOf } };
  }

  test('is asked for, accepted and answered once each, and can be asked for again', async () => {
    const { file, ask, looks, awaited, orderOf, find, kinds } = await withFinding();
    expect(await looks()).toEqual([]);
    expect((await ask()).second_look).toMatchObject({ state: 'asked', scan: null, reason: null });
    expect(await looks()).toMatchObject([{ finding_id: file.id, file_hash: file.file_hash }]);
    await expect(ask()).rejects.toMatchObject({ code: 'conflict' });
    const order_id = await orderOf();
    const [one, other] = [await awaited(order_id), await awaited(order_id)];
    const sent = { size: file.size, sha256: file.file_hash };
    const scan_id = newId();
    // Of two that come at once one is accepted.
    await secondLooks.accept(one, scan_id, sent, BY_DEVICE);
    await expect(secondLooks.accept(other, newId(), sent, BY_DEVICE)).rejects.toMatchObject({ code: 'not_found' });
    expect([await looks(), (await find()).second_look?.state]).toEqual([[], 'scanning']);
    await expect(awaited(order_id)).rejects.toMatchObject({ code: 'not_found' });
    await secondLooks.ended(scan_id, 'The server couldn’t scan it.');
    expect((await find()).second_look).toMatchObject({ state: 'failed', reason: 'The server couldn’t scan it.' });
    expect((await ask()).second_look?.state).toBe('asked');
    expect(await kinds()).toEqual(['second_look_asked', 'second_look_received', 'second_look_asked']);
  });

  // proves: device-hostile-agent-4
  test.each([
    ['other bytes', { sha256: 'b'.repeat(64) }],
    ['another size', { size: 7 }],
  ])('accepts no other file than the found one: %s', async (_, change) => {
    const { file, ask, awaited, orderOf, find, kinds } = await withFinding();
    await ask();
    const sent = { size: file.size, sha256: file.file_hash, ...change };
    await expect(secondLooks.accept(await awaited(await orderOf()), newId(), sent, BY_DEVICE)).rejects.toMatchObject({
      ...{ code: 'conflict', message: 'The device sent a different file, so we didn’t accept it.' },
    });
    expect((await find()).second_look).toMatchObject({ state: 'failed', scan: null });
    expect(await kinds()).toContain('second_look_refused');
  });

  // proves: device-hostile-agent-4
  test('is taken from the device alone that was asked, and only until it is taken back', async () => {
    const [mine, other] = [await withFinding(), await withFinding()];
    await mine.ask();
    const order_id = await mine.orderOf();
    await expect(other.awaited(order_id)).rejects.toMatchObject({ code: 'not_found' });
    await secondLooks.withdraw(await mine.row(), mine.doer);
    expect((await mine.find()).second_look).toBeNull();
    await expect(mine.awaited(order_id)).rejects.toMatchObject({ code: 'not_found' });
    await expect(mine.row().then((row) => secondLooks.withdraw(row, mine.doer))).rejects.toMatchObject({ code: 'conflict' });
    expect(await mine.kinds()).toContain('second_look_withdrawn');
  });

  test('is not asked for of a deleted file, of a device that does not send, or of a revoked one', async () => {
    const { identity, ask, row, deviceRow, doer, desired, hear } = await withFinding();
    const reason = 'Files are not sent from this computer: that was switched off on it.';
    const { capabilities } = helloOf(identity);
    const instance = 'a'.repeat(32);
    await connect(identity, { instance, capabilities: { ...capabilities, second_look: false, second_look_reason: reason } });
    await expect(ask()).rejects.toMatchObject({ code: 'conflict', message: reason });
    await connect(identity, { instance });
    await devices.order(await row(), 'delete');
    const order_id = (await desired()).file_orders[0]?.id ?? '';
    const event = { event: 'order_done' as const, order_id, ok: true, message: null };
    await hear({ kind: 'event', id: newId(), at: new Date().toISOString(), event });
    await expect(ask()).rejects.toMatchObject({ message: 'This file was deleted.' });
    await devices.revoke(await deviceRow(), doer);
    await expect(ask()).rejects.toMatchObject({ code: 'conflict' });
  });

  test('says why the device could not send it, and believes that of its own orders alone', async () => {
    const [mine, other] = [await withFinding(), await withFinding()];
    await mine.ask();
    const message = 'The file could not be read, so it was not sent.';
    const event = { event: 'order_done' as const, order_id: await mine.orderOf(), ok: false, message };
    const said = () => ({ kind: 'event' as const, id: newId(), at: new Date().toISOString(), event });
    await other.hear(said());
    expect((await mine.find()).second_look?.state).toBe('asked');
    await mine.hear(said());
    expect((await mine.find()).second_look).toMatchObject({ state: 'failed', reason: message });
  });
});

describe('the file of a second look', async () => {
  const app = await startTestApp();
  const { call } = app;

  async function send({ device_id, token }: AgentIdentity, order_id: string, content: Buffer) {
    const body = new FormData();
    // The name that is sent with it means nothing.
    body.append('file', new Blob([new Uint8Array(content)]), '../../etc/passwd');
    const path = `/api${sendForSecondLook.path}?${new URLSearchParams({ device_id, order_id }).toString()}`;
    const headers = { authorization: `Bearer ${token}` };
    return await readAnswer(sendForSecondLook, await app.fetch(`${path}`, { method: 'POST', body, headers }));
  }

  /** A person with a device that was asked for a file. */
  async function withOrder(content: Buffer) {
    const { token } = await app.signIn();
    const identity = await enrol(app, token);
    const said = [scanReportOf({ found: [fileOf(content)] })];
    const poll = async (more: typeof said = []) =>
      replyOf(await call(pollAgent, { body: { hello, said: more } })).told.flatMap((frame) =>
        frame.kind === 'desired' ? frame.second_looks : [],
      );
    const hello = helloOf(identity);
    await poll(said);
    const find = async () => replyOf(await call(listDeviceFindings, { token }))[0] ?? expect.fail('no finding');
    const params = { id: (await find()).id };
    replyOf(await call(askSecondLook, { token, params, body: { agreed: true } }));
    const [order] = await poll([scanReportOf({ seq: 2 })]);
    return { token, identity, find, params, order_id: order?.id ?? '' };
  }
  const spooled = () => readdirSync(join(app.data_dir, 'spool'));

  test('is scanned as an upload of its person, and answered beside the finding', async () => {
    const content = Buffer.from(EICAR);
    const { token, identity, find, order_id } = await withOrder(content);
    const before = replyOf(await call(countScans, { token })).infected;
    const { id } = replyOf(await send(identity, order_id, content));
    expect((await find()).second_look).toMatchObject({ state: 'answered', scan: { id, scan_status: 'infected' } });
    const scans = replyOf(await call(listScans, { token }));
    expect(scans.find((scan) => scan.id === id)).toMatchObject({ filename: 'eicar.com', size: content.length });
    expect(replyOf(await call(countScans, { token })).infected).toBe(before + 1);
    // It was asked for once.
    expect(problemOf(await send(identity, order_id, content)).code).toBe('not_found');
  });

  // proves: device-hostile-agent-4
  test('is no byte more than the found one, no other content, and of no other token', async () => {
    const size = 200_000;
    const { token, identity, find, order_id, params } = await withOrder(Buffer.alloc(size, 'a'));
    const before = replyOf(await call(listScans, { token })).length;
    const content = Buffer.alloc(size, 'a');
    for (const forged of ['f'.repeat(64), token])
      expect(problemOf(await send({ ...identity, token: forged }, order_id, content)).code).toBe('device_revoked');
    expect(problemOf(await send(identity, order_id, Buffer.alloc(size + 1, 'a'))).code).toBe('too_large');
    // It may be sent again.
    expect((await find()).second_look?.state).toBe('asked');
    expect(problemOf(await send(identity, order_id, Buffer.alloc(size, 'b'))).code).toBe('conflict');
    expect((await find()).second_look?.state).toBe('failed');
    expect(replyOf(await call(listScans, { token }))).toHaveLength(before);
    expect(spooled()).toEqual([]);
    const silent = await app.fetch(`/api${askSecondLook.path.replace('{id}', params.id)}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: '{"agreed":false}',
    });
    expect(silent.status).toBe(422);
  });
});
