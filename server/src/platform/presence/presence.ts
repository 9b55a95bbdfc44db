/**
 * Members that are present now: staff with an open page, participants with an open conversation. Each place of a member (a socket) holds a lease, so that a member whose
 * server was killed disappears when it expires. In memory for one server, in Redis for several, behind one conformance test.
 */
export interface Presence {
  /** Sets or renews the lease of `member` in `group` at `place`, for `PRESENCE_LEASE_MS` from now. */
  hold(holds: readonly Hold[]): Promise<void>;
  /** Removes a place; removing a missing one succeeds. */
  release(hold: Hold): Promise<void>;
  /** Members with at least one place whose lease has not expired. */
  members(group: string): Promise<ReadonlySet<string>>;
  close(): void;
}

/** The three strings must not contain blanks. */
export interface Hold {
  group: string;
  member: string;
  place: string;
}

/** Lifetime of a place without renewal, and the interval of renewals, in ms. */
export const PRESENCE_LEASE_MS = 60_000;
export const PRESENCE_RENEWED_MS = 20_000;
