import { auditGroupOf } from '@palisade/contract/audit';
import type { Kysely } from 'kysely';
import { describe, expect, test } from 'vitest';
import { createAuditCheck } from '#platform/audit-check.ts';
import { verifyAudit } from '#platform/audit-verify.ts';
import type { Tables } from '#platform/tables.ts';
import { addPerson, featureAccounts, featureAudit, featureDatabase, ORIGIN } from '#test/feature-database.ts';
import { updateRows } from '#test/rows.ts';
import { unguard } from '#test/unguarded-audit.ts';
import { createAuditLog } from './audit-log.ts';

const KEY = Buffer.alloc(32, 7);
const now = () => Date.parse('2026-11-20T10:00:00.000Z');
const audit = featureAudit(now);
const signedIn = (database: Kysely<Tables>, id: string) =>
  audit.record(database, { kind: 'signed_in', subject_id: id, actor_id: id, origin: ORIGIN });

/** A database with a sealed log of so many entries. */
async function logOf(entries: number): Promise<{ database: Kysely<Tables> }> {
  const database = await featureDatabase();
  await audit.beginSealing(database);
  for (let entry = 0; entry < entries; entry += 1) await signedIn(database, await addPerson(database));
  return { database };
}

test('the log is read by a page of an index, and answers what reading all of it would', async () => {
  const { database } = await logOf(0);
  const clocks = { now: Date.parse('2026-11-20T00:00:00.000Z') };
  const server = featureAudit(() => clocks.now);
  const people = [await addPerson(database, { username: 'one' }), await addPerson(database, { username: 'two' })];
  const kinds = ['signed_in', 'signed_out', 'role_changed'] as const;
  for (let index = 0; index < 60; index += 1) {
    // Two servers, one of them 2 s ahead.
    clocks.now += index % 2 === 0 ? 600_000 + 2_000 : 600_000 - 2_000;
    const [subject_id = '', actor_id = null] = [people[index % 2], people[index % 3]];
    await server.record(database, { kind: kinds[index % 3] ?? 'signed_in', subject_id, actor_id });
  }
  const all = await database.selectFrom('audit_entries').selectAll().orderBy('seq', 'desc').execute();
  const accounts = { ...featureAccounts(database), matching: () => Promise.resolve(people) };
  const log = createAuditLog({ database, now, accounts, verify: () => verifyAudit(database, { key: KEY }) });
  const times = [undefined, '2026-11-20T02:00:02.000Z', '2026-11-20T05:00:00.000Z', '2026-11-21T00:00:00.000Z'];
  for (const kind of [undefined, ...kinds])
    for (const group of [undefined, 'sign_in'] as const)
      for (const person of [undefined, people[0], 'o'])
        for (const from of times)
          for (const to of times)
            for (const cursor of [undefined, 31]) {
              const wanted = all
                .filter((entry) => kind === undefined || entry.kind === kind)
                .filter((entry) => kind !== undefined || group === undefined || auditGroupOf(entry.kind) === group)
                .filter((entry) => person !== people[0] || [entry.subject_id, entry.actor_id].includes(person ?? ''))
                .filter(({ at: time }) => (from === undefined || time >= from) && (to === undefined || time < to))
                .filter(({ seq }) => cursor === undefined || seq < cursor);
              const found = await log.list({ limit: 7, kind, group, person, from, to, cursor });
              expect(found.map(({ seq }) => seq)).toEqual(wanted.slice(0, 7).map(({ seq }) => seq));
            }
});

describe('a check of the log', () => {
  async function start() {
    const { database } = await logOf(3);
    const read: number[] = [];
    const watched = database.withPlugin({
      transformQuery: ({ node }) => node,
      transformResult({ result }) {
        for (const row of result.rows) if (typeof row['personal_hash'] === 'string') read.push(Number(row['seq']));
        return Promise.resolve(result);
      },
    });
    const errors: unknown[] = [];
    const parts = { file: { read: () => undefined }, logger: { error: (...args: unknown[]) => void errors.push(args) } };
    const { check, checkAll } = createAuditCheck({ database: watched, key: KEY, ...parts });
    const ask = async () => {
      read.length = 0;
      return { ...(await check()), read: [...read] };
    };
    return { database, ask, checkAll, errors };
  }

  test('reads the entries after the last one that held', async () => {
    const { database, ask } = await start();
    expect(await ask()).toMatchObject({ entries: 3, fault: null, read: [1, 2, 3] });
    await signedIn(database, 'another');
    expect(await ask()).toMatchObject({ entries: 4, checked_from: 1, fault: null, read: [4] });
    expect(await ask()).toMatchObject({ entries: 4, fault: null, read: [] });
  });

  test('reads all where the kept place was forged, or is no entry of the log', async () => {
    const { database, ask } = await start();
    await ask();
    await updateRows(database, 'installation', { name: 'audit_verified' }, { value: '{"seq":3,"hash":"x","mac":"y"}' });
    expect(await ask()).toMatchObject({ fault: null, read: [1, 2, 3] });
    await unguard(database);
    await updateRows(database, 'audit_entries', { seq: 3 }, { hash: '0'.repeat(64) });
    expect(await ask()).toMatchObject({ fault: { seq: 3 } });
  });

  test('is done over all entries once a day, which finds a change of an old one; then every answer says so', async () => {
    const { database, ask, checkAll, errors } = await start();
    await ask();
    await unguard(database);
    await database.updateTable('audit_entries').set({ kind: 'signed_out' }).where('seq', '=', 2).execute();
    expect(await ask()).toMatchObject({ fault: null, read: [] });
    await checkAll();
    expect(errors).toHaveLength(1);
    expect(await ask()).toMatchObject({ fault: { seq: 2 }, read: [1, 2, 3] });
  });
});
