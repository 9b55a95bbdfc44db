import { hash, verify } from '@node-rs/argon2';

/** OWASP Password Storage Cheat Sheet: argon2id with m = 19 MiB, t = 2, p = 1 (argon2id is the library's default algorithm). */
const ARGON2 = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;

/** An argon2id hash as a PHC string. */
export function hashPassword(password: string): Promise<string> {
  return hash(password, ARGON2);
}

export function isPassword(password_hash: string, password: string): Promise<boolean> {
  return verify(password_hash, password);
}
