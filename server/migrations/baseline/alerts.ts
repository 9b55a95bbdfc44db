/** Tables of alerts, detection, and scores. */
export const ALERTS = `
create table alerts (
  id text primary key,
  user_id text not null references users(id) on delete cascade,
  threat_type text not null,
  severity text not null check (severity in ('low', 'medium', 'high', 'critical')),
  description text not null,
  created_at text not null,
  ip_address text,
  simulated integer not null,
  -- Each incident raises one alert, however often it is reported.
  dedupe_key text not null unique,
  rule text not null default '',
  -- The network or address that it came from, or the file that it is about; null where there are several, or none.
  source text,
  -- blocked, allowed or unknown.
  outcome text not null default '',
  -- JSON, as the contract has it.
  evidence text not null default '',
  count integer not null default 1,
  last_seen text not null default '',
  -- An id of its latest occurrence: the list's order, and its cursor.
  last_id text not null default '',
  status text not null default 'open',
  resolved_reason text,
  resolved_note text,
  resolved_until text,
  resolved_at text,
  resolved_by text,
  device_id text,
  -- JSON: the ids of the sessions that it is about.
  session_ids text not null default '[]',
  -- The suppression that keeps it out of the list.
  hidden_by text,
  browser_id text,
  -- The code and the parameters of the description, as JSON; null in older rows.
  phrase text
);
-- Whole, so that a count reads the index alone.
create index alerts_counts on alerts
  (user_id, simulated, outcome, threat_type, rule, severity, status, resolved_reason, hidden_by, created_at);
create index alerts_last_seen on alerts (last_seen);
create index alerts_user_id_last_id on alerts (user_id, last_id);

create table alert_decisions (
  id text primary key,
  alert_id text not null references alerts(id) on delete cascade,
  kind text not null,
  at text not null,
  "by" text not null,
  reason text,
  note text,
  until text
);
create index alert_decisions_alert_id_id on alert_decisions (alert_id, id);

create table alert_suppressions (
  id text primary key,
  user_id text not null references users(id) on delete cascade,
  rule text not null,
  source text not null,
  description text not null,
  created_at text not null,
  until text not null,
  hidden_count integer not null,
  last_hidden_at text,
  phrase text,
  constraint alert_suppressions_rule_source unique (user_id, rule, source)
);

-- One row for each person, key and day that a mail was written about.
create table alert_mails (
  dedupe_key text primary key,
  user_id text not null references users(id) on delete cascade,
  day text not null
);

-- One row: the server that moves next_at writes the digests.
create table alert_digest (
  id integer primary key,
  since text not null,
  next_at text not null,
  -- Progress of a week's digests: the end of their period, and the person of the last one written. Null while none are being
  -- written.
  until text,
  written_to text
);

-- The rules' present counts: short-lived, and shared by all servers.
create table detection_windows (
  rule text not null,
  key text not null,
  -- JSON; empty without counts.
  state text not null,
  updated_at text not null,
  expires_at text not null,
  constraint detection_windows_place primary key (rule, key)
);
create index detection_windows_expires_at on detection_windows (expires_at);

create table known_browsers (
  id text primary key,
  user_id text not null references users(id) on delete cascade,
  -- The browser's identifier; empty for one that keeps none.
  browser_id text not null,
  client text not null,
  source text not null,
  first_seen text not null,
  last_seen text not null,
  trusted_at text,
  -- 0 while it was new, without a decision of its person.
  reviewed integer not null check (reviewed in (0, 1)),
  constraint known_browsers_seen unique (user_id, browser_id, client, source)
);
create index known_browsers_last_seen on known_browsers (last_seen);

-- Findings of rules, kept until all recipients have been notified.
create table detection_findings (
  id text primary key,
  created_at text not null,
  -- JSON.
  found text not null,
  -- JSON: the ids of the notified recipients.
  told text not null
);

-- A score that was found again and again, without a pause of a day in between, is one row.
create table score_history (
  user_id text not null references users(id) on delete cascade,
  -- When it was found first, and last.
  since text not null,
  until text not null,
  score integer not null,
  constraint score_history_pk primary key (user_id, since)
);
create index score_history_user_id_until on score_history (user_id, until);

-- The newest security check of each person, with its whole result as JSON.
create table security_checks (
  user_id text primary key references users(id) on delete cascade,
  checked_at text not null,
  result text not null
);

-- Browsers that get notices, with the keys that these are encrypted for.
create table push_subscriptions (
  id text primary key,
  user_id text not null references users(id) on delete cascade,
  endpoint text not null,
  p256dh text not null,
  auth text not null,
  created_at text not null
);
create unique index push_subscriptions_endpoint on push_subscriptions (endpoint);
create index push_subscriptions_user_id_id on push_subscriptions (user_id, id);
`;
