import { login, logout, register } from '@palisade/contract/auth';
import type { Incoming } from '#platform/local-request.ts';
import { originOf } from '#platform/origin.ts';
import type { Sentence } from '#platform/sentence.ts';
import { type Api, serve } from '#platform/serve.ts';
import type { Accounts } from './account.ts';
import type { Auth } from './auth.ts';
import type { SignIn } from './sign-in.ts';

/** Limits the number of accounts that one source creates. @throws Problem `too_many_requests`. */
export interface RegistrationGuard {
  registration(asked: { source: string }): Promise<void>;
}

export function serveAuth(
  api: Api,
  auth: Auth,
  parts: {
    signIn: SignIn;
    guard: RegistrationGuard;
    accounts: Pick<Accounts, 'signOut'>;
    /** The reason why a request cannot create the first administrator; undefined if it can. */
    notFirst: (request: Incoming) => Sentence | undefined;
  },
): void {
  const { signIn, guard, accounts, notFirst } = parts;

  serve(api, register, 'anyone', async ({ body, request }) => {
    const origin = originOf(request);
    await guard.registration(origin);
    return await auth.register(body, origin, notFirst(request));
  });

  serve(api, login, 'anyone', ({ body, request }) => signIn.withPassword(body, originOf(request)));

  serve(api, logout, 'customer', ({ session, request }) => accounts.signOut(session.user.id, session.id, originOf(request)));
}
