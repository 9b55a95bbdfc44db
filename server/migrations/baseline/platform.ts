/** Tables of the installation: settings, audit log, mails, jobs and servers. */
export const PLATFORM = `
-- Facts of which an installation has one each; the primary key decides who was first.
create table installation (
  name text primary key,
  value text not null
);

create table audit_entries (
  seq integer primary key,
  at text not null,
  kind text not null,
  -- Ids alone, and no reference: an entry outlives the account.
  subject_id text not null,
  actor_id text,
  -- Personal data: deleted with the account, while the chain keeps its hash.
  personal text,
  personal_hash text not null,
  hash text not null
);
create index audit_entries_actor_id_seq on audit_entries (actor_id, seq);
create index audit_entries_subject_id_seq on audit_entries (subject_id, seq);

-- One row: the end of the chain. An addition of an entry locks it first.
create table audit_head (
  id integer primary key,
  seq integer not null,
  hash text not null,
  -- The first entry that is sealed with the installation's key; null until a server with that key has started.
  keyed_from integer,
  -- The entry before the first one that is still checked: those up to it were removed after their time, or sealed with a key
  -- that was replaced.
  anchor_seq integer not null default 0,
  anchor_hash text not null default '0000000000000000000000000000000000000000000000000000000000000000',
  -- Seals this row with the key.
  mac text
);

create table mails (
  id text primary key,
  recipient text not null,
  subject text not null,
  -- Null once it was sent.
  text text,
  created_at text not null,
  sent_at text,
  attempts integer not null,
  last_error text,
  -- When it is given to the mail server next; null when never.
  next_attempt_at text,
  -- 1: it is deleted once it was sent, or given up.
  leaves_no_trace integer not null default 0,
  -- 0 goes first.
  priority integer not null default 1,
  -- Where an answer goes; null: only to the sender's address.
  reply_to text
);
create index mails_due on mails (priority, next_attempt_at) where next_attempt_at is not null;

create table jobs (
  id text primary key,
  kind text not null,
  -- Of a kind there is one such row at most; null: as many as are asked for.
  once text,
  payload text not null,
  -- 0 goes first.
  priority integer not null,
  run_at text not null,
  attempts integer not null,
  -- The worker, the end of its lease, and the number of claims: a worker's outcome counts only while that number is the one
  -- that it claimed.
  claimed_by text,
  lease_until text,
  claims integer not null,
  asked_again integer not null,
  cancelled integer not null,
  last_error text,
  created_at text not null,
  -- When it was given up.
  dead_at text
);
create index jobs_due on jobs (kind, priority, run_at, id) where dead_at is null;
create unique index jobs_once on jobs (kind, once) where once is not null and dead_at is null;

create table servers (
  -- Of the data folder.
  id text primary key,
  host text not null,
  boot text not null,
  pid integer not null,
  process_began text not null,
  started_at text not null,
  seen_at text not null,
  -- Settings that servers of one database need and that this one lacks.
  lacks text not null
);
`;
