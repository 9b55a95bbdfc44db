import { BASELINE } from '#migrations/all.ts';
import { databaseLocation, openDatabase } from '#platform/database.ts';
import { migrate } from '#platform/migrations.ts';
import { copyBeforeUpgrade } from '#platform/upgrade-copy.ts';
import { UPGRADED } from './old-schemas.ts';

// The part of a server's start that brings a database to its version, in a process of its own that a test interrupts. Arguments: DATA_DIR, whether to copy first
// ("copy"), DATABASE_URL. It writes "begins" and "done", or the error.
const [data_dir = '', copies = '', database_url] = process.argv.slice(2);
const location = databaseLocation({ data_dir, database_url });
const database = openDatabase<unknown>(location);
try {
  process.stdout.write('begins\n');
  await migrate(database, UPGRADED, {
    baseline: BASELINE,
    beforeUpgrade() {
      if (copies === 'copy' && 'sqlite' in location) copyBeforeUpgrade(location.sqlite);
    },
  });
  await database.destroy();
  process.stdout.write('done\n');
} catch (error) {
  process.stdout.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}
