/** Tables of remote sessions. */
export const REMOTE = `
create table remote_sessions (
  id text primary key,
  user_id text not null references users(id) on delete cascade,
  -- Names as they were: of the customer when the session was created, of the technician who asked, and for whom they work.
  customer text not null,
  session_code text not null,
  status text not null check (status in ('active', 'pending', 'completed', 'cancelled')),
  started_at text not null,
  expires_at text not null,
  joined_at text,
  ended_at text,
  -- Not checked here, but by the application: a later version ends sessions for further reasons.
  end_reason text,
  agent_id text references users(id) on delete set null,
  support_agent text,
  version integer not null default 1,
  provider text,
  staff_since text,
  -- Until when the customer has to answer who asks.
  consent_by text,
  approved_at text,
  view text,
  reaffirmed_at text,
  -- JSON: the connections on which something is shown; and since when there is none.
  shares text not null default '[]',
  has_shared integer not null default 0,
  unshared_at text,
  paused_at text,
  -- The page of each side, the end of its lease, and since when there is none and why.
  customer_seat text,
  customer_until text,
  customer_lost_at text,
  customer_lost_by text,
  technician_seat text,
  technician_until text,
  technician_lost_at text,
  technician_lost_by text,
  -- When the clock ends it unless something happens.
  due_at text,
  -- Entries of the audit log about it, and messages in it.
  noted integer not null default 0,
  last_seq integer not null default 0,
  notes text not null default '',
  rating integer,
  rating_comment text,
  reported_at text,
  report_reason text,
  report_comment text,
  -- JSON: the grants that hold, and which ended last and why.
  grants text not null default '[]',
  grants_ended text,
  -- Each side's part in the voice call: off, muted or open.
  customer_voice text not null default 'off',
  technician_voice text not null default 'off'
);
create index remote_sessions_agent_id_id on remote_sessions (agent_id, id);
-- Administrators read the sessions of all people page by page, those that were reported first.
create index remote_sessions_overseen on remote_sessions ((case when reported_at is null then 1 else 0 end), id desc)
  where joined_at is not null;
-- Among sessions that wait or run a code leads to one; and a person has one code at a time that a technician can join with.
create unique index remote_sessions_session_code_open on remote_sessions (session_code) where status in ('active', 'pending');
create index remote_sessions_user_id_id on remote_sessions (user_id, id);
create unique index remote_sessions_user_id_pending on remote_sessions (user_id) where status = 'pending';

create table remote_messages (
  id text primary key,
  session_id text not null references remote_sessions(id) on delete cascade,
  -- The session's customer, not the author.
  user_id text not null references users(id) on delete cascade,
  seq integer not null,
  side text not null check (side in ('customer', 'technician')),
  -- The username, as it was.
  author text not null,
  message text not null,
  client_message_id text,
  sent_at text not null,
  constraint remote_messages_seq unique (session_id, seq),
  constraint remote_messages_client_message_id unique (session_id, side, client_message_id)
);
create index remote_messages_user_id_id on remote_messages (user_id, id);

create table remote_files (
  id text primary key,
  session_id text not null references remote_sessions(id) on delete cascade,
  -- The session's customer, not the sender.
  user_id text not null references users(id) on delete cascade,
  kind text not null check (kind in ('file', 'recording')),
  side text not null check (side in ('customer', 'technician')),
  -- The username, as it was.
  author text not null,
  filename text not null,
  size integer not null,
  sha256 text not null,
  status text not null check (status in ('recording', 'scanning', 'clean', 'infected', 'unread', 'failed', 'refused')),
  threat text,
  sent_at text not null,
  -- Since when it is being scanned.
  arrived_at text
);
create index remote_files_session on remote_files (session_id, id);
create index remote_files_user_id_id on remote_files (user_id, id);
`;
