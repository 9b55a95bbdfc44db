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
  -- End of a temporary rule; null for a permanent one.
  expires_at text,
  -- JSON: ids of the devices that the rule applies to; empty for all devices.
  device_ids text not null default '[]'
);
create index firewall_rules_expires_at on firewall_rules (expires_at) where enabled = 1 and expires_at is not null;
create index firewall_rules_user_id_id on firewall_rules (user_id, id);

-- Number of a person's rules, so that the database enforces the limit for concurrent additions.
create table firewall_rule_counts (
  user_id text primary key references users(id) on delete cascade,
  rules integer not null,
  -- Incremented with each change of the person's rules.
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
  -- JSON: each changed rule before and after the change; null for an added or removed rule.
  changes text not null,
  constraint firewall_revisions_rev unique (user_id, rev)
);

-- Computers with an agent.
create table devices (
  id text primary key,
  user_id text not null references users(id) on delete cascade,
  device_name text not null,
  hostname text not null,
  -- JSON as reported by the agent.
  os text not null,
  public_key text not null,
  -- SHA-256 in hex of a token of 32 random bytes.
  token_hash text not null unique,
  agent_version text not null,
  enrolled_at text not null,
  revoked_at text,
  last_seen_at text,
  -- Agent process with the only allowed connection, and the end of its lease by the clock of the database.
  instance text,
  connection_id text,
  connected_until text,
  capabilities text,
  skew_ms bigint,
  default_inbound text not null check (default_inbound in ('allow', 'block')),
  default_outbound text not null check (default_outbound in ('allow', 'block')),
  -- Number of the device's own changes in the revision of its rules, and number of changes of other parts of its desired state.
  own_rev integer not null,
  told_rev integer not null,
  -- The device's last ack of a revision.
  ack_rev integer not null,
  ack_state text,
  ack_errors text not null,
  applied_rev integer not null,
  applied_at text,
  pending_since text,
  -- The last counted report: process of the agent, and sequence number.
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
  -- Time at which the person was notified of a long silence; null when the device reports again.
  silence_told_at text,
  -- Start of the trial of the revision ack_rev; null without a trial.
  trial_at text,
  -- JSON: number of folders that the device watches, and the reason if some are not watched. Null if it watches none or
  -- has not reported.
  watching text,
  -- The last counted part of the agent's log of dropped packets. The agent repeats a part until it is confirmed, and it is counted once.
  blocked_log text,
  blocked_number bigint not null default 0,
  -- Time of the last report, and the agent's health (JSON). A connected agent that does not report is faulty.
  reported_at text,
  health text,
  constraint devices_key unique (user_id, public_key)
);
create index devices_user_id_id on devices (user_id, id);

-- Number of a person's devices that are not revoked, so that the database enforces the limit for concurrent
-- enrolments.
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

-- Counters of each rule and of each direction's default: values of the current epoch, and sums of earlier epochs.
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

-- Recently dropped packets, by periods of five minutes.
create table device_blocked (
  device_id text not null references devices(id) on delete cascade,
  part text not null,
  direction text not null,
  protocol text not null,
  address text not null,
  -- -1 without a port.
  port integer not null,
  packets bigint not null,
  first_at text not null,
  last_at text not null,
  constraint device_blocked_pk primary key (device_id, part, direction, protocol, address, port)
);

-- Received events, so that a repeated event is counted once.
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
  -- Id given by the device.
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
  -- The pending order of the person.
  order_id text,
  order_action text,
  -- A second look by the server's scanner: its state, the order for the device, its times, the resulting scan, and the
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

-- Remote sessions during which a device was connected, and the changes that it reported afterwards.
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

-- Operating systems without an agent that people have requested.
create table device_wishes (
  user_id text not null references users(id) on delete cascade,
  system text not null check (system in ('windows', 'macos', 'phone')),
  note text not null,
  created_at text not null,
  constraint device_wishes_pk primary key (user_id, system)
);

-- Signature sets offered to devices. The number increases with each change, so that devices recognize an older set.
create table signature_editions (
  number integer not null,
  sha256 text not null,
  issued_at text not null,
  constraint signature_editions_number unique (number)
);
`;
