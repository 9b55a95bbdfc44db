import { listScans, settleInfections } from '@palisade/contract/antivirus';
import { readDashboard } from '@palisade/contract/dashboard';
import { EICAR } from '@palisade/scanner/test/files';
import { expect, test } from 'vitest';
import { replyOf, startTestApp } from '#test/harness.ts';
import { updateRows } from '#test/rows.ts';
import { scanned } from '#test/upload.ts';
import { lastCopies } from './infections.ts';

const app = await startTestApp();
const { call, signIn } = app;
await signIn('boss');

async function withInfections(person: string, ...filenames: string[]) {
  const { token } = await signIn(person);
  /** A harmless test file stands for malware. */
  const upload = async (filename: string) => {
    const { id } = await scanned(app, token, filename, EICAR);
    await app.app.database.updateTable('scans').set({ threat_detected: 'Worm.Test' }).where('id', '=', id).execute();
  };
  for (const filename of filenames) await upload(filename);
  const scans = async () => replyOf(await call(listScans, { token }));
  const next = async () => replyOf(await call(readDashboard, { token })).status.next;
  const settle = async (scan_ids: string[], deleted = true) =>
    replyOf(await call(settleInfections, { token, body: { scan_ids, deleted } })).settled;
  const alerts = async () =>
    await app.app.database
      .selectFrom('alerts')
      .leftJoin('alert_decisions', 'alert_id', 'alerts.id')
      .select(['status', 'resolved_reason', 'kind', 'by'])
      .where(
        'dedupe_key',
        'in',
        (await scans()).map(({ id }) => `scan:${id}`),
      )
      .orderBy('alert_decisions.id')
      .execute();
  return { upload, scans, next, settle, alerts };
}

test('an infection is the next step until its person says that the file is deleted, and again when they did not', async () => {
  const { scans, next, settle } = await withInfections('maria', 'invoice.exe', 'invoice (1).exe');
  const [again, first] = await scans();
  expect([first?.infection, again?.infection]).toEqual([{ state: 'open' }, { state: 'open' }]);
  // Two uploads of the same bytes are one infection.
  expect(await next()).toMatchObject({ id: 'infection_open', is_danger: true, fix_route: `/antivirus?scan=${again?.id}` });
  expect(await settle([first?.id ?? ''])).toBe(2);
  expect((await scans()).map(({ infection }) => infection)).toMatchObject([
    { state: 'closed', by: 'person' },
    { state: 'closed', by: 'person' },
  ]);
  expect((await next())?.id).toBe('no_two_factor');
  expect(await settle([first?.id ?? ''])).toBe(0);
  expect(await settle([first?.id ?? ''], false)).toBe(2);
  expect((await next())?.id).toBe('infection_open');
});

test('a new upload of a deleted file is a new infection', async () => {
  const { upload, scans, next, settle } = await withInfections('ben', 'a.exe');
  await settle((await scans()).map((scan) => scan.id));
  expect((await next())?.id).toBe('no_two_factor');
  await upload('a.exe');
  expect((await scans()).map(({ infection }) => infection?.state)).toEqual(['open', 'closed']);
  expect((await next())?.id).toBe('infection_open');
});

test('the alert about a file is resolved when its infection ends, and opens again with it', async () => {
  const { scans, settle, alerts } = await withInfections('kim', 'a.exe');
  const ids = (await scans()).map(({ id }) => id);
  await expect.poll(alerts).toEqual([{ status: 'open', resolved_reason: null, kind: null, by: null }]);
  await settle(ids);
  expect(await alerts()).toEqual([{ status: 'resolved', resolved_reason: 'fixed', kind: 'resolved', by: 'monitor' }]);
  await settle(ids, false);
  expect((await alerts()).map(({ status, kind }) => [status, kind])).toEqual([
    ['open', 'resolved'],
    ['open', 'reopened'],
  ]);
});

test('a person cannot end the infections of others', async () => {
  const mine = await withInfections('ann', 'a.exe');
  const other = await withInfections('tom', 'a.exe');
  expect(await other.settle((await mine.scans()).map(({ id }) => id))).toBe(0);
  expect((await mine.scans()).map(({ infection }) => infection)).toEqual([{ state: 'open' }]);
});

test('the bytes are gone from a device with their last copy', async () => {
  const { scans } = await withInfections('lea', 'a.exe', 'b.exe');
  const { database } = app.app;
  const ids = (await scans()).map(({ id }) => id);
  const rows = async () =>
    await database.updateTable('scans').set({ device_id: 'laptop' }).where('id', 'in', ids).returningAll().execute();
  const close = async (id: string) =>
    await updateRows(database, 'scans', { id }, { closed_at: '2026-01-01T00:00:00.000Z', closed_by: 'person' });
  const left = async () =>
    (
      await lastCopies(
        database,
        (await rows()).filter(({ closed_at }) => closed_at !== null),
      )
    ).length;
  await close(ids[0] ?? '');
  expect(await left()).toBe(0);
  await close(ids[1] ?? '');
  expect(await left()).toBe(2);
});
