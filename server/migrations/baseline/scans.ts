/** Tables of scanned files and of scam checks. */
export const SCANS = `
create table scans (
  id text primary key,
  user_id text not null references users(id) on delete cascade,
  filename text not null,
  scan_status text not null check (scan_status in ('clean', 'infected', 'pending')),
  status_detail text,
  scanned_at text not null,
  threat_detected text,
  threat_member text,
  file_hash text not null,
  size bigint not null,
  notes text not null,
  engines text not null,
  coverage text,
  -- 1 while the uploaded bytes are kept in the spool because an engine has yet to read them.
  spooled integer not null,
  attempts integer not null,
  media_type text,
  -- When this person first uploaded these bytes.
  first_seen_at text not null default '',
  -- JSON: the signatures' facts about the threat.
  threat_facts text,
  -- 1 while the bytes are kept encrypted, in quarantine or until they can be read.
  sealed integer not null default 0,
  -- When bytes that are kept, sealed or not, are removed.
  kept_until text,
  -- Engine, signatures and limits that the verdict is of; null where it may not serve again.
  edition text,
  -- When the bytes were read, where the verdict is that of an earlier upload.
  answered_from text,
  -- The number of engine deaths over these bytes, and the edition of those engines.
  engine_deaths integer not null default 0,
  engine_deaths_edition text,
  -- Readings by runs of the server that did not see their end.
  unended_readings integer not null default 0,
  -- The data folder that has, or had, the uploaded bytes of the record. Null: no bytes were kept, or they were kept before
  -- there was this column.
  home text,
  -- 1 while the sealed bytes of the record are in the store that servers share; 0: in a folder of its home, or nowhere.
  in_store integer not null default 0,
  -- Checksum of the sealed bytes, so that a store, a move and a backup can be checked without the key. Null: sealed before
  -- there was this column, or not sealed.
  sealed_sha256 text,
  -- A file on a device, which was never uploaded: where it was found.
  device_id text,
  device_name text,
  device_path text,
  -- The notes as phrases, in their order, as JSON; null in older rows.
  note_phrases text
);
create index scans_kept_until on scans (kept_until) where kept_until is not null;
create index scans_scan_status_id on scans (scan_status, id);
create index scans_scanned_at on scans (scanned_at);
create index scans_sealed on scans (user_id, id) where sealed = 1;
create index scans_spooled on scans (spooled) where spooled = 1;
create index scans_user_id_file_hash on scans (user_id, file_hash, id);
create index scans_user_id_id on scans (user_id, id);
-- For the counts of the dashboard, and for the reports that a start of the server repeats.
create index scans_user_id_scan_status on scans (user_id, scan_status, id);

create table quarantine_reports (
  id text primary key,
  -- A finding is reported once.
  scan_id text not null unique references scans(id) on delete cascade,
  user_id text not null references users(id) on delete cascade,
  reason text not null,
  status text not null check (status in ('open', 'confirmed', 'rejected')),
  reported_at text not null,
  decided_at text
);
create index quarantine_reports_status_id on quarantine_reports (status, id);

-- Counts of each person's scans, kept by triggers (scan-counts.ts).
create table scan_counts (
  user_id text primary key references users(id) on delete cascade,
  clean integer not null,
  infected integer not null,
  pending integer not null,
  test_files integer not null
);

-- Scam checks that their person kept. excerpt is the beginning of the text; the input itself is not stored.
create table scam_checks (
  id text primary key,
  user_id text not null references users(id) on delete cascade,
  created_at text not null,
  verdict text not null check (verdict in ('dangerous', 'suspicious', 'nothing_found', 'not_checked')),
  excerpt text not null,
  -- JSON: the answer.
  answer text not null
);
create index scam_checks_user_id_id on scam_checks (user_id, id);

-- Domains that a person trusts. The provider's own lists have a table of their own: they belong to no account.
create table scam_trusted (
  id text primary key,
  user_id text not null references users(id) on delete cascade,
  domain text not null,
  created_at text not null
);
create unique index scam_trusted_user_id_domain on scam_trusted (user_id, domain);

create table scam_domains (
  id text primary key,
  list text not null check (list in ('trusted', 'dangerous')),
  domain text not null,
  created_at text not null
);
create unique index scam_domains_domain on scam_domains (domain);
`;
