/** Tables of accounts, sessions, second factors, and blocked sources. */
export const ACCOUNTS = `
create table users (
  id text primary key,
  email text not null,
  username text not null,
  -- The username normalized for comparison: NFKC, lower case.
  username_key text not null,
  password_hash text not null,
  role text not null check (role in ('customer', 'support', 'admin')),
  created_at text not null,
  -- Whether the password is on lists of common passwords (1 or 0). Null until the next sign-in, because the hash does not show it.
  common_password integer,
  disabled_at text,
  -- Time at which the person verified the address.
  email_proven_at text,
  -- The same text for all usernames that look alike. Null for a username whose look-alike existed before this check.
  username_skeleton text,
  -- Time at which ADMIN_EMAILS gave the account the role admin, which happens only once.
  admin_by_email_at text,
  -- Time at which the person became a member of staff; null if unknown.
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

-- Tokens that were mailed to an address. An account can have several, so that one request does not invalidate another.
create table account_tokens (
  -- SHA-256 of the token in hex.
  token_hash text primary key,
  user_id text not null references users(id) on delete cascade,
  purpose text not null check (purpose in ('reset', 'proof')),
  -- 1: it was mailed, so its use verifies the address; 0: it was returned to a request from the server's own machine.
  is_mailed integer not null,
  created_at text not null,
  expires_at text not null
);
create index account_tokens_user_id on account_tokens (user_id, purpose);

-- Invitations by mail, one per address. A row is deleted when the invitation is accepted, withdrawn or replaced.
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
  -- Encrypted with the installation's key. Null until an authenticator app is confirmed.
  secret text,
  since text,
  -- Time step of the last accepted code. This step and earlier ones are not accepted again (RFC 6238 section 5.2).
  last_step integer not null,
  -- Secret of an authenticator app during its setup, and the time at which the setup expires.
  pending_secret text,
  pending_until text,
  -- Number of tried codes, and the end of the counting period.
  tries integer not null,
  tries_until text not null
);

create table recovery_codes (
  user_id text not null references users(id) on delete cascade,
  -- SHA-256 in hex. A code has 120 random bits, so it cannot be found by brute force.
  code_hash text not null,
  constraint recovery_codes_pk primary key (user_id, code_hash)
);

create table passkeys (
  id text primary key,
  user_id text not null references users(id) on delete cascade,
  credential_id text not null unique,
  -- COSE key in base64url.
  public_key text not null,
  -- Unsigned 32-bit signature counter.
  counter bigint not null,
  -- JSON: WebAuthn transports.
  transports text not null,
  -- The host that the passkey was made for. It works only there.
  rp_id text not null,
  name text not null,
  created_at text not null,
  last_used_at text
);
create index passkeys_user_id on passkeys (user_id);

-- WebAuthn challenges. Each can be used once, within a short time.
create table passkey_challenges (
  challenge_hash text primary key,
  purpose text not null,
  -- Null if the account is not known yet.
  user_id text references users(id) on delete cascade,
  expires_at text not null
);
create index passkey_challenges_expires_at on passkey_challenges (expires_at);

-- Sign-ins with a correct password that wait for the second factor.
create table sign_in_challenges (
  challenge_hash text primary key,
  user_id text not null references users(id) on delete cascade,
  -- SHA-256 of the stored password hash. A password change invalidates the challenge.
  password_mark text not null,
  -- No longer used.
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

-- Temporary blocks of sign-ins from a source, for one account or for all accounts.
create table blocks (
  id text primary key,
  kind text not null,
  source text not null,
  -- SHA-256 of the email address in hex, even if there is no such account. Null for a block of the whole source.
  account text,
  user_id text references users(id) on delete cascade,
  rule text not null,
  since text not null,
  until text not null,
  -- 1 for the first block, 2 for the next, longer one, and so on.
  level integer not null,
  -- 0 when the block no longer makes the next one longer.
  counts integer not null,
  lifted_at text,
  lifted_by text
);
create index blocks_source_until on blocks (source, until);
create index blocks_until on blocks (until);
create index blocks_user_id_id on blocks (user_id, id);

-- Sources from which the owners of accounts have signed in.
create table sign_in_sources (
  account text not null,
  source text not null,
  user_id text not null references users(id) on delete cascade,
  last_at text not null,
  constraint sign_in_sources_pk primary key (account, source)
);
create index sign_in_sources_user_id on sign_in_sources (user_id);
`;
