import { createHash, randomUUID } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type Ack,
  AGENT_CLOSED,
  downloadSignatures,
  enrolDevice,
  type Found,
  leaveDevice,
  pollAgent,
  scanProgressOnDeviceSchema,
  verifyDevice,
} from '@palisade/contract/agent';
import { listAlerts, scanPosture } from '@palisade/contract/anti-hacking';
import { listScans } from '@palisade/contract/antivirus';
import { currentUser } from '@palisade/contract/auth';
import { CLOSED } from '@palisade/contract/channel';
import {
  countRules,
  createEnrolmentCode,
  listBlocked,
  listDeviceFindings,
  listDevices,
  orderDeviceFinding,
  readDevice,
  removeDevice,
  renameDevice,
  revokeDevice,
  STALLED_MS,
  setDeviceDefaults,
  setDeviceFolders,
  startDeviceScan,
  steerDeviceScan,
} from '@palisade/contract/devices';
import { addRule, deleteRule, listRules, RULE_DEFAULTS, setRuleEnabled } from '@palisade/contract/firewall';
import { assignSubscription } from '@palisade/contract/subscription';
import { unpackSignatures } from '@palisade/scanner/signature-archive';
import { needing } from '@palisade/scanner/test/needs';
import { sql } from 'kysely';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { newId } from '#platform/id.ts';
import { AgentDouble, computer, enrol, helloOf, newKey, reportOf, scanReportOf } from '#test/agent-double.ts';
import { freePort } from '#test/free-port.ts';
import { COUNTED_IN_MEMORY, problemOf, replyOf, sharedDatabase, startTestApp, type TestApp } from '#test/harness.ts';
import { REDIS_SERVER, startRedis } from '#test/redis.ts';
import { listenAs } from '#test/socket.ts';

const NEW = { rule_name: 'Web server', ...RULE_DEFAULTS, port: '443' };
const soon = (check: () => unknown) => vi.waitFor(check, { timeout: 5_000, interval: 20 });

async function premium(app: TestApp, email: string, max_devices: 1 | 3 | 10 = 10) {
  const { token } = await app.signIn(`boss-${randomUUID().slice(0, 8)}`, 'admin');
  replyOf(
    await app.call(assignSubscription, {
      token,
      body: {
        user_email: email,
        plan_name: 'Family',
        price: 1,
        duration_months: 12,
        max_devices,
        is_premium: true,
        features: [],
      },
    }),
  );
}

describe('enrolment', async () => {
  let time = Date.now();
  const app = await startTestApp({ environment: COUNTED_IN_MEMORY, surroundings: { now: () => time } });
  const { call, signIn } = app;
  const codeOf = async (token: string) => replyOf(await call(createEnrolmentCode, { token }));

  test('shows a command for ten minutes, and a computer with it is a device', async () => {
    const { token } = await signIn();
    const { code, expires_at, command, refusal } = await codeOf(token);
    expect(code).toMatch(/^[A-HJ-NP-Z2-9]{5}-[A-HJ-NP-Z2-9]{5}$/);
    expect(Date.parse(expires_at) - time).toBe(600_000);
    expect([command, refusal]).toEqual([`curl -fsS ${app.url}/agent/install.sh | sudo sh -s -- ${code}`, null]);
    const enrolled = replyOf(await call(enrolDevice, { body: computer(code.toLowerCase(), { hostname: '<b>laptop</b>' }) }));
    expect(enrolled).toMatchObject({ device_name: '<b>laptop</b>' });
    expect(replyOf(await call(listDevices, { token }))).toMatchObject([
      {
        ...{ id: enrolled.device_id, device_name: '<b>laptop</b>', state: 'offline', capabilities: null, rules_count: 0 },
        ...{
          defaults: { inbound: 'allow', outbound: 'allow' },
          enforcement: { state: 'pending', desired_rev: 1, applied_rev: 0 },
        },
      },
    ]);
  });

  test('keeps neither the code nor the token', async () => {
    const { token } = await signIn();
    const { code } = await codeOf(token);
    const rows = await app.app.database.selectFrom('enrolment_codes').selectAll().execute();
    expect(JSON.stringify(rows)).not.toContain(code.replace('-', ''));
    const enrolled = replyOf(await call(enrolDevice, { body: computer(code) }));
    const devices = await app.app.database.selectFrom('devices').selectAll().execute();
    expect(JSON.stringify(devices)).not.toContain(enrolled.token);
  });

  test('takes a code once, not after its time, and not once there is a newer one', async () => {
    const { token, email } = await signIn();
    await premium(app, email);
    const { code } = await codeOf(token);
    const both = await Promise.all([1, 2].map(() => call(enrolDevice, { body: computer(code) })));
    expect(both.map(({ status }) => status).sort()).toEqual([201, 410]);
    const older = (await codeOf(token)).code;
    const newer = (await codeOf(token)).code;
    expect(problemOf(await call(enrolDevice, { body: computer(older) })).code).toBe('enrolment_expired');
    time += 600_000;
    expect(problemOf(await call(enrolDevice, { body: computer(newer) }))).toMatchObject({
      status: 410,
      code: 'enrolment_expired',
    });
  });

  test('is refused from where five codes were wrong that begin alike, a right one too, until they are forgotten', async () => {
    time += 3_600_000;
    const { token } = await signIn();
    const { code } = await codeOf(token);
    const wrong = () => call(enrolDevice, { body: computer(`${code[0]}AAAABBBBB`) });
    const answers = [await wrong(), await wrong(), await wrong(), await wrong(), await wrong(), await wrong()];
    expect(answers.map(({ status }) => status)).toEqual([410, 410, 410, 410, 410, 429]);
    expect((await call(enrolDevice, { body: computer(code) })).status).toBe(429);
    // Another person behind the same address, whose code begins otherwise, is not delayed by it.
    const neighbour = await signIn();
    const another = async (): Promise<string> => {
      const made = await codeOf(neighbour.token);
      return made.code[0] === code[0] ? await another() : made.code;
    };
    expect((await call(enrolDevice, { body: computer(await another()) })).status).toBe(201);
    time += 300_000;
    expect((await call(enrolDevice, { body: computer(code) })).status).toBe(201);
  });

  test('fits the plan, decided by the database however many come at once; a revoked device makes room', async () => {
    time += 3_600_000;
    const { token, email } = await signIn();
    const first = await enrol(app, token);
    expect(problemOf(await call(createEnrolmentCode, { token }))).toMatchObject({
      ...{ status: 409, code: 'device_limit' },
      detail: 'Your plan holds 1 device, and you’ve reached that. Revoke one or ask for a larger plan.',
    });
    await premium(app, email, 3);
    // Codes of one person end each other, so these are put there.
    const { id: user_id } = await app.app.database
      .selectFrom('users')
      .select('id')
      .where('email', '=', email)
      .executeTakeFirstOrThrow();
    const codes = ['A', 'B', 'C', 'D'].map((letter) => letter.repeat(10));
    const { hashOf } = await import('./enrolment.ts');
    const expires_at = new Date(time + 600_000).toISOString();
    for (const code of codes)
      await app.app.database
        .insertInto('enrolment_codes')
        .values({ code_hash: hashOf(code), user_id, expires_at })
        .execute();
    const answers = await Promise.all(codes.map((code) => call(enrolDevice, { body: computer(code) })));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 409, 409]);
    replyOf(await call(revokeDevice, { token, params: { id: first.device_id } }));
    // The refused attempts did not use up the code.
    const left = codes[answers.findIndex(({ status }) => status === 409)] ?? '';
    expect((await call(enrolDevice, { body: computer(left) })).status).toBe(201);
    expect((await call(createEnrolmentCode, { token })).status).toBe(409);
  });

  test('with the same key is the same device, whose older token ends', async () => {
    time += 3_600_000;
    const { token } = await signIn();
    const public_key = newKey();
    const first = await enrol(app, token, { public_key });
    replyOf(await call(renameDevice, { token, params: { id: first.device_id }, body: { device_name: 'Mine' } }));
    replyOf(await call(revokeDevice, { token, params: { id: first.device_id } }));
    const again = await enrol(app, token, { public_key, hostname: 'other' });
    expect(again.device_id).toBe(first.device_id);
    const nonce = 'a'.repeat(32);
    expect(problemOf(await call(verifyDevice, { body: { ...first, nonce } }))).toMatchObject({
      status: 401,
      code: 'device_revoked',
    });
    expect(replyOf(await call(verifyDevice, { body: { ...again, nonce } })).nonce).toBe(nonce);
    expect(replyOf(await call(listDevices, { token }))).toMatchObject([
      { device_name: 'Mine', hostname: 'other', state: 'offline' },
    ]);
  });

  test.each([
    ['a code of another shape', { code: 'SHORT' }, 'code'],
    ['a hostname of two lines', { hostname: 'a\nb' }, 'hostname'],
    ['a key that is none', { public_key: Buffer.from('no key').toString('base64') }, 'public_key'],
  ])('refuses %s at its field', async (_, change, field) => {
    expect(problemOf(await call(enrolDevice, { body: { ...computer('AAAAABBBBB'), ...change } }))).toMatchObject({
      ...{ status: 422, errors: [{ field }] },
    });
  });
});

describe('an agent', async () => {
  const app = await startTestApp({ surroundings: { poll_wait_ms: 200 } });
  const { call, signIn, url } = app;

  async function withDevice() {
    const person = await signIn();
    const identity = await enrol(app, person.token);
    const device = async () => replyOf(await call(readDevice, { token: person.token, params: { id: identity.device_id } }));
    return { ...person, identity, id: identity.device_id, device };
  }

  test.each([{ source_ip: '::192.0.2.1' }, { source_ip: '192.168.001.010' }, { port: '80:90' }])(
    'gets its other rules where an older version stored one with %j, which stays readable',
    async (older) => {
      const { token, email, identity, device } = await withDevice();
      const old = replyOf(await call(addRule, { token, body: NEW }));
      const rule = replyOf(await call(addRule, { token, body: { ...NEW, rule_name: 'Other', port: '8443' } }));
      await app.app.database.updateTable('firewall_rules').set(older).where('id', '=', old.id).execute();
      expect(replyOf(await call(listRules, { token }))).toMatchObject([{ id: rule.id }, { id: old.id, ...older }]);
      const agent = await AgentDouble.connect(url, identity);
      expect((await agent.desired()).rules.map(({ id }) => id)).toEqual([rule.id]);
      await soon(async () => expect(await device()).toMatchObject({ rules_count: 1 }));
      await premium(app, email);
      replyOf(await call(scanPosture, { token }));
      // It is disabled, mended and deleted as any other.
      replyOf(await call(setRuleEnabled, { token, params: { id: old.id }, body: { enabled: false } }));
      replyOf(await call(setRuleEnabled, { token, params: { id: old.id }, body: { enabled: true } }));
      replyOf(await call(deleteRule, { token, params: { id: old.id } }));
      agent.close();
    },
  );

  // proves: device-fault-1
  test('gets the whole state at once, and again whenever it changes', async () => {
    const { token, identity, id, device } = await withDevice();
    const rule = replyOf(await call(addRule, { token, body: NEW }));
    await call(addRule, { token, body: { ...NEW, rule_name: 'Elsewhere', device_ids: [newId()] } });
    const agent = await AgentDouble.connect(url, identity);
    const first = await agent.desired();
    const { id: rule_id, direction, action, protocol, source_ip, destination_ip, port } = rule;
    expect(first).toMatchObject({
      ...{ rev: 3, defaults: { inbound: 'allow', outbound: 'allow' }, scan_jobs: [], file_orders: [] },
      rules: [{ id: rule_id, direction, action, protocol, source_ip, destination_ip, port, expires_at: null }],
    });
    expect(await device()).toMatchObject({ state: 'online', rules_count: 1 });
    agent.say({ kind: 'ack', rev: 3, state: 'applied', applied_rev: 3, errors: [] });
    await soon(async () =>
      expect((await device()).enforcement).toMatchObject({ state: 'applied', applied_rev: 3, pending_since: null }),
    );
    await call(setRuleEnabled, { token, params: { id: rule_id }, body: { enabled: false } });
    const next = await agent.desired(({ rules }) => rules.length === 0);
    expect([next.rev, next.hash === first.hash]).toEqual([4, false]);
    expect((await device()).enforcement).toMatchObject({ state: 'pending', desired_rev: 4, applied_rev: 3 });
    expect((await device()).enforcement.pending_since).not.toBeNull();
    replyOf(await call(setDeviceDefaults, { token, params: { id }, body: { inbound: 'block', outbound: 'allow' } }));
    expect((await agent.desired(({ rev }) => rev === 5)).defaults.inbound).toBe('block');
    const folders = { is_watching: false, watched: ['/srv'], exclusions: ['/var/lib'] };
    replyOf(await call(setDeviceFolders, { token, params: { id }, body: folders }));
    expect(await agent.desired(({ is_watching }) => !is_watching)).toMatchObject({ ...folders, rev: 5 });
    agent.close();
    await soon(async () => expect((await device()).state).toBe('offline'));
  });

  test('shows pages that it has orders while it is away, and since when', async () => {
    const { token, identity, device } = await withDevice();
    const agent = await AgentDouble.connect(url, identity);
    const { rev } = await agent.desired();
    agent.say({ kind: 'ack', rev, state: 'applied', applied_rev: rev, errors: [] });
    await soon(async () => expect((await device()).enforcement.state).toBe('applied'));
    agent.close();
    await soon(async () => expect((await device()).state).toBe('offline'));
    const before = new Date().toISOString();
    const page = await listenAs(app, token);
    replyOf(await call(addRule, { token, body: NEW }));
    await page.event((event) => event.kind === 'changed' && event.topic === 'devices');
    const { state, pending_since } = (await device()).enforcement;
    expect(state).toBe('pending');
    expect(pending_since ?? '').toSatisfy((since: string) => since >= before);
  });

  test('gets the name of a set of signatures, and its file with the announced hash, and no other one', async () => {
    const { identity } = await withDevice();
    const agent = await AgentDouble.connect(url, identity);
    const { signatures } = await agent.desired();
    if (signatures === null) throw new Error('no signatures');
    const ask = async (version: string, token = identity.token) =>
      await fetch(`${url}/api${downloadSignatures.path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ ...identity, token, version }),
      });
    const answer = await ask(signatures.version);
    const file = Buffer.from(await answer.arrayBuffer());
    expect([answer.status, file.length, createHash('sha256').update(file).digest('hex')]).toEqual([
      200,
      signatures.bytes,
      signatures.sha256,
    ]);
    const folder = mkdtempSync(join(tmpdir(), 'palisade-set-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    writeFileSync(join(folder, 'set'), file);
    const { rules_folder, feeds } = await unpackSignatures(join(folder, 'set'), join(folder, 'out'));
    expect([readdirSync(rules_folder).length > 3, feeds]).toEqual([true, []]);
    expect((await ask('7-of-tomorrow')).status).toBe(404);
    expect((await ask(signatures.version, 'f'.repeat(64))).status).toBe(401);
  });

  test('learns how long a trial may last, from its first report', async () => {
    const { identity, device } = await withDevice();
    const agent = await AgentDouble.connect(url, identity);
    const trial: Ack = { kind: 'ack', rev: 1, state: 'trial', applied_rev: 1, errors: [] };
    expect((await device()).enforcement.seconds_left).toBeNull();
    agent.say(trial);
    await soon(async () => expect((await device()).enforcement.state).toBe('trial'));
    const { seconds_left } = (await device()).enforcement;
    expect(seconds_left).toBeGreaterThan(0);
    expect(seconds_left).toBeLessThanOrEqual(30);
    const [before] = await app.app.database
      .selectFrom('devices')
      .select('trial_at')
      .where('id', '=', identity.device_id)
      .execute();
    agent.say(trial);
    agent.say({ kind: 'ack', rev: 1, state: 'trial', applied_rev: 1, errors: [{ rule_id: null, message: 'again' }] });
    await soon(async () => expect((await device()).enforcement.errors).toHaveLength(1));
    const [after] = await app.app.database
      .selectFrom('devices')
      .select('trial_at')
      .where('id', '=', identity.device_id)
      .execute();
    expect(after).toEqual(before);
    agent.say({ kind: 'ack', rev: 1, state: 'applied', applied_rev: 1, errors: [] });
    await soon(async () => expect((await device()).enforcement).toMatchObject({ state: 'applied', seconds_left: null }));

    // Repeated with each connection: it was applied when it was first reported.
    const { applied_at } = (await device()).enforcement;
    await app.app.database
      .updateTable('devices')
      .set({ applied_at: '2026-01-01T00:00:00.000Z' })
      .where('id', '=', identity.device_id)
      .execute();
    expect(applied_at).not.toBeNull();
    agent.say({ kind: 'ack', rev: 1, state: 'applied', applied_rev: 1, errors: [{ rule_id: null, message: 'said again' }] });
    await soon(async () => expect((await device()).enforcement.errors).toHaveLength(1));
    expect((await device()).enforcement.applied_at).toBe('2026-01-01T00:00:00.000Z');
  });

  // proves: device-fault-3
  test('says of a rejected revision which rule it was, and of a foreign rule nothing', async () => {
    const { token, identity, device } = await withDevice();
    const rule = replyOf(await call(addRule, { token, body: NEW }));
    const stranger = await signIn();
    const foreign = replyOf(await call(addRule, { token: stranger.token, body: NEW }));
    const agent = await AgentDouble.connect(url, identity);
    const errors = [rule, foreign].map(({ id }) => ({ rule_id: id, message: 'The kernel does not take <it>.' }));
    agent.say({ kind: 'ack', rev: 2, state: 'rejected', applied_rev: 0, errors });
    await soon(async () =>
      expect((await device()).enforcement).toMatchObject({
        ...{ state: 'rejected', applied_rev: 0 },
        errors: [
          { rule_id: rule.id, message: 'The kernel does not take <it>.' },
          { rule_id: null, message: 'The kernel does not take <it>.' },
        ],
      }),
    );
  });

  // proves: device-fault-12, device-hostile-agent-7
  test('is not believed in an unknown revision, nor in an older one once it answered for a newer', async () => {
    const { token, identity, device } = await withDevice();
    const agent = await AgentDouble.connect(url, identity);
    agent.say({ kind: 'ack', rev: 99, state: 'applied', applied_rev: 99, errors: [] });
    await call(addRule, { token, body: NEW });
    agent.say({ kind: 'ack', rev: 2, state: 'rolled_back', applied_rev: 1, errors: [] });
    agent.say({ kind: 'ack', rev: 1, state: 'applied', applied_rev: 1, errors: [] });
    agent.say({ kind: 'ack', rev: 2, state: 'trial', applied_rev: 2, errors: [] });
    await agent.report(reportOf());
    expect((await device()).enforcement).toMatchObject({ state: 'rolled_back', desired_rev: 2, applied_rev: 1 });
  });

  // proves: device-fault-10
  test('has its device alone: a second one is refused, and the same start may come again', async () => {
    const { identity, device } = await withDevice();
    const instance = 'a'.repeat(32);
    const agent = await AgentDouble.connect(url, identity, { instance });
    const clone = new AgentDouble(url);
    await clone.hello(identity);
    expect(await clone.ending()).toBe(AGENT_CLOSED.in_use);
    expect(problemOf(await call(pollAgent, { body: { hello: helloOf(identity), said: [] } }))).toMatchObject({
      ...{ status: 409, code: 'device_in_use' },
    });
    expect(agent.closed).toBeUndefined();
    const again = await AgentDouble.connect(url, identity, { instance });
    again.close();
    agent.close();
    await soon(async () => expect((await device()).state).toBe('offline'));
    (await AgentDouble.connect(url, identity)).close();
  });

  test('over calls hears and says the same, and waits for news', async () => {
    const { token, identity, device } = await withDevice();
    const instance = 'b'.repeat(32);
    const poll = async (parts: Parameters<typeof helloOf>[1], said: Parameters<AgentDouble['say']>[0][] = []) =>
      replyOf(await call(pollAgent, { body: { hello: helloOf(identity, { instance, ...parts }), said } })).told;
    const [welcome, desired] = await poll({});
    expect([welcome?.kind, desired?.kind]).toEqual(['welcome', 'desired']);
    if (desired?.kind !== 'desired') throw new Error('no state');
    const has = { applied_rev: desired.rev, ruleset_hash: desired.hash };
    const said = await poll(has, [{ kind: 'ack', rev: 1, state: 'applied', applied_rev: 1, errors: [] }, reportOf({ seq: 7 })]);
    expect(said.at(-1)).toEqual({ kind: 'noted', seq: 7, events: [] });
    expect((await device()).enforcement.state).toBe('applied');
    const waiting = poll(has);
    await call(addRule, { token, body: NEW });
    expect((await waiting).find((frame) => frame.kind === 'desired')).toMatchObject({ rev: 2, rules: [{ port: '443' }] });
    expect((await poll({ applied_rev: 2, ruleset_hash: null }, [])).length).toBe(2);
  });

  // proves: device-hostile-agent-3
  test('over calls is not asked again and again while it has something to do, and says no more than over a socket', async () => {
    const { token, email, identity, id } = await withDevice();
    await premium(app, email);
    const instance = 'c'.repeat(32);
    const poll = (said: Parameters<AgentDouble['say']>[0][] = []) =>
      call(pollAgent, { body: { hello: helloOf(identity, { instance }), said } });
    replyOf(await call(startDeviceScan, { token, params: { id }, body: { scan: 'full' } }));
    let polls = 0;
    for (const began = performance.now(); performance.now() - began < 1_000; polls += 1) replyOf(await poll());
    // Each waits for 200 ms here, but the first.
    expect(polls).toBeLessThanOrEqual(7);
    const reports = Array.from({ length: 50 }, (_, place) => reportOf({ seq: place + 1 }));
    const answers = await Promise.all(Array.from({ length: 8 }, () => poll(reports)));
    const refused = answers.filter(({ ok }) => !ok).map((answer) => problemOf(answer).code);
    // Each frame of a full poll has its answer.
    const [heard] = answers.filter(({ ok }) => ok);
    if (heard === undefined) throw new Error('none was heard');
    expect(replyOf(heard).told.filter(({ kind }) => kind === 'noted')).toHaveLength(50);
    expect(new Set(refused)).toEqual(new Set(['too_many_requests']));
  });

  test('of a revoked device is put out at once, and may do nothing more', async () => {
    const { token, identity, id } = await withDevice();
    const agent = await AgentDouble.connect(url, identity);
    const began = performance.now();
    expect(replyOf(await call(revokeDevice, { token, params: { id } }))).toMatchObject({ state: 'revoked' });
    expect(await agent.ending()).toBe(AGENT_CLOSED.revoked);
    expect(performance.now() - began).toBeLessThan(1_000);
    const late = new AgentDouble(url);
    await late.hello(identity);
    expect(await late.ending()).toBe(AGENT_CLOSED.revoked);
    for (const answer of [
      await call(verifyDevice, { body: { ...identity, nonce: 'a'.repeat(32) } }),
      await call(pollAgent, { body: { hello: helloOf(identity), said: [] } }),
      await call(leaveDevice, { body: identity }),
    ])
      expect(problemOf(answer)).toMatchObject({ status: 401, code: 'device_revoked' });
    expect(problemOf(await call(revokeDevice, { token, params: { id } })).code).toBe('conflict');
    expect((await call(removeDevice, { token, params: { id } })).status).toBe(204);
    expect(replyOf(await call(listDevices, { token }))).toEqual([]);
  });

  test('that is uninstalled revokes its device itself', async () => {
    const { identity, device } = await withDevice();
    expect((await call(leaveDevice, { body: identity })).status).toBe(204);
    expect((await device()).state).toBe('revoked');
  });

  test("cannot call a person's endpoints: its token signs no one in", async () => {
    const { identity } = await withDevice();
    for (const endpoint of [currentUser, listDevices, listScans])
      expect(problemOf(await call(endpoint, { token: identity.token })).code).toBe('unauthenticated');
  });

  describe('that is hostile', () => {
    // proves: device-hostile-agent-1
    test.each([
      ['wrong types', { kind: 'report', seq: 'one' }],
      [
        'a million counters',
        { ...reportOf(), counters: Array.from({ length: 2_000 }, () => ({ of: 'inbound', packets: 1, bytes: 1 })) },
      ],
      ['a frame without an end', '{"kind":"report"'],
      ['a negative count', { ...reportOf(), counters: [{ of: 'inbound', packets: -1, bytes: 0 }] }],
      ['something that nobody says', { kind: 'desired' }],
    ])('is put out for %s, and the frame is not stored', async (_, frame) => {
      const { token, identity } = await withDevice();
      const agent = await AgentDouble.connect(url, identity);
      agent.sayRaw(frame);
      expect(await agent.ending()).toBe(CLOSED.malformed);
      expect(replyOf(await call(countRules, { token }))).toEqual([]);
    });

    // proves: device-fault-13
    test('is put out for a frame that is too large', async () => {
      const { identity } = await withDevice();
      const agent = await AgentDouble.connect(url, identity);
      agent.sayRaw({ kind: 'report', filler: 'x'.repeat(300 * 1024) });
      expect(await agent.ending()).toBe(CLOSED.too_big);
    });

    // proves: device-hostile-agent-6
    test('counts nothing for rules of others, and reports no scan of another device', async () => {
      const { token, identity } = await withDevice();
      const other = await withDevice();
      const foreign = replyOf(await call(addRule, { token: other.token, body: NEW }));
      const scan = replyOf(
        await call(startDeviceScan, { token: other.token, params: { id: other.id }, body: { scan: 'quick' } }),
      );
      const agent = await AgentDouble.connect(url, identity);
      await agent.report(
        reportOf({
          counters: [
            { of: foreign.id, packets: 5, bytes: 5 },
            { of: 'inbound', packets: 2, bytes: 9 },
          ],
        }),
      );
      await agent.report(scanReportOf({ seq: 2, job_id: scan.id, state: 'done' }));
      expect(replyOf(await call(countRules, { token }))).toMatchObject([{ of: 'inbound', packets: 2, bytes: 9 }]);
      expect(replyOf(await call(countRules, { token: other.token }))).toEqual([]);
      expect((await other.device()).scan).toMatchObject({ id: scan.id, state: 'queued' });
    });

    // proves: device-hostile-agent-6
    test('says nothing under the id of another device', async () => {
      const { identity } = await withDevice();
      const other = await withDevice();
      const agent = new AgentDouble(url);
      await agent.hello({ device_id: other.id, token: identity.token });
      expect(await agent.ending()).toBe(AGENT_CLOSED.revoked);
      expect((await other.device()).last_seen_at).toBeNull();
    });
  });

  // proves: device-hostile-agent-2
  test('counts in epochs: a counter never falls, and a repeated report counts once', async () => {
    const { token, identity } = await withDevice();
    const { id: of } = replyOf(await call(addRule, { token, body: NEW }));
    const instance = 'c'.repeat(32);
    const agent = await AgentDouble.connect(url, identity, { instance });
    const counted = async () => replyOf(await call(countRules, { token })).map(({ packets, bytes }) => [packets, bytes]);
    const [one, two] = ['2026-11-20T10:00:00.000Z', '2026-11-20T11:00:00.000Z'];
    const blocked = [{ direction: 'inbound' as const, protocol: 'tcp' as const, address: '203.0.113.7', port: 443, packets: 3 }];
    await agent.report(reportOf({ seq: 1, epoch: one, counters: [{ of, packets: 10, bytes: 100 }], blocked }));
    await agent.report(reportOf({ seq: 1, epoch: one, counters: [{ of, packets: 10, bytes: 100 }], blocked }));
    await agent.report(reportOf({ seq: 2, epoch: one, counters: [{ of, packets: 4, bytes: 40 }] }));
    expect(await counted()).toEqual([[10, 100]]);
    await agent.report(reportOf({ seq: 3, epoch: two, counters: [{ of, packets: 5, bytes: 50 }] }));
    expect(await counted()).toEqual([[15, 150]]);
    // Of an earlier epoch, again.
    await agent.report(reportOf({ seq: 4, epoch: one, counters: [{ of, packets: 99, bytes: 990 }] }));
    expect(await counted()).toEqual([[15, 150]]);
    expect(replyOf(await call(listBlocked, { token }))).toMatchObject({
      ...{ packets: 3, packets_total: 3 },
      sources: [{ direction: 'inbound', protocol: 'tcp', address: '203.0.113.7', port: 443, packets: 3 }],
    });
    await agent.report(
      reportOf({ seq: 5, epoch: two, counters: [{ of, packets: Number.MAX_SAFE_INTEGER, bytes: Number.MAX_SAFE_INTEGER }] }),
    );
    expect(await counted()).toEqual([[Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER]]);
  });

  test('counts each part of the dropped packets once in spite of repeats, and by its time', async () => {
    const { token, identity, device } = await withDevice();
    const read = async () => replyOf(await call(listBlocked, { token }));
    const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();
    const source = (address: string, packets: number, first: number, last: number) => ({
      ...{ direction: 'inbound' as const, protocol: 'tcp' as const, address, port: 22, packets },
      ...{ first_at: ago(first), last_at: ago(last) },
    });
    await app.app.database
      .updateTable('devices')
      .set({ enrolled_at: ago(600) })
      .where('id', '=', identity.device_id)
      .execute();
    const log = 'd'.repeat(32);
    const agent = await AgentDouble.connect(url, identity);
    // It was away for hours: drops before the last hour count in the total alone.
    const first = {
      blocked: [source('203.0.113.7', 3, 40, 20), source('203.0.113.8', 100, 300, 200)],
      blocked_more: { packets: 50, first_at: ago(30), last_at: ago(10) },
      blocked_part: { log, number: 1 },
    };
    await agent.report(reportOf({ seq: 1, ...first }));
    await agent.report(reportOf({ seq: 2, ...first }));
    expect(await read()).toMatchObject({ packets: 53, packets_total: 153, sources: [{ address: '203.0.113.7', packets: 3 }] });
    const [kept] = (await read()).sources;
    expect([kept?.first_at, kept?.last_at]).toEqual([first.blocked[0]?.first_at, first.blocked[0]?.last_at]);
    agent.close();
    await soon(async () => expect((await device()).state).toBe('offline'));
    // Another start of the agent did not hear that it was noted.
    const again = await AgentDouble.connect(url, identity);
    await again.report(reportOf({ seq: 1, ...first }));
    expect(await read()).toMatchObject({ packets: 53, packets_total: 153 });
    await again.report(reportOf({ seq: 2, blocked: [source('203.0.113.7', 4, 5, 1)], blocked_part: { log, number: 2 } }));
    expect(await read()).toMatchObject({ packets: 57, packets_total: 157, sources: [{ address: '203.0.113.7', packets: 7 }] });
    // A log that begins anew is another one.
    await again.report(
      reportOf({ seq: 3, blocked: [source('203.0.113.7', 1, 1, 1)], blocked_part: { log: 'e'.repeat(32), number: 1 } }),
    );
    expect(await read()).toMatchObject({ packets: 58, packets_total: 158 });
  });

  test('counts the packets of further sources in one sum', async () => {
    const { token, identity } = await withDevice();
    const agent = await AgentDouble.connect(url, identity);
    for (let seq = 1; seq <= 7; seq += 1) {
      const blocked = Array.from({ length: 500 }, (_, index) => ({
        ...{
          direction: 'inbound' as const,
          protocol: 'udp' as const,
          address: `198.18.${seq}.${index % 250}`,
          port: index,
          packets: 2,
        },
      }));
      await agent.report(reportOf({ seq, blocked }));
    }
    expect(replyOf(await call(listBlocked, { token }))).toMatchObject({ packets: 7_000, packets_total: 7_000 });
    expect(replyOf(await call(listBlocked, { token })).sources.every(({ address }) => address !== '')).toBe(true);
  });

  // proves: attack-E.5-2
  test('is online only while its agent reports, and says what keeps it from checking files', async () => {
    const { token, identity, id, device } = await withDevice();
    const instance = 'a'.repeat(32);
    const agent = await AgentDouble.connect(url, identity, { instance });
    expect(await device()).toMatchObject({ state: 'online', health: null });
    const health = {
      ...{ watcher: 'stalled' as const, files_unread: 3, workers_stuck: 1 },
      overflow: { at: new Date().toISOString(), folders: 2 },
    };
    await agent.report(reportOf({ seq: 1, health }));
    expect(await device()).toMatchObject({ state: 'online', health });
    // It answers pings, and has not reported for long.
    const silent = new Date(Date.now() - STALLED_MS - 1_000).toISOString();
    await app.app.database.updateTable('devices').set({ reported_at: silent }).where('id', '=', id).execute();
    expect((await device()).state).toBe('stalled');
    // The same start that is connected again has not worked since.
    await AgentDouble.connect(url, identity, { instance });
    expect((await device()).state).toBe('stalled');
    const scan = replyOf(await call(startDeviceScan, { token, params: { id }, body: { scan: 'quick' } }));
    expect(scan.files_unread).toBe(0);
  });

  test('counts unread files of a scan, and accepts frames of earlier agent versions', async () => {
    const { token, identity, id, device } = await withDevice();
    const agent = await AgentDouble.connect(url, identity);
    const scan = replyOf(await call(startDeviceScan, { token, params: { id }, body: { scan: 'quick' } }));
    const { progress } = scanReportOf();
    const unread = { ...progress, files_pending: 2, folders_unread: 1 };
    await agent.report(scanReportOf({ seq: 1, job_id: scan.id, scan: 'quick', state: 'done', progress: unread }));
    expect((await device()).scan).toMatchObject({ state: 'done', files_found: 0, files_unread: 3 });
    const { folders_unread: _, ...earlier } = progress;
    expect(scanProgressOnDeviceSchema.parse(earlier)).toEqual(progress);
  });

  test('tells of a scan that ended while the server was away when that was', async () => {
    const { token, identity, id, device } = await withDevice();
    const ended_at = new Date(Date.now() - 3_600_000).toISOString();
    await app.app.database
      .updateTable('devices')
      .set({ enrolled_at: new Date(Date.now() - 86_400_000).toISOString() })
      .where('id', '=', id)
      .execute();
    const scan = replyOf(await call(startDeviceScan, { token, params: { id }, body: { scan: 'full' } }));
    const agent = await AgentDouble.connect(url, identity);
    await agent.report(scanReportOf({ seq: 1, job_id: scan.id, state: 'done', at: ended_at }));
    expect(await device()).toMatchObject({ last_full_scan_at: ended_at, scan: { state: 'done', ended_at } });
  });

  // proves: device-fault-8
  test('counts on once a clock that was ahead is right again', async () => {
    const { token, identity } = await withDevice();
    const agent = await AgentDouble.connect(url, identity);
    const counted = async () => replyOf(await call(countRules, { token })).map(({ packets }) => packets);
    const ofDefault = (packets: number) => [{ of: 'inbound' as const, packets, bytes: packets }];
    await agent.report(reportOf({ seq: 1, epoch: '2099-01-01T00:00:00.000Z', counters: ofDefault(10) }));
    await agent.report(reportOf({ seq: 2, epoch: '2099-01-01T00:00:00.000Z', counters: ofDefault(12) }));
    expect(await counted()).toEqual([12]);
    const epoch = new Date().toISOString();
    await agent.report(reportOf({ seq: 3, epoch, counters: ofDefault(5) }));
    await agent.report(reportOf({ seq: 4, epoch, counters: ofDefault(6) }));
    expect(await counted()).toEqual([18]);
  });

  test('scans where the files are: asked for, followed, found, restored', async () => {
    const { token, email, identity, id, device } = await withDevice();
    await premium(app, email);
    const agent = await AgentDouble.connect(url, identity);
    const scan = replyOf(await call(startDeviceScan, { token, params: { id }, body: { scan: 'full' } }));
    expect(problemOf(await call(startDeviceScan, { token, params: { id }, body: { scan: 'quick' } })).code).toBe('conflict');
    expect((await agent.desired(({ scan_jobs }) => scan_jobs.length === 1)).scan_jobs).toEqual([
      { id: scan.id, scan: 'full', path: null, wanted: 'run' },
    ]);
    replyOf(await call(steerDeviceScan, { token, params: { id: scan.id }, body: { wanted: 'pause' } }));
    await agent.desired(({ scan_jobs }) => scan_jobs[0]?.wanted === 'pause');
    const file: Found = {
      ...{ id: newId(), path: '/home/maria/<b>invoice</b>.zip', file_hash: 'a'.repeat(64), size: 68, threat: 'EICAR_Test_File' },
      ...{ member: 'eicar.com', found_at: new Date().toISOString(), outcome: 'quarantined', reason: null },
    };
    await agent.report(scanReportOf({ seq: 1, job_id: scan.id, found: [file] }));
    await agent.report(scanReportOf({ seq: 2, job_id: scan.id, found: [file], state: 'done' }));
    expect(await device()).toMatchObject({ scan: { state: 'done', files_found: 1, progress: { files_read: 10 } } });
    expect((await device()).last_full_scan_at).not.toBeNull();
    const [recorded, ...others] = replyOf(await call(listScans, { token }));
    expect(others).toEqual([]);
    expect(recorded).toMatchObject({
      ...{ filename: 'b>.zip', scan_status: 'infected', threat_detected: 'EICAR_Test_File', threat_member: 'eicar.com' },
      device: { id, device_name: 'laptop', path: file.path },
    });
    const alerts = replyOf(await call(listAlerts, { token }));
    expect(alerts.filter(({ rule }) => rule === 'device_infected_file')).toMatchObject([
      { blocked: true, severity: 'high', count: 1 },
    ]);
    const [finding] = replyOf(await call(listDeviceFindings, { token }));
    expect(finding).toMatchObject({ path: file.path, state: 'quarantined', order: null });
    const params = { id: finding?.id ?? '' };
    expect(replyOf(await call(orderDeviceFinding, { token, params, body: { action: 'restore' } })).order).toBe('restore');
    const [order] = (await agent.desired(({ file_orders }) => file_orders.length === 1)).file_orders;
    expect(order).toMatchObject({ finding_id: file.id, action: 'restore' });
    const event = { kind: 'event', id: newId(), at: new Date().toISOString() } as const;
    agent.say({ ...event, event: { event: 'order_done', order_id: order?.id ?? '', ok: true, message: null } });
    await soon(async () =>
      expect(replyOf(await call(listDeviceFindings, { token }))).toMatchObject([{ state: 'restored', order: null }]),
    );
    expect(problemOf(await call(orderDeviceFinding, { token, params, body: { action: 'delete' } })).code).toBe('conflict');
    expect(problemOf(await call(steerDeviceScan, { token, params: { id: scan.id }, body: { wanted: 'run' } })).code).toBe(
      'conflict',
    );
  });

  // proves: device-fault-9
  test.each(['scans', 'alerts'] as const)('keeps all of a repeated report after %s were away', async (table) => {
    const { token, email, identity } = await withDevice();
    await premium(app, email);
    const file: Found = {
      ...{ id: newId(), path: '/home/maria/eicar.com', file_hash: 'a'.repeat(64), size: 68, threat: 'EICAR_Test_File' },
      ...{ member: null, found_at: new Date().toISOString(), outcome: 'quarantined', reason: null },
    };
    const { database } = app.app;
    const agent = await AgentDouble.connect(url, identity);
    await sql`alter table ${sql.table(table)} rename to gone_for_now`.execute(database);
    agent.say(scanReportOf({ seq: 1, found: [file] }));
    await soon(() => expect(agent.closed).toMatchObject({ code: CLOSED.again }));
    await sql`alter table gone_for_now rename to ${sql.table(table)}`.execute(database);
    const again = await AgentDouble.connect(url, identity);
    await again.report(scanReportOf({ seq: 1, found: [file] }));
    await again.report(scanReportOf({ seq: 2, found: [file] }));
    expect(replyOf(await call(listScans, { token }))).toMatchObject([{ scan_status: 'infected', threat_detected: file.threat }]);
    expect(replyOf(await call(listAlerts, { token }))).toMatchObject([{ rule: 'device_infected_file', count: 1 }]);
    expect(replyOf(await call(listDeviceFindings, { token }))).toMatchObject([{ path: file.path, state: 'quarantined' }]);
  });

  // proves: device-fault-8
  test.each([
    ['1970-01-01T00:00:30.000Z', '1970-01-01T00:00:40.000Z'],
    ['2099-01-01T00:00:00.000Z', '2099-01-01T00:00:10.000Z'],
    ['1970-01-01T00:00:30.000Z', new Date().toISOString()],
    [new Date().toISOString(), '1970-01-01T00:00:40.000Z'],
    [new Date().toISOString(), '2099-01-01T00:00:10.000Z'],
  ])('tells when it happened by the clock of the server: its own says %s, and then %s', async (at, then) => {
    const { token, email, identity } = await withDevice();
    await premium(app, email);
    const begun = new Date(Date.now() - 60_000).toISOString();
    const agent = await AgentDouble.connect(url, identity, { at });
    const file: Found = {
      ...{ id: newId(), path: '/home/maria/eicar.com', file_hash: 'a'.repeat(64), size: 68, threat: 'EICAR_Test_File' },
      ...{ member: null, found_at: then, outcome: 'quarantined', reason: null },
    };
    await agent.report(scanReportOf({ seq: 1, found: [file] }));
    agent.say({ kind: 'event', id: newId(), at: then, event: { event: 'tampered', backed_off: false } });
    await soon(async () => expect(replyOf(await call(listAlerts, { token }))).toHaveLength(2));
    const found = replyOf(await call(listDeviceFindings, { token })).map(({ found_at }) => found_at);
    const alerts = replyOf(await call(listAlerts, { token }));
    for (const moment of [...found, ...alerts.flatMap(({ created_at, last_seen }) => [created_at, last_seen])]) {
      expect(moment >= begun).toBe(true);
      expect(moment <= new Date().toISOString()).toBe(true);
    }
  });

  test('reports events as alerts, each once in spite of repeats', async () => {
    const { token, email, identity } = await withDevice();
    await premium(app, email);
    const agent = await AgentDouble.connect(url, identity);
    const at = new Date().toISOString();
    const events = [
      { event: 'ssh_guessing', address: '203.0.113.7', failures: 12, blocked: false },
      { event: 'tampered', backed_off: false },
      { event: 'new_listening_port', listening: { protocol: 'tcp', address: '0.0.0.0', port: 8080, program: '<i>x</i>' } },
    ] as const;
    for (const event of events) {
      const id = newId();
      for (let time = 0; time < 2; time += 1) agent.say({ kind: 'event', id, at, event });
      await soon(() => expect(agent.told.filter((frame) => frame.kind === 'noted' && frame.events.includes(id))).toHaveLength(2));
    }
    const alerts = replyOf(await call(listAlerts, { token }));
    expect(alerts.map(({ rule, severity, outcome, count, ip_address }) => [rule, severity, outcome, count, ip_address])).toEqual([
      ['device_new_listening_port', 'low', 'unknown', 1, null],
      ['device_tampered', 'high', 'blocked', 1, null],
      ['device_ssh_guessing', 'high', 'unknown', 1, '203.0.113.7'],
    ]);
  });

  test('belongs to one person: a stranger finds neither the device nor its reports', async () => {
    const { id } = await withDevice();
    const { token } = await signIn();
    const params = { id };
    for (const answer of [
      await call(readDevice, { token, params }),
      await call(renameDevice, { token, params, body: { device_name: 'Mine' } }),
      await call(revokeDevice, { token, params }),
      await call(removeDevice, { token, params }),
      await call(startDeviceScan, { token, params, body: { scan: 'quick' } }),
    ])
      expect(answer.status).toBe(404);
    expect(replyOf(await call(listDevices, { token }))).toEqual([]);
  });
});

describe('a device that is silent', async () => {
  let time = Date.now();
  const app = await startTestApp({ surroundings: { now: () => time, every_ms: { 'device-silence': 20 } } });
  const { signIn, url } = app;

  test('a week of silence is reported once, and again after the device was heard', async () => {
    const { token, email } = await signIn();
    await premium(app, email);
    const identity = await enrol(app, token);
    const agent = await AgentDouble.connect(url, identity);
    agent.close();
    // Sessions do not last as long as this.
    const silences = async () => {
      const alerts = await app.app.database.selectFrom('alerts').select('count').where('rule', '=', 'device_offline').execute();
      return alerts.reduce((sum, { count }) => sum + count, 0);
    };
    const isGone = async () => {
      const rows = await app.app.database.selectFrom('devices').select(['connection_id', 'silence_told_at']).execute();
      expect(rows).toEqual([{ connection_id: null, silence_told_at: null }]);
    };
    await soon(isGone);
    expect(await silences()).toBe(0);
    time += 7 * 86_400_000;
    await soon(async () => expect(await silences()).toBe(1));
    time += 86_400_000;
    const back = await AgentDouble.connect(url, identity);
    back.close();
    await soon(isGone);
    time += 7 * 86_400_000;
    await soon(async () => expect(await silences()).toBe(2));
  });
});

test('two servers on one database: one has the agent’s socket, the other its person', async () => {
  const database = await sharedDatabase();
  const surroundings = { database, shares_database: true, agent_heartbeat_ms: 300 } as const;
  const one = await startTestApp({ surroundings });
  const two = await startTestApp({ surroundings });
  const { token } = await one.signIn();
  const identity = await enrol(one, token);
  const agent = await AgentDouble.connect(one.url, identity);
  // A clone that connects to the other server ends no connection.
  const clone = new AgentDouble(two.url);
  await clone.hello(identity);
  expect(await clone.ending()).toBe(AGENT_CLOSED.in_use);
  expect(replyOf(await two.call(listDevices, { token }))).toMatchObject([{ state: 'online' }]);
  replyOf(await two.call(revokeDevice, { token, params: { id: identity.device_id } }));
  // These servers share no topics: it is found at a heartbeat.
  expect(await agent.ending()).toBe(AGENT_CLOSED.revoked);
});

test('two servers that hear the same report at once count it once', async () => {
  const database = await sharedDatabase();
  const surroundings = { database, shares_database: true } as const;
  const one = await startTestApp({ surroundings });
  const two = await startTestApp({ surroundings });
  const { token } = await one.signIn();
  const identity = await enrol(one, token);
  const instance = 'f'.repeat(32);
  const agents = [
    await AgentDouble.connect(one.url, identity, { instance }),
    await AgentDouble.connect(two.url, identity, { instance }),
  ];
  const blocked = [{ direction: 'inbound' as const, protocol: 'tcp' as const, address: '203.0.113.7', port: 443, packets: 3 }];
  const counters = [{ of: 'inbound' as const, packets: 9, bytes: 90 }];
  for (let seq = 1; seq <= 10; seq += 1)
    await Promise.all(
      agents.map((agent) =>
        agent.report(reportOf({ seq, blocked, counters, blocked_part: { log: 'a'.repeat(32), number: seq } })),
      ),
    );
  expect(replyOf(await one.call(listBlocked, { token }))).toMatchObject({ packets: 30, packets_total: 30 });
  expect(replyOf(await two.call(countRules, { token }))).toMatchObject([{ packets: 9 }]);
});

if (REDIS_SERVER === undefined) process.stdout.write('skipped: revocation over two servers at once needs a redis-server\n');
needing('Redis', REDIS_SERVER !== undefined).test(
  'a device that is revoked on one server loses its socket on the other at once',
  async () => {
    const redis = await startRedis(await freePort());
    onTestFinished(() => redis.stop());
    const database = await sharedDatabase();
    // No heartbeat comes while this test runs: it can be found by what Redis carries alone.
    const surroundings = { database, shares_database: true, agent_heartbeat_ms: 600_000 } as const;
    const environment = { REDIS_URL: redis.url };
    const one = await startTestApp({ surroundings, environment });
    const two = await startTestApp({ surroundings, environment });
    const { token } = await one.signIn();
    const identity = await enrol(one, token);
    const agent = await AgentDouble.connect(one.url, identity);
    replyOf(await two.call(revokeDevice, { token, params: { id: identity.device_id } }));
    expect(await agent.ending()).toBe(AGENT_CLOSED.revoked);
  },
);
