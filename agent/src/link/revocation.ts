import { REVOKED_GRACE_MS } from '@palisade/contract/agent';

/**
 * Decides when a device believes that it is revoked: once its server has answered so, over HTTP, for ten minutes without another answer. Errors of the server and
 * silence are no answer: they neither begin that time nor end it, and clear no rule.
 */
export interface Revocation {
  /** Takes an answer: revoked, not revoked, or none. Whether the time is over. */
  hear(is_revoked: boolean | undefined): boolean;
}

export function createRevocation(now: () => number, grace_ms = REVOKED_GRACE_MS): Revocation {
  let since: number | undefined;
  return {
    hear(is_revoked) {
      if (is_revoked === false) since = undefined;
      if (is_revoked !== true) return false;
      since ??= now();
      return now() - since >= grace_ms;
    },
  };
}
