/** Tables of the installation: settings, audit log, mails, jobs and servers. */
export const PLATFORM = `
-- Single values of the installation. With concurrent inserts the primary key lets the first one win.
create table installation (
  name text primary key,
  value text not null
);

create table audit_entries (
  seq integer primary key,
  at text not null,
  kind text not null,
  -- No foreign keys, because an entry stays after the account is deleted.
  subject_id text not null,
  actor_id text,
  -- Personal data, deleted with the account. The chain keeps its hash.
  personal text,
  personal_hash text not null,
  hash text not null
);
create index audit_entries_actor_id_seq on audit_entries (actor_id, seq);
create index audit_entries_subject_id_seq on audit_entries (subject_id, seq);

-- A single row: the end of the chain. Adding an entry locks it first.
create table audit_head (
  id integer primary key,
  seq integer not null,
  hash text not null,
  -- The first entry sealed with the installation's key. Null until a server with that key has started.
  keyed_from integer,
  -- The last entry that is no longer verified. Entries up to it were deleted after their retention period, or sealed with a key
  -- that was replaced.
  anchor_seq integer not null default 0,
  anchor_hash text not null default '0000000000000000000000000000000000000000000000000000000000000000',
  -- HMAC of this row with the key.
  mac text
);

create table mails (
  id text primary key,
  recipient text not null,
  subject text not null,
  -- Null after the mail was sent.
  text text,
  created_at text not null,
  sent_at text,
  attempts integer not null,
  last_error text,
  -- Time of the next delivery attempt; null if there is none.
  next_attempt_at text,
  -- 1: the row is deleted after the mail was sent or given up.
  leaves_no_trace integer not null default 0,
  -- 0 goes first.
  priority integer not null default 1,
  -- Reply-To address; null for none.
  reply_to text
);
create index mails_due on mails (priority, next_attempt_at) where next_attempt_at is not null;

create table jobs (
  id text primary key,
  kind text not null,
  -- Not null for kinds with at most one queued job; null for kinds without this limit.
  once text,
  payload text not null,
  -- 0 goes first.
  priority integer not null,
  run_at text not null,
  attempts integer not null,
  -- The worker, the end of its lease, and the number of claims. A worker's result counts only if this number is still the one
  -- that it claimed.
  claimed_by text,
  lease_until text,
  claims integer not null,
  asked_again integer not null,
  cancelled integer not null,
  last_error text,
  created_at text not null,
  -- Time at which the job was given up.
  dead_at text
);
create index jobs_due on jobs (kind, priority, run_at, id) where dead_at is null;
create unique index jobs_once on jobs (kind, once) where once is not null and dead_at is null;

create table servers (
  -- Id of the data folder.
  id text primary key,
  host text not null,
  boot text not null,
  pid integer not null,
  process_began text not null,
  started_at text not null,
  seen_at text not null,
  -- Settings that several servers of one database need and this server lacks.
  lacks text not null
);
`;
