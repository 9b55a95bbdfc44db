import { createHash, randomBytes } from 'node:crypto';
import type { Kysely } from 'kysely';
import type { AuthTables } from './auth.tables.ts';

type Tables = Pick<AuthTables, 'account_tokens'>;
type Purpose = AuthTables['account_tokens']['purpose'];

const TOKEN_BYTES = 32;
/** Maximum number of valid tokens of one purpose per account: more than the limits on letters allow within their lifetime. */
const LIVE_MAXIMUM = 20;

const newToken = () => randomBytes(TOKEN_BYTES).toString('base64url');
const hashOf = (token: string) => createHash('sha256').update(token).digest('hex');

/**
 * Creates a token of 256 random bits, base64url, or by `make`; only its hash is stored. Earlier ones stay valid. An account at its maximum gets no further one by mail
 * (undefined), so that no request invalidates those in its mailbox. One that is returned directly replaces the oldest.
 */
export async function issueToken(
  transaction: Kysely<Tables>,
  issued: { user_id: string; purpose: Purpose; is_mailed: boolean; lifetime_s: number; now: number; make?: () => string },
): Promise<string | undefined> {
  const { user_id, purpose, is_mailed, lifetime_s, now, make = newToken } = issued;
  const at = new Date(now).toISOString();
  await transaction.deleteFrom('account_tokens').where('user_id', '=', user_id).where('expires_at', '<=', at).execute();
  const live = await transaction
    .selectFrom('account_tokens')
    .select('token_hash')
    .where('user_id', '=', user_id)
    .where('purpose', '=', purpose)
    .orderBy('created_at', 'desc')
    .execute();
  if (is_mailed && live.length >= LIVE_MAXIMUM) return undefined;
  const over = live.slice(LIVE_MAXIMUM - 1).map(({ token_hash }) => token_hash);
  if (over.length > 0) await transaction.deleteFrom('account_tokens').where('token_hash', 'in', over).execute();
  const token = make();
  await transaction
    .insertInto('account_tokens')
    .values({
      token_hash: hashOf(token),
      user_id,
      purpose,
      is_mailed: is_mailed ? 1 : 0,
      created_at: at,
      expires_at: new Date(now + lifetime_s * 1_000).toISOString(),
    })
    .execute();
  return token;
}

/** The account of a token, and whether it was mailed; undefined for an invalid token. */
export async function findToken(
  database: Kysely<Tables>,
  { token, purpose, now }: { token: string; purpose: Purpose; now: number },
): Promise<{ user_id: string; is_mailed: boolean } | undefined> {
  const row = await database
    .selectFrom('account_tokens')
    .select(['user_id', 'is_mailed'])
    .where('token_hash', '=', hashOf(token))
    .where('purpose', '=', purpose)
    .where('expires_at', '>', new Date(now).toISOString())
    .executeTakeFirst();
  return row && { user_id: row.user_id, is_mailed: row.is_mailed === 1 };
}

/** Consumes a token, and every other one of its account, in a transaction that holds the account's row. Returns whether it still existed: of several concurrent uses, one succeeds. */
export async function takeToken(
  transaction: Kysely<Tables>,
  { token, user_id }: { token: string; user_id: string },
): Promise<boolean> {
  const used = await transaction
    .deleteFrom('account_tokens')
    .where('token_hash', '=', hashOf(token))
    .returning('user_id')
    .executeTakeFirst();
  if (used === undefined) return false;
  await transaction.deleteFrom('account_tokens').where('user_id', '=', user_id).execute();
  return true;
}
