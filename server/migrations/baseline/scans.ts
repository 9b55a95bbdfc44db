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
  -- 1 while the uploaded bytes wait in the spool for their scan.
  spooled integer not null,
  attempts integer not null,
  media_type text,
  -- Time at which this person first uploaded these bytes.
  first_seen_at text not null default '',
  -- JSON: data of the signatures about the threat.
  threat_facts text,
  -- 1 while the bytes are stored encrypted, in quarantine or until they can be scanned.
  sealed integer not null default 0,
  -- Time at which stored bytes, sealed or not, are deleted.
  kept_until text,
  -- Engine, signatures and limits of the verdict. Null if the verdict must not be reused.
  edition text,
  -- Time of the scan if the verdict comes from an earlier upload.
  answered_from text,
  -- Number of engine crashes on these bytes, and the edition of those engines.
  engine_deaths integer not null default 0,
  engine_deaths_edition text,
  -- Number of scans that did not finish because the server ended.
  unended_readings integer not null default 0,
  -- Data folder with the uploaded bytes, also after their deletion. Null: no bytes were stored, or they were stored before
  -- there was this column.
  home text,
  -- 1 while the sealed bytes are in the shared store; 0: in a folder of the home, or not stored.
  in_store integer not null default 0,
  -- Checksum of the sealed bytes, with which stores, moves and backups are verified without the key. Null: sealed before
  -- there was this column, or not sealed.
  sealed_sha256 text,
  -- Device and path of a file that was found on a device and never uploaded.
  device_id text,
  device_name text,
  device_path text,
  -- JSON: codes and parameters of the notes, in order. Null in older rows.
  note_phrases text
);
create index scans_kept_until on scans (kept_until) where kept_until is not null;
create index scans_scan_status_id on scans (scan_status, id);
create index scans_scanned_at on scans (scanned_at);
create index scans_sealed on scans (user_id, id) where sealed = 1;
create index scans_spooled on scans (spooled) where spooled = 1;
create index scans_user_id_file_hash on scans (user_id, file_hash, id);
create index scans_user_id_id on scans (user_id, id);
-- For the counts of the dashboard, and for reports that the server repeats at startup.
create index scans_user_id_scan_status on scans (user_id, scan_status, id);

create table quarantine_reports (
  id text primary key,
  -- Unique, so that a finding is reported once.
  scan_id text not null unique references scans(id) on delete cascade,
  user_id text not null references users(id) on delete cascade,
  reason text not null,
  status text not null check (status in ('open', 'confirmed', 'rejected')),
  reported_at text not null,
  decided_at text
);
create index quarantine_reports_status_id on quarantine_reports (status, id);

-- Counts of each person's scans, maintained by triggers (scan-counts.ts).
create table scan_counts (
  user_id text primary key references users(id) on delete cascade,
  clean integer not null,
  infected integer not null,
  pending integer not null,
  test_files integer not null
);

-- Scam checks that a person has saved. excerpt is the beginning of the text; the input itself is not stored.
create table scam_checks (
  id text primary key,
  user_id text not null references users(id) on delete cascade,
  created_at text not null,
  verdict text not null check (verdict in ('dangerous', 'suspicious', 'nothing_found', 'not_checked')),
  excerpt text not null,
  -- JSON: the result.
  answer text not null
);
create index scam_checks_user_id_id on scam_checks (user_id, id);

-- Domains that a person trusts. The provider's lists are in another table, because they belong to no account.
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
