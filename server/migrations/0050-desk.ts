import { type Kysely, sql } from 'kysely';
import { newId } from '#platform/id.ts';

const text = 'text' as const;

/** The chat becomes a support desk: a conversation for each customer, the matters in it, and messages that the server counts. Old messages stay in theirs. */
export async function up(database: Kysely<unknown>): Promise<void> {
  const { schema } = database;
  await schema
    .createTable('conversations')
    .addColumn('id', text, (column) => column.primaryKey())
    .addColumn('user_id', text, (column) => column.notNull().unique().references('users.id').onDelete('cascade'))
    .addColumn('status', text, (column) => column.notNull().check(sql`status in ('open', 'snoozed', 'closed')`))
    .addColumn('assignee_id', text, (column) => column.references('users.id').onDelete('set null'))
    .addColumn('priority', text, (column) => column.notNull().check(sql`priority in ('low', 'normal', 'high', 'urgent')`))
    .addColumn('wants_person', 'integer', (column) => column.notNull())
    .addColumn('opened_at', text, (column) => column.notNull())
    .addColumn('closed_at', text)
    .addColumn('snoozed_until', text)
    .addColumn('last_customer_message_at', text)
    .addColumn('waiting_since', text)
    .addColumn('last_at', text, (column) => column.notNull())
    // Places of messages: of the last one, of the last one that is no note, and up to where each side has read.
    .addColumn('last_seq', 'integer', (column) => column.notNull())
    .addColumn('last_shown_seq', 'integer', (column) => column.notNull())
    .addColumn('customer_read_seq', 'integer', (column) => column.notNull())
    .addColumn('support_read_seq', 'integer', (column) => column.notNull())
    // The last message that a mail to the customer reported.
    .addColumn('mailed_seq', 'integer', (column) => column.notNull())
    // Grows with each change; and the last change, and the last message, that were sent to pages.
    .addColumn('version', 'integer', (column) => column.notNull())
    .addColumn('told_version', 'integer', (column) => column.notNull())
    .addColumn('told_seq', 'integer', (column) => column.notNull())
    .execute();
  await schema.createIndex('conversations_status').on('conversations').columns(['status', 'last_at', 'id']).execute();
  await schema.createIndex('conversations_assignee').on('conversations').columns(['assignee_id', 'status']).execute();
  await sql`create index conversations_untold on conversations (id) where told_version < version or told_seq < last_seq`.execute(
    database,
  );

  await schema
    .createTable('conversation_tags')
    .addColumn('conversation_id', text, (column) => column.notNull().references('conversations.id').onDelete('cascade'))
    .addColumn('tag', text, (column) => column.notNull())
    .addPrimaryKeyConstraint('conversation_tags_key', ['conversation_id', 'tag'])
    .execute();
  await schema.createIndex('conversation_tags_tag').on('conversation_tags').columns(['tag', 'conversation_id']).execute();

  await schema
    .createTable('conversation_matters')
    .addColumn('id', text, (column) => column.primaryKey())
    .addColumn('conversation_id', text, (column) => column.notNull().references('conversations.id').onDelete('cascade'))
    .addColumn('user_id', text, (column) => column.notNull().references('users.id').onDelete('cascade'))
    .addColumn('opened_at', text, (column) => column.notNull())
    .addColumn('first_answered_at', text)
    .addColumn('first_answered_by', text, (column) => column.references('users.id').onDelete('set null'))
    .addColumn('closed_at', text)
    .addColumn('closed_by', text, (column) => column.references('users.id').onDelete('set null'))
    .addColumn('rating', 'integer', (column) => column.check(sql`rating between 1 and 5`))
    .addColumn('rating_comment', text)
    .addColumn('rated_at', text)
    .execute();
  await schema.createIndex('conversation_matters_of').on('conversation_matters').columns(['conversation_id', 'id']).execute();
  await schema.createIndex('conversation_matters_opened').on('conversation_matters').columns(['opened_at', 'id']).execute();
  await schema.createIndex('conversation_matters_user').on('conversation_matters').columns(['user_id', 'id']).execute();

  await schema
    .createTable('desk_messages')
    .addColumn('id', text, (column) => column.primaryKey())
    .addColumn('conversation_id', text, (column) => column.notNull().references('conversations.id').onDelete('cascade'))
    // The conversation's customer, not the author.
    .addColumn('user_id', text, (column) => column.notNull().references('users.id').onDelete('cascade'))
    .addColumn('seq', 'integer', (column) => column.notNull())
    .addColumn('message', text, (column) => column.notNull())
    .addColumn('sender', text, (column) => column.notNull().check(sql`sender in ('user', 'support')`))
    // The author, the customer too; null for an automatic message. The name is that of staff, as it was.
    .addColumn('author_id', text, (column) => column.references('users.id').onDelete('set null'))
    .addColumn('author', text)
    .addColumn('is_automatic', 'integer', (column) => column.notNull())
    .addColumn('is_note', 'integer', (column) => column.notNull())
    .addColumn('client_message_id', text)
    .addColumn('card', text)
    .addColumn('timestamp', text, (column) => column.notNull())
    .execute();

  await carryOver(database);
  await schema.dropTable('chat_messages').execute();
  await schema.alterTable('desk_messages').renameTo('chat_messages').execute();
  await schema.createIndex('chat_messages_place').unique().on('chat_messages').columns(['conversation_id', 'seq']).execute();
  await schema.createIndex('chat_messages_user_id').on('chat_messages').columns(['user_id', 'id']).execute();
  // A message that is sent again is the same one.
  await sql`create unique index chat_messages_sent_once on chat_messages (author_id, client_message_id) where client_message_id is not null`.execute(
    database,
  );

  await schema
    .createTable('chat_attachments')
    .addColumn('id', text, (column) => column.primaryKey())
    .addColumn('uploader_id', text, (column) => column.references('users.id').onDelete('set null'))
    // Null until it is sent.
    .addColumn('conversation_id', text, (column) => column.references('conversations.id').onDelete('cascade'))
    .addColumn('message_id', text, (column) => column.references('chat_messages.id').onDelete('cascade'))
    .addColumn('place', 'integer')
    .addColumn('filename', text, (column) => column.notNull())
    .addColumn('size', 'integer', (column) => column.notNull())
    .addColumn('sha256', text, (column) => column.notNull())
    // Of a picture that pages may show: by its bytes. Null for everything else.
    .addColumn('picture_type', text)
    .addColumn('status', text, (column) =>
      column.notNull().check(sql`status in ('scanning', 'clean', 'infected', 'unread', 'failed')`),
    )
    .addColumn('threat', text)
    .addColumn('created_at', text, (column) => column.notNull())
    .execute();
  await schema.createIndex('chat_attachments_message').on('chat_attachments').columns(['message_id', 'place']).execute();
  await schema.createIndex('chat_attachments_uploader').on('chat_attachments').columns(['uploader_id', 'id']).execute();
  await schema.createIndex('chat_attachments_conversation').on('chat_attachments').column('conversation_id').execute();

  await schema
    .createTable('desk_staff')
    .addColumn('user_id', text, (column) => column.primaryKey().references('users.id').onDelete('cascade'))
    .addColumn('chosen', text, (column) => column.notNull().check(sql`chosen in ('here', 'away', 'offline')`))
    .addColumn('is_absent', 'integer', (column) => column.notNull())
    // Time since when they have no open page.
    .addColumn('gone_since', text)
    .execute();

  await schema
    .createTable('canned_answers')
    .addColumn('id', text, (column) => column.primaryKey())
    .addColumn('shortcut', text, (column) => column.notNull().unique())
    .addColumn('title', text, (column) => column.notNull())
    .addColumn('text', text, (column) => column.notNull())
    .addColumn('updated_at', text, (column) => column.notNull())
    .execute();
}

/** The old messages were not read: each person's become a conversation that waits for an answer. */
async function carryOver(database: Kysely<unknown>): Promise<void> {
  const { rows } = await sql<{ user_id: string; first_at: string; last_at: string; count: number }>`
    select user_id, min(timestamp) as first_at, max(timestamp) as last_at, count(*) as count
    from chat_messages group by user_id order by user_id`.execute(database);
  for (const { user_id, first_at, last_at, count } of rows) {
    const conversation_id = newId();
    await sql`insert into conversations
      (id, user_id, status, priority, wants_person, opened_at, last_customer_message_at, waiting_since, last_at, last_seq, last_shown_seq,
       customer_read_seq, support_read_seq, mailed_seq, version, told_version, told_seq)
      values (${conversation_id}, ${user_id}, 'open', 'normal', 0, ${first_at}, ${last_at}, ${last_at}, ${last_at}, ${count}, ${count},
       ${count}, 0, ${count}, 1, 1, ${count})`.execute(database);
    await sql`insert into conversation_matters (id, conversation_id, user_id, opened_at)
      values (${newId()}, ${conversation_id}, ${user_id}, ${first_at})`.execute(database);
    await sql`insert into desk_messages
      (id, conversation_id, user_id, seq, message, sender, author_id, is_automatic, is_note, timestamp)
      select id, ${conversation_id}, user_id, row_number() over (order by id), message, sender,
        case when sender = 'user' then user_id end, 0, 0, timestamp
      from chat_messages where user_id = ${user_id}`.execute(database);
  }
}
