import { type Kysely, PostgresAdapter, sql } from 'kysely';
import { createTextFunctions } from '#platform/folded-text.ts';
import { ACCOUNTS } from './baseline/accounts.ts';
import { ALERTS } from './baseline/alerts.ts';
import { auditGuards } from './baseline/audit-guards.ts';
import { DESK } from './baseline/desk.ts';
import { DEVICES } from './baseline/devices.ts';
import { helpPages } from './baseline/help.ts';
import { PLATFORM } from './baseline/platform.ts';
import { REMOTE } from './baseline/remote.ts';
import { scanCounts } from './baseline/scan-counts.ts';
import { SCANS } from './baseline/scans.ts';
import { SUBSCRIPTIONS } from './baseline/subscriptions.ts';

/** On PostgreSQL, migrations before commit 509b6c4c renamed these tables, and their constraints kept the former names. The baseline uses the same names, so that later migrations find them in every database. */
const FORMER_CONSTRAINTS = {
  chat_messages: {
    former: 'desk_messages',
    kinds: ['pkey', 'conversation_id_fkey', 'user_id_fkey', 'author_id_fkey', 'sender_check'],
  },
  remote_sessions: { former: 'remote_sessions_anew', kinds: ['pkey', 'user_id_fkey', 'agent_id_fkey', 'status_check'] },
};

/** Applies the statements that only PostgreSQL needs. On SQLite each connection defines the text functions. */
async function finishPostgres(database: Kysely<unknown>, run: (statement: string) => Promise<unknown>): Promise<void> {
  for (const [table, { former, kinds }] of Object.entries(FORMER_CONSTRAINTS))
    for (const kind of kinds) await run(`alter table ${table} rename constraint ${table}_${kind} to ${former}_${kind}`);
  // Unused, but it exists in databases of commit 509b6c4c.
  await run(`create view known_devices as
    select id, user_id, browser_id as device_id, client, source, first_seen, last_seen, trusted_at, reviewed from known_browsers`);
  await createTextFunctions(database);
}

/** Creates the schema of commit 509b6c4c. It replaces the 58 earlier migrations. */
export async function up(database: Kysely<unknown>): Promise<void> {
  const isPostgres = database.getExecutor().adapter instanceof PostgresAdapter;
  const run = (statement: string) => sql.raw(statement.replaceAll(/--.*$/gm, '')).execute(database);
  for (const tables of [ACCOUNTS, PLATFORM, SUBSCRIPTIONS, SCANS, ALERTS, DESK, REMOTE, DEVICES])
    for (const statement of tables.split(/;$/m)) if (statement.trim() !== '') await run(statement);
  for (const make of [auditGuards, scanCounts, helpPages]) for (const statement of make(isPostgres)) await run(statement);
  await sql`insert into audit_head (id, seq, hash) values (1, 0, ${'0'.repeat(64)})`.execute(database);
  if (isPostgres) await finishPostgres(database, run);
}
