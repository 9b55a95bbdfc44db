import { fail, prepare, say, withDatabase } from '#server/command.ts';

const SHOWN = 20;

/** Prints queued mails for the operator. With RESET_DELIVERY=outbox the first administrator gets the mail this way. */
export async function run(): Promise<void> {
  try {
    const mails = await withDatabase(prepare({ as: 'command' }), (database) =>
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
}
