import type { Role } from '@palisade/contract/auth';
import type { PersonalTable } from '#platform/personal-data.ts';

export interface AuthTables {
  users: {
    id: string;
    email: string;
    username: string;
    /** The username normalized for comparison: NFKC, lower case. */
    username_key: string;
    /** One form for all names that look alike; null for a name that looked like an existing one before such names were refused. */
    username_skeleton: string | null;
    /** argon2id, PHC string. */
    password_hash: string;
    /** 1 if the password is one of those that attackers try first; null until the next sign-in. */
    common_password: 0 | 1 | null;
    role: Role;
    created_at: string;
    /** When the account was disabled; null if it was not. */
    disabled_at: string | null;
    /** When the person proved that mails to the address arrive; required in public exposure. */
    email_proven_at: string | null;
    /** When ADMIN_EMAILS made the account an administrator's, which happens once. */
    admin_by_email_at: string | null;
    /** Since when the account has been staff; null for a customer, and if unknown. */
    staff_since: string | null;
    last_signed_in_at: string | null;
  };
  account_tokens: {
    /** SHA-256 of the token in hex. */
    token_hash: string;
    user_id: string;
    /** The single use of the token: set a new password, or prove the address. */
    purpose: 'reset' | 'proof';
    /** 0: it was returned to the machine itself, and does not prove the address. */
    is_mailed: 0 | 1;
    created_at: string;
    expires_at: string;
  };
  invitations: {
    id: string;
    email: string;
    role: 'customer' | 'support';
    /** SHA-256 of the token in hex. */
    token_hash: string;
    /** Null for an invitation of an older version. */
    invited_by: string | null;
    created_at: string;
    expires_at: string;
  };
}

export const AUTH_PERSONAL: readonly PersonalTable[] = [
  { table: 'users', column: 'id', withheld: ['password_hash', 'username_key', 'username_skeleton'] },
  { table: 'account_tokens', key: 'token_hash', withheld: ['token_hash'] },
  { table: 'invitations', column: 'email', holds: 'email', withheld: ['token_hash', 'invited_by'] },
];

declare module '#platform/tables.ts' {
  interface Tables extends AuthTables {}
}
