import type { Kysely } from 'kysely';
import type { Origin } from '#platform/origin.ts';
import { Problem } from '#platform/problem.ts';
import { refuseField } from './auth.refusals.ts';
import type { AuthTables } from './auth.tables.ts';
import { isPassword } from './password.ts';

/** Bounds how often a signed-in person may be wrong about their own password: a session that was stolen or left open is no place to guess it. */
export interface PasswordGuard {
  /**
   * Does work that checks a password: it answers a value for the right one, or undefined for a wrong one. An exception is not
   * counted.
   * @throws Problem `too_many_requests`.
   */
  attempt<Right>(
    attempt: { user_id: string; source: string },
    work: () => Promise<Right | undefined>,
  ): Promise<Right | undefined>;
}

/**
 * Has a signed-in person give their password again, and answers the stored hash that it is right for.
 * @throws Problem `invalid_field` on `field` when it is not theirs, `too_many_requests` after too many wrong ones; the session stays
 * valid.
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
