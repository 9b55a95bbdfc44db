import { expect, test } from 'vitest';
import { reportOf } from '#test/agent-double.ts';
import { openDevices } from '#test/device-parts.ts';

const parts = await openDevices();
const { clock, devices, connect, agents, setRules } = parts;
const withDevice = () => parts.withDevice({ instance: 'a'.repeat(32) });
const at = (offset_ms = 0) => new Date(clock.time + offset_ms).toISOString();
const counted = async (user_id: string) => (await devices.counters(user_id)).map(({ packets, bytes }) => [packets, bytes]);

// proves: device-hostile-agent-2
test('counts in epochs: a counter never falls, and a repeated report counts once', async () => {
  const { user_id, hear } = await withDevice();
  const [rule] = setRules(user_id, [{}]);
  const of = rule?.id ?? '';
  const [one, two] = ['2026-11-20T10:00:00.000Z', '2026-11-20T11:00:00.000Z'];
  const blocked = [{ direction: 'inbound' as const, protocol: 'tcp' as const, address: '203.0.113.7', port: 443, packets: 3 }];
  const first = reportOf({ seq: 1, epoch: one, counters: [{ of, packets: 10, bytes: 100 }], blocked });
  for (let time = 0; time < 2; time += 1) expect(await hear(first)).toEqual([{ kind: 'noted', seq: 1, events: [] }]);
  await hear(reportOf({ seq: 2, epoch: one, counters: [{ of, packets: 4, bytes: 40 }] }));
  expect(await counted(user_id)).toEqual([[10, 100]]);
  await hear(reportOf({ seq: 3, epoch: two, counters: [{ of, packets: 5, bytes: 50 }] }));
  expect(await counted(user_id)).toEqual([[15, 150]]);
  // Of an earlier epoch, again.
  await hear(reportOf({ seq: 4, epoch: one, counters: [{ of, packets: 99, bytes: 990 }] }));
  expect(await counted(user_id)).toEqual([[15, 150]]);
  expect(await devices.blocked(user_id)).toMatchObject({
    ...{ packets: 3, packets_total: 3 },
    sources: [{ direction: 'inbound', protocol: 'tcp', address: '203.0.113.7', port: 443, packets: 3 }],
  });
  const most = Number.MAX_SAFE_INTEGER;
  await hear(reportOf({ seq: 5, epoch: two, counters: [{ of, packets: most, bytes: most }] }));
  expect(await counted(user_id)).toEqual([[most, most]]);
});

// proves: device-fault-8
test('counts on once a clock that was ahead is right again', async () => {
  const { user_id, hear } = await withDevice();
  const said = (seq: number, epoch: string, packets: number) =>
    hear(reportOf({ seq, epoch, counters: [{ of: 'inbound', packets, bytes: packets }] }));
  await said(1, '2099-01-01T00:00:00.000Z', 10);
  await said(2, '2099-01-01T00:00:00.000Z', 12);
  expect(await counted(user_id)).toEqual([[12, 12]]);
  await said(3, at(), 5);
  await said(4, at(), 6);
  expect(await counted(user_id)).toEqual([[18, 18]]);
});

// proves: device-hostile-agent-6
test('counts nothing for rules of others', async () => {
  const [mine, other] = [await withDevice(), await withDevice()];
  const [foreign] = setRules(other.user_id, [{}]);
  const counters = [
    { of: foreign?.id ?? '', packets: 5, bytes: 5 },
    { of: 'inbound' as const, packets: 2, bytes: 9 },
  ];
  await mine.hear(reportOf({ counters }));
  expect(await devices.counters(mine.user_id)).toMatchObject([{ of: 'inbound', packets: 2, bytes: 9 }]);
  expect(await devices.counters(other.user_id)).toEqual([]);
});

test('counts each part of the dropped packets once in spite of repeats, and by its time', async () => {
  const { user_id, identity, hear } = await withDevice();
  const read = () => devices.blocked(user_id);
  const MINUTE = 60_000;
  clock.time += 600 * MINUTE;
  const source = (address: string, packets: number, first: number, last: number) => ({
    ...{ direction: 'inbound' as const, protocol: 'tcp' as const, address, port: 22, packets },
    ...{ first_at: at(-first * MINUTE), last_at: at(-last * MINUTE) },
  });
  const log = 'd'.repeat(32);
  // It was away for hours: drops before the last hour count in the total alone.
  const first = {
    blocked: [source('203.0.113.7', 3, 40, 20), source('203.0.113.8', 100, 300, 200)],
    blocked_more: { packets: 50, first_at: at(-30 * MINUTE), last_at: at(-10 * MINUTE) },
    blocked_part: { log, number: 1 },
  };
  await hear(reportOf({ seq: 1, ...first }));
  await hear(reportOf({ seq: 2, ...first }));
  expect(await read()).toMatchObject({ ...{ packets: 53, packets_total: 153 }, sources: [{ ...first.blocked[0], packets: 3 }] });
  // Another start of the agent did not hear that it was noted.
  const again = await connect(identity, { instance: 'a'.repeat(32) });
  const hearAgain = (parts: Parameters<typeof reportOf>[0]) =>
    agents.hear({ ...again, instance: 'b'.repeat(32) }, reportOf(parts));
  await hearAgain({ seq: 1, ...first });
  expect(await read()).toMatchObject({ packets: 53, packets_total: 153 });
  await hearAgain({ seq: 2, blocked: [source('203.0.113.7', 4, 5, 1)], blocked_part: { log, number: 2 } });
  expect(await read()).toMatchObject({ packets: 57, packets_total: 157, sources: [{ address: '203.0.113.7', packets: 7 }] });
  // A log that begins anew is another one.
  await hearAgain({ seq: 3, blocked: [source('203.0.113.7', 1, 1, 1)], blocked_part: { log: 'e'.repeat(32), number: 1 } });
  expect(await read()).toMatchObject({ packets: 58, packets_total: 158 });
});

test('counts the packets of further sources in one sum', async () => {
  const { user_id, hear } = await withDevice();
  for (let seq = 1; seq <= 7; seq += 1) {
    const blocked = Array.from({ length: 500 }, (_, index) => ({
      ...({ direction: 'inbound', protocol: 'udp', address: `198.18.${seq}.${index % 250}`, port: index, packets: 2 } as const),
    }));
    await hear(reportOf({ seq, blocked }));
  }
  const { packets, packets_total, sources } = await devices.blocked(user_id);
  expect([packets, packets_total]).toEqual([7_000, 7_000]);
  expect(sources.every(({ address }) => address !== '')).toBe(true);
});
