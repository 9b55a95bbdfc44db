import type { Server } from 'node:http';
import { agentChannel } from '@palisade/contract/agent';
import { eventsChannel } from '@palisade/contract/events';
import { readHome } from '@palisade/contract/home';
import { readInstallationReport } from '@palisade/contract/report';
import type { Engine, YaraPool } from '@palisade/scanner/yara-pool';
import type { FastifyInstance } from 'fastify';
import type { Kysely } from 'kysely';
import type { Alerts } from '#features/alerts/alerts.ts';
import { forgetOldDrills } from '#features/alerts/old-drills.ts';
import type { Signatures } from '#features/antivirus/signatures.ts';
import { readDeskSettings } from '#features/chat/desk-settings.ts';
import { serveDashboard } from '#features/dashboard/dashboard.routes.ts';
import { serveFirewall } from '#features/firewall/firewall.routes.ts';
import { serveOutbox } from '#features/outbox/outbox.routes.ts';
import { forgetOldScores } from '#features/posture/score-history.ts';
import { drawIcon } from '#features/setup/logo-icon.ts';
import { serveOverview } from '#features/setup/overview.routes.ts';
import { serveSetup } from '#features/setup/setup.routes.ts';
import { serveSubscriptions } from '#features/subscriptions/subscriptions.routes.ts';
import { serveAgentPackage } from '#platform/agent-package.ts';
import { readBrand, serveIcons, serveLogo } from '#platform/brand.ts';
import { SOCKET_LIMITS } from '#platform/channels/channel-service.ts';
import { openSockets } from '#platform/channels/socket-request.ts';
import { wipeDeleted } from '#platform/database.ts';
import type { Drain } from '#platform/drain.ts';
import { serveEvents } from '#platform/events.ts';
import { type Home, takeHome } from '#platform/home.ts';
import { isSetUp } from '#platform/installation.ts';
import type { PassedSockets } from '#platform/passed-sockets.ts';
import { serveProxyFindings } from '#platform/proxy.routes.ts';
import { keepRetention } from '#platform/retention.ts';
import { type Api, serve } from '#platform/serve.ts';
import type { Tables } from '#platform/tables.ts';
import { serveWeb } from '#platform/web.ts';
import type { AppOptions } from './app/app-options.ts';
import { buildFeatures, type Features } from './app/features.ts';
import { type Foundation, openFoundation } from './app/foundation.ts';
import { installationReport } from './app/installation-report.ts';
import { buildMetrics } from './app/metrics.ts';
import { openHttp } from './app/open-http.ts';
import { homeOf } from './app/people.ts';
import { serveState } from './app/state.routes.ts';
import { retentionTasks } from './app/store.ts';

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
  /** Begins to answer plain DNS and DNS over TLS, where the settings ask for them. @throws Error with a sentence. */
  listenForNames(passed?: PassedSockets): Promise<void>;
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
      features.webProtection.forgetOld,
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
  { database, audit, jobs, keptAnswers, now, proxies }: Foundation,
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
      waiting: {
        conversations: desk.countUnanswered,
        remote_requests: (me) => support.remote.countWaiting(me),
        plan_requests: planRequests.countOpen,
        plans_ending: () => subscriptions.countEnding(),
        jobs: () => jobs.countDead(),
        false_alarms: scanner.openFalseAlarms,
        mails: mail.countUnsent,
        unproven: () => (settings.exposure === 'public' ? accounts.auth.countUnproven() : Promise.resolve(0)),
      },
      first_steps: {
        provider: () => isSetUp(database.$pickTables<'installation'>()),
        second_factor: async (user_id) => (await accounts.twoFactor.secondFactor(user_id)).enabled,
        async first_scan(user_id) {
          const { clean, infected, pending } = await antivirus.counts(user_id);
          return clean + infected + pending > 0;
        },
        others: (user_id) => accounts.auth.hasOthers(user_id),
      },
      isMailConnected: () => mail.sender() !== undefined,
    },
    keptAnswers,
  );
  const deskSettings = () => readDeskSettings(database.$pickTables<'installation'>());
  serve(api, readInstallationReport, 'admin', ({ query }) =>
    installationReport({ ...{ database, subscriptions, now }, users: accounts.users, settings: deskSettings }, query),
  );
  serve(api, readHome, 'admin', ({ query }) =>
    homeOf({ ...{ database, subscriptions, now }, users: accounts.users }, query.time_zone),
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
  features.webProtection.serve(api);
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
  const { api, fastify, serveDirectly, drain, storage, rateLimits } = await openHttp(appOptions, {
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
  serveDirectly(features.webProtection.namesOverHttps);
  features.webProtection.serveProfiles(fastify);
  await serveAgentPackage(fastify, appOptions.agent_folder, settings.public_url);
  const installation = database.$pickTables<'installation'>();
  serveLogo(fastify, installation);
  await serveWeb(fastify, appOptions.web_folder, {
    readBrand: () => readBrand(installation),
    serveIcons: () => serveIcons(fastify, installation, drawIcon),
  });
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
    listenForNames: features.webProtection.listen,
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
      await features.webProtection.close();
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
