import type { Ack, Found, Said } from '@palisade/contract/agent';
import { deviceRuleOf } from '@palisade/contract/device-rule';
import { STALLED_MS } from '@palisade/contract/devices';
import { expect, test } from 'vitest';
import { newId } from '#platform/id.ts';
import { helloOf, reportOf, scanReportOf } from '#test/agent-double.ts';
import { openDevices } from '#test/device-parts.ts';
import { ORIGIN } from '#test/feature-database.ts';

const parts = await openDevices();
const { clock, database, world, devices, agents, withDevice, setRules } = parts;
const at = (offset_ms = 0) => new Date(clock.time + offset_ms).toISOString();
const ackOf = (rev: number, state: Ack['state'], more: Partial<Ack> = {}): Ack => ({
  ...{ kind: 'ack', rev, state, applied_rev: rev, errors: [] },
  ...more,
});
const eventOf = (event: Extract<Said, { kind: 'event' }>['event'], id = newId()): Said => ({
  ...{ kind: 'event', id, at: at(), event },
});
const foundFile = (change: Partial<Found> = {}): Found => ({
  ...{ id: newId(), path: '/home/maria/<b>invoice</b>.zip', file_hash: 'a'.repeat(64), size: 68, threat: 'EICAR_Test_File' },
  ...{ member: 'eicar.com', found_at: at(), outcome: 'quarantined', reason: null },
  ...change,
});
const raisedFor = (user_id: string) => world.raised.filter((incident) => incident.user_id === user_id);

// proves: device-fault-1
test('the desired state has the rules for this device, its defaults and its folders, and its revision grows with them', async () => {
  const { user_id, id, row, device, desired } = await withDevice();
  const [rule] = setRules(user_id, [{}, { rule_name: 'Elsewhere', device_ids: [newId()] }]);
  if (rule === undefined) throw new Error('no rule');
  const first = await desired();
  expect(first).toMatchObject({
    ...{ rev: 2, defaults: { inbound: 'allow', outbound: 'allow' }, scan_jobs: [], file_orders: [] },
    rules: [deviceRuleOf(rule, true)],
  });
  // An agent of an earlier version knows the typed fields alone, and checks their hash.
  await database.updateTable('devices').set({ capabilities: null }).where('id', '=', id).execute();
  const old = await desired();
  expect(old.rules).toEqual([deviceRuleOf(rule, false)]);
  expect(old.hash).not.toBe(first.hash);
  expect(await device()).toMatchObject({ state: 'online', rules_count: 1 });
  const mark = await agents.markOf(id);
  await devices.change(await row(), { defaults: { inbound: 'block' } });
  const next = await desired();
  expect([next.rev, next.defaults.inbound, next.hash === first.hash]).toEqual([3, 'block', false]);
  const folders = { is_watching: false, watched: ['/srv'], exclusions: ['/var/lib'] };
  await devices.change(await row(), folders);
  expect(await desired()).toMatchObject({ ...folders, rev: 3 });
  expect(await agents.markOf(id)).not.toBe(mark);
  expect(world.nudged.filter((nudged) => nudged === id)).toHaveLength(2);
  // Fields that a change does not name stay, and the agent never uses its name.
  await devices.change(await row(), { watched: ['/home'] });
  const told = world.nudged.length;
  const renamed = await devices.change(await row(), { device_name: 'Kitchen' });
  expect(renamed).toMatchObject({ ...folders, watched: ['/home'], device_name: 'Kitchen', defaults: { inbound: 'block' } });
  expect(world.nudged).toHaveLength(told);
});

test('a device has orders from the moment of a change until it says that it applied them', async () => {
  const { user_id, device, hear } = await withDevice();
  await hear(ackOf(1, 'applied'));
  expect((await device()).enforcement).toMatchObject({ state: 'applied', applied_rev: 1, pending_since: null });
  setRules(user_id, [{}]);
  clock.time += 1_000;
  expect(await devices.rulesChanged(user_id)).toBe(1);
  expect((await device()).enforcement).toMatchObject({
    ...{ state: 'pending', desired_rev: 2, applied_rev: 1, pending_since: at() },
  });
});

test('a trial has its time from its first report, and was applied when that was first reported', async () => {
  const { device, hear } = await withDevice();
  expect((await device()).enforcement.seconds_left).toBeNull();
  await hear(ackOf(1, 'trial'));
  expect((await device()).enforcement).toMatchObject({ state: 'trial', seconds_left: 30 });
  clock.time += 10_000;
  await hear(ackOf(1, 'trial', { errors: [{ rule_id: null, message: 'again' }] }));
  expect((await device()).enforcement).toMatchObject({ seconds_left: 20, errors: [{ message: 'again' }] });
  await hear(ackOf(1, 'applied'));
  const applied_at = at();
  expect((await device()).enforcement).toMatchObject({ state: 'applied', seconds_left: null, applied_at });
  clock.time += 10_000;
  await hear(ackOf(1, 'applied', { errors: [{ rule_id: null, message: 'said again' }] }));
  expect((await device()).enforcement).toMatchObject({ applied_at, errors: [{ message: 'said again' }] });
});

// proves: device-fault-3
test('a rejected revision names its own rule, and of a foreign rule nothing', async () => {
  const { user_id, device, hear } = await withDevice();
  const [rule] = setRules(user_id, [{}]);
  const message = 'The kernel does not take <it>.';
  const errors = [rule?.id ?? '', newId()].map((rule_id) => ({ rule_id, message }));
  await hear(ackOf(2, 'rejected', { applied_rev: 0, errors }));
  expect((await device()).enforcement).toMatchObject({
    ...{ state: 'rejected', applied_rev: 0 },
    errors: [
      { rule_id: rule?.id, message },
      { rule_id: null, message },
    ],
  });
});

// proves: device-fault-12, device-hostile-agent-7
test('an agent is not believed in an unknown revision, nor in an older one once it answered for a newer', async () => {
  const { user_id, device, hear } = await withDevice();
  await hear(ackOf(99, 'applied'));
  expect((await device()).enforcement).toMatchObject({ state: 'pending', applied_rev: 0 });
  setRules(user_id, [{}]);
  await hear(ackOf(2, 'rolled_back', { applied_rev: 1 }));
  await hear(ackOf(1, 'applied'));
  await hear(ackOf(2, 'trial'));
  expect((await device()).enforcement).toMatchObject({ state: 'rolled_back', desired_rev: 2, applied_rev: 1 });
});

// proves: device-fault-10
test('one start of an agent has its device: the same one may come again, another one once it has left', async () => {
  const { identity, id, agent, device } = await withDevice({ instance: 'a'.repeat(32) });
  const other = helloOf(identity, { instance: 'b'.repeat(32) });
  expect(await agents.connect(other)).toEqual({ refused: 'in_use' });
  const again = await parts.connect(identity, { instance: 'a'.repeat(32) });
  expect(await agents.renew([again, agent])).toEqual(new Map([[agent, 'in_use']]));
  await agents.leave(agent);
  expect((await device()).state).toBe('online');
  await agents.leave(again);
  expect((await device()).state).toBe('offline');
  const next = await parts.connect(identity, { instance: 'b'.repeat(32) });
  await devices.revoke(await parts.rowOf(id), { origin: ORIGIN, actor_id: next.user_id });
  expect(await agents.renew([next])).toEqual(new Map([[next, 'revoked']]));
});

// proves: device-hostile-agent-6
test('a revoked device, a wrong token and another device’s id reach nothing', async () => {
  const [mine, other] = [await withDevice(), await withDevice()];
  await agents.leave(other.agent);
  const forged = { device_id: other.id, token: mine.identity.token };
  expect(await agents.connect(helloOf(forged))).toEqual({ refused: 'revoked' });
  expect(await agents.authenticate(forged)).toBeUndefined();
  expect((await other.device()).state).toBe('offline');
  await devices.revoke(await mine.row(), mine.doer);
  await expect(mine.row().then((row) => devices.revoke(row, mine.doer))).rejects.toMatchObject({ code: 'conflict' });
  expect(await agents.connect(helloOf(mine.identity))).toEqual({ refused: 'revoked' });
  expect(await agents.authenticate(mine.identity)).toBeUndefined();
  expect(await mine.hear(reportOf())).toEqual([]);
  expect([await agents.markOf(mine.id), await agents.desired(mine.id)]).toEqual([undefined, undefined]);
  expect((await mine.device()).state).toBe('revoked');
  await devices.remove(await mine.row(), mine.doer);
  expect(await devices.list(mine.user_id, { limit: 10 })).toEqual([]);
});

// proves: attack-E.5-2
test('a device is online only while its agent reports, and says what keeps it from checking files', async () => {
  const instance = 'a'.repeat(32);
  const { identity, device, hear } = await withDevice({ instance });
  expect(await device()).toMatchObject({ state: 'online', health: null });
  const health = { ...{ watcher: 'stalled' as const, files_unread: 3, workers_stuck: 1 }, overflow: { at: at(), folders: 2 } };
  await hear(reportOf({ health }));
  expect(await device()).toMatchObject({ state: 'online', health });
  // It is connected, and has not reported for long.
  clock.time += STALLED_MS + 1;
  expect((await device()).state).toBe('stalled');
  // The same start that is connected again has not worked since.
  await parts.connect(identity, { instance });
  expect((await device()).state).toBe('stalled');
});

test('a scan is asked for, steered, followed and over', async () => {
  const { id, row, device, desired, hear } = await withDevice();
  const scan = await devices.startScan(await row(), { scan: 'full', path: null });
  await expect(devices.startScan(await row(), { scan: 'quick', path: null })).rejects.toMatchObject({ code: 'conflict' });
  expect((await desired()).scan_jobs).toEqual([{ id: scan.id, scan: 'full', path: null, wanted: 'run' }]);
  const kept = async () => (await devices.findScan(scan.id)) ?? expect.fail('no scan');
  await devices.steerScan(await kept(), 'pause');
  expect((await desired()).scan_jobs).toMatchObject([{ wanted: 'pause' }]);
  const { progress } = scanReportOf();
  const unread = { ...progress, files_pending: 2, folders_unread: 1 };
  // It ended while the server was away.
  const ended_at = at(1_000);
  clock.time += 3_600_000;
  await hear(scanReportOf({ seq: 1, job_id: scan.id, state: 'done', progress: unread, at: ended_at }));
  expect(await device()).toMatchObject({
    ...{ last_full_scan_at: ended_at },
    scan: { state: 'done', ended_at, files_found: 0, files_unread: 3, progress: { files_read: 10 } },
  });
  expect((await desired()).scan_jobs).toEqual([]);
  await expect(devices.steerScan(await kept(), 'run')).rejects.toMatchObject({ code: 'conflict' });
  expect(await devices.scans({ ...(await row()), id }, { limit: 10 })).toMatchObject([{ id: scan.id }]);
});

// proves: device-hostile-agent-6
test('an agent reports no scan of another device', async () => {
  const [mine, other] = [await withDevice(), await withDevice()];
  const scan = await devices.startScan(await other.row(), { scan: 'quick', path: null });
  await mine.hear(scanReportOf({ job_id: scan.id, state: 'done' }));
  expect((await other.device()).scan).toMatchObject({ id: scan.id, state: 'queued' });
});

test('a found file is recorded, raised, and restored by an order, once each in spite of repeats', async () => {
  const { user_id, id, row, desired, hear, findings, device } = await withDevice();
  const scan = await devices.startScan(await row(), { scan: 'full', path: null });
  const file = foundFile();
  for (const seq of [1, 2]) await hear(scanReportOf({ seq, job_id: scan.id, found: [file] }));
  expect((await device()).scan).toMatchObject({ files_found: 1 });
  expect(world.recorded.filter((one) => one.user_id === user_id)).toMatchObject([{ device: { id }, file }]);
  expect(raisedFor(user_id)).toMatchObject([{ rule: 'device_infected_file', outcome: 'blocked', severity: 'high' }]);
  const finding = async () => (await devices.findFinding((await findings())[0]?.id ?? '')) ?? expect.fail('no finding');
  expect(await findings()).toMatchObject([{ path: file.path, state: 'quarantined', order: null }]);
  expect((await devices.order(await finding(), 'restore')).order).toBe('restore');
  const [order] = (await desired()).file_orders;
  expect(order).toMatchObject({ finding_id: file.id, action: 'restore' });
  await hear(eventOf({ event: 'order_done', order_id: order?.id ?? '', ok: true, message: null }));
  expect(await findings()).toMatchObject([{ state: 'restored', order: null }]);
  expect(world.settled).toEqual([[file.path, false]]);
  await expect(devices.order(await finding(), 'delete')).rejects.toMatchObject({ code: 'conflict' });
});

// proves: device-fault-9
test.each(['beforeRaise', 'beforeRecord'] as const)(
  'a report that fails in %s is kept whole when it is repeated',
  async (step) => {
    const { user_id, hear, findings } = await withDevice();
    const report = scanReportOf({ found: [foundFile()] });
    world[step] = () => {
      throw new Error('away');
    };
    await expect(hear(report)).rejects.toThrow('away');
    world[step] = () => {};
    expect(await findings()).toEqual([]);
    await hear(report);
    expect(await findings()).toHaveLength(1);
    expect(world.recorded.filter((one) => one.user_id === user_id)).toHaveLength(1);
    // An alert of the same key counts once.
    expect(new Set(raisedFor(user_id).map(({ key }) => key)).size).toBe(1);
  },
);

// proves: device-fault-8
test.each([
  ['1970-01-01T00:00:30.000Z', '1970-01-01T00:00:40.000Z'],
  ['2099-01-01T00:00:00.000Z', '2099-01-01T00:00:10.000Z'],
  ['1970-01-01T00:00:30.000Z', undefined],
  [undefined, '1970-01-01T00:00:40.000Z'],
  [undefined, '2099-01-01T00:00:10.000Z'],
])(
  'the time of news is the server’s: the device’s clock says %s when it connects, and then %s',
  async (connected, then = at()) => {
    const { user_id, hear, findings } = await withDevice({ at: connected ?? at() });
    const begun = at();
    clock.time += 60_000;
    await hear(scanReportOf({ found: [foundFile({ found_at: then })] }));
    await hear({ kind: 'event', id: newId(), at: then, event: { event: 'tampered', backed_off: false } });
    const moments = [...(await findings()).map(({ found_at }) => found_at), ...raisedFor(user_id).map((incident) => incident.at)];
    expect(moments).toHaveLength(3);
    for (const moment of moments) expect([moment >= begun, moment <= at()]).toEqual([true, true]);
  },
);

test('events raise alerts, each once in spite of repeats', async () => {
  const { user_id, hear } = await withDevice();
  const listening = { protocol: 'tcp', address: '0.0.0.0', port: 8080, program: '<i>x</i>' } as const;
  for (const event of [
    { event: 'ssh_guessing', address: '203.0.113.7', failures: 12, blocked: false },
    { event: 'tampered', backed_off: false },
    { event: 'new_listening_port', listening },
  ] as const) {
    const id = newId();
    for (let time = 0; time < 2; time += 1)
      expect(await hear(eventOf(event, id))).toEqual([{ kind: 'noted', seq: null, events: [id] }]);
  }
  expect(raisedFor(user_id).map(({ rule, severity, outcome, ip_address }) => [rule, severity, outcome, ip_address])).toEqual([
    ['device_ssh_guessing', 'high', 'unknown', '203.0.113.7'],
    ['device_tampered', 'high', 'blocked', null],
    ['device_new_listening_port', 'low', 'unknown', null],
  ]);
});

test('a week of silence is reported once, and again after the device was heard', async () => {
  const WEEK = 7 * 86_400_000;
  const { user_id, identity, agent } = await withDevice();
  await agents.leave(agent);
  const silences = async () => {
    await parts.lookForSilence();
    return raisedFor(user_id).map(({ rule }) => rule);
  };
  clock.time += WEEK - 1;
  expect(await silences()).toEqual([]);
  clock.time += 1;
  expect(await silences()).toEqual(['device_offline']);
  clock.time += WEEK;
  expect(await silences()).toHaveLength(1);
  await agents.leave(await parts.connect(identity));
  clock.time += WEEK;
  expect(await silences()).toHaveLength(2);
});
