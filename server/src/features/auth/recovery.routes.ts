import { forgotPassword, RESET_TOKEN_LIFETIME_S, recoverUsername, resetPassword } from '@palisade/contract/auth';
import type { FastifyRequest } from 'fastify';
import { originOf } from '#platform/origin.ts';
import { type Api, serve } from '#platform/serve.ts';
import type { Recovery } from './recovery.ts';
import { accountKey } from './sign-in.ts';

/** The requested kind of recovery; each is counted separately, so that a person who forgot both is not refused the second. */
interface RecoveryAsked {
  kind: 'password' | 'username' | 'reset';
  source: string;
  account: string | null;
}

/** Limits the number of recovery requests, before the account is looked up. @throws Problem `too_many_requests`. */
export interface RecoveryGuard {
  recovery(asked: RecoveryAsked): Promise<void>;
}

/**
 * With a `withheld` (local exposure with RESET_DELIVERY `response`), tokens and usernames are returned to requests of the machine itself, and other requests get the reason
 * for the refusal; without it, none are returned.
 */
export function serveRecovery(
  api: Api,
  recovery: Recovery,
  { withheld, guard }: { withheld: ((request: FastifyRequest) => Promise<string | undefined>) | undefined; guard: RecoveryGuard },
): void {
  const expires_in = RESET_TOKEN_LIFETIME_S;

  serve(api, forgotPassword, 'anyone', async ({ body, request }) => {
    await guard.recovery({ kind: 'password', source: originOf(request).source, account: accountKey(body.email) });
    const detail = await withheld?.(request);
    if (withheld && detail === undefined) return { reset_token: await recovery.answerToken(body.email), expires_in };
    recovery.mailToken({ email: body.email, source: originOf(request).source });
    return { reset_token: null, expires_in, detail };
  });

  serve(api, recoverUsername, 'anyone', async ({ body, request }) => {
    await guard.recovery({ kind: 'username', source: originOf(request).source, account: accountKey(body.email) });
    const detail = await withheld?.(request);
    if (withheld && detail === undefined) return { username: await recovery.usernameOf(body.email) };
    recovery.mailUsername({ email: body.email, source: originOf(request).source });
    return { username: null, detail };
  });

  serve(api, resetPassword, 'anyone', async ({ body, request }) => {
    const origin = originOf(request);
    await guard.recovery({ kind: 'reset', source: origin.source, account: null });
    return { success: true as const, ...(await recovery.reset(body.reset_token, body.new_password, origin)) };
  });
}
