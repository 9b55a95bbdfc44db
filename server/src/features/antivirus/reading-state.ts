import type { Deaths, EngineOutcome } from '@palisade/scanner/yara-pool';
import type { Kysely } from 'kysely';
import type { JobTables } from '#platform/jobs/job-tables.ts';
import type { AntivirusTables } from './antivirus.tables.ts';
import type { Waiter } from './examination-news.ts';
import type { NewRecord } from './new-record.ts';
import type { ReadingLease } from './scan-jobs.ts';
import type { ScanRow as Row } from './scan-row.ts';

/** Options for one reading. */
export interface Reading {
  waiter?: Waiter;
  record?: NewRecord;
  password?: string;
  lease?: ReadingLease | undefined;
  giveUp?: (row: Row) => Promise<Row | undefined>;
}

/** The outcome of a file whose turn does not come: it was cancelled, or the server is stopping. */
export const NO_TURN: EngineOutcome = { kind: 'failed', detail: 'engine_down' };

/** A running reading. */
export interface ReadingState {
  row: Row;
  /** Aborted when the file cannot be recorded, or another server has it: this reading is then not reported. */
  lost: AbortSignal;
  /** Aborts `lost`. */
  fail: (error: unknown) => void;
  /** Aborted as `lost` is, and when the waiter cancels. */
  given_up: AbortSignal;
  /** To be called at its end. */
  release: () => void;
  /** Stores the new record, if there is one, and answers its lease. */
  store: () => Promise<ReadingLease | undefined>;
  /** Timer that stores the new record if the reading takes long. */
  recording: NodeJS.Timeout | undefined;
}

export const current = (database: Kysely<AntivirusTables & JobTables>, id: string) =>
  database.selectFrom('scans').selectAll().where('id', '=', id).executeTakeFirst();

/** Claims the current record: the search for waiting files may have seen an older state. Undefined if its bytes have moved. */
export async function takeAgain(
  database: Kysely<AntivirusTables & JobTables>,
  { id, attempts, spooled, sealed }: Row,
): Promise<Row | undefined> {
  return await database
    .updateTable('scans')
    .set({ attempts: attempts + 1 })
    .where('id', '=', id)
    .where('spooled', '=', spooled)
    .where('sealed', '=', sealed)
    .returningAll()
    .executeTakeFirst();
}

export const deathsOf = ({ engine_deaths, engine_deaths_edition }: Row): Deaths | undefined =>
  engine_deaths_edition === null ? undefined : { count: engine_deaths, edition: engine_deaths_edition };

export async function keepDeaths(
  database: Kysely<AntivirusTables & JobTables>,
  id: string,
  { count, edition }: Deaths,
): Promise<void> {
  const kept = { engine_deaths: count, engine_deaths_edition: edition };
  await database.updateTable('scans').set(kept).where('id', '=', id).execute();
}
