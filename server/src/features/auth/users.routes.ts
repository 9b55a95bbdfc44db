import {
  changeUser,
  deleteUnprovenUser,
  deleteUser,
  endUserSessions,
  listUserSessions,
  listUsers,
} from '@palisade/contract/users';
import type { FastifyRequest } from 'fastify';
import { originOf } from '#platform/origin.ts';
import { countPages, nextPage } from '#platform/page.ts';
import { type Api, serve } from '#platform/serve.ts';
import { sessionOf } from './account.routes.ts';
import type { AccountDeletion } from './account-deletion.ts';
import type { PasskeySite } from './passkey-site.ts';
import type { ProveAgain } from './prove-again.ts';
import { proofOf } from './second-factors.ts';
import type { Users } from './users.ts';

export function serveUsers(
  api: Api,
  parts: {
    users: Users;
    accountDeletion: Pick<AccountDeletion, 'removeUnproven' | 'removeAs'>;
    proveAgain: ProveAgain;
    siteOf: (request: FastifyRequest) => PasskeySite | undefined;
  },
): void {
  const { users, accountDeletion, proveAgain, siteOf } = parts;

  serve(api, listUsers, 'admin', async ({ query, header, request }) => {
    const rows = await users.list(query);
    await countPages({ rows, query, header, count: () => users.count(query) });
    return nextPage({ query, request, header }, rows);
  });

  serve(api, changeUser, 'admin', ({ session, body, request }) =>
    users.change(body, { actor_id: session.user.id, origin: originOf(request) }),
  );

  serve(api, deleteUnprovenUser, 'admin', async ({ session, body, request }) => {
    await accountDeletion.removeUnproven(body.user_id, { actor_id: session.user.id, origin: originOf(request) });
    return { success: true as const };
  });

  serve(api, deleteUser, 'admin', async ({ session, body, request }) => {
    const { user_id, password, confirmation } = body;
    const origin = originOf(request);
    await proveAgain(session.user.id, { password, proof: proofOf(body), site: siteOf(request) }, origin);
    await accountDeletion.removeAs(user_id, confirmation, { actor_id: session.user.id, origin });
    return { success: true as const };
  });

  serve(api, listUserSessions, 'admin', async ({ session, query, header, request }) => {
    const rows = await users.sessions(query.user_id, query);
    return nextPage({ query, request, header }, rows).map((row) => sessionOf(row, session.id));
  });

  serve(api, endUserSessions, 'admin', async ({ session, body, request }) => {
    await users.endSessions(body.user_id, body.session_id, { actor_id: session.user.id, origin: originOf(request) });
    return { success: true as const };
  });
}
