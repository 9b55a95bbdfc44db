import type { Kysely } from 'kysely';
import { forgetOldAlerts } from '#features/alerts/old-alerts.ts';
import { forgetOldScans } from '#features/antivirus/old-scans.ts';
import { BASELINE, BREAKING_MIGRATIONS, migrations } from '#migrations/all.ts';
import { type Audit, type AuditTables, createAudit } from '#platform/audit.ts';
import { AUDIT_CHECK, createAuditCheck } from '#platform/audit-check.ts';
import { createAuditWitness, openWitness } from '#platform/audit-witness.ts';
import { openDatabase } from '#platform/database.ts';
import type { PoolState } from '#platform/database-patience.ts';
import type { InstallationTables } from '#platform/installation.ts';
import type { Jobs } from '#platform/jobs/jobs.ts';
import { installationKeys, openKeys } from '#platform/keys.ts';
import { findLivingServer } from '#platform/live-servers.ts';
import { migrate } from '#platform/migrations.ts';
import { createSharedClock, readerOfDatabaseTime } from '#platform/shared-clock.ts';
import type { Tables } from '#platform/tables.ts';
import { copyBeforeUpgrade } from '#platform/upgrade-copy.ts';
import type { AppOptions } from './app-options.ts';

const DAY_MS = 86_400_000;
/** Time for which an idle connection is kept, in ms. A new connection starts a PostgreSQL process, which is slow until its catalog cache is filled. */
const DATABASE_IDLE_MS = 5 * 60_000;

/** Opens the database and the keys that it was used with. @throws Error with the reason why this server cannot use the database; the database is closed then. */
export async function openStore(appOptions: AppOptions, home: string) {
  const { settings, logger } = appOptions;
  let pool: (() => PoolState) | undefined;
  // Until the start has succeeded, database errors are only thrown: they become the one line with which the start fails. Later ones are logged.
  let has_started = false;
  const database = openDatabase<Tables>(appOptions.database, {
    connections: settings.database_pool,
    idle_ms: appOptions.database_idle_ms ?? DATABASE_IDLE_MS,
    timeout_ms: settings.database_timeout_ms,
    logger: {
      error: (...said: Parameters<typeof logger.error>) => has_started && logger.error(...said),
      warn: (...said: Parameters<typeof logger.warn>) => has_started && logger.warn(...said),
    },
    onPool(read) {
      pool = read;
    },
  });
  try {
    const { database: location } = appOptions;
    await migrate(database, migrations, {
      breaking: BREAKING_MIGRATIONS,
      baseline: BASELINE,
      findLiving: (from) => findLivingServer(from.$pickTables<'servers'>(), home),
      beforeUpgrade() {
        // Operators back up PostgreSQL themselves.
        if ('sqlite' in location && location.sqlite !== ':memory:') copyBeforeUpgrade(location.sqlite);
      },
    });
    const keys = await openKeys(database.$pickTables<'installation'>(), installationKeys(settings));
    const clock = await createSharedClock({ read: readerOfDatabaseTime(database), logger, now: appOptions.now ?? Date.now });
    has_started = true;
    return { database, keys, pool, clock };
  } catch (error) {
    await database.destroy();
    throw error;
  }
}

/** Builds the audit log, which is sealed with a key, and its witness file outside the database. */
export async function buildAudit(
  appOptions: AppOptions,
  parts: { database: Kysely<AuditTables & InstallationTables>; key: Buffer; jobs: Pick<Jobs, 'handle'>; now: () => number },
) {
  const { settings, logger } = appOptions;
  const { key, jobs, now } = parts;
  const database = parts.database.$pickTables<'audit_entries' | 'audit_head'>();
  const file = openWitness(settings.audit_witness_file, key);
  const witness = createAuditWitness({ database, file, key, logger });
  const audit = createAudit({ now, key, onRecord: witness.wake });
  // Sealing begins only if the witness file does not show a sealed log yet.
  if (file.read() === undefined) await audit.beginSealing(database);
  await witness.look();
  const { check, checkAll } = createAuditCheck({ database: parts.database, key, file, logger });
  jobs.handle(AUDIT_CHECK, checkAll);
  return { audit, witness, verifyLog: check };
}

/** Tasks that delete data after the retention periods of the settings. */
export function retentionTasks(
  { settings }: AppOptions,
  parts: {
    database: Kysely<Tables>;
    audit: Pick<Audit, 'forgetOld'>;
    forgetChats: (before: string) => Promise<void>;
    now: () => number;
  },
): (() => Promise<void>)[] {
  const { database, audit, forgetChats, now } = parts;
  const { scans, alerts, audit: entries, chats } = settings.retain_days;
  const before = (days: number) => new Date(now() - days * DAY_MS).toISOString();
  const task = (days: number | undefined, forget: (before: string) => Promise<unknown>) =>
    days === undefined ? [] : [async () => void (await forget(before(days)))];
  return [
    ...task(scans, (at) => forgetOldScans(database.$pickTables<'scans'>(), at)),
    ...task(alerts, (at) => forgetOldAlerts(database.$pickTables<'alerts'>(), at)),
    ...task(chats, forgetChats),
    ...task(entries, (at) => audit.forgetOld(database.$pickTables<'audit_entries' | 'audit_head'>(), at)),
  ];
}
