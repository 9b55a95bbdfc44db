import type { PersonalTable } from '#platform/personal-data.ts';

export const TWO_FACTOR_PERSONAL: readonly PersonalTable[] = [
  { table: 'totp', key: 'user_id', withheld: ['secret', 'pending_secret'] },
  { table: 'recovery_codes', key: 'code_hash', withheld: ['code_hash'] },
  { table: 'passkeys', withheld: ['public_key'], json: ['transports'] },
  { table: 'passkey_challenges', key: 'challenge_hash', withheld: ['challenge_hash'] },
  { table: 'sign_in_challenges', key: 'challenge_hash', withheld: ['challenge_hash', 'password_mark'] },
];

export interface TwoFactorTables {
  totp: {
    user_id: string;
    /** Sealed with the installation's key; null while no authenticator app was confirmed. */
    secret: string | null;
    since: string | null;
    /** The step of the last accepted code: this and earlier ones are not accepted again (RFC 6238 section 5.2). */
    last_step: number;
    /** The secret of an app that is being set up, and the deadline for its first code. */
    pending_secret: string | null;
    pending_until: string | null;
    tries: number;
    /** The time until which tries are counted together. */
    tries_until: string;
  };
  recovery_codes: {
    user_id: string;
    /** SHA-256 in hex. */
    code_hash: string;
  };
  passkeys: {
    id: string;
    user_id: string;
    credential_id: string;
    /** COSE, base64url. */
    public_key: string;
    counter: number;
    /** JSON list of the transports by which the browser reaches it. */
    transports: string;
    /** The host that it was made for. */
    rp_id: string;
    name: string;
    created_at: string;
    last_used_at: string | null;
  };
  passkey_challenges: {
    /** SHA-256 in hex. */
    challenge_hash: string;
    purpose: 'add' | 'confirm' | 'second_step' | 'sign_in';
    /** Null for an unknown person. */
    user_id: string | null;
    expires_at: string;
  };
  sign_in_challenges: {
    /** SHA-256 in hex. */
    challenge_hash: string;
    user_id: string;
    /** SHA-256 of the stored password. */
    password_mark: string;
    browser_id: string | null;
    tries: number;
    expires_at: string;
  };
  session_confirmations: {
    session_id: string;
    with_second_factor: 0 | 1;
    expires_at: string;
  };
}

declare module '#platform/tables.ts' {
  interface Tables extends TwoFactorTables {}
}
