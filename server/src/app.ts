import type { Server } from 'node:http';
import { agentChannel } from '@palisade/contract/agent';
import type { Topic } from '@palisade/contract/endpoint';
import { eventsChannel, type LiveEvent } from '@palisade/contract/events';
import type { Engine, YaraPool } from '@palisade/scanner/yara-pool';
import type { FastifyInstance } from 'fastify';
import type { Kysely } from 'kysely';
import type { Alerts } from '#features/alerts/alerts.ts';
import { clearedFileIncident } from '#features/alerts/cleared-file.ts';
import { forgetOldDrills } from '#features/alerts/old-drills.ts';
import type { Signatures } from '#features/antivirus/signatures.ts';
import { openSpool } from '#features/antivirus/spool.ts';
import { readLeakedPasswords } from '#features/auth/leaked-passwords.ts';
import { serveDashboard } from '#features/dashboard/dashboard.routes.ts';
import { serveFirewall } from '#features/firewall/firewall.routes.ts';
import type { FirewallTables } from '#features/firewall/firewall.tables.ts';
import { createFirewall } from '#features/firewall/firewall.ts';
import { serveOutbox } from '#features/outbox/outbox.routes.ts';
import { forgetOldScores } from '#features/posture/score-history.ts';
import { serveOverview } from '#features/setup/overview.routes.ts';
import { serveSetup } from '#features/setup/setup.routes.ts';
import { createPlanRequests } from '#features/subscriptions/plan-requests.ts';
import { serveSubscriptions } from '#features/subscriptions/subscriptions.routes.ts';
import { createSubscriptions } from '#features/subscriptions/subscriptions.ts';
import { serveAgentPackage } from '#platform/agent-package.ts';
import { readBuild } from '#platform/build.ts';
import { SOCKET_LIMITS } from '#platform/channels/serve-socket.ts';
import { openSockets } from '#platform/channels/socket-request.ts';
import { wipeDeleted } from '#platform/database.ts';
import type { Drain } from '#platform/drain.ts';
import { serveEvents } from '#platform/events.ts';
import { type Home, takeHome } from '#platform/home.ts';
import { isSetUp } from '#platform/installation.ts';
import { createJobs } from '#platform/jobs/jobs.ts';
import { createMail } from '#platform/mail.ts';
import { createMetrics } from '#platform/metrics.ts';
import { serveProxyFindings } from '#platform/proxy.routes.ts';
import { createProxyWatch } from '#platform/proxy-watch.ts';
import { keepRetention } from '#platform/retention.ts';
import { createScannedFiles } from '#platform/scanned-files.ts';
import type { Api } from '#platform/serve.ts';
import { personTopic } from '#platform/topics/topics.ts';
import { serveWeb } from '#platform/web.ts';
import { type Accounts, buildAccounts } from './app/accounts.ts';
import type { AppOptions } from './app/app-options.ts';
import { joinOthers, openBetween } from './app/between-servers.ts';
import { buildDesk } from './app/desk.ts';
import { type BuiltDevices, buildDevices } from './app/devices.ts';
import { whatIsForgotten } from './app/forgetting.ts';
import { createInstallationNews } from './app/installation-news.ts';
import { restrainMail } from './app/letters.ts';
import { buildMetrics, meterScans } from './app/metrics.ts';
import { buildMonitor, type Monitor, scanFinished } from './app/monitor.ts';
import { openHttp } from './app/open-http.ts';
import { buildPush } from './app/push.ts';
import { buildRemote } from './app/remote.ts';
import { buildScamCheck } from './app/scam-check.ts';
import { buildScanner } from './app/scanner.ts';
import { serveState } from './app/state.routes.ts';
import { folderOf, openKeptFiles } from './app/storage.ts';
import { buildAudit, openStore, retentionTasks } from './app/store.ts';
import type { Tables } from './app/tables.ts';

export interface App {
  fastify: FastifyInstance;
  engine: Engine;
  /** The one of `engine` that is always there. */
  embedded: YaraPool;
  signatures: Signatures;
  /** Raises alerts. */
  alerts: Pick<Alerts, 'raise'>;
  /** Writes down the scores that readings have found since the last minute. */
  keepScores(): Promise<void>;
  /** Ends the remote sessions whose time is over. */
  settleSessions(): Promise<void>;
  /** Deletes files of remote sessions that have had their time. */
  sweepSessionFiles(): Promise<void>;
  database: Kysely<Tables>;
  /** Stops taking requests; to be called before `close` by who lets those under way finish. */
  drain: Drain;
  /** The separate server of `/metrics`, if the settings ask for one; it does not listen yet. */
  metrics: Server | undefined;
  /** Lets a load balancer send no more requests here, and claims no more jobs. */
  announceStop(): void;
  /** Ends every socket with the word that its page is to connect again. */
  endSockets(): void;
  close(): Promise<void>;
}

/**
 * Takes the data folder, builds every feature by hand and serves it. Listens on nothing.
 * @throws HomeTakenError while another server has the data folder.
 */
export async function createApp(appOptions: AppOptions): Promise<App> {
  const home = takeHome({
    folder: appOptions.settings.data_dir,
    onLost(error) {
      // Further writes could overwrite those of the other server.
      throw error;
    },
  });
  try {
    return await buildApp(appOptions, home);
  } catch (error) {
    home.release();
    throw error;
  }
}

/** Opens the parts that all features share: the database, files, channels between servers, jobs and the audit log. */
async function openFoundation(appOptions: AppOptions, home: Home) {
  const { settings, logger } = appOptions;
  const build = readBuild();
  const leaked = readLeakedPasswords(appOptions.leaked_passwords);
  // Before anything else is made or changed: the database says whether this version and these keys are the right ones.
  const { database, keys, pool, clock } = await openStore(appOptions, home.id);
  const { now } = clock;
  const servers = await joinOthers(appOptions, database, home.id);
  const spool = openSpool({ ...folderOf(appOptions, 'spool'), limits: settings.spool });
  const kept = await openKeptFiles(appOptions);
  const { topics, counters, news, kept: keptAnswers } = await openBetween(appOptions, now);
  const jobs = createJobs({ database: database.$pickTables<'jobs'>(), logger, news, every_ms: appOptions.every_ms });
  const { audit, verifyLog, witness } = await buildAudit(appOptions, {
    database: database.$pickTables<'audit_entries' | 'audit_head'>(),
    key: keys.audit,
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

type Foundation = Awaited<ReturnType<typeof openFoundation>>;

/** Builds every feature by hand. Here, and in `app/`, features meet, and nowhere else. */
async function buildFeatures(appOptions: AppOptions, foundation: Foundation) {
  const { settings, logger } = appOptions;
  const { database, keys, now, metrics, spool, kept, keptAnswers, topics, counters, news, jobs, audit, verifyLog, proxies } =
    foundation;
  const tell = (user_id: string, event: LiveEvent) => topics.publish(personTopic(user_id), event);
  const changed = (user_id: string, topic: Topic) => {
    tell(user_id, { kind: 'changed', topic });
    if (topic === 'rules') devices.rulesChanged(user_id);
  };
  const installationNews = createInstallationNews({
    topics,
    administrators: () => accounts.auth.administrators(),
    onTell: () => keptAnswers.toldAll(),
    logger,
  });
  const push = buildPush(appOptions, { database, jobs, counters, key: keys.quarantine, now });
  const firewall = createFirewall({
    database: database.$pickTables<keyof FirewallTables>(),
    jobs,
    onChange: (user_id) => changed(user_id, 'rules'),
    now,
  });
  const everyMail = createMail({
    database: database.$pickTables<'mails' | 'installation'>(),
    server: settings.mail_server,
    now,
    logger,
    look_ms: appOptions.mail_look_ms,
    onChange: () => installationNews.tell('waiting'),
  });
  const mail = restrainMail(everyMail, {
    mayHear: (tables, email) => accounts.emailProofs.mayHear(tables, email),
    counters,
    limits: settings.limits,
  });
  const support = buildRemote(appOptions, {
    ...{ database, audit, jobs, counters, mail, topics, keptAnswers, now },
    people: () => accounts.auth,
    raise: (incident) => monitor.alerts.raise(incident),
    changed: (user_id) => changed(user_id, 'remote'),
    findDevice: (user_id, device_id) => devices.grantable(user_id, device_id),
    nudgeDevice: (device_id) => devices.nudge(device_id),
    measuredSessions: () => devices.measuredSessions,
  });
  const { remote } = support;
  const scanner = await buildScanner(appOptions, {
    database: database.$pickTables<
      'scans' | 'scan_counts' | 'quarantine_reports' | 'installation' | 'jobs' | 'mails' | 'audit_entries' | 'audit_head'
    >(),
    jobs,
    mail,
    onFilesChanged: (user_id) => changed(user_id, 'files'),
    news,
    livingHomes: async () => (await foundation.servers?.living()) ?? [],
    audit,
    accounts: { findUsers: (ids) => accounts.auth.findUsers(ids) },
    counters,
    spool,
    quarantine: kept.quarantine,
    shared: kept.shared,
    sharedSets: kept.sharedSets,
    home: foundation.home.id,
    onInfected: (file) => monitor.detection.observe(scanFinished(file)),
    onCleared: (file) => monitor.alerts.raise(clearedFileIncident(file)),
    tell,
    meter: metrics && meterScans(metrics),
    now,
  });
  const { antivirus } = scanner;
  const accounts: Accounts = buildAccounts(appOptions, {
    database,
    audit,
    counters,
    mail,
    verifyLog,
    news,
    proxies,
    leaked: foundation.leaked,
    observe: (event) => monitor.detection.observe(event),
    onChange: changed,
    onLift: (block) => monitor.detection.forgive(block),
    forget: whatIsForgotten({
      ...{ database, antivirus, remote },
      desk: () => desk,
      sessionFiles: () => sessionFiles,
      scores: () => monitor.posture.scores,
    }),
    now,
  });
  const subscriptionParts = {
    database: database.$pickTables<
      | 'subscription_templates'
      | 'subscriptions'
      | 'subscription_requests'
      | 'mails'
      | 'installation'
      | 'audit_entries'
      | 'audit_head'
    >(),
    ...{ audit, mail },
    accounts: accounts.auth,
    public_url: settings.public_url,
    onChange: (user_id: string) => changed(user_id, 'subscription'),
    now,
  };
  const subscriptions = createSubscriptions(subscriptionParts);
  const monitor: Monitor = await buildMonitor(appOptions, {
    database,
    audit,
    mail,
    jobs,
    tell,
    ...{ accounts, scanner, subscriptions, firewall, remote },
    devices: (user_id) => devices.facts(user_id),
    onShown: push.alerted,
    now,
  });
  const devices: BuiltDevices = buildDevices(appOptions, {
    ...{ database, audit, counters, firewall, signatures: scanner.signatures, jobs, topics, keptAnswers, now },
    raise: (incident) => monitor.alerts.raise({ ...incident, browser_id: null, session_id: null }),
    recordScan: (transaction, found) => antivirus.recordOnDevice(transaction, found),
    scanner,
    changed: (user_id) => changed(user_id, 'devices'),
    grantedOf: (device) => remote.grantedOf(device),
  });
  const scannedFiles = createScannedFiles({
    ...folderOf(appOptions, 'attachments-arriving'),
    ...{ files: kept.attachments, inspect: scanner.inspect, upload_ms: settings.upload_ms, logger },
  });
  const sessionFiles = support.keepFiles(scannedFiles);
  const scamChecks = await buildScamCheck(appOptions, {
    ...{ database, counters, scanner, now },
    premium: subscriptions,
    raise: (incident) => monitor.alerts.raise(incident),
  });
  const desk = await buildDesk(appOptions, {
    scamChecks,
    kept: keptAnswers,
    onAnswer: push.answered,
    ...{ database, audit, mail, jobs, topics, tell, accounts, scanner, monitor, subscriptions, firewall, remote, now },
    devices: devices.devices,
    files: scannedFiles,
    key: keys.quarantine,
  });
  return {
    changed,
    installationNews,
    firewall,
    mail,
    support,
    scanner,
    accounts,
    subscriptions,
    planRequests: createPlanRequests(subscriptionParts),
    monitor,
    devices,
    sessionFiles,
    scamChecks,
    push,
    desk,
  };
}

type Features = Awaited<ReturnType<typeof buildFeatures>>;

/** Removes what is over the time that it is kept for. */
function startRetention(appOptions: AppOptions, { database, jobs, audit, now }: Foundation, features: Features): void {
  const { mail, accounts, desk } = features;
  keepRetention({
    jobs,
    tasks: [
      mail.forgetOld,
      () => forgetOldDrills(database.$pickTables<'alerts'>(), now()),
      () => forgetOldScores(database.$pickTables<'score_history'>(), now()),
      () => accounts.sessions.forgetExpired(),
      desk.forgetReadMails,
      ...retentionTasks(appOptions, { database, audit, forgetChats: desk.forgetOld, now }),
      // Last: overwrites what the tasks before it have deleted.
      async () => void (await wipeDeleted(database)),
    ],
  });
}

/** Serves what features answer over HTTP, sockets apart. */
function serveFeatures(
  api: Api,
  { settings }: AppOptions,
  { database, audit, jobs, keptAnswers, proxies }: Foundation,
  features: Features,
): void {
  const { accounts, desk, devices, firewall, mail, monitor, planRequests, scanner, subscriptions, support } = features;
  const { antivirus } = scanner;
  accounts.serve(api);
  serveSubscriptions(api, subscriptions, planRequests);
  serveSetup(api, database.$pickTables<'installation' | 'audit_entries' | 'audit_head'>(), audit);
  serveOutbox(api, mail);
  serveOverview(
    api,
    {
      conversations: desk.countUnanswered,
      plan_requests: planRequests.countOpen,
      plans_ending: () => subscriptions.countEnding(),
      jobs: () => jobs.countDead(),
      false_alarms: scanner.openFalseAlarms,
      mails: mail.countUnsent,
      unproven: () => (settings.exposure === 'public' ? accounts.auth.countUnproven() : Promise.resolve(0)),
    },
    {
      provider: () => isSetUp(database.$pickTables<'installation'>()),
      second_factor: async (user_id) => (await accounts.twoFactor.secondFactor(user_id)).enabled,
      async first_scan(user_id) {
        const { clean, infected, pending } = await antivirus.counts(user_id);
        return clean + infected + pending > 0;
      },
      others: (user_id) => accounts.auth.hasOthers(user_id),
    },
    keptAnswers,
  );
  serveProxyFindings(api, {
    database: database.$pickTables<'installation' | 'audit_entries' | 'audit_head'>(),
    audit,
    proxies,
    keptAnswers,
  });
  scanner.serve(api);
  monitor.serve(api);
  serveDashboard(
    api,
    {
      recentScans: (user_id, count) => antivirus.recent(user_id, count),
      scanCounts: (user_id) => antivirus.counts(user_id),
      plan: (user_id) => subscriptions.current(user_id),
      overview: monitor.posture.overview,
      devices: devices.ofDashboard,
    },
    keptAnswers,
  );
  desk.serve(api);
  features.scamChecks.serve(api);
  features.push.serve(api);
  support.serve(api, features.sessionFiles, desk.customerCard);
  serveFirewall(api, firewall);
  devices.serve(api);
}

/** Opens the HTTP server, its sockets and its metrics. It does not listen yet. */
async function serveApp(appOptions: AppOptions, foundation: Foundation, features: Features) {
  const { settings } = appOptions;
  const { build, database, clock, now, counters, jobs, keptAnswers, metrics, pool, proxies, topics } = foundation;
  const { accounts, desk, devices, mail, monitor, scanner, support } = features;
  const { api, fastify, drain, storage, rateLimits } = await openHttp(appOptions, {
    ...{ database, counters, proxies, metrics, now },
    observe: (event) => monitor.detection.observe(event),
    sessions: accounts.sessions,
    countRequest: (caller) => monitor.detection.countRequest(caller),
    onChange: features.changed,
    onInstallationChange: features.installationNews.tell,
  });
  serveFeatures(api, appOptions, foundation, features);
  serveState(api, {
    ...{ settings, database, drain, storage, proxies, build, keptAnswers, clock },
    engine: scanner.engine,
    store: foundation.kept.storeWatch,
    administrator: (isHere) => accounts.auth.administrator(isHere),
  });
  await openSockets(fastify, [eventsChannel, agentChannel]);
  devices.serveSocket(fastify);
  const control = support.serveControl(fastify, accounts.sessions, devices.authenticate);
  const events = serveEvents(api, {
    topics,
    present: (user_id) => scanner.antivirus.progress(user_id),
    held: accounts.held,
    desk: desk.topics,
    remote: support.seats,
    opening: { rate: settings.limits['sockets.source'], counters },
    limits: appOptions.events_limits ?? SOCKET_LIMITS,
    public_url: settings.public_url,
  });
  const measuring =
    metrics && buildMetrics(appOptions, { metrics, fastify, rateLimits, pool, mail, jobs, scanner, events, build, clock });
  await serveAgentPackage(fastify, appOptions.agent_folder, settings.public_url);
  await serveWeb(fastify, appOptions.web_folder);
  return { fastify, drain, control, events, measuring };
}

async function buildApp(appOptions: AppOptions, home: Home): Promise<App> {
  const foundation = await openFoundation(appOptions, home);
  const features = await buildFeatures(appOptions, foundation);
  startRetention(appOptions, foundation, features);
  const { fastify, drain, control, events, measuring } = await serveApp(appOptions, foundation, features);
  const { database, jobs } = foundation;
  const { accounts, desk, devices, installationNews, mail, monitor, scanner, sessionFiles, support } = features;
  await scanner.antivirus.resume();
  await support.remote.resume();
  const stopWatching = support.watch(accounts.sessions);
  await jobs.start();

  let leaving: Promise<void> | undefined;
  return {
    fastify,
    engine: scanner.engine,
    embedded: scanner.embedded,
    signatures: scanner.signatures,
    alerts: monitor.alerts,
    keepScores: monitor.posture.scores.keep,
    settleSessions: () => support.remote.settle(),
    sweepSessionFiles: sessionFiles.sweep,
    database,
    drain,
    metrics: measuring?.server,
    endSockets() {
      leaving = support.seats.close();
      control.close();
      events.close();
      devices.endSockets();
    },
    announceStop() {
      drain.announce();
      jobs.drain();
    },
    async close() {
      measuring?.close();
      stopWatching();
      // Before their sockets end: their pages have the time of a restart to come back.
      leaving ??= support.seats.close();
      control.close();
      events.close();
      devices.close();
      await leaving;
      installationNews.close();
      await scanner.close();
      await fastify.close();
      await foundation.proxies.close();
      await jobs.close();
      await features.scamChecks.close();
      await desk.close();
      await monitor.close();
      await accounts.close();
      await foundation.counters.close();
      foundation.news?.close();
      foundation.kept.close();
      foundation.topics.close();
      await mail.close();
      await foundation.witness.close();
      await foundation.servers?.leave();
      foundation.clock.close();
      await database.destroy();
      home.release();
    },
  };
}
