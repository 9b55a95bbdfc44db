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
import type { Observe } from '#platform/security-event.ts';
import { personTopic } from '#platform/topics/topics.ts';
import { serveWeb } from '#platform/web.ts';
import { type Accounts, buildAccounts } from './app/accounts.ts';
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
import type { Surroundings } from './app/surroundings.ts';
import type { Tables } from './app/tables.ts';

export interface App {
  fastify: FastifyInstance;
  engine: Engine;
  /** The one of `engine` that is always there. */
  embedded: YaraPool;
  signatures: Signatures;
  /** What raises alerts. */
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
  /** What answers `/metrics` apart from everything else, where the settings ask for that; listens on nothing yet. */
  metrics: Server | undefined;
  /** Has a load balancer send nobody here any more, and takes up no more jobs. */
  announceStop(): void;
  /** Ends every socket with the word that its page is to connect again. */
  endSockets(): void;
  close(): Promise<void>;
}

/**
 * Takes the data folder, builds every feature by hand and serves it. Listens on nothing.
 * @throws HomeTakenError while another server has the data folder.
 */
export async function createApp(surroundings: Surroundings): Promise<App> {
  const home = takeHome({
    folder: surroundings.settings.data_dir,
    onLost(error) {
      // Whatever is written from here on may be over what the other server has written.
      throw error;
    },
  });
  try {
    return await buildApp(surroundings, home);
  } catch (error) {
    home.release();
    throw error;
  }
}

/** Here, and in `app/`, features meet, and nowhere else. */
async function buildApp(surroundings: Surroundings, home: Home): Promise<App> {
  const { settings, logger } = surroundings;
  const build = readBuild();
  const leaked = readLeakedPasswords(surroundings.leaked_passwords);
  // Before anything else is made or changed: the database says whether this version and these keys are the right ones.
  const { database, keys, pool, clock } = await openStore(surroundings, home.id);
  const { now } = clock;
  const servers = await joinOthers(surroundings, database, home.id);
  const metrics = settings.metrics && createMetrics();
  const spool = openSpool({ ...folderOf(surroundings, 'spool'), limits: settings.spool });
  const { quarantine, shared, sharedSets, attachments, storeWatch, close: closeStore } = await openKeptFiles(surroundings);
  const { topics, counters, news } = await openBetween(surroundings, now);
  const tell = (user_id: string, event: LiveEvent) => topics.publish(personTopic(user_id), event);
  const changed = (user_id: string, topic: Topic) => {
    tell(user_id, { kind: 'changed', topic });
    if (topic === 'rules') devices.rulesChanged(user_id);
  };
  const installationNews = createInstallationNews({
    topics,
    administrators: () => accounts.auth.administrators(),
    logger,
  });
  const jobs = createJobs({
    database: database.$pickTables<'jobs'>(),
    logger,
    news,
    every_ms: surroundings.every_ms,
  });
  const { audit, verifyLog, witness } = await buildAudit(surroundings, {
    database: database.$pickTables<'audit_entries' | 'audit_head'>(),
    key: keys.audit,
    now,
  });
  const push = buildPush(surroundings, { database, jobs, counters, key: keys.quarantine, now });
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
    look_ms: surroundings.mail_look_ms,
    onChange: () => installationNews.tell('waiting'),
  });
  const mail = restrainMail(everyMail, {
    mayHear: (tables, email) => accounts.emailProofs.mayHear(tables, email),
    counters,
    limits: settings.limits,
  });
  const support = buildRemote(surroundings, {
    ...{ database, audit, jobs, counters, mail, topics, now },
    people: () => accounts.auth,
    raise: (incident) => monitor.alerts.raise(incident),
    changed: (user_id) => changed(user_id, 'remote'),
    findDevice: (user_id, device_id) => devices.grantable(user_id, device_id),
    nudgeDevice: (device_id) => devices.nudge(device_id),
    measuredSessions: () => devices.measuredSessions,
  });
  const { remote } = support;
  const proxies = await createProxyWatch({
    database: database.$pickTables<'installation'>(),
    exposure: settings.exposure,
    open_local: settings.open_local,
    public_url: settings.public_url,
    trusted_proxies: settings.trusted_proxies,
    letters: settings.mail_server === undefined ? 'outbox' : 'mail',
    now,
    logger,
  });
  const scanner = await buildScanner(surroundings, {
    database: database.$pickTables<
      'scans' | 'quarantine_reports' | 'installation' | 'jobs' | 'mails' | 'audit_entries' | 'audit_head'
    >(),
    jobs,
    mail,
    onFilesChanged: (user_id) => changed(user_id, 'files'),
    news,
    livingHomes: async () => (await servers?.living()) ?? [],
    audit,
    accounts: { findUsers: (ids) => accounts.auth.findUsers(ids) },
    counters,
    spool,
    quarantine,
    shared,
    sharedSets,
    home: home.id,
    onInfected: (file) => monitor.detection.observe(scanFinished(file)),
    onCleared: (file) => monitor.alerts.raise(clearedFileIncident(file)),
    tell,
    meter: metrics && meterScans(metrics),
    now,
  });
  const { antivirus, engine, embedded, signatures } = scanner;
  const observe: Observe = (event) => monitor.detection.observe(event);
  const accounts: Accounts = buildAccounts(surroundings, {
    database,
    audit,
    counters,
    mail,
    verifyLog,
    news,
    proxies,
    leaked,
    observe,
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
  const monitor: Monitor = await buildMonitor(surroundings, {
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
  const devices: BuiltDevices = buildDevices(surroundings, {
    ...{ database, audit, counters, firewall, signatures, jobs, topics, now },
    raise: (incident) => monitor.alerts.raise({ ...incident, browser_id: null, session_id: null }),
    recordScan: (transaction, found) => antivirus.recordOnDevice(transaction, found),
    scanner,
    changed: (user_id) => changed(user_id, 'devices'),
    grantedOf: (device) => remote.grantedOf(device),
  });
  const scannedFiles = createScannedFiles({
    ...folderOf(surroundings, 'attachments-arriving'),
    ...{ files: attachments, inspect: scanner.inspect, upload_ms: settings.upload_ms, logger },
  });
  const sessionFiles = support.keepFiles(scannedFiles);
  const scamChecks = await buildScamCheck(surroundings, {
    ...{ database, counters, scanner, now },
    premium: subscriptions,
    raise: (incident) => monitor.alerts.raise(incident),
  });
  const desk = await buildDesk(surroundings, {
    scamChecks,
    onAnswer: push.answered,
    ...{ database, audit, mail, jobs, topics, tell, accounts, scanner, monitor, subscriptions, firewall, remote, now },
    devices: devices.devices,
    files: scannedFiles,
    key: keys.quarantine,
  });
  keepRetention({
    jobs,
    tasks: [
      mail.forgetOld,
      () => forgetOldDrills(database.$pickTables<'alerts'>(), now()),
      () => forgetOldScores(database.$pickTables<'score_history'>(), now()),
      () => accounts.sessions.forgetExpired(),
      desk.forgetReadMails,
      ...retentionTasks(surroundings, { database, audit, forgetChats: desk.forgetOld, now }),
      // Last: what the others have removed is to be gone.
      async () => void (await wipeDeleted(database)),
    ],
  });

  const { api, fastify, drain, storage, rateLimits } = await openHttp(surroundings, {
    ...{ database, counters, proxies, metrics, observe, now },
    sessions: accounts.sessions,
    countRequest: (caller) => monitor.detection.countRequest(caller),
    onChange: changed,
    onInstallationChange: installationNews.tell,
  });
  accounts.serve(api);
  const planRequests = createPlanRequests(subscriptionParts);
  serveSubscriptions(api, subscriptions, planRequests);
  serveSetup(api, database.$pickTables<'installation' | 'audit_entries' | 'audit_head'>(), audit);
  serveOutbox(api, mail);
  serveOverview(
    api,
    {
      plan_requests: planRequests.countOpen,
      false_alarms: scanner.openFalseAlarms,
      mails: mail.countUnsent,
      jobs: () => jobs.countDead(),
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
  );
  serveProxyFindings(api, {
    database: database.$pickTables<'installation' | 'audit_entries' | 'audit_head'>(),
    audit,
    proxies,
  });
  scanner.serve(api);
  monitor.serve(api);
  serveDashboard(api, {
    recentScans: (user_id, count) => antivirus.recent(user_id, count),
    scanCounts: (user_id) => antivirus.counts(user_id),
    plan: (user_id) => subscriptions.current(user_id),
    overview: monitor.posture.overview,
    devices: devices.ofDashboard,
  });
  desk.serve(api);
  scamChecks.serve(api);
  push.serve(api);
  support.serve(api, sessionFiles, desk.customerCard);
  serveFirewall(api, firewall);
  devices.serve(api);

  serveState(api, {
    ...{ settings, database, drain, engine, storage, proxies, build, clock },
    store: storeWatch,
    administrator: (isHere) => accounts.auth.administrator(isHere),
  });
  await openSockets(fastify, [eventsChannel, agentChannel]);
  devices.serveSocket(fastify);
  const control = support.serveControl(fastify, accounts.sessions, devices.authenticate);
  const events = serveEvents(api, {
    topics,
    present: (user_id) => antivirus.progress(user_id),
    held: accounts.held,
    desk: desk.topics,
    remote: support.seats,
    opening: { rate: settings.limits['sockets.source'], counters },
    limits: surroundings.events_limits ?? SOCKET_LIMITS,
    public_url: settings.public_url,
  });
  const measuring =
    metrics && buildMetrics(surroundings, { metrics, fastify, rateLimits, pool, mail, jobs, scanner, events, build, clock });
  await serveAgentPackage(fastify, surroundings.agent_folder, settings.public_url);
  await serveWeb(fastify, surroundings.web_folder);
  await antivirus.resume();
  await remote.resume();
  const stopWatching = support.watch(accounts.sessions);
  await jobs.start();

  let leaving: Promise<void> | undefined;
  return {
    fastify,
    engine,
    embedded,
    signatures,
    alerts: monitor.alerts,
    keepScores: monitor.posture.scores.keep,
    settleSessions: () => remote.settle(),
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
      await proxies.close();
      await jobs.close();
      await scamChecks.close();
      await desk.close();
      await monitor.close();
      await accounts.close();
      await counters.close();
      news?.close();
      closeStore();
      topics.close();
      await mail.close();
      await witness.close();
      await servers?.leave();
      clock.close();
      await database.destroy();
      home.release();
    },
  };
}
