import { TEST_FILE_THREATS } from '@palisade/contract/constants';
import type { Kysely } from 'kysely';
import { expect } from 'vitest';
import { forgetOldScans } from '#features/antivirus/old-scans.ts';
import type { ScanRow } from '#features/antivirus/scan-row.ts';
import { isForeignKeyViolation } from '#platform/database.ts';
import { troubleOf } from '#platform/database-errors.ts';
import { newId } from '#platform/id.ts';
import { inTransaction } from '#platform/in-transaction.ts';
import type { Tables } from '#platform/tables.ts';

const AT = '2026-11-20T10:00:00.000Z';
const OLD = '2026-01-01T10:00:00.000Z';
const VERDICTS: readonly Pick<ScanRow, 'scan_status' | 'threat_detected'>[] = [
  { scan_status: 'clean', threat_detected: null },
  { scan_status: 'pending', threat_detected: null },
  { scan_status: 'infected', threat_detected: 'Some.Threat' },
  { scan_status: 'infected', threat_detected: null },
  // A verdict that newer signatures took back keeps no name, but a database that was changed by hand may.
  { scan_status: 'clean', threat_detected: 'EICAR-Test-File' },
  ...TEST_FILE_THREATS.map((threat_detected) => ({ scan_status: 'infected' as const, threat_detected })),
];

/** Without columns that came after the counts: an upgrade is tried with these records as well. */
function rowOf(
  user_id: string,
  verdict: (typeof VERDICTS)[number],
  scanned_at: string,
): Omit<ScanRow, 'note_phrases' | 'closed_at' | 'closed_by'> {
  return {
    ...{ id: newId(), user_id, filename: 'a', status_detail: null, threat_member: null, file_hash: '0'.repeat(64), size: 1 },
    ...{
      media_type: null,
      threat_facts: null,
      notes: '[]',
      engines: '[]',
      coverage: null,
      attempts: 1,
      engine_deaths: 0,
    },
    ...{ engine_deaths_edition: null, unended_readings: 0, in_store: 0, sealed_sha256: null, home: null, kept_until: null },
    ...{ edition: null, answered_from: null, device_id: null, device_name: null, device_path: null, sealed: 0, spooled: 0 },
    ...verdict,
    ...{ scanned_at, first_seen_at: scanned_at },
  };
}

/**
 * Writes scans as every part of the server does, at random: new ones, verdicts that change, removals one by one, by age and with an account, and changes that are taken back.
 * PostgreSQL may end one of two transactions that wait for each other: that one has not happened.
 */
export async function writeScans(
  database: Kysely<Tables>,
  { people, writes, random }: { people: string[]; writes: number; random: () => number },
): Promise<void> {
  const any = <T>(of: readonly T[]): T | undefined => of[Math.floor(random() * of.length)];
  const verdict = () => any(VERDICTS) ?? { scan_status: 'clean' as const, threat_detected: null };
  const someScan = async (of: Kysely<Tables>, user_id: string) => {
    const rows = await of.selectFrom('scans').select('id').where('user_id', '=', user_id).limit(40).execute();
    return any(rows)?.id ?? '';
  };
  const insert = (of: Kysely<Tables>, user_id: string, count: number) =>
    of
      .insertInto('scans')
      .values(Array.from({ length: count }, () => rowOf(user_id, verdict(), random() < 0.2 ? OLD : AT)))
      .execute();
  async function write(of: Kysely<Tables>, user_id: string): Promise<unknown> {
    const chance = random();
    if (chance < 0.45) return await insert(of, user_id, 1 + Math.floor(random() * 3));
    const id = await someScan(of, user_id);
    if (chance < 0.7) return await of.updateTable('scans').set(verdict()).where('id', '=', id).execute();
    // A change of the bytes alone, as a sweep makes it.
    if (chance < 0.8) return await of.updateTable('scans').set({ attempts: 2 }).where('id', '=', id).execute();
    if (chance < 0.97) return await of.deleteFrom('scans').where('id', '=', id).execute();
    return await forgetOldScans(of.$pickTables<'scans'>(), AT);
  }
  const taken_back = new Error('taken back');
  async function step(): Promise<void> {
    const user_id = any(people) ?? '';
    const chance = random();
    if (chance < 0.02 && people.length > 2) {
      people.splice(people.indexOf(user_id), 1);
      await database.deleteFrom('users').where('id', '=', user_id).execute();
    } else if (chance < 0.2) {
      await inTransaction(database, async (transaction) => {
        await write(transaction, user_id);
        await write(transaction, user_id);
        if (chance < 0.1) throw taken_back;
      }).catch((error: unknown) => {
        if (error !== taken_back) throw error;
      });
    } else await write(database, user_id);
  }
  for (let done = 0; done < writes; done += 1) {
    await step().catch((error: unknown) => {
      // A person whose account another writer has just deleted has no records any more.
      if (troubleOf(error) !== 'collision' && !isForeignKeyViolation(error)) throw error;
    });
  }
}

/** Compares what the database keeps with what there is. */
export async function expectCounted(database: Kysely<Tables>): Promise<void> {
  const scans = await database.selectFrom('scans').select(['user_id', 'scan_status', 'threat_detected']).execute();
  const people = await database.selectFrom('users').select('id').execute();
  const counted = people.map(({ id }) => {
    const own = scans.filter(({ user_id }) => user_id === id);
    const of = (status: ScanRow['scan_status']) => own.filter(({ scan_status }) => scan_status === status);
    const test_files = of('infected').filter(({ threat_detected }) => TEST_FILE_THREATS.includes(threat_detected ?? ''));
    return {
      ...{ user_id: id, clean: of('clean').length, infected: of('infected').length, pending: of('pending').length },
      test_files: test_files.length,
    };
  });
  const kept = await database.selectFrom('scan_counts').selectAll().execute();
  const none = { clean: 0, infected: 0, pending: 0, test_files: 0 };
  expect(people.map(({ id }) => kept.find(({ user_id }) => user_id === id) ?? { user_id: id, ...none })).toEqual(counted);
  expect(kept.filter(({ user_id }) => !people.some(({ id }) => id === user_id))).toEqual([]);
}
