import { login, logout, register } from '@palisade/contract/auth';
import { originOf } from '#platform/origin.ts';
import { type Api, serve } from '#platform/serve.ts';
import type { Accounts } from './account.ts';
import type { Auth } from './auth.ts';
import type { SignIn } from './sign-in.ts';

/** Who bounds how many accounts a source makes. @throws Problem `too_many_requests`. */
export interface RegistrationGuard {
  registration(asked: { source: string }): Promise<void>;
}

export function serveAuth(
  api: Api,
  auth: Auth,
  { signIn, guard, accounts }: { signIn: SignIn; guard: RegistrationGuard; accounts: Pick<Accounts, 'signOut'> },
): void {
  serve(api, register, 'anyone', async ({ body, request }) => {
    const origin = originOf(request);
    await guard.registration(origin);
    return await auth.register(body, origin);
  });

  serve(api, login, 'anyone', ({ body, request }) => signIn.withPassword(body, originOf(request)));

  serve(api, logout, 'customer', ({ session, request }) => accounts.signOut(session.user.id, session.id, originOf(request)));
}
