import type { SCAN_SORTS, Scan, ScanStatus, ScansQuery, ScanTotals } from '@palisade/contract/antivirus';
import { TEST_FILE_THREATS } from '@palisade/contract/constants';
import { type Expression, type Kysely, sql } from 'kysely';
import { nameOrderOf } from '#platform/folded-text.ts';
import { containing } from '#platform/page.ts';
import { refuseField } from './antivirus.refusals.ts';
import type { AntivirusTables } from './antivirus.tables.ts';
import { isOpenInfection } from './infections.ts';
import { readKeptCounts } from './scan-counts.ts';
import { scanOf } from './scan-record.ts';

/** The order of a list: its first key before the id, and the direction. Ids sort by time. */
const ORDERS: Record<(typeof SCAN_SORTS)[number], { by?: Expression<string | number | Buffer>; direction: 'asc' | 'desc' }> = {
  newest: { direction: 'desc' },
  oldest: { direction: 'asc' },
  name: { by: nameOrderOf('filename'), direction: 'asc' },
  largest: { by: sql<number>`size`, direction: 'desc' },
};

/** Searched columns of the list: a file's name and a threat's. */
const SEARCHED = ['filename', 'threat_detected'] as const;

/** A page of a person's scans, and their total number. @throws Problem `invalid_field` for a cursor whose record was deleted, if the order needs the record. */
export function createScanList(database: Kysely<AntivirusTables>) {
  const of = (user_id: string) => database.selectFrom('scans').where('user_id', '=', user_id);

  return {
    async page(user_id: string, { limit, cursor, status, infection, search, sort }: ScansQuery): Promise<Scan[]> {
      const { by, direction } = ORDERS[sort];
      let query = of(user_id).where(containing(search, SEARCHED)).selectAll().limit(limit);
      if (status !== undefined) query = query.where('scan_status', '=', status);
      if (infection === 'open') query = query.where(isOpenInfection);
      const beyond = sql.raw(direction === 'desc' ? '<' : '>');
      if (by === undefined) {
        if (cursor !== undefined) query = query.where(sql<boolean>`id ${beyond} ${cursor}`);
        return (await query.orderBy('id', direction).execute()).map(scanOf);
      }
      if (cursor !== undefined) {
        const last = await of(user_id).select(sql`${by}`.as('place')).where('id', '=', cursor).executeTakeFirst();
        if (last === undefined) throw refuseField('cursor', 'scan.entry_deleted');
        query = query.where(sql<boolean>`(${by} ${beyond} ${last.place} or (${by} = ${last.place} and id ${beyond} ${cursor}))`);
      }
      return (await query.orderBy(by, direction).orderBy('id', direction).execute()).map(scanOf);
    },

    async totals(user_id: string, search: string): Promise<ScanTotals> {
      if (search === '') return await readKeptCounts(database, user_id);
      const found = of(user_id).where(containing(search, SEARCHED));
      const [rows, tests] = await Promise.all([
        found
          .select(({ fn }) => ['scan_status', fn.countAll<number>().as('count')])
          .groupBy('scan_status')
          .execute(),
        found
          .select(({ fn }) => fn.countAll<number>().as('count'))
          .where('scan_status', '=', 'infected')
          .where('threat_detected', 'in', [...TEST_FILE_THREATS])
          .executeTakeFirstOrThrow(),
      ]);
      const count = (status: ScanStatus) => rows.find((row) => row.scan_status === status)?.count ?? 0;
      return { clean: count('clean'), infected: count('infected'), pending: count('pending'), test_files: tests.count };
    },
  };
}
