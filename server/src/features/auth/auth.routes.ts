import { login, logout, register } from '@palisade/contract/auth';
import { originOf } from '#platform/origin.ts';
import { type Api, serve } from '#platform/serve.ts';
import type { Accounts } from './account.ts';
import type { Auth } from './auth.ts';
import type { SignIn } from './sign-in.ts';

export function serveAuth(api: Api, auth: Auth, signIn: SignIn, accounts: Pick<Accounts, 'signOut'>): void {
  serve(api, register, 'anyone', ({ body, request }) => auth.register(body, originOf(request)));

  serve(api, login, 'anyone', ({ body, request }) => signIn.withPassword(body, originOf(request)));

  serve(api, logout, 'customer', ({ session, request }) => accounts.signOut(session.user.id, session.id, originOf(request)));
}
