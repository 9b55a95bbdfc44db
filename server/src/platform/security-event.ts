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
      /** `account` is the hex SHA-256 of the email, whether an account exists or not. `step` is the one that failed. */
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
        /** Whether a password was used, which can be guessed, so that guessing must be refused; false for a passkey alone. */
        with_password: boolean;
      };
    }
  /** A session's token was used from another source and another user-agent family than at sign-in. */
  | { kind: 'token_moved'; data: { session_id: string; signed_in_source: string; signed_in_client: string } }
  | {
      kind: 'scan_finished';
      data: {
        scan_id: string;
        filename: string;
        /** The file inside an archive that contains the finding. */
        member: string | null;
        verdict: 'infected';
        threat: string;
        sha256: string;
        is_test_file: boolean;
        is_phishing: boolean;
        /** The state of the uploaded bytes after the scan. */
        copy: 'sealed' | 'deleted' | 'left' | 'waiting';
        /** The server has restarted and repeats reports that may not have been sent. */
        told_again: boolean;
      };
    }
  /** A limit was exceeded, with status 429. `group` names the limit. */
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
        /** Whether the answer was 4xx: a refusal, or a missing resource. */
        was_refused: boolean;
      };
    }
);

/** Passes an event to detection. Never rejects: an error is logged, and the request continues. Resolves when the resulting blocks, if any, are in force. */
export type Observe = (event: SecurityEvent) => Promise<void>;
