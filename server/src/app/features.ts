import type { Topic } from '@palisade/contract/endpoint';
import type { LiveEvent } from '@palisade/contract/events';
import { clearedFileIncident } from '#features/alerts/cleared-file.ts';
import type { FirewallTables } from '#features/firewall/firewall.tables.ts';
import { createFirewall } from '#features/firewall/firewall.ts';
import { createPlanRequests } from '#features/subscriptions/plan-requests.ts';
import { createSubscriptions } from '#features/subscriptions/subscriptions.ts';
import { logFailure } from '#platform/database-patience.ts';
import { createMail } from '#platform/mail.ts';
import { createScannedFiles } from '#platform/scanned-files.ts';
import { personTopic } from '#platform/topics/topics.ts';
import { type Accounts, buildAccounts } from './accounts.ts';
import type { AppOptions } from './app-options.ts';
import { buildDesk } from './desk.ts';
import { type BuiltDevices, buildDevices } from './devices.ts';
import { whatIsForgotten } from './forgetting.ts';
import type { Foundation } from './foundation.ts';
import { createInstallationNews } from './installation-news.ts';
import { type RestrainedMail, restrainMail } from './letters.ts';
import { meterScans } from './metrics.ts';
import { buildMonitor, type Monitor, scanFinished } from './monitor.ts';
import { peopleFacts } from './people.ts';
import { buildPush } from './push.ts';
import { buildRemote } from './remote.ts';
import { buildScamCheck } from './scam-check.ts';
import { buildScanner } from './scanner.ts';
import { folderOf } from './storage.ts';
import { buildWebProtection } from './web-protection.ts';

/** Builds the firewall and the channels to people: push, mail, and the news of the installation. */
function buildSenders(
  appOptions: AppOptions,
  { database, keys, now, topics, counters, keptAnswers, jobs }: Foundation,
  parts: { accounts: () => Accounts; onRules: (user_id: string) => void },
) {
  const { settings, logger } = appOptions;
  const installationNews = createInstallationNews({
    topics,
    administrators: () => parts.accounts().auth.administrators(),
    onTell: () => keptAnswers.toldAll(),
    logger,
  });
  const push = buildPush(appOptions, { database, jobs, counters, key: keys.quarantine, now });
  const firewall = createFirewall({
    database: database.$pickTables<keyof FirewallTables>(),
    jobs,
    onChange: parts.onRules,
    now,
  });
  const everyMail = createMail({
    database: database.$pickTables<'mails' | 'installation'>(),
    server: settings.mail_server && { ...settings.mail_server, public_url: settings.public_url },
    now,
    logger,
    look_ms: appOptions.mail_look_ms,
    onChange: () => installationNews.tell('waiting'),
  });
  const mail = restrainMail(everyMail, {
    mayHear: (tables, email) => parts.accounts().emailProofs.mayHear(tables, email),
    counters,
    limits: settings.limits,
  });
  return { installationNews, push, firewall, mail };
}

/** Dependencies of subscriptions and of plan requests. */
function partsOfSubscriptions(
  { settings }: AppOptions,
  { database, audit, now }: Foundation,
  parts: { mail: RestrainedMail; accounts: Accounts['auth']; onChange: (user_id: string) => void },
) {
  return {
    database: database.$pickTables<
      | 'subscription_templates'
      | 'subscriptions'
      | 'subscription_requests'
      | 'mails'
      | 'installation'
      | 'audit_entries'
      | 'audit_head'
    >(),
    audit,
    ...parts,
    public_url: settings.public_url,
    now,
  };
}

/** Builds the scanner on the shared foundation. Accounts and the monitor are passed as functions, because they are built later. */
async function buildSharedScanner(
  appOptions: AppOptions,
  foundation: Foundation,
  parts: {
    mail: RestrainedMail;
    tell: (user_id: string, event: LiveEvent) => void;
    changed: (user_id: string, topic: Topic) => void;
    accounts: () => Accounts;
    monitor: () => Monitor;
  },
) {
  const { database, jobs, news, audit, counters, spool, kept, metrics, now } = foundation;
  const { mail, tell, changed, accounts, monitor } = parts;
  return await buildScanner(appOptions, {
    database: database.$pickTables<
      'scans' | 'scan_counts' | 'quarantine_reports' | 'installation' | 'jobs' | 'mails' | 'audit_entries' | 'audit_head'
    >(),
    jobs,
    mail,
    onFilesChanged: (user_id) => changed(user_id, 'files'),
    news,
    livingHomes: async () => (await foundation.servers?.living()) ?? [],
    audit,
    accounts: { findUsers: (ids) => accounts().auth.findUsers(ids) },
    counters,
    spool,
    quarantine: kept.quarantine,
    shared: kept.shared,
    sharedSets: kept.sharedSets,
    home: foundation.home.id,
    onInfected: (file) => monitor().detection.observe(scanFinished(file)),
    onCleared: (file) => monitor().alerts.raise(clearedFileIncident(file)),
    onSettled: (files, is_over, whole) =>
      monitor()
        .alerts.settleFiles(whole, is_over)
        // Update the stored state, which lists of people show.
        .then(() => Promise.all([...new Set(files.map(({ user_id }) => user_id))].map((id) => monitor().posture.overview(id))))
        .then(() => undefined)
        .catch((error: unknown) => logFailure(appOptions.logger, error, 'could not settle alerts')),
    tell,
    meter: metrics && meterScans(metrics),
    now,
  });
}

/** Builds all features and passes them their dependencies. Only files in `app/` connect features. */
export async function buildFeatures(appOptions: AppOptions, foundation: Foundation) {
  const { settings, logger } = appOptions;
  const { database, keys, now, kept, keptAnswers, topics, counters, news, jobs, audit, verifyLog, proxies } = foundation;
  const tell = (user_id: string, event: LiveEvent) => topics.publish(personTopic(user_id), event);
  const changed = (user_id: string, topic: Topic) => {
    tell(user_id, { kind: 'changed', topic });
    if (topic === 'rules') devices.rulesChanged(user_id);
  };
  const { installationNews, push, firewall, mail } = buildSenders(appOptions, foundation, {
    accounts: () => accounts,
    onRules: (user_id) => changed(user_id, 'rules'),
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
  const scanner = await buildSharedScanner(appOptions, foundation, {
    ...{ mail, tell, changed },
    accounts: () => accounts,
    monitor: () => monitor,
  });
  const { antivirus } = scanner;
  const accounts: Accounts = buildAccounts(appOptions, {
    ...{ database, audit, counters, mail, verifyLog, news, proxies },
    leaked: foundation.leaked,
    facts: peopleFacts(database, now, () => subscriptions),
    observe: (event) => monitor.detection.observe(event),
    onChange: changed,
    furtherParts: () => webProtection.personalParts,
    onLift: (block) => monitor.detection.forgive(block),
    forget: whatIsForgotten({
      ...{ database, antivirus, remote, changed },
      ...{ desk: () => desk, webProtection: () => webProtection, sessionFiles: () => sessionFiles },
      scores: () => monitor.posture.scores,
    }),
    now,
  });
  const subscriptionParts = partsOfSubscriptions(appOptions, foundation, {
    ...{ mail, accounts: accounts.auth },
    onChange: (user_id) => changed(user_id, 'subscription'),
  });
  const subscriptions = createSubscriptions(subscriptionParts);
  const monitor: Monitor = await buildMonitor(appOptions, {
    database,
    audit,
    mail,
    jobs,
    tell,
    ...{ accounts, scanner, subscriptions, firewall, remote },
    devices: (user_id) => devices.facts(user_id),
    ...{ web: (user_id) => webProtection.facts(user_id), home: (user_id) => webProtection.home(user_id) },
    onShown: push.alerted,
    now,
  });
  const devices: BuiltDevices = buildDevices(appOptions, {
    ...{ database, audit, counters, firewall, signatures: scanner.signatures, jobs, topics, keptAnswers, now },
    raise: (incident) => monitor.alerts.raise({ ...incident, browser_id: null, session_id: null }),
    records: antivirus.onDevices,
    ...{ scanner, nameKeys: () => webProtection.agentKeys },
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
  const webProtection = await buildWebProtection(appOptions, {
    ...{ database, counters, audit, jobs, mail, now, onSilent: push.silent, onAsk: push.asked, agents: devices },
    findUsers: (ids) => accounts.auth.findUsers(ids),
    dangerousLists: () => scanner.signatures.domainLists(),
    providerLists: () => scamChecks.providerLists(),
    premium: subscriptions,
    raise: (incident) => monitor.alerts.raise(incident),
    changed: (user_id) => changed(user_id, 'devices'),
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
    webProtection,
    push,
    desk,
  };
}

export type Features = Awaited<ReturnType<typeof buildFeatures>>;
