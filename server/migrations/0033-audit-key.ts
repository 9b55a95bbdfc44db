import { type Kysely, PostgresAdapter, sql } from 'kysely';

export async function up(database: Kysely<unknown>): Promise<void> {
  const head = () => database.schema.alterTable('audit_head');
  // The first entry that is sealed with the installation's key; null until a server with that key has started.
  await head().addColumn('keyed_from', 'integer').execute();
  // The entry before the first one that is still checked: those up to it were removed after their time, or sealed with a key that was replaced.
  await head()
    .addColumn('anchor_seq', 'integer', (column) => column.notNull().defaultTo(0))
    .execute();
  await head()
    .addColumn('anchor_hash', 'text', (column) => column.notNull().defaultTo('0'.repeat(64)))
    .execute();
  // Seals this row with the key.
  await head().addColumn('mac', 'text').execute();
  if (database.getExecutor().adapter instanceof PostgresAdapter) await guardPostgres(database);
  else await guardSqlite(database);
}

/** Entries before the anchor may be removed, and the anchor moves forward only. */
const ANCHOR = '(select coalesce(max(anchor_seq), 0) from audit_head)';
const MOVED = 'new.anchor_seq < old.anchor_seq or new.anchor_seq > new.seq';

async function guardSqlite(database: Kysely<unknown>): Promise<void> {
  const refuse = async (name: string, event: string, when: string) => {
    await sql.raw(`drop trigger ${name}`).execute(database);
    await sql
      .raw(`create trigger ${name} before ${event} when ${when} begin select raise(abort, 'the audit log is append-only'); end`)
      .execute(database);
  };
  await refuse('audit_entries_delete', 'delete on audit_entries', `old.seq > ${ANCHOR}`);
  await refuse(
    'audit_head_update',
    'update on audit_head',
    `new.id is not old.id or new.seq not in (old.seq, old.seq + 1) or ${MOVED}`,
  );
}

async function guardPostgres(database: Kysely<unknown>): Promise<void> {
  const run = (text: string) => sql.raw(text).execute(database);
  await run('drop trigger audit_entries_delete on audit_entries');
  await run('drop trigger audit_head_update on audit_head');
  await run(
    `create function refuse_audit_deletion() returns trigger language plpgsql as $$ begin
      if old.seq > ${ANCHOR} then raise exception 'the audit log is append-only'; end if;
      return old; end $$`,
  );
  await run(
    'create trigger audit_entries_delete before delete on audit_entries for each row execute function refuse_audit_deletion()',
  );
  await run(
    'create trigger audit_entries_truncate before truncate on audit_entries for each statement execute function refuse_audit_change()',
  );
  await run(
    `create trigger audit_head_update before update on audit_head for each row
      when (new.id is distinct from old.id or new.seq not in (old.seq, old.seq + 1) or ${MOVED}) execute function refuse_audit_change()`,
  );
}
