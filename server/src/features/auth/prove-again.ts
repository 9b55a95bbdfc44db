import type { Mail } from '#platform/mail.ts';
import type { Origin } from '#platform/origin.ts';
import type { PasskeySite } from './passkey-site.ts';
import type { RequirePassword } from './require-password.ts';
import type { Proof, SecondFactors } from './second-factors.ts';

/**
 * Makes a signed-in person prove their identity again: with the password and, if the account has one, with a second factor, which is consumed. @throws Problem
 * `invalid_field` on `password` or `code`, and like `RequirePassword` and `SecondFactors.demand`.
 */
export type ProveAgain = (
  user_id: string,
  given: { password: string; proof: Proof | undefined; site: PasskeySite | undefined },
  origin: Origin,
) => Promise<void>;

export function createProveAgain(parts: {
  requirePassword: RequirePassword;
  secondFactors: SecondFactors;
  mail: Pick<Mail, 'wake'>;
}): ProveAgain {
  const { requirePassword, secondFactors, mail } = parts;
  return async (user_id, { password, proof, site }, origin) => {
    await requirePassword(user_id, { password, field: 'password' }, origin);
    await secondFactors.demand(proof, { user_id, purpose: 'confirm', site, origin });
    mail.wake();
  };
}
