import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { Kysely } from 'kysely';
import { newId } from '#platform/id.ts';
import type { ScannedFiles } from '#platform/scanned-files.ts';
import type { ArrivedMailRow, ChatTables } from './chat.tables.ts';
import type { ConversationRow } from './records.ts';

/** Time for which the original of a mail is kept after a person has read the result, in ms. */
const KEPT_AFTER_READING_MS = 30 * 86_400_000;
const SWEPT_AT_ONCE = 200;
/** Maximum size of all unverified mails of one conversation, in bytes. */
const UNVERIFIED_BYTES_MAXIMUM = 100 * 1024 * 1024;

/** Originals of received mails, sealed. Only staff of their conversation can read them; they were not scanned. */
export interface ArrivedMails {
  /** Stores a mail; an existing one with the same key is kept. */
  keep(
    conversation: ConversationRow,
    mail: { key: string; state: ArrivedMailRow['state']; raw: Uint8Array },
  ): Promise<ArrivedMailRow>;
  /** Records the result of a mail. */
  became(id: string, state: ArrivedMailRow['state'], message_id: string): Promise<void>;
  /** Removes a mail without a result. */
  drop(id: string): Promise<void>;
  /** Whether one more unverified mail of a conversation fits the limit: anybody who knows its address can send them. */
  hasRoom(conversation_id: string, bytes: number): Promise<boolean>;
  /** `became` for a mail whose server stopped before it recorded the result. */
  link(conversation_id: string, key: string, message_id: string): Promise<void>;
  find(id: string): Promise<ArrivedMailRow | undefined>;
  read(row: ArrivedMailRow): Promise<Readable>;
  bytes(row: ArrivedMailRow): Promise<Uint8Array>;
  /** Records which were read, and removes those that were read more than 30 days ago. */
  forgetRead(): Promise<void>;
}

export function createArrivedMails(parts: {
  database: Kysely<ChatTables>;
  files: Pick<ScannedFiles, 'keep' | 'read' | 'removeBytes'>;
  now: () => number;
}): ArrivedMails {
  const { database, files, now } = parts;
  const at = (ago_ms = 0) => new Date(now() - ago_ms).toISOString();
  const find = (id: string) => database.selectFrom('arrived_mails').selectAll().where('id', '=', id).executeTakeFirst();

  return {
    find,

    async keep({ id: conversation_id, user_id }, { key, state, raw }) {
      const sha256 = createHash('sha256').update(raw).digest('hex');
      const row: ArrivedMailRow = {
        ...{ id: newId(), conversation_id, user_id, mail_key: key, state, size: raw.byteLength, sha256 },
        ...{ message_id: null, arrived_at: at(), read_at: null },
      };
      // Write the row first: a removal of rows also removes the bytes of their ids.
      const written = await database
        .insertInto('arrived_mails')
        .values(row)
        .onConflict((conflict) => conflict.columns(['conversation_id', 'mail_key']).doUpdateSet({ sha256, size: raw.byteLength }))
        .returningAll()
        .executeTakeFirstOrThrow();
      await files.keep({ id: written.id, sha256, size: raw.byteLength }, raw);
      return written;
    },

    async became(id, state, message_id) {
      await database.updateTable('arrived_mails').set({ state, message_id }).where('id', '=', id).execute();
    },

    async drop(id) {
      await files.removeBytes([id]);
      await database.deleteFrom('arrived_mails').where('id', '=', id).execute();
    },

    async hasRoom(conversation_id, bytes) {
      const { size } = await database
        .selectFrom('arrived_mails')
        .select(({ fn }) => fn.sum<number | string | null>('size').as('size'))
        .where('conversation_id', '=', conversation_id)
        .where('state', '=', 'unverified')
        .executeTakeFirstOrThrow();
      return Number(size) + bytes <= UNVERIFIED_BYTES_MAXIMUM;
    },

    async link(conversation_id, key, message_id) {
      await database
        .updateTable('arrived_mails')
        .set({ message_id })
        .where('conversation_id', '=', conversation_id)
        .where('mail_key', '=', key)
        .where('message_id', 'is', null)
        .execute();
    },

    read: ({ id, size, sha256 }) => files.read({ id, size, sha256 }),

    bytes: async ({ id, size, sha256 }) => await buffer(await files.read({ id, size, sha256 })),

    async forgetRead() {
      const read = await database
        .selectFrom('arrived_mails')
        .innerJoin('chat_messages', 'chat_messages.id', 'arrived_mails.message_id')
        .innerJoin('conversations', 'conversations.id', 'arrived_mails.conversation_id')
        .select('arrived_mails.id')
        .where('arrived_mails.read_at', 'is', null)
        // Reading the note about an unverified mail does not count.
        .where('arrived_mails.state', '=', 'message')
        .whereRef('chat_messages.seq', '<=', 'conversations.support_read_seq')
        .limit(SWEPT_AT_ONCE)
        .execute();
      if (read.length > 0)
        await database
          .updateTable('arrived_mails')
          .set({ read_at: at() })
          .where(
            'id',
            'in',
            read.map(({ id }) => id),
          )
          .execute();
      const gone = await database
        .selectFrom('arrived_mails')
        .select('id')
        .where('read_at', '<', at(KEPT_AFTER_READING_MS))
        .limit(SWEPT_AT_ONCE)
        .execute();
      for (const { id } of gone) {
        await files.removeBytes([id]);
        await database.deleteFrom('arrived_mails').where('id', '=', id).execute();
      }
    },
  };
}
