import { existsSync } from 'node:fs';
import { databaseLocation, openDatabase } from '#platform/database.ts';
import type { MailTables } from '#platform/mail.ts';
import { parseSettings } from '#platform/settings.ts';

// `npm run outbox`: prints the mails that wait, for whoever runs the server: so that with RESET_DELIVERY=outbox its first administrator gets theirs.

const SHOWN = 20;

function fail(line: string): never {
  process.stderr.write(`palisade: ${line}\n`);
  process.exit(1);
}

try {
  const location = databaseLocation(parseSettings(process.env));
  if ('sqlite' in location && !existsSync(location.sqlite))
    fail(`There is no database at ${location.sqlite}. Set DATA_DIR to where the server keeps its data.`);
  const database = openDatabase<MailTables>(location);
  const mails = await database
    .selectFrom('mails')
    .select(['recipient', 'subject', 'text', 'created_at'])
    .where('text', 'is not', null)
    .orderBy('id', 'desc')
    .limit(SHOWN)
    .execute();
  await database.destroy();
  if (mails.length === 0) process.stdout.write('palisade: No mail waits.\n');
  for (const { recipient, subject, text, created_at } of mails.toReversed())
    process.stdout.write(`To: ${recipient}\nDate: ${created_at}\nSubject: ${subject}\n\n${text}\n${'='.repeat(72)}\n`);
  process.exit(0);
} catch (error) {
  fail(`The outbox could not be read: ${error instanceof Error ? error.message : String(error)}`);
}
