import { describe, expect, test } from 'vitest';
import { computer, newKey, reportOf } from '#test/agent-double.ts';
import { openDevices } from '#test/device-parts.ts';
import { ORIGIN } from '#test/feature-database.ts';
import { insertRow } from '#test/rows.ts';
import { keyFingerprint } from './device-record.ts';
import { hashOf } from './enrolment.ts';

const parts = await openDevices();
const { database, clock, world, devices, agents, enrolment, newPerson, enrol, connect, rowOf, setRules } = parts;
const codeOf = async (user_id: string) => (await enrolment.newCode(user_id)).code.replace('-', '');
const enrolWith = (code: string, source = '192.0.2.1') => enrolment.enrol(computer(code), { ...ORIGIN, source });

test('keeps neither the code nor the token', async () => {
  const user_id = await newPerson();
  const code = await codeOf(user_id);
  expect(JSON.stringify(await database.selectFrom('enrolment_codes').selectAll().execute())).not.toContain(code);
  const { token, device_id } = await enrolWith(code);
  expect(JSON.stringify(await rowOf(device_id))).not.toContain(token);
});

test('takes a code once, within ten minutes, and not once there is a newer one', async () => {
  const user_id = await newPerson();
  const code = await codeOf(user_id);
  const both = await Promise.allSettled([enrolWith(code), enrolWith(code)]);
  expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  const older = await codeOf(user_id);
  const newer = await enrolment.newCode(user_id);
  expect(newer.code).toMatch(/^[A-HJ-NP-Z2-9]{5}-[A-HJ-NP-Z2-9]{5}$/);
  expect(Date.parse(newer.expires_at) - clock.time).toBe(600_000);
  await expect(enrolWith(older)).rejects.toMatchObject({ code: 'enrolment_expired' });
  clock.time += 600_000;
  await expect(enrolWith(newer.code.replace('-', ''))).rejects.toMatchObject({ code: 'enrolment_expired' });
});

test('is refused from where five codes were wrong that begin alike, a right one too, until they are forgotten', async () => {
  const source = '198.51.100.9';
  const user_id = await newPerson();
  const code = await codeOf(user_id);
  const wrong = () => enrolWith(`${code[0]}AAAABBBBB`, source);
  for (let guess = 0; guess < 5; guess += 1) await expect(wrong()).rejects.toMatchObject({ code: 'enrolment_expired' });
  await expect(wrong()).rejects.toMatchObject({ code: 'too_many_requests' });
  await expect(enrolWith(code, source)).rejects.toMatchObject({ code: 'too_many_requests' });
  // Another person behind the same address, whose code begins otherwise, is not delayed by it.
  const neighbour = await newPerson();
  const another = async (): Promise<string> => {
    const made = await codeOf(neighbour);
    return made[0] === code[0] ? await another() : made;
  };
  await enrolWith(await another(), source);
  clock.time += 300_000;
  await enrolWith(code, source);
});

test('fits the plan, decided by the database however many come at once; a revoked device makes room', async () => {
  const user_id = await newPerson();
  const first = await enrol(user_id);
  world.limit = 1;
  await expect(enrolment.newCode(user_id)).rejects.toMatchObject({
    code: 'device_limit',
    message: 'Your plan holds 1 device, and you’ve reached that. Revoke one or ask for a larger plan.',
  });
  world.limit = 3;
  // Codes of one person end each other, so these are put there.
  const codes = ['A', 'B', 'C', 'D'].map((letter) => letter.repeat(10));
  const expires_at = new Date(clock.time + 600_000).toISOString();
  await insertRow(
    database,
    'enrolment_codes',
    codes.map((code) => ({ code_hash: hashOf(code), user_id, expires_at })),
  );
  const answers = await Promise.allSettled(codes.map((code) => enrolWith(code)));
  expect(answers.map(({ status }) => status).sort()).toEqual(['fulfilled', 'fulfilled', 'rejected', 'rejected']);
  await devices.revoke(await rowOf(first.device_id), { origin: ORIGIN, actor_id: user_id });
  // The refused attempts did not use up the code.
  await enrolWith(codes[answers.findIndex(({ status }) => status === 'rejected')] ?? '');
  await expect(enrolment.newCode(user_id)).rejects.toMatchObject({ code: 'device_limit' });
  world.limit = 10;
});

test('with the same key is the same device, whose older token ends', async () => {
  const user_id = await newPerson();
  const public_key = newKey();
  const first = await enrol(user_id, { public_key });
  await devices.change(await rowOf(first.device_id), { device_name: 'Mine' });
  await devices.revoke(await rowOf(first.device_id), { origin: ORIGIN, actor_id: user_id });
  const again = await enrol(user_id, { public_key, hostname: 'other' });
  expect(again.device_id).toBe(first.device_id);
  expect(await agents.authenticate(first)).toBeUndefined();
  expect((await agents.authenticate(again))?.id).toBe(first.device_id);
  expect(await devices.list(user_id, { limit: 10 })).toMatchObject([
    { device_name: 'Mine', hostname: 'other', state: 'offline' },
  ]);
});

describe('a device that its person has not confirmed', () => {
  async function waiting() {
    const user_id = await newPerson();
    const { code } = await enrolment.newCode(user_id);
    const identity = await enrolment.enrol(computer(code.replace('-', '')), ORIGIN);
    const agent = await connect(identity);
    return { user_id, identity, agent, row: () => rowOf(identity.device_id) };
  }

  test('gets no rules, and its reports neither count nor are noted', async () => {
    const { user_id, identity, agent, row } = await waiting();
    setRules(user_id, [{}]);
    const raised = world.raised.length;
    expect((await devices.read(await row())).state).toBe('waiting');
    expect(await devices.living(user_id)).toEqual([]);
    await devices.startScan(await row(), { scan: 'quick', path: null });
    const before = await agents.desired(identity.device_id);
    expect(before?.desired).toMatchObject({ rules: [], scan_jobs: [], defaults: { inbound: 'allow', outbound: 'allow' } });
    const counters = [{ of: 'inbound' as const, packets: 5, bytes: 5 }];
    expect(await agents.hear(agent, reportOf({ counters }))).toEqual([]);
    expect(await devices.counters(user_id)).toEqual([]);
    expect(world.raised).toHaveLength(raised);

    const { fingerprint } = await devices.read(await row());
    expect(fingerprint).toMatch(/^(?:[0-9A-F]{4} ){7}[0-9A-F]{4}$/);
    expect((await devices.confirm(await row(), fingerprint)).state).toBe('online');
    const after = await agents.desired(identity.device_id);
    expect(after?.desired).toMatchObject({ rules: [{}], scan_jobs: [{}] });
    expect(after?.desired.rev).toBeGreaterThan(before?.desired.rev ?? 0);
    expect(after?.mark).not.toBe(before?.mark);
    expect(await agents.hear(agent, reportOf({ counters }))).toMatchObject([{ kind: 'noted' }]);
    expect(await devices.counters(user_id)).toHaveLength(1);
    expect(await devices.living(user_id)).toHaveLength(1);
  });

  test('is not confirmed with the fingerprint of another key', async () => {
    const [one, other] = [await waiting(), await waiting()];
    const { fingerprint } = await devices.read(await other.row());
    await expect(devices.confirm(await one.row(), fingerprint)).rejects.toMatchObject({ code: 'conflict' });
    expect((await one.row()).confirmed_at).toBeNull();
  });

  test('waits again after it was enrolled again', async () => {
    const { user_id, row } = await waiting();
    const { public_key } = await row();
    await devices.confirm(await row(), keyFingerprint(public_key));
    const { code } = await enrolment.newCode(user_id);
    await enrolment.enrol(computer(code.replace('-', ''), { public_key }), ORIGIN);
    expect((await row()).confirmed_at).toBeNull();
    expect(await database.selectFrom('devices').select('id').where('user_id', '=', user_id).execute()).toHaveLength(1);
  });
});
