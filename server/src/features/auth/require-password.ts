import type { Kysely } from 'kysely';
import type { Origin } from '#platform/origin.ts';
import { Problem } from '#platform/problem.ts';
import { refuseField } from './auth.refusals.ts';
import type { AuthTables } from './auth.tables.ts';
import { isPassword } from './password.ts';

/** Limits how often a signed-in person may enter a wrong password: a stolen or unattended session must not be usable to guess it. */
export interface PasswordGuard {
  /** Runs work that checks a password: it returns a value for the right one, or undefined for a wrong one. An exception is not counted. @throws Problem `too_many_requests`. */
  attempt<Right>(
    attempt: { user_id: string; source: string },
    work: () => Promise<Right | undefined>,
  ): Promise<Right | undefined>;
}

/**
 * Makes a signed-in person enter their password again, and returns the stored hash that it matches. @throws Problem `invalid_field` on `field` for a wrong one,
 * `too_many_requests` after too many; the session stays valid.
 */
export type RequirePassword = (
  user_id: string,
  given: { password: string; field: 'password' | 'current_password' },
  origin: Pick<Origin, 'source'>,
) => Promise<string>;

const WRONG = {
  password: 'password.wrong',
  current_password: 'password.not_current',
} as const;

export function createRequirePassword({
  database,
  guard,
}: {
  database: Kysely<AuthTables>;
  guard: PasswordGuard;
}): RequirePassword {
  return async (user_id, { password, field }, { source }) => {
    const password_hash = await guard.attempt({ user_id, source }, async () => {
      const user = await database.selectFrom('users').select('password_hash').where('id', '=', user_id).executeTakeFirst();
      if (user === undefined) throw new Problem('unauthenticated');
      return (await isPassword(user.password_hash, password)) ? user.password_hash : undefined;
    });
    if (password_hash === undefined) throw refuseField(field, WRONG[field]);
    return password_hash;
  };
}
