import { createHash } from 'node:crypto';
import {
  AGENT_CLOSED,
  agentChannel,
  downloadSignatures,
  enrolDevice,
  type Found,
  leaveDevice,
  pollAgent,
  type Said,
  verifyDevice,
} from '@palisade/contract/agent';
import { listScans } from '@palisade/contract/antivirus';
import { currentUser } from '@palisade/contract/auth';
import { CLOSED } from '@palisade/contract/channel';
import { readDashboard } from '@palisade/contract/dashboard';
import {
  createEnrolmentCode,
  listDeviceFindings,
  listDevices,
  OFFLINE_ALERT_MS,
  readDevice,
  removeDevice,
  revokeDevice,
  startDeviceScan,
} from '@palisade/contract/devices';
import { addRule, RULE_DEFAULTS, setRuleEnabled } from '@palisade/contract/firewall';
import { sql } from 'kysely';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { newId } from '#platform/id.ts';
import { AgentDouble, type AgentIdentity, computer, enrol, helloOf, reportOf, scanReportOf } from '#test/agent-double.ts';
import { COUNTED_IN_MEMORY, type ListeningApp, problemOf, replyOf, startListeningApp } from '#test/harness.ts';
import { updateRows } from '#test/rows.ts';
import { listenAs } from '#test/socket.ts';

const NEW = { rule_name: 'Web server', ...RULE_DEFAULTS, port: '443' };
const soon = (check: () => unknown) => vi.waitFor(check, { timeout: 5_000, interval: 20 });

async function deviceOf(app: ListeningApp) {
  const person = await app.signIn();
  const identity = await enrol(app, person.token);
  const params = { id: identity.device_id };
  const device = async () => replyOf(await app.call(readDevice, { token: person.token, params }));
  return { ...person, identity, id: identity.device_id, params, device };
}

describe('routes of devices', async () => {
  const app = await startListeningApp();
  const { call, signIn } = app;
  const pollAs = (identity: AgentIdentity, said: Said[] = []) => call(pollAgent, { body: { hello: helloOf(identity), said } });

  test('a computer becomes a device with the command that is shown', async () => {
    const { token } = await signIn();
    const { code, command, refusal } = replyOf(await call(createEnrolmentCode, { token }));
    expect([command, refusal]).toEqual([expect.stringMatching(`^curl -fsS http://[^/]+/agent/install\\.sh \\| sudo sh$`), null]);
    const enrolled = replyOf(await call(enrolDevice, { body: computer(code.toLowerCase(), { hostname: '<b>laptop</b>' }) }));
    expect(enrolled).toMatchObject({ device_name: '<b>laptop</b>' });
    expect(replyOf(await call(listDevices, { token }))).toMatchObject([
      {
        ...{ id: enrolled.device_id, device_name: '<b>laptop</b>', state: 'waiting', capabilities: null, rules_count: 0 },
        ...{ defaults: { inbound: 'allow', outbound: 'allow' } },
        enforcement: { state: 'pending', desired_rev: 1, applied_rev: 0 },
      },
    ]);
    expect(problemOf(await call(enrolDevice, { body: computer(code) }))).toMatchObject({
      status: 410,
      code: 'enrolment_expired',
    });
  });

  test.each([
    [OFFLINE_ALERT_MS - 60_000, false],
    [OFFLINE_ALERT_MS, true],
  ])('a device without a word for %i ms counts as silent: %s', async (quiet_ms, isSilent) => {
    const { token, identity, id } = await deviceOf(app);
    replyOf(await pollAs(identity));
    const last_seen_at = new Date(Date.now() - quiet_ms).toISOString();
    await updateRows(app.app.database.$pickTables<'devices'>(), 'devices', { id }, { last_seen_at });
    const { next, others } = replyOf(await call(readDashboard, { token })).status;
    expect([next, ...others].some((step) => step?.id === 'device_silent')).toBe(isSilent);
  });

  test.each([
    ['a code of another shape', { code: 'SHORT' }, 'code'],
    ['a hostname of two lines', { hostname: 'a\nb' }, 'hostname'],
    ['a key that is none', { public_key: Buffer.from('no key').toString('base64') }, 'public_key'],
  ])('enrolling refuses %s at its field', async (_, change, field) => {
    expect(problemOf(await call(enrolDevice, { body: { ...computer('AAAAABBBBB'), ...change } }))).toMatchObject({
      ...{ status: 422, errors: [{ field }] },
    });
  });

  test('signatures are sent under their announced name and hash, and no other ones', async () => {
    const { identity } = await deviceOf(app);
    const { told } = replyOf(await pollAs(identity));
    const [signatures] = told.flatMap((frame) => (frame.kind === 'desired' ? (frame.signatures ?? []) : []));
    if (signatures === undefined) throw new Error('no signatures');
    const ask = async (version: string, token = identity.token) =>
      await app.fetch(`/api${downloadSignatures.path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ ...identity, token, version }),
      });
    const answer = await ask(signatures.version);
    const file = Buffer.from(await answer.arrayBuffer());
    expect([answer.status, file.length]).toEqual([200, signatures.bytes]);
    expect(createHash('sha256').update(file).digest('hex')).toBe(signatures.sha256);
    expect((await ask('7-of-tomorrow')).status).toBe(404);
    expect((await ask(signatures.version, 'f'.repeat(64))).status).toBe(401);
  });

  test('a token of a device calls the device’s endpoints alone, until it leaves or is revoked', async () => {
    const { token, identity, params, device } = await deviceOf(app);
    const nonce = 'a'.repeat(32);
    expect(replyOf(await call(verifyDevice, { body: { ...identity, nonce } })).nonce).toBe(nonce);
    for (const endpoint of [currentUser, listDevices, listScans])
      expect(problemOf(await call(endpoint, { token: identity.token })).code).toBe('unauthenticated');
    expect((await call(leaveDevice, { body: identity })).status).toBe(204);
    expect((await device()).state).toBe('revoked');
    for (const answer of [
      await call(verifyDevice, { body: { ...identity, nonce } }),
      await pollAs(identity),
      await call(leaveDevice, { body: identity }),
    ])
      expect(problemOf(answer)).toMatchObject({ status: 401, code: 'device_revoked' });
    expect(problemOf(await call(revokeDevice, { token, params })).code).toBe('conflict');
    expect((await call(removeDevice, { token, params })).status).toBe(204);
  });
});

describe('an agent over calls', async () => {
  const time = Date.parse('2026-11-20T12:00:00.000Z');
  const app = await startListeningApp({ environment: COUNTED_IN_MEMORY, surroundings: { now: () => time } });
  const { call } = app;
  afterEach(() => void vi.useRealTimers());
  const agentOf = (identity: AgentIdentity) => {
    const base = helloOf(identity);
    return (parts: Parameters<typeof helloOf>[1], said: Said[] = []) =>
      call(pollAgent, { body: { hello: { ...base, ...parts }, said } });
  };

  test('hears and says the same as over a socket, and waits for news', async () => {
    const { token, identity, device } = await deviceOf(app);
    const ask = agentOf(identity);
    const poll = async (...parts: Parameters<typeof ask>) => replyOf(await ask(...parts)).told;
    const [welcome, desired] = await poll({});
    expect([welcome?.kind, desired?.kind]).toEqual(['welcome', 'desired']);
    if (desired?.kind !== 'desired') throw new Error('no state');
    const has = { applied_rev: desired.rev, ruleset_hash: desired.hash };
    const said = await poll(has, [{ kind: 'ack', rev: 1, state: 'applied', applied_rev: 1, errors: [] }, reportOf({ seq: 7 })]);
    expect(said.at(-1)).toEqual({ kind: 'noted', seq: 7, events: [] });
    expect((await device()).enforcement.state).toBe('applied');
    const waiting = poll(has);
    await call(addRule, { token, body: NEW });
    expect((await waiting).find((frame) => frame.kind === 'desired')).toMatchObject({
      rev: 2,
      rules: [{ traffic: { ports: [[443, 443]] } }],
    });
    expect((await poll({ applied_rev: 2, ruleset_hash: null })).length).toBe(2);
  });

  // proves: device-hostile-agent-3
  test('waits for two seconds while its orders have not changed', async () => {
    const [busy, other] = [await deviceOf(app), await deviceOf(app)];
    replyOf(await call(startDeviceScan, { token: busy.token, params: busy.params, body: { scan: 'full' } }));
    const poll = agentOf(busy.identity);
    replyOf(await poll({}));
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    let is_answered = false;
    const waiting = poll({}).then((answer) => {
      is_answered = true;
      return replyOf(answer);
    });
    // Another device's call that came later is answered meanwhile.
    const meanwhile = agentOf(other.identity);
    for (let turn = 0; turn < 3; turn += 1) replyOf(await meanwhile({}, [reportOf({ seq: turn })]));
    expect(is_answered).toBe(false);
    vi.advanceTimersByTime(2_000);
    expect((await waiting).told).toHaveLength(2);
  });

  // proves: device-hostile-agent-3
  test('says no more than over a socket in the same time', async () => {
    const { identity } = await deviceOf(app);
    const poll = agentOf(identity);
    const reports = Array.from({ length: 50 }, (_, place) => reportOf({ seq: place + 1 }));
    // Each frame of a full poll has its answer.
    for (let count = 50; count <= agentChannel.frames_per_heartbeat; count += 50)
      expect(replyOf(await poll({}, reports)).told.filter(({ kind }) => kind === 'noted')).toHaveLength(50);
    expect(problemOf(await poll({}, reports)).code).toBe('too_many_requests');
  });
});

describe('the socket of agents', async () => {
  // No heartbeat comes while these tests run.
  const app = await startListeningApp({ surroundings: { agent_heartbeat_ms: 600_000 } });
  const { call, url } = app;

  // proves: device-fault-1
  test('tells the whole state at once, and again whenever it changes', async () => {
    const { token, identity, device } = await deviceOf(app);
    const rule = replyOf(await call(addRule, { token, body: NEW }));
    const agent = await AgentDouble.connect(url, identity);
    expect(await agent.desired()).toMatchObject({ rev: 2, rules: [{ id: rule.id }] });
    expect((await device()).state).toBe('online');
    agent.say({ kind: 'ack', rev: 2, state: 'applied', applied_rev: 2, errors: [] });
    await agent.report(reportOf());
    expect((await device()).enforcement).toMatchObject({ state: 'applied', applied_rev: 2 });
    await call(setRuleEnabled, { token, params: { id: rule.id }, body: { enabled: false } });
    expect((await agent.desired(({ rules }) => rules.length === 0)).rev).toBe(3);
    agent.close();
    await soon(async () => expect((await device()).state).toBe('offline'));
    // Pages hear that it has orders while it is away.
    const page = await listenAs(app, token);
    replyOf(await call(addRule, { token, body: NEW }));
    await page.event((event) => event.kind === 'changed' && event.topic === 'devices');
    expect((await device()).enforcement.state).toBe('pending');
  });

  // proves: device-fault-10
  test('refuses a second agent, a token of another device, and a revoked one, which it ends at once', async () => {
    const { token, identity, params } = await deviceOf(app);
    const other = await deviceOf(app);
    const agent = await AgentDouble.connect(url, identity);
    const endingOf = async (as: AgentIdentity) => {
      const late = new AgentDouble(url);
      await late.hello(as);
      return await late.ending();
    };
    expect(await endingOf(identity)).toBe(AGENT_CLOSED.in_use);
    expect(problemOf(await call(pollAgent, { body: { hello: helloOf(identity), said: [] } }))).toMatchObject({
      ...{ status: 409, code: 'device_in_use' },
    });
    expect(await endingOf({ ...identity, token: other.identity.token })).toBe(AGENT_CLOSED.revoked);
    expect(agent.closed).toBeUndefined();
    expect(replyOf(await call(revokeDevice, { token, params }))).toMatchObject({ state: 'revoked' });
    expect(await agent.ending()).toBe(AGENT_CLOSED.revoked);
    expect(await endingOf(identity)).toBe(AGENT_CLOSED.revoked);
  });

  // proves: device-hostile-agent-1, device-fault-13
  test.each([
    ['wrong types', { kind: 'report', seq: 'one' }, CLOSED.malformed],
    ['a frame without an end', '{"kind":"report"', CLOSED.malformed],
    ['a frame that is too large', { kind: 'report', filler: 'x'.repeat(300 * 1024) }, CLOSED.too_big],
  ])('ends for %s', async (_, frame, code) => {
    const { identity } = await deviceOf(app);
    const agent = await AgentDouble.connect(url, identity);
    agent.sayRaw(frame);
    expect(await agent.ending()).toBe(code);
  });

  // proves: device-fault-9
  test('ends so that a report that could not be kept is said again', async () => {
    const { token, identity } = await deviceOf(app);
    const file: Found = {
      ...{ id: newId(), path: '/home/maria/<b>invoice</b>.zip', file_hash: 'a'.repeat(64), size: 68, threat: 'EICAR_Test_File' },
      ...{ member: 'eicar.com', found_at: new Date().toISOString(), outcome: 'quarantined', reason: null },
    };
    const { database } = app.app;
    const agent = await AgentDouble.connect(url, identity);
    await sql`alter table scans rename to gone_for_now`.execute(database);
    agent.say(scanReportOf({ found: [file] }));
    expect(await agent.ending()).toBe(CLOSED.again);
    await sql`alter table gone_for_now rename to scans`.execute(database);
    const again = await AgentDouble.connect(url, identity);
    await again.report(scanReportOf({ found: [file] }));
    expect(replyOf(await call(listScans, { token }))).toMatchObject([
      {
        ...{ filename: 'b>.zip', scan_status: 'infected', threat_detected: file.threat, threat_member: 'eicar.com' },
        device: { id: identity.device_id, device_name: 'laptop', path: file.path },
      },
    ]);
    expect(replyOf(await call(listDeviceFindings, { token }))).toMatchObject([{ path: file.path, state: 'quarantined' }]);
    const alerts = await database.selectFrom('alerts').select(['count']).where('rule', '=', 'device_infected_file').execute();
    expect(alerts).toEqual([{ count: 1 }]);
  });
});
