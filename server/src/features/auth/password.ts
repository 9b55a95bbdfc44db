import { hash, verify } from '@node-rs/argon2';
import type { Role } from '@palisade/contract/auth';
import { may } from '@palisade/contract/may';
import { isOnlyNames, namesAround } from '@palisade/contract/password-names';
import type { Exposure } from '@palisade/contract/platform';
import { normalPassword, passwordForms } from '@palisade/contract/text';
import type { Kysely } from 'kysely';
import { type InstallationTables, readProvider } from '#platform/installation.ts';
import { refuseField } from './auth.refusals.ts';
import type { LeakedPasswords } from './leaked-passwords.ts';

/** OWASP Password Storage Cheat Sheet: argon2id with m = 19 MiB, t = 2, p = 1 (argon2id is the library's default algorithm). */
const ARGON2 = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;

/** An argon2id hash of the password's normal form, as a PHC string. */
export function hashPassword(password: string): Promise<string> {
  return hash(normalPassword(password), ARGON2);
}

/** Whether a hash matches the password; `old` means a form that is no longer used. A password that is the same in all forms is tried once. */
export async function matchPassword(password_hash: string, password: string): Promise<'current' | 'old' | undefined> {
  for (const [place, form] of passwordForms(password).entries())
    if (await verify(password_hash, form)) return place === 0 ? 'current' : 'old';
  return undefined;
}

export async function isPassword(password_hash: string, password: string): Promise<boolean> {
  return (await matchPassword(password_hash, password)) !== undefined;
}

/** Facts about the password's owner that a guesser knows. */
interface Person {
  username: string;
  email: string;
  role: Role;
}

/** The part of a reply that advises changing the password. */
export function adviceOf({ common_password }: { common_password: 0 | 1 }): { common_password?: true } {
  return common_password === 1 ? { common_password: true } : {};
}

/** Rules for every new password, wherever it is set. */
export interface Passwords {
  /** Whether attackers try it first: it leaked, or consists of names related to the account. */
  isCommon(password: string, person: Omit<Person, 'role'>): Promise<boolean>;
  /**
   * Returns the stored form of a new password. A common one is refused in public exposure, and always for an administrator; otherwise it is accepted and marked as common.
   * @throws Problem `invalid_field` on `field`.
   */
  stored(password: string, about: { field: string; person: Person }): Promise<{ password_hash: string; common_password: 0 | 1 }>;
}

export function createPasswords(parts: {
  database: Kysely<InstallationTables>;
  exposure: Exposure;
  leaked: LeakedPasswords;
}): Passwords {
  const { database, exposure, leaked } = parts;

  async function faultOf(
    password: string,
    person: Omit<Person, 'role'>,
  ): Promise<'password.only_names' | 'password.leaked' | undefined> {
    const { provider_name } = await readProvider(database);
    if (isOnlyNames(password, namesAround({ provider_name, ...person }))) return 'password.only_names';
    return leaked.has(normalPassword(password)) ? 'password.leaked' : undefined;
  }

  return {
    isCommon: async (password, person) => (await faultOf(password, person)) !== undefined,

    async stored(password, { field, person }) {
      const fault = await faultOf(password, person);
      if (fault !== undefined && (exposure === 'public' || may.administrate(person))) throw refuseField(field, fault);
      return { password_hash: await hashPassword(password), common_password: fault === undefined ? 0 : 1 };
    },
  };
}
