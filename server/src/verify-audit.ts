import { existsSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { type AuditTables, verifyAudit } from '#platform/audit.ts';
import { databaseLocation, openDatabase } from '#platform/database.ts';
import { parseSettings } from '#platform/settings.ts';

// `npm run audit:verify`: checks the audit log of the database that the settings name, whether a server runs on it or not. Ends with 0 when all of it holds.
// `npm run audit:verify -- --head 120:9f...` also checks that a head that was noted before is still in it.

const NOTED = /^(\d{1,15}):([\da-f]{64})$/;

function fail(line: string): never {
  process.stderr.write(`palisade: ${line}\n`);
  process.exit(1);
}

function readNoted(): { seq: number; hash: string } | undefined {
  const { head } = parseArgs({ options: { head: { type: 'string' } } }).values;
  if (head === undefined) return undefined;
  const [, seq = '', hash = ''] =
    NOTED.exec(head) ?? fail('--head must be what an earlier run printed as the head: a number, ":", and 64 hex digits.');
  return { seq: Number(seq), hash };
}

try {
  const noted = readNoted();
  const location = databaseLocation(parseSettings(process.env));
  if ('sqlite' in location && !existsSync(location.sqlite))
    fail(`There is no database at ${location.sqlite}. Set DATA_DIR to where the server keeps its data.`);
  const database = openDatabase<AuditTables>(location);
  const { entries, head, fault } = await verifyAudit(database, noted);
  await database.destroy();
  if (fault !== null) fail(`The audit log does not hold. Entry ${fault.seq}: ${fault.reason} ${entries} entries before it hold.`);
  process.stdout.write(`palisade: The audit log holds: ${entries} entries, each chained to the one before it.\n`);
  process.stdout.write(`palisade: Head, to be noted elsewhere and given to --head later: ${head}\n`);
  process.exit(0);
} catch (error) {
  fail(`The audit log could not be read: ${error instanceof Error ? error.message : String(error)}`);
}
