import type { Kysely } from 'kysely';
import type { AuditTables } from '#platform/audit.ts';
import type { InstallationTables } from '#platform/installation.ts';
import type { MailTables } from '#platform/mail.ts';
import type { Origin } from '#platform/origin.ts';
import { invalidField } from '#platform/problem.ts';
import type { Accounts } from './account.ts';
import type { AuthTables } from './auth.tables.ts';
import type { SecondFactors } from './second-factors.ts';
import type { TwoFactorTables } from './two-factor.tables.ts';

type Tables = AuthTables & TwoFactorTables & AuditTables & MailTables & InstallationTables;

/**
 * Has a signed-in person prove once more that it is them: with the password, and with a second factor where the account has one.
 * @throws Problem `invalid_field` on `password` or `second_factor`, and as `SecondFactors.examine` does.
 */
export type ProveAgain = (
  user_id: string,
  given: { password: string; second_factor?: string | undefined },
  origin: Origin,
) => Promise<void>;

const CODE = /^\d{6}$/;

export function createProveAgain(parts: {
  database: Kysely<Tables>;
  accounts: Pick<Accounts, 'requirePassword'>;
  secondFactors: SecondFactors;
}): ProveAgain {
  const { database, accounts, secondFactors } = parts;
  return async (user_id, { password, second_factor }, origin) => {
    await accounts.requirePassword(user_id, password);
    const methods = await secondFactors.methods(user_id);
    if (methods.length === 0) return;
    if (second_factor === undefined)
      throw invalidField('second_factor', 'Give a code of your authenticator app, or a recovery code.');
    const proof = CODE.test(second_factor) ? { code: second_factor } : { recovery_code: second_factor };
    const take = await secondFactors.examine(proof, { user_id, purpose: 'confirm', site: undefined, origin });
    await database.transaction().execute(take);
  };
}
