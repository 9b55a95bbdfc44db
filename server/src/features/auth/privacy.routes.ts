import { deleteAccount, exportData } from '@palisade/contract/privacy';
import { originOf } from '#platform/origin.ts';
import { invalidField } from '#platform/problem.ts';
import { type Api, serve } from '#platform/serve.ts';
import type { Accounts } from './account.ts';
import type { Export } from './export.ts';
import type { Farewell } from './farewell.ts';
import type { ProveAgain } from './prove-again.ts';

export function servePrivacy(
  api: Api,
  parts: { accounts: Pick<Accounts, 'requirePassword'>; dataExport: Export; farewell: Farewell; proveAgain: ProveAgain },
): void {
  const { accounts, dataExport, farewell, proveAgain } = parts;

  serve(api, exportData, 'customer', async ({ session, body, request, header }) => {
    await accounts.requirePassword(session.user.id, body.password);
    const file = await dataExport.of(session.user, originOf(request));
    header('content-type', 'application/json; charset=utf-8');
    header('content-disposition', 'attachment; filename="palisade-data.json"');
    return file;
  });

  serve(api, deleteAccount, 'customer', async ({ session, body, request }) => {
    if (body.confirmation !== session.user.email) throw invalidField('confirmation', 'This is not the email of your account.');
    await proveAgain(session.user.id, body, originOf(request));
    await farewell.remove(session.user);
    return { success: true as const };
  });
}
