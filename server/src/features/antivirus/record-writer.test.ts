import { sql } from 'kysely';
import { expect, test, vi } from 'vitest';
import { isForeignKeyViolation, isSqlite } from '#platform/database.ts';
import { newId } from '#platform/id.ts';
import { addPerson, featureDatabase } from '#test/feature-database.ts';
import { RecordWriter } from './record-writer.ts';
import { readKeptCounts } from './scan-counts.ts';
import type { ScanRow } from './scan-row.ts';

async function open() {
  const database = await featureDatabase();
  const run = vi.spyOn(database, 'executeQuery');
  const statements = () => run.mock.calls.map(([query]) => ('parameters' in query ? query.parameters.length : 0) / COLUMNS);
  const writer = new RecordWriter(database);
  return { database, writer, statements };
}

function rowOf(user_id: string): ScanRow {
  const at = new Date().toISOString();
  return {
    ...{ id: newId(), user_id, filename: 'a.txt', scan_status: 'clean', status_detail: null, scanned_at: at, first_seen_at: at },
    ...{ threat_detected: null, threat_member: null, threat_facts: null, file_hash: 'ab', size: 1, media_type: null },
    ...{ notes: '[]', engines: '[]', coverage: null, spooled: 0, attempts: 1, engine_deaths: 0, engine_deaths_edition: null },
    ...{ unended_readings: 0, sealed: 0, in_store: 0, sealed_sha256: null, home: null, kept_until: null, edition: null },
    ...{ answered_from: null, device_id: null, device_name: null, device_path: null, note_phrases: null },
    ...{ closed_at: null, closed_by: null },
  };
}

const COLUMNS = Object.keys(rowOf('')).length;

const idsOf = async (database: Awaited<ReturnType<typeof open>>['database']) =>
  (await database.selectFrom('scans').select('id').orderBy('id').execute()).map(({ id }) => id);

test('stores the records that come in the same turn with one statement', async () => {
  const { database, writer, statements } = await open();
  const [ann, ben] = [await addPerson(database), await addPerson(database)];
  const rows = [rowOf(ben), rowOf(ann), rowOf(ben)];
  await Promise.all(rows.map((row) => writer.store(row)));
  expect(statements()).toEqual([3]);
  expect(await idsOf(database)).toEqual(rows.map(({ id }) => id));
  expect(await readKeptCounts(database, ben)).toMatchObject({ clean: 2 });
  // The second statement of the same kind is the first one with other values, whatever their order.
  const { id, ...rest } = rowOf(ann);
  await Promise.all([rowOf(ben), rowOf(ann), { ...rest, filename: 'b.txt', id }].map((row) => writer.store(row)));
  expect(statements()).toEqual([3, 3]);
  expect(await readKeptCounts(database, ann)).toMatchObject({ clean: 3 });
  expect(await database.selectFrom('scans').select('user_id').where('filename', '=', 'b.txt').execute()).toEqual([
    { user_id: ann },
  ]);
});

test('refuses the record of a person who is gone, and stores its neighbors', async () => {
  const { database, writer } = await open();
  const [ann, gone] = [await addPerson(database), await addPerson(database)];
  const rows = [rowOf(ann), rowOf(gone), rowOf(ann)];
  const stored = Promise.allSettled(rows.map((row) => writer.store(row)));
  await database.deleteFrom('users').where('id', '=', gone).execute();
  const [first, second, third] = await stored;
  expect([first?.status, second?.status, third?.status]).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(second?.status === 'rejected' && isForeignKeyViolation(second.reason)).toBe(true);
  expect(await idsOf(database)).toEqual([rows[0]?.id, rows[2]?.id]);
  expect(await readKeptCounts(database, ann)).toMatchObject({ clean: 2 });
});

test('tells each caller that the disk is full, and stores what comes once it is not', async ({ skip }) => {
  const { database, writer } = await open();
  if (!isSqlite(database)) skip('The bound of pages is of SQLite.');
  const ann = await addPerson(database);
  const { rows: counted } = await sql<{ page_count: number }>`pragma page_count`.execute(database);
  const bound = (pages: number) => sql`pragma max_page_count = ${sql.lit(pages)}`.execute(database);
  await bound(counted[0]?.page_count ?? 0);
  const large = () => ({ ...rowOf(ann), notes: JSON.stringify(['x'.repeat(100_000)]) });
  const refused = await Promise.allSettled([writer.store(large()), writer.store(large())]);
  for (const one of refused) expect(one).toMatchObject({ status: 'rejected', reason: { code: 'SQLITE_FULL' } });
  await bound(1_000_000);
  await Promise.all([writer.store(large()), writer.store(large())]);
  expect(await idsOf(database)).toHaveLength(2);
});
