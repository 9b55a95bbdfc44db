import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Said } from '@palisade/contract/agent';
import { expect, test } from 'vitest';
import type { Enforcer } from '#firewall/enforcer.ts';
import type { Nft } from '#firewall/nft.ts';
import { DeviceReports, Sequence } from './device-reports.ts';

const fails = () => {
  throw new Error('not part of this test');
};
const dropped = {
  set: { name: 'in4', elem: [{ elem: { val: { concat: ['tcp', '203.0.113.9', 22] }, expires: 60, counter: { packets: 5 } } }] },
};
const foreign = { table: { family: 'ip', name: 'docker' } };
const nft: Nft = {
  apply: fails,
  begin: fails,
  check: fails,
  list: fails,
  listCounters: fails,
  listJson: (what) => Promise.resolve([what[0] === 'ruleset' ? foreign : dropped]),
};
const enforcer: Enforcer = {
  start: fails,
  want: fails,
  lookAgain: fails,
  disable: fails,
  counters: () => Promise.resolve({ epoch: '2026-01-01T00:00:00.000Z', counters: [], drops: '1,rule 5' }),
  appliedRev: () => 1,
  rulesetHash: () => null,
  ruleset: fails,
};

/** The reports of a device with or without an enforcer. */
function createReports(firewall: Enforcer | undefined) {
  const state = mkdtempSync(join(tmpdir(), 'palisade-reports-'));
  const said: Said[] = [];
  const reports = new DeviceReports({
    folders: { state, run: state },
    nft,
    enforcer: firewall,
    proc: undefined,
    posture: { read: () => [], look: () => Promise.resolve() },
    watched: undefined,
    web_protection: undefined,
    sequence: new Sequence(),
    happened: fails,
    say: (frame) => said.push(frame),
  });
  return { reports, said };
}

test('a device that enforces rules reports dropped packets until the server has noted them, and the tables of other programs', async () => {
  const { reports, said } = createReports(enforcer);
  await reports.report();
  await reports.report();
  const blocked = [{ address: '203.0.113.9', port: 22, packets: 5 }];
  expect(said).toMatchObject([
    { kind: 'report', seq: 1, blocked, blocked_part: { number: 1 }, foreign_tables: [{ family: 'ip', name: 'docker' }] },
    { kind: 'report', seq: 2, blocked, blocked_part: { number: 1 } },
  ]);
  reports.noted(2);
  await reports.report();
  expect(said[2]).toMatchObject({ seq: 3, blocked: [] });
});

test('a device without an enforcer reports no drops and no tables', async () => {
  const { reports, said } = createReports(undefined);
  await reports.report();
  expect(said).toMatchObject([{ kind: 'report', seq: 1, counters: [], blocked: [], foreign_tables: [] }]);
  expect(said[0]).not.toHaveProperty('blocked_part');
});
