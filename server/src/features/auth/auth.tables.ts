import type { Role } from '@palisade/contract/auth';
import type { PersonalTable } from '#platform/personal-data.ts';

export interface AuthTables {
  users: {
    id: string;
    email: string;
    username: string;
    /** The username in the form in which two are the same: NFKC, lower case. */
    username_key: string;
    /** argon2id, PHC string. */
    password_hash: string;
    /** 1 when the password is one of those that attackers try first; null until it is next seen. */
    common_password: 0 | 1 | null;
    role: Role;
    created_at: string;
    /** Since when the account may not be signed in to; null for one that may. */
    disabled_at: string | null;
    /** When the person proved that mails to the address reach them, where that was asked for. */
    email_proven_at: string | null;
  };
  reset_tokens: {
    user_id: string;
    /** SHA-256 of the token in hex. */
    token_hash: string;
    created_at: string;
    expires_at: string;
    used_at: string | null;
  };
}

export const AUTH_PERSONAL: readonly PersonalTable[] = [
  { table: 'users', column: 'id', withheld: ['password_hash', 'username_key'] },
  { table: 'reset_tokens', key: 'user_id', withheld: ['token_hash'] },
];
