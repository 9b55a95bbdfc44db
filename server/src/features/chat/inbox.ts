import { MESSAGE_LENGTH_MAXIMUM, messageLength } from '@palisade/contract/chat';
import type { FastifyBaseLogger } from 'fastify';
import type { Kysely } from 'kysely';
import { z } from 'zod';
import { logFailure } from '#platform/database-patience.ts';
import { type InstallationTables, readFact, writeFact } from '#platform/installation.ts';
import { jobKind } from '#platform/jobs/job-kind.ts';
import type { Jobs } from '#platform/jobs/jobs.ts';
import { Problem } from '#platform/problem.ts';
import type { AnswerAddresses } from './answer-address.ts';
import type { Attachments } from './attachments.ts';
import type { ChatTables } from './chat.tables.ts';
import type { Conversations, Write, Written } from './conversations.ts';
import type { DeskNews } from './desk-news.ts';
import { readMailApart, UnreadableMail } from './mail-reader.ts';
import { type ArrivedMail, openMailbox } from './mailbox.ts';
import type { ReadMail } from './read-mail.ts';
import type { ConversationRow } from './records.ts';

/** How often the mailbox is looked at. The job's lease lets one server do so at a time. */
const EVERY_MS = 20_000;
const AT_ONCE = 100;
/** Of a mail that is larger the beginning is read, for its words. */
const MAIL_BYTES_MAXIMUM = 40 * 1024 * 1024;
const BEGINNING_BYTES = 256 * 1024;
/** More for one conversation within an hour are two programs that answer each other. */
const MAILS_AN_HOUR = 20;
const HOUR_MS = 3_600_000;
/** How often a mail is tried that something of ours failed over; then it is left for a person. */
const TRIES = 5;
const WHOLE_TEXT = 'answer.txt';
const PLACE = 'inbox_place';

const INBOX = jobKind({ name: 'desk_inbox', payload: z.object({}), every_ms: EVERY_MS });

/** Up to where the mailbox was read. `validity`: the mailbox numbers its mails anew when it is another (RFC 3501 section 2.3.1.1). */
const placeSchema = z.object({ validity: z.string(), uid: z.int(), failed: z.int() });

/** What becomes of a mail: one that was taken is deleted from the mailbox, one that is none of ours stays as it is, one for a person is flagged. */
type Outcome = 'taken' | 'ignored' | 'left';

function sentenceOfFiles(unclean: readonly { status: string }[], left_out: number, is_cut: boolean): string {
  const infected = unclean.filter(({ status }) => status === 'infected').length;
  const unread = unclean.length - infected;
  const files = (count: number) => (count === 1 ? '1 file' : `${count} files`);
  const parts = [
    ...(infected > 0
      ? [
          `${files(infected)} of this mail ${infected === 1 ? 'was' : 'were'} left out: a threat was found in ${infected === 1 ? 'it' : 'them'}.`,
        ]
      : []),
    ...(unread > 0
      ? [
          `${files(unread)} of this mail ${unread === 1 ? 'was' : 'were'} left out: the scanner could not read ${unread === 1 ? 'it' : 'them'} as a whole.`,
        ]
      : []),
    ...(left_out > 0
      ? [`${files(left_out)} of this mail ${left_out === 1 ? 'was' : 'were'} left out: too many, or larger than 25 MB.`]
      : []),
    ...(is_cut ? ['This mail was larger than 40 MB: only its words were taken. Attach files here.'] : []),
  ];
  return parts.join(' ');
}

/** Has answers by mail become messages of the conversation that their address names. */
export function keepInbox(parts: {
  database: Kysely<ChatTables & InstallationTables>;
  url: string;
  addresses: AnswerAddresses;
  conversations: Pick<Conversations, 'find' | 'writeAsCustomer' | 'noteByNobody'>;
  news: Pick<DeskNews, 'told'>;
  attachments: Pick<Attachments, 'take'>;
  people: { findUser(id: string): Promise<{ id: string; email: string } | undefined> };
  /** Told of whose chat is not as it was. */
  onChange: (user_id: string) => void;
  jobs: Pick<Jobs, 'handle'>;
  now: () => number;
  logger: FastifyBaseLogger;
}): void {
  const { database, url, addresses, conversations, news, attachments, people, onChange, jobs, now, logger } = parts;
  const installation = database.$pickTables<'installation'>();

  async function mailsOf(conversation_id: string): Promise<number> {
    const { count } = await database
      .selectFrom('chat_messages')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('conversation_id', '=', conversation_id)
      .where('client_message_id', 'like', 'mail-%')
      .where('timestamp', '>', new Date(now() - HOUR_MS).toISOString())
      .executeTakeFirstOrThrow();
    return Number(count);
  }

  const wasWritten = async (conversation_id: string, client_message_id: string) =>
    (await database
      .selectFrom('chat_messages')
      .select('id')
      .where('conversation_id', '=', conversation_id)
      .where('client_message_id', '=', client_message_id)
      .executeTakeFirst()) !== undefined;

  async function told(write: Write): Promise<void> {
    await news.told(write);
    onChange(write.conversation.user_id);
  }

  /** Scans the files, and answers those that can be sent, and what is said of the others. */
  async function takeFiles(user_id: string, { text, files, left_out }: ReadMail, is_cut: boolean) {
    const isLong = messageLength(text) > MESSAGE_LENGTH_MAXIMUM;
    // What does not fit a message comes as a file behind it: the mail is deleted.
    const all = isLong ? [{ name: WHOLE_TEXT, bytes: Buffer.from(text, 'utf8') }, ...files] : files;
    const most = is_cut ? (isLong ? 1 : 0) : 10;
    const taken = [];
    for (const file of all.slice(0, most)) taken.push(await attachments.take(user_id, file));
    if (taken.some(({ status }) => status === 'failed')) throw new Error('A file of a mail could not be scanned.');
    const unclean = taken.filter(({ status }) => status !== 'clean');
    const over = is_cut ? 0 : left_out + Math.max(0, all.length - most);
    return {
      message: isLong ? `${[...text].slice(0, MESSAGE_LENGTH_MAXIMUM - 2).join('')} …` : text,
      attachment_ids: taken.flatMap(({ id, status }) => (status === 'clean' ? [id] : [])),
      sentence: sentenceOfFiles(unclean, over, is_cut),
    };
  }

  async function writeAnswer(conversation: ConversationRow, mail: ReadMail, is_cut: boolean): Promise<Outcome> {
    const { id, user_id } = conversation;
    const { message, attachment_ids, sentence } = await takeFiles(user_id, mail, is_cut);
    if (message === '' && attachment_ids.length === 0 && sentence === '') return 'ignored';
    const written: Written = { message, attachment_ids, client_message_id: mail.key, by_mail: true };
    const said = message === '' && attachment_ids.length === 0 ? 'This mail held nothing that could be taken.' : message;
    const answer = sentence === '' ? undefined : { message: sentence };
    await told(await conversations.writeAsCustomer(user_id, { ...written, message: said }, answer));
    logger.info({ conversation: id, files: attachment_ids.length }, 'an answer by mail became a message');
    return 'taken';
  }

  /** Who knows the address of an answer and is not the customer is nobody that speaks for them: the staff reads it as a note. */
  async function writeNote(conversation: ConversationRow, { from, text, files, left_out, key }: ReadMail): Promise<Outcome> {
    const count = files.length + left_out;
    const head = `A mail came from ${from === '' ? 'somebody' : from}, which is not the address of this customer. ${count === 0 ? '' : 'Its files were left out. '}It says: `;
    const room = MESSAGE_LENGTH_MAXIMUM - messageLength(head) - 2;
    const message = `${head}${messageLength(text) > room ? `${[...text].slice(0, room).join('')} …` : text}`;
    await told(await conversations.noteByNobody(conversation.id, { message, client_message_id: key }));
    return 'taken';
  }

  async function take(arrived: ArrivedMail, source: (bytes: number) => Promise<Uint8Array>): Promise<Outcome> {
    const named = addresses.read(arrived.recipients);
    const conversation = named === undefined ? undefined : await conversations.find(named);
    const customer = conversation && (await people.findUser(conversation.user_id));
    if (conversation === undefined || customer === undefined) return 'ignored';
    const is_cut = arrived.size > MAIL_BYTES_MAXIMUM;
    const mail = await readMailApart(await source(is_cut ? BEGINNING_BYTES : MAIL_BYTES_MAXIMUM));
    if (mail.automatic !== undefined) {
      logger.info({ conversation: conversation.id, why: mail.automatic }, 'a mail that no person wrote was ignored');
      return 'ignored';
    }
    if (await wasWritten(conversation.id, mail.key)) return 'taken';
    if ((await mailsOf(conversation.id)) >= MAILS_AN_HOUR) {
      const hour = Math.floor(now() / HOUR_MS);
      const message = `More than ${MAILS_AN_HOUR} mails came for this within an hour. The rest is left in the mailbox.`;
      await told(await conversations.noteByNobody(conversation.id, { message, client_message_id: `flood-${hour}` }));
      return 'ignored';
    }
    return mail.from === customer.email.toLowerCase()
      ? await writeAnswer(conversation, mail, is_cut)
      : await writeNote(conversation, mail);
  }

  async function tellLeft({ recipients }: ArrivedMail, client_message_id: string): Promise<void> {
    const named = addresses.read(recipients);
    if (named === undefined || (await conversations.find(named)) === undefined) return;
    const message = 'A mail came for this that could not be taken. It is in the mailbox of the installation, flagged.';
    await told(await conversations.noteByNobody(named, { message, client_message_id }));
  }

  jobs.handle(INBOX, async ({ signal }) => {
    const mailbox = await openMailbox({ url, signal });
    try {
      const kept = await readFact(installation, PLACE);
      const known = kept === undefined ? undefined : placeSchema.parse(JSON.parse(kept));
      let place = known?.validity === mailbox.validity ? known : { validity: mailbox.validity, uid: 0, failed: 0 };
      const note = async (next: typeof place) => {
        place = next;
        await writeFact(installation, PLACE, JSON.stringify(place));
      };
      for await (const arrived of mailbox.after(place.uid, AT_ONCE)) {
        if (signal.aborted) return;
        const { uid } = arrived;
        let outcome: Outcome;
        try {
          outcome = await take(arrived, (bytes) => mailbox.source(uid, bytes));
        } catch (error) {
          if (error instanceof UnreadableMail) {
            logger.warn({ err: error, uid }, 'a mail could not be read; it is left in the mailbox, flagged');
            outcome = 'left';
          } else if (place.failed + 1 < TRIES || (error instanceof Problem && error.code === 'unavailable')) {
            // The same one is first at the next look: what its customer wrote later stays behind it.
            await note({ ...place, failed: place.failed + 1 });
            throw error;
          } else {
            logFailure(logger, error, 'a mail could not be taken; it is left in the mailbox, flagged', { mail: String(uid) });
            outcome = 'left';
          }
        }
        // What was stored is known again by its key: whatever ends here is done over, and nothing is written twice.
        if (outcome === 'taken') await mailbox.remove(uid);
        if (outcome === 'left') {
          await tellLeft(arrived, `left-${place.validity}-${uid}`);
          await mailbox.flag(uid);
        }
        await note({ ...place, uid, failed: 0 });
      }
    } finally {
      await mailbox.close();
    }
  });
}
