import { type Kysely, sql } from 'kysely';

export async function up(database: Kysely<unknown>): Promise<void> {
  // When ADMIN_EMAILS made the account an administrator's, which it does once; until now that was the only proof there was.
  await database.schema.alterTable('users').addColumn('admin_by_email_at', 'text').execute();
  await sql`update users set admin_by_email_at = email_proven_at`.execute(database);
  // The user of a token that was mailed to the address reads its mail.
  await sql`update users set email_proven_at = (select used_at from reset_tokens where user_id = users.id)
    where email_proven_at is null
      and exists (select 1 from reset_tokens where user_id = users.id and used_at is not null)
      and exists (select 1 from mails where recipient = users.email and subject like '%: reset your password')`.execute(database);

  // Tokens that were mailed to an address: several for an account, so that one request does not void another's.
  await database.schema
    .createTable('account_tokens')
    // SHA-256 of the token in hex.
    .addColumn('token_hash', 'text', (column) => column.primaryKey())
    .addColumn('user_id', 'text', (column) => column.notNull().references('users.id').onDelete('cascade'))
    .addColumn('purpose', 'text', (column) => column.notNull().check(sql`purpose in ('reset', 'proof')`))
    // 1: it went to the address, so that its holder reads its mail; 0: it was answered to the machine itself.
    .addColumn('is_mailed', 'integer', (column) => column.notNull())
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addColumn('expires_at', 'text', (column) => column.notNull())
    .execute();
  await database.schema.createIndex('account_tokens_user_id').on('account_tokens').columns(['user_id', 'purpose']).execute();
  await sql`insert into account_tokens (token_hash, user_id, purpose, is_mailed, created_at, expires_at)
    select token_hash, user_id, 'reset', 0, created_at, expires_at from reset_tokens where used_at is null`.execute(database);
  await database.schema.dropTable('reset_tokens').execute();
}
