import { openSpool } from '#features/antivirus/spool.ts';
import { readLeakedPasswords } from '#features/auth/leaked-passwords.ts';
import { readBuild } from '#platform/build.ts';
import type { Home } from '#platform/home.ts';
import { createJobs } from '#platform/jobs/jobs.ts';
import { createMetrics } from '#platform/metrics.ts';
import { createProxyWatch } from '#platform/proxy-watch.ts';
import type { AppOptions } from './app-options.ts';
import { joinOthers, openBetween } from './between-servers.ts';
import { folderOf, openKeptFiles } from './storage.ts';
import { buildAudit, openStore } from './store.ts';

/** Opens the shared parts of all features: the database, files, channels between servers, jobs and the audit log. */
export async function openFoundation(appOptions: AppOptions, home: Home) {
  const { settings, logger } = appOptions;
  const build = readBuild();
  const leaked = readLeakedPasswords(appOptions.leaked_passwords);
  // First: the database shows whether this version and these keys are the right ones, before anything else is created or changed.
  const { database, keys, pool, clock } = await openStore(appOptions, home.id);
  const { now } = clock;
  const servers = await joinOthers(appOptions, database, home.id);
  const spool = openSpool({ ...folderOf(appOptions, 'spool'), limits: settings.spool });
  const kept = await openKeptFiles(appOptions);
  const { topics, counters, news, kept: keptAnswers } = await openBetween(appOptions, now);
  const jobs = createJobs({ database: database.$pickTables<'jobs'>(), logger, news, every_ms: appOptions.every_ms });
  const { audit, verifyLog, witness } = await buildAudit(appOptions, {
    database: database.$pickTables<'audit_entries' | 'audit_head' | 'installation'>(),
    key: keys.audit,
    jobs,
    now,
  });
  const proxies = await createProxyWatch({
    database: database.$pickTables<'installation'>(),
    exposure: settings.exposure,
    open_local: settings.open_local,
    public_url: settings.public_url,
    trusted_proxies: settings.trusted_proxies,
    letters: settings.mail_server === undefined ? 'outbox' : 'mail',
    onFound: () => keptAnswers.toldAll(),
    now,
    logger,
  });
  return {
    build,
    leaked,
    home,
    database,
    keys,
    pool,
    clock,
    now,
    servers,
    metrics: settings.metrics && createMetrics(),
    spool,
    kept,
    keptAnswers,
    topics,
    counters,
    news,
    jobs,
    audit,
    verifyLog,
    witness,
    proxies,
  };
}

export type Foundation = Awaited<ReturnType<typeof openFoundation>>;
