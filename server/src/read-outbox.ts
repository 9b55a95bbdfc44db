import { fail, prepare, say, withDatabase } from './command.ts';

// `npm run outbox`: prints the mails that wait, for whoever runs the server: so that with RESET_DELIVERY=outbox its first administrator gets theirs.

const SHOWN = 20;

try {
  const mails = await withDatabase(prepare(), (database) =>
    database
      .selectFrom('mails')
      .select(['recipient', 'subject', 'text', 'created_at'])
      .where('text', 'is not', null)
      .orderBy('id', 'desc')
      .limit(SHOWN)
      .execute(),
  );
  if (mails.length === 0) say('No email is waiting.');
  for (const { recipient, subject, text, created_at } of mails.toReversed())
    process.stdout.write(`To: ${recipient}\nDate: ${created_at}\nSubject: ${subject}\n\n${text}\n${'='.repeat(72)}\n`);
  process.exit(0);
} catch (error) {
  fail(`We couldn’t read the outbox: ${error instanceof Error ? error.message : String(error)}`);
}
