import { acceptInvitation, invitePerson, listInvitations, withdrawInvitation } from '@palisade/contract/invitation';
import { originOf } from '#platform/origin.ts';
import { nextPage } from '#platform/page.ts';
import { type Api, serve } from '#platform/serve.ts';
import type { RegistrationGuard } from './auth.routes.ts';
import type { Invitations } from './invitations.ts';

export function serveInvitations(api: Api, invitations: Invitations, guard: RegistrationGuard): void {
  serve(api, invitePerson, 'admin', ({ session, body, request }) =>
    invitations.invite(body, { actor_id: session.user.id, origin: originOf(request) }),
  );

  serve(api, listInvitations, 'admin', async (call) => nextPage(call, await invitations.list(call.query)));

  serve(api, withdrawInvitation, 'admin', async ({ body }) => {
    await invitations.withdraw(body.invitation_id);
    return { success: true as const };
  });

  serve(api, acceptInvitation, 'anyone', async ({ body, request }) => {
    const origin = originOf(request);
    await guard.registration(origin);
    return await invitations.accept(body, origin);
  });
}
