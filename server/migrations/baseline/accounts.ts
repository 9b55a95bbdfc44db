/** Tables of accounts, sessions, second factors, and blocked sources. */
export const ACCOUNTS = `
create table users (
  id text primary key,
  email text not null,
  username text not null,
  -- The username in the form in which two are the same: NFKC, lower case.
  username_key text not null,
  password_hash text not null,
  role text not null check (role in ('customer', 'support', 'admin')),
  created_at text not null,
  -- 1 when the password is on the lists that attackers try first, 0 when not, null until it is next seen: a hash does not tell.
  common_password integer,
  disabled_at text,
  -- When the person proved that mails to the address reach them.
  email_proven_at text,
  -- One form for all names that look alike; null for a name whose look-alike was there before this was asked.
  username_skeleton text,
  -- When ADMIN_EMAILS made the account an administrator's, which it does once.
  admin_by_email_at text,
  -- Time since when a person is of the staff; null where that is unknown.
  staff_since text,
  constraint users_email_unique unique (email),
  constraint users_username_key_unique unique (username_key)
);
create index users_role on users (role, id);
create unique index users_username_skeleton_unique on users (username_skeleton);

create table sessions (
  id text primary key,
  token_hash text not null unique,
  user_id text not null references users(id) on delete cascade,
  created_at text not null,
  last_used_at text not null,
  user_agent text,
  source text
);
create index sessions_created_at on sessions (created_at);
create index sessions_last_used_at on sessions (last_used_at);
create index sessions_user_id on sessions (user_id);

-- Tokens that were mailed to an address: several for an account, so that one request does not void another's.
create table account_tokens (
  -- SHA-256 of the token in hex.
  token_hash text primary key,
  user_id text not null references users(id) on delete cascade,
  purpose text not null check (purpose in ('reset', 'proof')),
  -- 1: it went to the address, so that its holder reads its mail; 0: it was answered to the machine itself.
  is_mailed integer not null,
  created_at text not null,
  expires_at text not null
);
create index account_tokens_user_id on account_tokens (user_id, purpose);

-- Invitations by mail; one of each address. A row goes when it is accepted, withdrawn or replaced.
create table invitations (
  id text primary key,
  email text not null unique,
  role text not null check (role in ('customer', 'support')),
  -- SHA-256 of the token in hex.
  token_hash text not null unique,
  created_at text not null,
  expires_at text not null
);

create table totp (
  user_id text primary key references users(id) on delete cascade,
  -- Sealed with the installation's key. Null while an authenticator app was never confirmed.
  secret text,
  since text,
  -- The step of the last code that was taken: neither it nor one before it is taken again (RFC 6238 section 5.2).
  last_step integer not null,
  -- The secret for an authenticator app that is being set up, and the end of that setup.
  pending_secret text,
  pending_until text,
  -- Codes that were tried, and until when they are counted together.
  tries integer not null,
  tries_until text not null
);

create table recovery_codes (
  user_id text not null references users(id) on delete cascade,
  -- SHA-256 in hex: 120 random bits are not guessed from it.
  code_hash text not null,
  constraint recovery_codes_pk primary key (user_id, code_hash)
);

create table passkeys (
  id text primary key,
  user_id text not null references users(id) on delete cascade,
  credential_id text not null unique,
  -- COSE, base64url.
  public_key text not null,
  -- 32 bits without a sign.
  counter bigint not null,
  -- JSON: how the browser reaches it.
  transports text not null,
  -- The host that it was made for; it works at no other.
  rp_id text not null,
  name text not null,
  created_at text not null,
  last_used_at text
);
create index passkeys_user_id on passkeys (user_id);

-- Challenges that a browser was asked to sign; once, and soon.
create table passkey_challenges (
  challenge_hash text primary key,
  purpose text not null,
  -- Null for an unknown person.
  user_id text references users(id) on delete cascade,
  expires_at text not null
);
create index passkey_challenges_expires_at on passkey_challenges (expires_at);

-- A person whose password was right, and whose second factor is awaited.
create table sign_in_challenges (
  challenge_hash text primary key,
  user_id text not null references users(id) on delete cascade,
  -- SHA-256 of the stored password: one that is changed meanwhile makes the challenge worthless.
  password_mark text not null,
  -- Not written any more.
  device_id text,
  tries integer not null,
  expires_at text not null,
  browser_id text
);
create index sign_in_challenges_expires_at on sign_in_challenges (expires_at);

create table session_confirmations (
  session_id text primary key references sessions(id) on delete cascade,
  with_second_factor integer not null check (with_second_factor in (0, 1)),
  expires_at text not null
);

-- Refusals of sign-in for a while: of a source and an account together, or of a source alone.
create table blocks (
  id text primary key,
  kind text not null,
  source text not null,
  -- SHA-256 of the email in hex, known or not; null for a whole source.
  account text,
  user_id text references users(id) on delete cascade,
  rule text not null,
  since text not null,
  until text not null,
  -- 1 for the first, 2 for the next, which is longer.
  level integer not null,
  -- 0 once it no longer makes the next one longer.
  counts integer not null,
  lifted_at text,
  lifted_by text
);
create index blocks_source_until on blocks (source, until);
create index blocks_until on blocks (until);
create index blocks_user_id_id on blocks (user_id, id);

-- Where the owners of accounts have signed in from.
create table sign_in_sources (
  account text not null,
  source text not null,
  user_id text not null references users(id) on delete cascade,
  last_at text not null,
  constraint sign_in_sources_pk primary key (account, source)
);
create index sign_in_sources_user_id on sign_in_sources (user_id);
`;
