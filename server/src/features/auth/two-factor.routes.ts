import {
  activateTotp,
  addPasskey,
  CONFIRMATION_LIFETIME_S,
  confirmIdentity,
  loginSecondStep,
  loginWithPasskey,
  readTwoFactor,
  removePasskey,
  removeTotp,
  renamePasskey,
  renewRecoveryCodes,
  requestNewPasskey,
  requestPasskeyLogin,
  requestPasskeyProof,
  requestSecondStepPasskey,
  startTotp,
  turnTwoFactorOff,
} from '@palisade/contract/two-factor';
import type { FastifyRequest } from 'fastify';
import { originOf } from '#platform/origin.ts';
import { Problem } from '#platform/problem.ts';
import { type Api, serve } from '#platform/serve.ts';
import type { Session } from '#platform/session.ts';
import type { PasskeySite } from './passkey-site.ts';
import type { PasskeyRow, Passkeys } from './passkeys.ts';
import { proofOf } from './second-factors.ts';
import type { SignIn } from './sign-in.ts';
import { refuse } from './two-factor.refusals.ts';
import type { Actor, TwoFactorAccounts } from './two-factor.ts';

/** `siteOf` says where passkeys work for who sends a request. */
export function serveTwoFactor(
  api: Api,
  parts: {
    twoFactor: TwoFactorAccounts;
    passkeys: Passkeys;
    signIn: SignIn;
    siteOf: (request: FastifyRequest) => PasskeySite | undefined;
  },
): void {
  const { twoFactor, passkeys, signIn, siteOf } = parts;

  const actorOf = ({ session, request }: { session: Session; request: FastifyRequest }): Actor => ({
    user_id: session.user.id,
    session_id: session.id,
    origin: originOf(request),
  });

  function requireSite(request: FastifyRequest): PasskeySite {
    const site = siteOf(request);
    if (site === undefined) throw refuse('passkey.needs_https');
    return site;
  }

  serve(api, readTwoFactor, 'customer', ({ session, request }) => twoFactor.read(session.user, siteOf(request)));

  serve(api, confirmIdentity, 'customer', async (call) => {
    const { current_password } = call.body;
    await twoFactor.confirm(actorOf(call), { current_password, proof: proofOf(call.body), site: siteOf(call.request) });
    return { expires_in: CONFIRMATION_LIFETIME_S };
  });

  serve(api, requestPasskeyProof, 'customer', ({ session, request }) =>
    twoFactor.requestProof(session.user.id, requireSite(request)),
  );

  serve(api, startTotp, 'customer', (call) => twoFactor.startTotp(actorOf(call)));

  serve(api, activateTotp, 'customer', async (call) => ({
    recovery_codes: await twoFactor.activateTotp(actorOf(call), call.body.code),
  }));

  serve(api, removeTotp, 'customer', (call) => twoFactor.removeTotp(actorOf(call)));

  serve(api, requestNewPasskey, 'customer', (call) => twoFactor.requestNewPasskey(actorOf(call), requireSite(call.request)));

  serve(api, addPasskey, 'customer', (call) => {
    const { name, passkey: made } = call.body;
    return twoFactor.addPasskey(actorOf(call), { name, made, site: requireSite(call.request) });
  });

  const ownership = { find: ({ id }: { id: string }) => passkeys.find(id) };

  serve<typeof renamePasskey, PasskeyRow>(api, renamePasskey, ownership, ({ row, body }) => passkeys.rename(row.id, body.name));

  serve<typeof removePasskey, PasskeyRow>(api, removePasskey, ownership, (call) =>
    twoFactor.removePasskey(actorOf(call), call.row),
  );

  serve(api, renewRecoveryCodes, 'customer', async (call) => ({
    recovery_codes: await twoFactor.renewRecoveryCodes(actorOf(call)),
  }));

  serve(api, turnTwoFactorOff, 'customer', (call) => twoFactor.turnOff(actorOf(call)));

  serve(api, loginSecondStep, 'anyone', ({ body, request }) => {
    const proof = proofOf(body);
    if (proof === undefined) throw new Problem('invalid_field');
    return signIn.withSecondFactor({ challenge: body.challenge, proof, site: siteOf(request) }, originOf(request));
  });

  serve(api, requestSecondStepPasskey, 'anyone', ({ body, request }) =>
    signIn.requestPasskey(body.challenge, requireSite(request)),
  );

  serve(api, requestPasskeyLogin, 'anyone', ({ request }) =>
    passkeys.request({ purpose: 'sign_in', user_id: null, site: requireSite(request) }),
  );

  serve(api, loginWithPasskey, 'anyone', ({ body, request }) =>
    signIn.withPasskey({ assertion: body.passkey, site: requireSite(request), browser_id: body.browser_id }, originOf(request)),
  );
}
