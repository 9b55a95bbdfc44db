import { deleteAccount, exportData } from '@palisade/contract/privacy';
import type { FastifyRequest } from 'fastify';
import { originOf } from '#platform/origin.ts';
import { type Api, serve } from '#platform/serve.ts';
import type { AccountDeletion } from './account-deletion.ts';
import { refuseField } from './auth.refusals.ts';
import type { Export } from './export.ts';
import type { PasskeySite } from './passkey-site.ts';
import type { ProveAgain } from './prove-again.ts';
import { proofOf } from './second-factors.ts';

/** `siteOf` returns the passkey site for the sender of a request. */
export function servePrivacy(
  api: Api,
  parts: {
    dataExport: Export;
    accountDeletion: AccountDeletion;
    proveAgain: ProveAgain;
    siteOf: (request: FastifyRequest) => PasskeySite | undefined;
  },
): void {
  const { dataExport, accountDeletion, proveAgain, siteOf } = parts;

  const prove = (user_id: string, body: { password: string } & Parameters<typeof proofOf>[0], request: FastifyRequest) =>
    proveAgain(user_id, { password: body.password, proof: proofOf(body), site: siteOf(request) }, originOf(request));

  serve(api, exportData, 'customer', async ({ session, body, request, header }) => {
    await prove(session.user.id, body, request);
    const file = await dataExport.of(session.user, originOf(request));
    header('content-type', 'application/json; charset=utf-8');
    header('content-disposition', 'attachment; filename="palisade-data.json"');
    return file;
  });

  serve(api, deleteAccount, 'customer', async ({ session, body, request }) => {
    if (body.confirmation !== session.user.email) throw refuseField('confirmation', 'account.not_own_email');
    await prove(session.user.id, body, request);
    await accountDeletion.remove(session.user);
    return { success: true as const };
  });
}
