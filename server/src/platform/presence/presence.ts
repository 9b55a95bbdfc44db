/**
 * Who is somewhere just now: staff with an open page, those who have a conversation open. Each place of a member (a socket) holds a lease, so that whoever cannot say
 * goodbye any more, a server that was killed for one, is gone when it runs out. In memory for one server, in Redis for several, behind one conformance test.
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

/** None of the three has a blank in it. */
export interface Hold {
  group: string;
  member: string;
  place: string;
}

/** How long a place counts without another word, and how often who is there says one, in ms. */
export const PRESENCE_LEASE_MS = 60_000;
export const PRESENCE_RENEWED_MS = 20_000;
