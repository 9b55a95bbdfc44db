import { hash, verify } from '@node-rs/argon2';
import type { Exposure } from '@palisade/contract/platform';
import { invalidField } from '#platform/problem.ts';
import { isCommonPassword } from './common-passwords.ts';

/** OWASP Password Storage Cheat Sheet: argon2id with m = 19 MiB, t = 2, p = 1 (argon2id is the library's default algorithm). */
const ARGON2 = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;

/** An argon2id hash as a PHC string. */
export function hashPassword(password: string): Promise<string> {
  return hash(password, ARGON2);
}

export function isPassword(password_hash: string, password: string): Promise<boolean> {
  return verify(password_hash, password);
}

/**
 * What is stored of a new password. A common one is refused in public exposure (DESIGN section 2); in local exposure it is taken, and known to be one.
 * @throws Problem `invalid_field` on `field`.
 */
export async function storedPassword(
  password: string,
  { field, exposure }: { field: string; exposure: Exposure },
): Promise<{ password_hash: string; common_password: 0 | 1 }> {
  const isCommon = isCommonPassword(password);
  if (isCommon && exposure === 'public')
    throw invalidField(field, 'This password is one of those that attackers try first. Choose another.');
  return { password_hash: await hashPassword(password), common_password: isCommon ? 1 : 0 };
}
