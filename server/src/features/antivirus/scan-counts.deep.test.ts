import { expect, onTestFinished, test } from 'vitest';
import { migrations } from '#migrations/all.ts';
import { openDatabase } from '#platform/database.ts';
import { migrate } from '#platform/migrations.ts';
import type { Tables } from '#platform/tables.ts';
import { addPerson } from '#test/feature-database.ts';
import { POSTGRES_PROGRAMS, startPostgres } from '#test/postgres.ts';
import { expectCounted, writeScans } from '#test/scan-writes.ts';
import { seededRandom } from '#test/seeded.ts';

// Needs a PostgreSQL of its own: many connections write the same people's records at once.

const SEED = 140_002;
const WRITERS = 6;
const WRITES = 150;

if (POSTGRES_PROGRAMS === undefined) process.stdout.write('skipped: no PostgreSQL on this machine\n');
test.runIf(POSTGRES_PROGRAMS !== undefined)(
  `the counts that the database keeps are those of the records, after ${WRITERS} connections wrote at once (seed ${SEED})`,
  { timeout: 300_000 },
  async () => {
    const postgres = await startPostgres();
    onTestFinished(() => postgres.dispose());
    const open = () => {
      const database = openDatabase<Tables>({ postgres: postgres.url }, { connections: 1 });
      onTestFinished(() => database.destroy());
      return database;
    };
    const database = open();
    await migrate(database, migrations);
    const people: string[] = [];
    for (let count = 0; count < 12; count += 1) people.push(await addPerson(database));
    await Promise.all(
      Array.from({ length: WRITERS }, (_, writer) =>
        writeScans(open(), { people, writes: WRITES, random: seededRandom(SEED + writer) }),
      ),
    );
    await expectCounted(database);
    expect((await database.selectFrom('scan_counts').selectAll().execute()).length).toBeGreaterThan(1);
  },
);
