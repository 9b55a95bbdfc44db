import { REVOKED_GRACE_MS } from '@palisade/contract/agent';

/**
 * Decides when a device accepts that it is revoked: after its server has answered "revoked" over HTTP for ten minutes without an answer "not revoked". Errors and
 * missing answers neither start nor reset this period.
 */
export interface Revocation {
  /** Records an answer; undefined for no definite answer. @returns whether the device is now revoked */
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
