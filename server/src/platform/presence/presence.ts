/**
 * Members that are present now: staff with an open page, participants with an open conversation. Each place of a member (a socket) holds a lease, so that a member
 * without a goodbye, as of a killed server, is gone when it runs out. - In memory for one server, in Redis for several, behind one conformance test.
 */
export interface Presence {
  /** Says that `member` is in `group` at `place`, for `PRESENCE_LEASE_MS` from now; again to stay. */
  hold(holds: readonly Hold[]): Promise<void>;
  /** The same place is not there any more; nothing there is no error. */
  release(hold: Hold): Promise<void>;
  /** Members with at least one place whose lease runs. */
  members(group: string): Promise<ReadonlySet<string>>;
  close(): void;
}

/** The three strings contain no blank. */
export interface Hold {
  group: string;
  member: string;
  place: string;
}

/** Lifetime of a place without renewal, and the interval of renewals, in ms. */
export const PRESENCE_LEASE_MS = 60_000;
export const PRESENCE_RENEWED_MS = 20_000;
