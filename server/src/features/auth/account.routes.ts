import { changePassword, changeUsername, currentUser, proveEmail, sendEmailProof } from '@palisade/contract/auth';
import { endOtherSessions, endSession, listSessions } from '@palisade/contract/sessions';
import { originOf } from '#platform/origin.ts';
import { nextPage } from '#platform/page.ts';
import { type Api, serve } from '#platform/serve.ts';
import type { Session, SessionRecord } from '#platform/session.ts';
import { describeUserAgent } from '#platform/user-agent.ts';
import type { Accounts } from './account.ts';
import type { EmailProofs } from './email-proof.ts';
import type { RequirePassword } from './require-password.ts';

/** The reply form of a session. `own_id` is the requesting session. */
export function sessionOf({ user_agent, ...row }: SessionRecord, own_id: string) {
  return { ...row, client: describeUserAgent(user_agent), current: row.id === own_id };
}

/** The steps that a session's person must still complete. */
function standingOf({ is_held, is_unproven }: Session) {
  return {
    ...(is_held && { two_factor_setup_required: true as const }),
    ...(is_unproven && { email_unproven: true as const }),
  };
}

export function serveAccounts(
  api: Api,
  parts: {
    accounts: Accounts;
    requirePassword: RequirePassword;
    emailProofs: Pick<EmailProofs, 'mailAgain' | 'prove'>;
  },
): void {
  const { accounts, requirePassword, emailProofs } = parts;

  // The session was read with its account.
  serve(api, currentUser, 'customer', ({ session }) =>
    Promise.resolve({ ...session.user, created_at: session.registered_at, ...standingOf(session) }),
  );

  serve(api, sendEmailProof, 'customer', async ({ session }) => {
    await emailProofs.mailAgain(session.user.id);
    return { success: true as const };
  });

  serve(api, proveEmail, 'customer', async ({ session, body, request }) => {
    await emailProofs.prove(body.token, { user_id: session.user.id, session_id: session.id, origin: originOf(request) });
    return { success: true as const };
  });

  serve(api, changeUsername, 'customer', async ({ session, body, request }) => {
    const account = await accounts.changeUsername(session.user.id, body.username, originOf(request));
    return { ...account, ...standingOf(session) };
  });

  serve(api, changePassword, 'customer', async ({ session, body, request }) => {
    const change = { user_id: session.user.id, session_id: session.id, ...body, origin: originOf(request) };
    return { success: true as const, ...(await accounts.changePassword(change)) };
  });

  serve(api, listSessions, 'customer', async ({ session, query, header, request }) => {
    const rows = await api.sessions.list(session.user.id, query);
    return nextPage({ query, request, header }, rows).map((row) => sessionOf(row, session.id));
  });

  const ownership = { find: ({ id }: { id: string }) => api.sessions.find(id) };

  serve<typeof endSession, SessionRecord>(api, endSession, ownership, async ({ row, body, request }) => {
    const origin = originOf(request);
    await requirePassword(row.user_id, { ...body, field: 'password' }, origin);
    await accounts.endSession(row, origin);
  });

  serve(api, endOtherSessions, 'customer', async ({ session, body, request }) => {
    const origin = originOf(request);
    await requirePassword(session.user.id, { ...body, field: 'password' }, origin);
    await accounts.endOtherSessions(session.user.id, session.id, origin);
  });
}
