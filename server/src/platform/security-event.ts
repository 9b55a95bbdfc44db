import type { Role } from '@palisade/contract/auth';

/**
 * An event for detection. `source` is the origin's source key, `address` its address, `client` its user-agent family; all three are null for actions of the
 * server itself. `user_id` is null where no account is known.
 */
export type SecurityEvent = {
  /** ISO time. */
  at: string;
  user_id: string | null;
  source: string | null;
  address: string | null;
  client: string | null;
} & (
  | {
      kind: 'login_failed';
      /** `account` is the same for the same email, known or not: the hex SHA-256 of it. `step` is the one that failed. */
      data: { account: string; step: 'password' | 'second_factor' };
    }
  | {
      kind: 'login_succeeded';
      data: {
        account: string;
        session_id: string;
        role: Role;
        /** The browser's identifier; null for a browser that keeps none. */
        browser_id: string | null;
        has_second_factor: boolean;
        /** Whether a password was part of it, which can be guessed and whose guessing is refused; false for a passkey alone. */
        with_password: boolean;
      };
    }
  /** A session's token came from another source and another user-agent family than those that signed in. */
  | { kind: 'token_moved'; data: { session_id: string; signed_in_source: string; signed_in_client: string } }
  | {
      kind: 'scan_finished';
      data: {
        scan_id: string;
        filename: string;
        /** The file inside an archive in which it was found. */
        member: string | null;
        verdict: 'infected';
        threat: string;
        sha256: string;
        is_test_file: boolean;
        is_phishing: boolean;
        /** The fate of the uploaded bytes. */
        copy: 'sealed' | 'deleted' | 'left' | 'waiting';
        /** The server has started, and repeats reports that may not have been sent. */
        told_again: boolean;
      };
    }
  /** A limit answered 429. `group` names the limit. */
  | { kind: 'rate_limited'; data: { group: string } }
  /**
   * A request that this application's pages never make: an unknown path, an attack string, a customer's token on an administrator's endpoint.
   */
  | {
      kind: 'request_refused';
      data: {
        reason: 'unknown_path' | 'exploit_string' | 'admin_endpoint';
        path: string;
        pattern: string | null;
        /** Whether the answer was a refusal, or a missing resource: 4xx. */
        was_refused: boolean;
      };
    }
);

/** Hands an event to detection. Never fails: an error is logged, and the request continues. Done when its blocks, if any, are in force. */
export type Observe = (event: SecurityEvent) => Promise<void>;
