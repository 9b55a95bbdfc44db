import { type Kysely, PostgresAdapter, sql } from 'kysely';

export async function up(database: Kysely<unknown>): Promise<void> {
  await database.schema.alterTable('users').addColumn('disabled_at', 'text').execute();
  // When the person proved that mails to the address reach them; present administrators need not.
  await database.schema.alterTable('users').addColumn('email_proven_at', 'text').execute();
  await sql`update users set email_proven_at = created_at where role = 'admin'`.execute(database);
  await database.schema.createIndex('users_role').on('users').columns(['role', 'id']).execute();

  // 1: it is deleted once it was sent, or given up.
  await database.schema
    .alterTable('mails')
    .addColumn('leaves_no_trace', 'integer', (column) => column.notNull().defaultTo(0))
    .execute();

  await database.schema.createIndex('audit_entries_actor_id_seq').on('audit_entries').columns(['actor_id', 'seq']).execute();
  if (database.getExecutor().adapter instanceof PostgresAdapter) await guardPostgres(database);
  else await guardSqlite(database);
}

/** The one allowed change of an entry: its personal part, once, to null. */
const CHANGED = ['seq', 'at', 'kind', 'subject_id', 'actor_id', 'personal_hash', 'hash'];

async function guardSqlite(database: Kysely<unknown>): Promise<void> {
  const changed = CHANGED.map((column) => `new.${column} is not old.${column}`).join(' or ');
  const refuse = (name: string, event: string, when: string) =>
    sql
      .raw(`create trigger ${name} before ${event} when ${when} begin select raise(abort, 'the audit log is append-only'); end`)
      .execute(database);
  await refuse('audit_entries_update', 'update on audit_entries', `new.personal is not null or ${changed}`);
  await refuse('audit_entries_delete', 'delete on audit_entries', 'true');
  await refuse('audit_head_update', 'update on audit_head', 'new.id is not old.id or new.seq not in (old.seq, old.seq + 1)');
  await refuse('audit_head_delete', 'delete on audit_head', 'true');
}

async function guardPostgres(database: Kysely<unknown>): Promise<void> {
  const changed = CHANGED.map((column) => `new.${column} is distinct from old.${column}`).join(' or ');
  await sql
    .raw(
      `create function refuse_audit_change() returns trigger language plpgsql as $$ begin raise exception 'the audit log is append-only'; end $$`,
    )
    .execute(database);
  const refuse = (name: string, event: string, condition: string) =>
    sql.raw(`create trigger ${name} before ${event} ${condition} execute function refuse_audit_change()`).execute(database);
  await refuse('audit_entries_update', 'update on audit_entries', `for each row when (new.personal is not null or ${changed})`);
  await refuse('audit_entries_delete', 'delete or truncate on audit_entries', 'for each statement');
  await refuse(
    'audit_head_update',
    'update on audit_head',
    'for each row when (new.id is distinct from old.id or new.seq not in (old.seq, old.seq + 1))',
  );
  await refuse('audit_head_delete', 'delete or truncate on audit_head', 'for each statement');
}
