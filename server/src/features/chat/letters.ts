import type { UserInfo } from '@palisade/contract/auth';
import type { ChatMessage } from '@palisade/contract/chat-record';
import type { Kysely } from 'kysely';
import { z } from 'zod';
import { inTransaction } from '#platform/in-transaction.ts';
import type { InstallationTables } from '#platform/installation.ts';
import { jobKind } from '#platform/jobs/job-kind.ts';
import type { JobTables } from '#platform/jobs/job-tables.ts';
import type { Jobs } from '#platform/jobs/jobs.ts';
import type { Mail, MailTables } from '#platform/mail.ts';
import type { AnswerAddresses } from './answer-address.ts';
import { refuse } from './chat.refusals.ts';
import type { ChatTables } from './chat.tables.ts';
import type { Conversations } from './conversations.ts';
import { ANSWER_ABOVE } from './quoted.ts';
import { transcriptOf } from './transcript.ts';

type Tables = ChatTables & JobTables & MailTables & InstallationTables;

/** Mails to customers. */
export interface Letters {
  /** Reports an answer; a customer who has not read it a little later gets a mail. */
  answered(conversation_id: string): void;
  /** Mails the newest part of a conversation. @throws Problem `conflict` if there are no messages. */
  sendTranscript(user: UserInfo, messages: readonly ChatMessage[]): Promise<void>;
}

/** Time for a customer to read an answer before a mail reports it, in ms. */
const UNREAD_MS = 2 * 60_000;
const ANSWERED = jobKind({ name: 'desk_answered', payload: z.object({ conversation_id: z.string() }), at_once: 2 });

export function createLetters(parts: {
  database: Kysely<Tables>;
  conversations: Conversations;
  mail: Pick<Mail, 'queue' | 'wake'>;
  jobs: Pick<Jobs, 'handle' | 'enqueue' | 'wake'>;
  people: { findUser(id: string): Promise<UserInfo | undefined> };
  /** Addresses for replies by mail; undefined if there are none. */
  addresses: Pick<AnswerAddresses, 'of'> | undefined;
  public_url: string | undefined;
  onFailure: (error: unknown) => void;
  unread_ms?: number | undefined;
}): Letters {
  const { database, conversations, mail, jobs, people, addresses, public_url, onFailure, unread_ms = UNREAD_MS } = parts;
  const chat =
    public_url === undefined ? 'Open the support chat to read it.' : `Read it here: ${new URL('/chat', public_url).href}`;

  jobs.handle(ANSWERED, async ({ payload: { conversation_id }, conclude }) => {
    const conversation = await conversations.find(conversation_id);
    const customer = conversation && (await people.findUser(conversation.user_id));
    if (conversation === undefined || customer === undefined) return;
    await inTransaction(database, async (transaction) => {
      const last = await transaction
        .selectFrom('chat_messages')
        .select(['seq', 'author'])
        .where('conversation_id', '=', conversation_id)
        .where('sender', '=', 'support')
        .where('is_note', '=', 0)
        .where('is_automatic', '=', 0)
        .orderBy('seq', 'desc')
        .limit(1)
        .executeTakeFirst();
      const known = Math.max(conversation.customer_read_seq, conversation.mailed_seq);
      if (last !== undefined && last.seq > known) {
        const told = await transaction
          .updateTable('conversations')
          .set({ mailed_seq: last.seq })
          .where('id', '=', conversation_id)
          .where('mailed_seq', '<', last.seq)
          .where('customer_read_seq', '<', last.seq)
          .returning('id')
          .executeTakeFirst();
        // The message itself stays in the chat, because mails can be read in transit.
        if (told !== undefined)
          await mail.queue(transaction.$pickTables<'mails' | 'installation'>(), {
            recipient: customer.email,
            subject: 'Support has replied',
            lines: [
              ...(addresses === undefined ? [] : [ANSWER_ABOVE]),
              `Hello ${customer.username},`,
              `${last.author ?? 'Support'} replied to you in the support chat.`,
              chat,
            ],
            ...(addresses !== undefined && { reply_to: addresses.of(conversation_id) }),
          });
      }
      await conclude(transaction.$pickTables<'jobs'>());
    });
    mail.wake();
  });

  return {
    answered(conversation_id) {
      jobs
        .enqueue(database.$pickTables<'jobs'>(), ANSWERED, { conversation_id }, { once: conversation_id, delay_ms: unread_ms })
        .then(() => jobs.wake(ANSWERED))
        .catch(onFailure);
    },

    async sendTranscript(user, messages) {
      const text = messages.map((message) => transcriptOf(message, user.username)).join('');
      if (text === '') throw refuse('conversation.without_messages');
      await mail.queue(database.$pickTables<'mails' | 'installation'>(), {
        recipient: user.email,
        subject: 'Your conversation with support',
        lines: [`Hello ${user.username},`, 'Here is your conversation in the support chat. Times are in UTC.', text.trimEnd()],
      });
      mail.wake();
    },
  };
}
