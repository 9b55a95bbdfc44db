import type { Found } from '@palisade/contract/agent';
import { describe, expect, test } from 'vitest';
import { newId } from '#platform/id.ts';
import { scanReportOf } from '#test/agent-double.ts';
import { openDevices } from '#test/device-parts.ts';

const KEPT = 6;
const { database, world, clock, devices, withDevice } = await openDevices({ findings_kept: KEPT });

const ADA = 1_000;
const EVE = 1_001;
const found = (path: string, owner?: number): Found => ({
  ...{ id: newId(), path, file_hash: 'a'.repeat(64), size: 68, threat: 'EICAR_Test_File', member: null },
  ...{ found_at: new Date(clock.time).toISOString(), outcome: 'quarantined', reason: null },
  ...(owner !== undefined && { owner }),
});

async function start() {
  const device = await withDevice();
  let seq = 0;
  return {
    ...device,
    /** Reports files, and answers what the device is told. */
    report: (...files: Found[]) => device.hear(scanReportOf({ seq: ++seq, found: files })),
    paths: async () => (await device.findings()).map(({ path }) => path).sort(),
    alerts: () => world.raised.filter(({ user_id }) => user_id === device.user_id).length,
  };
}

describe('a device with more findings than are kept', () => {
  test('stores each that it confirms, with its alert, and drops the oldest', async () => {
    const { report, paths, alerts } = await start();
    const files = Array.from({ length: 2 * KEPT }, (_, at) => found(`/home/ada/${String(at).padStart(2, '0')}`, ADA));
    for (const [at, file] of files.entries()) {
      expect(await report(file)).toEqual([{ kind: 'noted', seq: at + 1, events: [] }]);
      expect(await paths()).toContain(file.path);
    }
    expect(await paths()).toEqual(files.slice(KEPT).map(({ path }) => path));
    expect(alerts()).toBe(files.length);
  });

  test('drops closed ones first', async () => {
    const { report, paths, id } = await start();
    await report(...['a', 'b', 'c', 'd', 'e', 'f'].map((name) => found(`/${name}`, ADA)));
    for (const [path, state] of [
      ['/c', 'restored'],
      ['/e', 'deleted'],
    ] as const)
      await database.updateTable('device_findings').set({ state }).where('device_id', '=', id).where('path', '=', path).execute();
    await report(found('/g', EVE), found('/h', EVE));
    expect(await paths()).toEqual(['/a', '/b', '/d', '/f', '/g', '/h']);
  });

  test.each([
    { of: 'a person', owner: EVE },
    { of: 'an agent that names no owner', owner: undefined },
  ])('lets $of who fills it displace no finding of others', async ({ owner }) => {
    const { report, paths, alerts } = await start();
    await report(found('/home/ada/one', ADA), found('/root/two', 0));
    for (let at = 0; at < 20; at += 1) await report(found(`/tmp/${at}`, owner));
    expect(await paths()).toEqual(expect.arrayContaining(['/home/ada/one', '/root/two', '/tmp/19']));
    await report(found('/home/ada/three', ADA));
    expect(await paths()).toEqual(expect.arrayContaining(['/home/ada/one', '/root/two', '/home/ada/three']));
    expect(await paths()).toHaveLength(KEPT);
    expect(alerts()).toBe(23);
  });

  test('leaves the findings of another device alone', async () => {
    const [one, other] = [await start(), await start()];
    await other.report(found('/a', ADA));
    for (let at = 0; at < KEPT + 2; at += 1) await one.report(found(`/${at}`, ADA));
    expect(await other.paths()).toEqual(['/a']);
    expect(await devices.findings(one.user_id, { limit: 100 })).toHaveLength(KEPT);
  });
});
