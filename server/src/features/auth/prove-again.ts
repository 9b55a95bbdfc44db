import type { Mail } from '#platform/mail.ts';
import type { Origin } from '#platform/origin.ts';
import type { PasskeySite } from './passkey-site.ts';
import type { RequirePassword } from './require-password.ts';
import type { Proof, SecondFactors } from './second-factors.ts';

/**
 * Has a signed-in person prove once more that it is them: with the password and, where the account has one, with a second factor, which is used up.
 * @throws Problem `invalid_field` on `password` or `code`, and as `RequirePassword` and `SecondFactors.demand` do.
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
