/** Tables of firewall rules, and of the devices that apply them. */
export const DEVICES = `
create table firewall_rules (
  id text primary key,
  user_id text not null references users(id) on delete cascade,
  rule_name text not null,
  direction text not null check (direction in ('inbound', 'outbound')),
  action text not null check (action in ('allow', 'block')),
  protocol text not null check (protocol in ('tcp', 'udp', 'icmp', 'all')),
  source_ip text not null,
  destination_ip text not null,
  port text not null,
  enabled integer not null check (enabled in (0, 1)),
  created_at text not null,
  -- When a temporary rule switches itself off; null for one that lasts.
  expires_at text,
  -- JSON: the ids of the devices that it is for; empty for all of them.
  device_ids text not null default '[]'
);
create index firewall_rules_expires_at on firewall_rules (expires_at) where enabled = 1 and expires_at is not null;
create index firewall_rules_user_id_id on firewall_rules (user_id, id);

-- The number of a person's rules, so that of several additions at once the database decides which one is too many.
create table firewall_rule_counts (
  user_id text primary key references users(id) on delete cascade,
  rules integer not null,
  -- Rises by one with each change of a person's rules.
  rev integer not null default 0
);

create table firewall_revisions (
  id text primary key,
  user_id text not null references users(id) on delete cascade,
  rev integer not null,
  kind text not null,
  created_at text not null,
  rule_name text,
  added integer not null,
  changed integer not null,
  removed integer not null,
  -- JSON: each rule as it was before and is after, null where it was not or is not there.
  changes text not null,
  constraint firewall_revisions_rev unique (user_id, rev)
);

-- Computers that an agent runs on.
create table devices (
  id text primary key,
  user_id text not null references users(id) on delete cascade,
  device_name text not null,
  hostname text not null,
  -- JSON, as the agent says it.
  os text not null,
  public_key text not null,
  -- SHA-256 in hex of 32 random bytes.
  token_hash text not null unique,
  agent_version text not null,
  enrolled_at text not null,
  revoked_at text,
  last_seen_at text,
  -- The holder of its one connection, and the end of its lease, by the clock of the database.
  instance text,
  connection_id text,
  connected_until text,
  capabilities text,
  skew_ms bigint,
  default_inbound text not null check (default_inbound in ('allow', 'block')),
  default_outbound text not null check (default_outbound in ('allow', 'block')),
  -- Changes of its own that make a revision, beside those of its person's rules; and of any other part of its desired state.
  own_rev integer not null,
  told_rev integer not null,
  -- Its last answer to a revision.
  ack_rev integer not null,
  ack_state text,
  ack_errors text not null,
  applied_rev integer not null,
  applied_at text,
  pending_since text,
  -- The report that was counted last, of which start of the agent.
  report_instance text,
  report_seq bigint not null,
  blocked_total bigint not null,
  telemetry text,
  telemetry_at text,
  posture text not null,
  foreign_tables text not null,
  is_watching integer not null check (is_watching in (0, 1)),
  watched text not null,
  exclusions text not null,
  last_full_scan_at text,
  -- When its person was notified of a long silence; null once it is heard again.
  silence_told_at text,
  -- Since when a device tries out the revision of ack_rev; null while it tries none.
  trial_at text,
  -- JSON: the number of folders that a device watches for new files, and the reason if not all; null where it watches none or
  -- has not reported.
  watching text,
  -- The part of an agent's log of dropped packets that was counted last: it is repeated until it is confirmed, and counts once.
  blocked_log text,
  blocked_number bigint not null default 0,
  -- When the agent of a device last reported, and its health (JSON): a connected agent that does not report does not work.
  reported_at text,
  health text,
  constraint devices_key unique (user_id, public_key)
);
create index devices_user_id_id on devices (user_id, id);

-- The number of a person's devices that are not revoked, so that of several enrolments at once the database decides which one
-- is too many.
create table device_counts (
  user_id text primary key references users(id) on delete cascade,
  devices integer not null
);

create table enrolment_codes (
  code_hash text primary key,
  user_id text not null references users(id) on delete cascade,
  expires_at text not null
);
create index enrolment_codes_user_id on enrolment_codes (user_id);

-- Decisions of each rule, or of a direction's default: of the counter's present epoch, and of those before.
create table device_counters (
  device_id text not null references devices(id) on delete cascade,
  "of" text not null,
  epoch text not null,
  packets bigint not null,
  bytes bigint not null,
  packets_before bigint not null,
  bytes_before bigint not null,
  last_at text,
  constraint device_counters_pk primary key (device_id, "of")
);

-- Recently dropped packets, in parts of five minutes.
create table device_blocked (
  device_id text not null references devices(id) on delete cascade,
  part text not null,
  direction text not null,
  protocol text not null,
  address text not null,
  -- -1 where there is none.
  port integer not null,
  packets bigint not null,
  first_at text not null,
  last_at text not null,
  constraint device_blocked_pk primary key (device_id, part, direction, protocol, address, port)
);

-- Received events, so that each counts once in spite of repeats.
create table device_events (
  device_id text not null references devices(id) on delete cascade,
  id text not null,
  heard_at text not null,
  constraint device_events_pk primary key (device_id, id)
);

create table device_scans (
  id text primary key,
  user_id text not null references users(id) on delete cascade,
  device_id text not null references devices(id) on delete cascade,
  scan text not null,
  path text,
  wanted text not null,
  state text not null,
  reason text,
  requested_at text not null,
  started_at text,
  ended_at text,
  signatures_version text,
  progress text,
  files_found integer not null
);
create index device_scans_device_id_id on device_scans (device_id, id);

create table device_findings (
  id text primary key,
  user_id text not null references users(id) on delete cascade,
  device_id text not null references devices(id) on delete cascade,
  -- As the device names it.
  finding_id text not null,
  scan_id text,
  path text not null,
  file_hash text not null,
  size bigint not null,
  threat text not null,
  member text,
  found_at text not null,
  state text not null,
  reason text,
  -- The person's order that the device has not carried out.
  order_id text,
  order_action text,
  -- A second look by the server's scanner: its state, the order for the device, its times, the scan that answers, and the
  -- reason if there is none.
  look_state text,
  look_order_id text,
  look_asked_at text,
  look_received_at text,
  look_scan_id text,
  look_reason text,
  constraint device_findings_of_device unique (device_id, finding_id)
);
create index device_findings_look on device_findings (look_order_id);
create index device_findings_user_id_id on device_findings (user_id, id);

-- Remote sessions during which a device was connected, and the changes that it found afterwards.
create table device_sessions (
  id text primary key,
  user_id text not null references users(id) on delete cascade,
  device_id text not null references devices(id) on delete cascade,
  session_id text not null references remote_sessions(id) on delete cascade,
  state text not null,
  asked_at text not null,
  ended_at text,
  -- JSON.
  measured text,
  constraint device_sessions_once unique (session_id, device_id)
);
create index device_sessions_device on device_sessions (device_id, state);
create index device_sessions_user on device_sessions (user_id, id);

-- Systems without an agent that people ask for.
create table device_wishes (
  user_id text not null references users(id) on delete cascade,
  system text not null check (system in ('windows', 'macos', 'phone')),
  note text not null,
  created_at text not null,
  constraint device_wishes_pk primary key (user_id, system)
);

-- Sets of signatures that devices were offered: the number rises with each change, so that a device can tell an older one.
create table signature_editions (
  number integer not null,
  sha256 text not null,
  issued_at text not null,
  constraint signature_editions_number unique (number)
);
`;
