import { type Kysely, PostgresAdapter, sql } from 'kysely';

/** People sign in with a browser; a device is a computer that an agent runs on. */
export async function up(database: Kysely<unknown>): Promise<void> {
  const run = (text: string) => sql.raw(text).execute(database);
  await database.schema
    .createTable('known_browsers')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('user_id', 'text', (column) => column.notNull().references('users.id').onDelete('cascade'))
    // The browser's identifier; empty for one that keeps none.
    .addColumn('browser_id', 'text', (column) => column.notNull())
    .addColumn('client', 'text', (column) => column.notNull())
    .addColumn('source', 'text', (column) => column.notNull())
    .addColumn('first_seen', 'text', (column) => column.notNull())
    .addColumn('last_seen', 'text', (column) => column.notNull())
    .addColumn('trusted_at', 'text')
    // 0 while it was new, without a decision of its person.
    .addColumn('reviewed', 'integer', (column) => column.notNull().check(sql`reviewed in (0, 1)`))
    .addUniqueConstraint('known_browsers_seen', ['user_id', 'browser_id', 'client', 'source'])
    .execute();
  const columns = 'client, source, first_seen, last_seen, trusted_at, reviewed';
  await run(`insert into known_browsers (id, user_id, browser_id, ${columns})
    select id, user_id, device_id, ${columns} from known_devices`);
  await run('drop table known_devices');
  await database.schema.createIndex('known_browsers_last_seen').on('known_browsers').column('last_seen').execute();

  // `device_id` stays: a server of an earlier version that still runs writes it, and it will say which computer an alert is about.
  await run('alter table alerts add column browser_id text');
  await run('update alerts set browser_id = device_id, device_id = null where device_id is not null');
  await run('alter table sign_in_challenges add column browser_id text');
  await run('update sign_in_challenges set browser_id = device_id, device_id = null');

  const [from, to] = ['suspicious_login.new_device', 'suspicious_login.new_browser'];
  for (const [table, column] of [
    ['alerts', 'dedupe_key'],
    ['alert_mails', 'dedupe_key'],
    ['detection_findings', 'found'],
  ])
    await run(`update ${table} set ${column} = replace(${column}, '"${from}"', '"${to}"')
      where ${column} like '%"${from}"%'`);
  for (const table of ['alerts', 'alert_suppressions', 'detection_windows'])
    await run(`update ${table} set rule = '${to}' where rule = '${from}'`);
  await run(`update detection_findings set found = replace(found, '"device_id"', '"browser_id"')`);
  await run(`delete from jobs where kind = 'known-devices'`);

  // A server of an earlier version that still runs writes there.
  if (database.getExecutor().adapter instanceof PostgresAdapter)
    await run(`create view known_devices as select id, user_id, browser_id as device_id, ${columns} from known_browsers`);
}
