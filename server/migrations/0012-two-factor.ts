import { type Kysely, sql } from 'kysely';

export async function up(database: Kysely<unknown>): Promise<void> {
  await database.schema
    .createTable('totp')
    .addColumn('user_id', 'text', (column) => column.primaryKey().references('users.id').onDelete('cascade'))
    // Sealed with the installation's key. Null while an authenticator app was never confirmed.
    .addColumn('secret', 'text')
    .addColumn('since', 'text')
    // The step of the last code that was taken: neither it nor one before it is taken again (RFC 6238 section 5.2).
    .addColumn('last_step', 'integer', (column) => column.notNull())
    // The secret for an authenticator app that is being set up, and the end of that setup.
    .addColumn('pending_secret', 'text')
    .addColumn('pending_until', 'text')
    // Codes that were tried, and until when they are counted together.
    .addColumn('tries', 'integer', (column) => column.notNull())
    .addColumn('tries_until', 'text', (column) => column.notNull())
    .execute();

  await database.schema
    .createTable('recovery_codes')
    .addColumn('user_id', 'text', (column) => column.notNull().references('users.id').onDelete('cascade'))
    // SHA-256 in hex: 120 random bits are not guessed from it.
    .addColumn('code_hash', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('recovery_codes_pk', ['user_id', 'code_hash'])
    .execute();

  await database.schema
    .createTable('passkeys')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('user_id', 'text', (column) => column.notNull().references('users.id').onDelete('cascade'))
    .addColumn('credential_id', 'text', (column) => column.notNull().unique())
    // COSE, base64url.
    .addColumn('public_key', 'text', (column) => column.notNull())
    // 32 bits without a sign.
    .addColumn('counter', 'bigint', (column) => column.notNull())
    // JSON: how the browser reaches it.
    .addColumn('transports', 'text', (column) => column.notNull())
    // The host that it was made for; it works at no other.
    .addColumn('rp_id', 'text', (column) => column.notNull())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addColumn('last_used_at', 'text')
    .execute();
  await database.schema.createIndex('passkeys_user_id').on('passkeys').column('user_id').execute();

  // Challenges that a browser was asked to sign; once, and soon.
  await database.schema
    .createTable('passkey_challenges')
    .addColumn('challenge_hash', 'text', (column) => column.primaryKey())
    .addColumn('purpose', 'text', (column) => column.notNull())
    // Null for an unknown person.
    .addColumn('user_id', 'text', (column) => column.references('users.id').onDelete('cascade'))
    .addColumn('expires_at', 'text', (column) => column.notNull())
    .execute();
  await database.schema.createIndex('passkey_challenges_expires_at').on('passkey_challenges').column('expires_at').execute();

  // A person whose password was right, and whose second factor is awaited.
  await database.schema
    .createTable('sign_in_challenges')
    .addColumn('challenge_hash', 'text', (column) => column.primaryKey())
    .addColumn('user_id', 'text', (column) => column.notNull().references('users.id').onDelete('cascade'))
    // SHA-256 of the stored password: one that is changed meanwhile makes the challenge worthless.
    .addColumn('password_mark', 'text', (column) => column.notNull())
    .addColumn('device_id', 'text')
    .addColumn('tries', 'integer', (column) => column.notNull())
    .addColumn('expires_at', 'text', (column) => column.notNull())
    .execute();
  await database.schema.createIndex('sign_in_challenges_expires_at').on('sign_in_challenges').column('expires_at').execute();

  await database.schema
    .createTable('session_confirmations')
    .addColumn('session_id', 'text', (column) => column.primaryKey().references('sessions.id').onDelete('cascade'))
    .addColumn('with_second_factor', 'integer', (column) => column.notNull().check(sql`with_second_factor in (0, 1)`))
    .addColumn('expires_at', 'text', (column) => column.notNull())
    .execute();
}
