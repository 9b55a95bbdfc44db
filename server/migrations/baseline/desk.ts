/** Tables of the support desk: conversations, messages and files. */
export const DESK = `
create table conversations (
  id text primary key,
  user_id text not null unique references users(id) on delete cascade,
  status text not null check (status in ('open', 'snoozed', 'closed')),
  assignee_id text references users(id) on delete set null,
  priority text not null check (priority in ('low', 'normal', 'high', 'urgent')),
  wants_person integer not null,
  opened_at text not null,
  closed_at text,
  snoozed_until text,
  last_customer_message_at text,
  waiting_since text,
  last_at text not null,
  -- Places of messages: of the last one, of the last one that is no note, and up to where each side has read.
  last_seq integer not null,
  last_shown_seq integer not null,
  customer_read_seq integer not null,
  support_read_seq integer not null,
  -- The last message that a mail to the customer reported.
  mailed_seq integer not null,
  -- Grows with each change; and the last change, and the last message, that were sent to pages.
  version integer not null,
  told_version integer not null,
  told_seq integer not null,
  -- Time since when the assignee is expected to answer. Null: since the customer waits.
  held_since text
);
create index conversations_assignee on conversations (assignee_id, status);
create index conversations_status on conversations (status, last_at, id);
create index conversations_untold on conversations (id) where told_version < version or told_seq < last_seq;

create table conversation_tags (
  conversation_id text not null references conversations(id) on delete cascade,
  tag text not null,
  constraint conversation_tags_key primary key (conversation_id, tag)
);
create index conversation_tags_tag on conversation_tags (tag, conversation_id);

create table conversation_matters (
  id text primary key,
  conversation_id text not null references conversations(id) on delete cascade,
  user_id text not null references users(id) on delete cascade,
  opened_at text not null,
  first_answered_at text,
  first_answered_by text references users(id) on delete set null,
  closed_at text,
  closed_by text references users(id) on delete set null,
  rating integer check (rating between 1 and 5),
  rating_comment text,
  rated_at text
);
create index conversation_matters_of on conversation_matters (conversation_id, id);
create index conversation_matters_opened on conversation_matters (opened_at, id);
create index conversation_matters_user on conversation_matters (user_id, id);

create table chat_messages (
  id text primary key,
  conversation_id text not null references conversations(id) on delete cascade,
  -- The conversation's customer, not the author.
  user_id text not null references users(id) on delete cascade,
  seq integer not null,
  message text not null,
  sender text not null check (sender in ('user', 'support')),
  -- The author, the customer too; null for an automatic message. The name is that of staff, as it was.
  author_id text references users(id) on delete set null,
  author text,
  is_automatic integer not null,
  is_note integer not null,
  client_message_id text,
  card text,
  timestamp text not null,
  -- The phrases of the server's own sentences in a message, in their order, as JSON; null for words of a person, and in
  -- older rows.
  phrases text
);
create unique index chat_messages_place on chat_messages (conversation_id, seq);
-- A message that is sent again is the same one.
create unique index chat_messages_sent_once on chat_messages (author_id, client_message_id) where client_message_id is not null;
create index chat_messages_user_id on chat_messages (user_id, id);

create table chat_attachments (
  id text primary key,
  uploader_id text references users(id) on delete set null,
  -- Null until it is sent.
  conversation_id text references conversations(id) on delete cascade,
  message_id text references chat_messages(id) on delete cascade,
  place integer,
  filename text not null,
  size integer not null,
  sha256 text not null,
  -- Of a picture that pages may show: by its bytes. Null for everything else.
  picture_type text,
  status text not null check (status in ('scanning', 'clean', 'infected', 'unread', 'failed')),
  threat text,
  created_at text not null
);
create index chat_attachments_conversation on chat_attachments (conversation_id);
create index chat_attachments_message on chat_attachments (message_id, place);
create index chat_attachments_uploader on chat_attachments (uploader_id, id);

create table desk_staff (
  user_id text primary key references users(id) on delete cascade,
  chosen text not null check (chosen in ('here', 'away', 'offline')),
  is_absent integer not null,
  -- Time since when they have no open page.
  gone_since text
);

create table canned_answers (
  id text primary key,
  shortcut text not null unique,
  title text not null,
  text text not null,
  updated_at text not null
);

-- Mails of customers as they arrived, until a person has had them for 30 days. The customer did not prove to be the author
-- of those whose state is unverified.
create table arrived_mails (
  id text primary key,
  conversation_id text not null references conversations(id) on delete cascade,
  user_id text not null references users(id) on delete cascade,
  -- The same for each copy of a mail.
  mail_key text not null,
  state text not null check (state in ('unverified', 'message')),
  size integer not null,
  sha256 text not null,
  -- The message or the note that it became.
  message_id text references chat_messages(id) on delete set null,
  arrived_at text not null,
  -- Time since when a member of staff has read that.
  read_at text
);
create unique index arrived_mails_key on arrived_mails (conversation_id, mail_key);
create index arrived_mails_read_at on arrived_mails (read_at);
create index arrived_mails_user_id_id on arrived_mails (user_id, id);
`;
