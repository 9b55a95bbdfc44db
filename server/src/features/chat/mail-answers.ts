import type { UserInfo } from '@palisade/contract/auth';
import { ATTACHMENTS_MAXIMUM, MESSAGE_LENGTH_MAXIMUM, messageLength } from '@palisade/contract/chat';
import type { Attachment } from '@palisade/contract/chat-record';
import type { DeskMessage } from '@palisade/contract/desk-record';
import { isSameEmail } from '@palisade/contract/email';
import type { FastifyBaseLogger } from 'fastify';
import type { Kysely } from 'kysely';
import { Problem } from '#platform/problem.ts';
import type { Sentence } from '#platform/sentence.ts';
import type { ArrivedMails } from './arrived-mails.ts';
import type { Attachments } from './attachments.ts';
import { sentence, type UnverifiedReason } from './chat.phrases.ts';
import { refuse } from './chat.refusals.ts';
import type { ArrivedMailRow, ChatTables } from './chat.tables.ts';
import type { Write } from './conversation-writes.ts';
import type { Conversations } from './conversations.ts';
import type { DeskNews } from './desk-news.ts';
import type { ReadMail } from './read-mail.ts';
import { type ConversationRow, preview } from './records.ts';

const WHOLE_TEXT = 'answer.txt';

/** The reason why a mail is not accepted as words of the customer with this address; undefined if it is. */
export function whyUnverified({ from, author_fault, proof }: ReadMail, email: string): UnverifiedReason | undefined {
  if (author_fault !== undefined) return author_fault;
  if (!isSameEmail(from, email)) return 'other_address';
  return proof === 'aligned' ? undefined : proof;
}

/** Sentences about files of a mail that are not in its message. `left_out`: those that were not read. */
function sentencesOfFiles(
  unclean: readonly Pick<Attachment, 'filename' | 'status' | 'threat'>[],
  left_out: number,
  is_cut: boolean,
): Sentence[] {
  const infected = unclean.filter(({ status }) => status === 'infected');
  const unread = unclean.length - infected.length;
  const files = infected.map(({ filename, threat }) => preview(threat === null ? filename : `${filename}: ${threat}`)).join('\n');
  return [
    ...(infected.length === 0 ? [] : [sentence('email.infected_named', { count: infected.length, files })]),
    ...(unread === 0 ? [] : [sentence('email.unread_files', { count: unread })]),
    ...(left_out === 0 ? [] : [sentence('email.more_files', { count: left_out })]),
    ...(is_cut ? [sentence('email.cut')] : []),
  ];
}

/** The text of a mail, placed after a note's sentences and cut to the maximum length of a message. */
function quote(text: string, head: readonly Sentence[]): Sentence {
  const frame = [...head, sentence('email.text', { text: '' })].map(({ english }) => english).join(' ');
  const room = MESSAGE_LENGTH_MAXIMUM - messageLength(frame) - 2;
  return sentence('email.text', { text: messageLength(text) > room ? `${[...text].slice(0, room).join('')} …` : text });
}

/** Turns mails into messages: words of the customer, or a note for the staff, who can take it over. */
export interface MailAnswers {
  /** Writes a mail into its conversation. Undefined if the mail is empty. */
  write(conversation: ConversationRow, mail: ReadMail, is_cut: boolean): Promise<Write | undefined>;
  /** Leaves a note for the staff about a mail whose author is not verified. `mail_id`: its stored original. */
  note(conversation: ConversationRow, mail: ReadMail, reason: UnverifiedReason, mail_id: string | undefined): Promise<Write>;
  /** Tells the staff that characters of a mail could not be decoded, and refers to its original. */
  noteLostLetters(conversation: ConversationRow, mail: ReadMail, mail_id: string): Promise<void>;
  /** Lets a staff member accept a stored mail as the customer's words. @throws Problem `conflict` if it already is. */
  takeOver(me: UserInfo, row: ArrivedMailRow, conversation: ConversationRow): Promise<DeskMessage>;
}

export function createMailAnswers(parts: {
  database: Kysely<ChatTables>;
  conversations: Pick<Conversations, 'writeAsCustomer' | 'noteByNobody' | 'note'>;
  news: Pick<DeskNews, 'told'>;
  attachments: Pick<Attachments, 'take'>;
  mails: ArrivedMails;
  /** Called with a person whose chat has changed. */
  onChange: (user_id: string) => void;
  read: (raw: Uint8Array) => Promise<ReadMail>;
  logger: FastifyBaseLogger;
}): MailAnswers {
  const { database, conversations, news, attachments, mails, onChange, read, logger } = parts;

  async function told(write: Write): Promise<DeskMessage[]> {
    const messages = await news.told(write);
    onChange(write.conversation.user_id);
    return messages;
  }

  /** Scans the files; returns those that can be sent, and sentences about the others. */
  async function takeFiles(user_id: string, { text, files, left_out }: ReadMail, is_cut: boolean) {
    const isLong = messageLength(text) > MESSAGE_LENGTH_MAXIMUM;
    // Text too long for a message is attached as a file.
    const all = isLong ? [{ name: WHOLE_TEXT, bytes: Buffer.from(text, 'utf8') }, ...files] : files;
    const most = is_cut ? (isLong ? 1 : 0) : ATTACHMENTS_MAXIMUM;
    const taken = [];
    for (const file of all.slice(0, most)) taken.push(await attachments.take(user_id, file));
    if (taken.some(({ status }) => status === 'failed')) throw new Error('A file of an email could not be scanned.');
    const unclean = taken.filter(({ status }) => status !== 'clean');
    const over = is_cut ? 0 : left_out + Math.max(0, all.length - most);
    return {
      message: isLong ? `${[...text].slice(0, MESSAGE_LENGTH_MAXIMUM - 2).join('')} …` : text,
      attachment_ids: taken.flatMap(({ id, status }) => (status === 'clean' ? [id] : [])),
      sentences: sentencesOfFiles(unclean, over, is_cut),
    };
  }

  async function write({ id, user_id }: ConversationRow, mail: ReadMail, is_cut: boolean): Promise<Write | undefined> {
    const { message, attachment_ids, sentences } = await takeFiles(user_id, mail, is_cut);
    const isEmpty = message === '' && attachment_ids.length === 0;
    if (isEmpty && sentences.length === 0) return undefined;
    const words = isEmpty ? { sentences: [sentence('email.empty')] } : { message };
    const wrote = await conversations.writeAsCustomer(
      user_id,
      { ...words, attachment_ids, client_message_id: mail.key, by_mail: true },
      sentences.length === 0 ? undefined : { sentences },
    );
    await told(wrote);
    logger.info({ conversation: id, files: attachment_ids.length }, 'an answer by mail became a message');
    return wrote;
  }

  return {
    write,

    async note(conversation, { from, text, files, left_out, key }, reason, mail_id) {
      const count = files.length + left_out;
      const head = [
        from === '' ? sentence('email.unverified.unnamed', { reason }) : sentence('email.unverified', { from, reason }),
        ...(count === 0 ? [] : [sentence('email.files', { count })]),
      ];
      const sentences = text === '' ? head : [...head, quote(text, head)];
      const card = mail_id === undefined ? undefined : ({ kind: 'mail', mail_id, from, reason, is_taken: false } as const);
      const wrote = await conversations.noteByNobody(conversation.id, { sentences, client_message_id: key, card });
      await told(wrote);
      return wrote;
    },

    async noteLostLetters(conversation, { from, key }, mail_id) {
      const sentences = [sentence('email.lost_letters')];
      const card = { kind: 'mail', mail_id, from, reason: 'lost_letters', is_taken: true } as const;
      await told(await conversations.noteByNobody(conversation.id, { sentences, client_message_id: `${key}-letters`, card }));
    },

    async takeOver(me, row, conversation) {
      if (row.state !== 'unverified') throw refuse('arrived_email.already_there');
      const mail = await read(await mails.bytes(row));
      const wrote = await write(conversation, { ...mail, key: row.mail_key }, false);
      const [message] = wrote?.messages ?? [];
      if (wrote === undefined || message === undefined) throw refuse('arrived_email.own_text');
      const note = row.message_id;
      await mails.became(row.id, 'message', message.id);
      if (note !== null) {
        const found = await database.selectFrom('chat_messages').select('card').where('id', '=', note).executeTakeFirst();
        if (found?.card)
          await database
            .updateTable('chat_messages')
            .set({ card: JSON.stringify({ ...JSON.parse(found.card), is_taken: true }) })
            .where('id', '=', note)
            .execute();
      }
      if (!wrote.is_repeated) {
        const { from } = mail;
        const accepted = from === '' ? sentence('email.accepted.unnamed') : sentence('email.accepted', { from });
        await told(await conversations.note(conversation.id, me, { sentences: [accepted] }));
      }
      const [shown] = await news.told({ ...wrote, messages: [message] });
      if (shown === undefined) throw new Problem('conflict');
      return shown;
    },
  };
}
