import type { FastifyBaseLogger } from 'fastify';
import type { Kysely } from 'kysely';
import { z } from 'zod';
import { logFailure } from '#platform/database-patience.ts';
import { type InstallationTables, readFact, writeFact } from '#platform/installation.ts';
import { jobKind } from '#platform/jobs/job-kind.ts';
import type { Jobs } from '#platform/jobs/jobs.ts';
import { Problem } from '#platform/problem.ts';
import type { AnswerAddresses } from './answer-address.ts';
import type { ArrivedMails } from './arrived-mails.ts';
import { sentence } from './chat.phrases.ts';
import type { ChatTables } from './chat.tables.ts';
import type { Write } from './conversation-writes.ts';
import type { Conversations } from './conversations.ts';
import type { DeskNews } from './desk-news.ts';
import { type MailAnswers, whyUnverified } from './mail-answers.ts';
import { UnreadableMail } from './mail-reader.ts';
import { type ArrivedMail, openMailbox } from './mailbox.ts';
import type { ReadMail } from './read-mail.ts';

/** Interval between looks at the mailbox. The job's lease lets one server do so at a time. */
const EVERY_MS = 20_000;
const AT_ONCE = 100;
/** Of a larger mail only the beginning is read, for its text. */
const MAIL_BYTES_MAXIMUM = 40 * 1024 * 1024;
const BEGINNING_BYTES = 256 * 1024;
/** More mails than this for one conversation within an hour mean that two programs answer each other. */
const MAILS_AN_HOUR = 20;
const HOUR_MS = 3_600_000;
/** Number of attempts for a mail after an internal error; then it is left for a person. */
const TRIES = 5;
const PLACE = 'inbox_place';

const INBOX = jobKind({ name: 'desk_inbox', payload: z.object({}), every_ms: EVERY_MS });

/** The position up to which the mailbox was read. `validity`: mails are renumbered when it changes (RFC 3501 section 2.3.1.1). */
const placeSchema = z.object({ validity: z.string(), uid: z.int(), failed: z.int() });

/** The outcome of a mail: an accepted one is deleted from the mailbox, an unrelated one is left unchanged, one that needs a person is flagged, and reported once. */
type Outcome = 'taken' | 'ignored' | 'left' | 'flagged';

interface InboxParts {
  database: Kysely<ChatTables & InstallationTables>;
  url: string;
  addresses: AnswerAddresses;
  conversations: Pick<Conversations, 'find' | 'noteByNobody'>;
  answers: Pick<MailAnswers, 'write' | 'note' | 'noteLostLetters'>;
  mails: Pick<ArrivedMails, 'keep' | 'became' | 'link' | 'drop' | 'hasRoom'>;
  news: Pick<DeskNews, 'told'>;
  /** @throws UnreadableMail */
  read: (raw: Uint8Array) => Promise<ReadMail>;
  /** Opens the mailbox; by default the one of `url`. */
  open?: typeof openMailbox | undefined;
  people: { findUser(id: string): Promise<{ id: string; email: string } | undefined> };
  /** Called with a person whose chat has changed. */
  onChange: (user_id: string) => void;
  jobs: Pick<Jobs, 'handle'>;
  now: () => number;
  logger: FastifyBaseLogger;
}

/** Mails to a conversation within the last hour. */
async function mailsOf(database: Kysely<ChatTables>, conversation_id: string, now: number): Promise<number> {
  const { count } = await database
    .selectFrom('chat_messages')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('conversation_id', '=', conversation_id)
    .where('client_message_id', 'like', 'mail-%')
    .where('timestamp', '>', new Date(now - HOUR_MS).toISOString())
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** The id of the message that was written from a mail. */
async function writtenAs(
  database: Kysely<ChatTables>,
  conversation_id: string,
  client_message_id: string,
): Promise<string | undefined> {
  const written = await database
    .selectFrom('chat_messages')
    .select('id')
    .where('conversation_id', '=', conversation_id)
    .where('client_message_id', '=', client_message_id)
    .executeTakeFirst();
  return written?.id;
}

/** Turns mailed replies into messages of the conversation that their address names. */
export function keepInbox(parts: InboxParts): void {
  const { database, url, addresses, conversations, answers, mails, news, read, people, onChange, jobs, now, logger } = parts;
  const { open = openMailbox } = parts;
  const installation = database.$pickTables<'installation'>();
  const chatTables = database.$pickTables<keyof ChatTables>();

  async function told(write: Write): Promise<void> {
    await news.told(write);
    onChange(write.conversation.user_id);
  }

  async function take(arrived: ArrivedMail, source: (bytes: number) => Promise<Uint8Array>): Promise<Outcome> {
    const named = addresses.read(arrived.recipients);
    const conversation = named === undefined ? undefined : await conversations.find(named);
    const customer = conversation && (await people.findUser(conversation.user_id));
    if (conversation === undefined || customer === undefined) return 'ignored';
    const is_cut = arrived.size > MAIL_BYTES_MAXIMUM;
    const raw = await source(is_cut ? BEGINNING_BYTES : MAIL_BYTES_MAXIMUM);
    const mail = await read(raw);
    if (mail.automatic !== undefined) {
      logger.info({ conversation: conversation.id, why: mail.automatic }, 'a mail that no person wrote was ignored');
      return 'ignored';
    }
    const before = await writtenAs(chatTables, conversation.id, mail.key);
    if (before !== undefined) {
      await mails.link(conversation.id, mail.key, before);
      return is_cut ? 'flagged' : 'taken';
    }
    if ((await mailsOf(chatTables, conversation.id, now())) >= MAILS_AN_HOUR) {
      const hour = Math.floor(now() / HOUR_MS);
      const sentences = [sentence('email.too_many', { maximum: MAILS_AN_HOUR })];
      await told(await conversations.noteByNobody(conversation.id, { sentences, client_message_id: `flood-${hour}` }));
      return 'ignored';
    }
    const reason = whyUnverified(mail, customer.email);
    // Of a mail that is too large only the beginning was fetched: it stays in the mailbox, like a mail without room.
    const isKept = !is_cut && (reason === undefined || (await mails.hasRoom(conversation.id, raw.byteLength)));
    const state = reason === undefined ? 'message' : 'unverified';
    const kept = isKept ? await mails.keep(conversation, { key: mail.key, state, raw }) : undefined;
    const write =
      reason === undefined
        ? await answers.write(conversation, mail, is_cut)
        : await answers.note(conversation, mail, reason, kept?.id);
    if (write === undefined) {
      if (kept !== undefined) await mails.drop(kept.id);
      return 'ignored';
    }
    const [message] = write.messages;
    if (kept === undefined) return 'flagged';
    if (message !== undefined) await mails.became(kept.id, state, message.id);
    if (mail.has_lost_letters && reason === undefined) await answers.noteLostLetters(conversation, mail, kept.id);
    return 'taken';
  }

  async function tellLeft({ recipients }: ArrivedMail, client_message_id: string): Promise<void> {
    const named = addresses.read(recipients);
    if (named === undefined || (await conversations.find(named)) === undefined) return;
    await told(await conversations.noteByNobody(named, { sentences: [sentence('email.flagged')], client_message_id }));
  }

  jobs.handle(INBOX, async ({ signal }) => {
    const mailbox = await open({ url, signal });
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
            // The same mail is first at the next look, so that its customer's later mails keep their order.
            await note({ ...place, failed: place.failed + 1 });
            throw error;
          } else {
            logFailure(logger, error, 'could not take in an email; it stays in the mailbox, flagged', { mail: String(uid) });
            outcome = 'left';
          }
        }
        // A stored mail is recognized by its key: after an interruption this step is repeated, and no message is written twice.
        if (outcome === 'taken') await mailbox.remove(uid);
        if (outcome === 'flagged') await mailbox.flag(uid);
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
