import { createHash, randomBytes } from 'node:crypto';
import { typedCode } from '@palisade/contract/text';
import { RECOVERY_CODES } from '@palisade/contract/two-factor';
import type { Kysely } from 'kysely';
import type { TwoFactorTables } from './two-factor.tables.ts';

type Tables = Pick<TwoFactorTables, 'recovery_codes'>;

/** Crockford's base32: without letters that look like digits. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
/** Six groups of four: 120 random bits. From 112 bits on, a plain hash is sufficient protection (OWASP ASVS 5, 6.5.2). */
const GROUPS = 6;
const GROUP_CHARACTERS = 4;

function newCode(): string {
  const group = () => [...randomBytes(GROUP_CHARACTERS)].map((byte) => ALPHABET.charAt(byte % ALPHABET.length)).join('');
  return Array.from({ length: GROUPS }, group).join('-');
}

/** The hash of a code as typed: ignoring case, hyphens, and letters that look like digits. */
function hashOf(code: string): string {
  const plain = typedCode(code).toLowerCase().replaceAll('-', '').replaceAll('o', '0').replaceAll(/[il]/g, '1');
  return createHash('sha256').update(plain).digest('hex');
}

/** Replaces the previous set and returns the new codes, which are never shown again. */
export async function makeRecoveryCodes(transaction: Kysely<Tables>, user_id: string): Promise<string[]> {
  const codes = Array.from({ length: RECOVERY_CODES.count }, newCode);
  await transaction.deleteFrom('recovery_codes').where('user_id', '=', user_id).execute();
  await transaction
    .insertInto('recovery_codes')
    .values(codes.map((code) => ({ user_id, code_hash: hashOf(code) })))
    .execute();
  return codes;
}

/** Consumes a person's code. Returns whether it was valid: of several concurrent uses, one succeeds. */
export async function takeRecoveryCode(database: Kysely<Tables>, user_id: string, code: string): Promise<boolean> {
  const taken = await database
    .deleteFrom('recovery_codes')
    .where('user_id', '=', user_id)
    .where('code_hash', '=', hashOf(code))
    .returning('user_id')
    .executeTakeFirst();
  return taken !== undefined;
}

export async function countRecoveryCodes(database: Kysely<Tables>, user_id: string): Promise<number> {
  const { codes } = await database
    .selectFrom('recovery_codes')
    .select(({ fn }) => fn.countAll<number | string>().as('codes'))
    .where('user_id', '=', user_id)
    .executeTakeFirstOrThrow();
  return Number(codes);
}
