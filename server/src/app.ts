import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { UPLOAD_MAXIMUM } from '@palisade/contract/antivirus';
import { VERSION } from '@palisade/contract/constants';
import { readConfig, readHealth, readReadiness } from '@palisade/contract/platform';
import type { FastifyBaseLogger, FastifyInstance } from 'fastify';
import { type Kysely, sql } from 'kysely';
import { createAlertMails } from '#features/anti-hacking/alert-mails.ts';
import { serveAntiHacking } from '#features/anti-hacking/anti-hacking.routes.ts';
import { ALERT_PERSONAL, type AlertTables } from '#features/anti-hacking/anti-hacking.tables.ts';
import { type AntiHacking, createAntiHacking } from '#features/anti-hacking/anti-hacking.ts';
import { DETECTION_PERSONAL, type DetectionTables } from '#features/anti-hacking/detection/detection.tables.ts';
import { createKnownDevices } from '#features/anti-hacking/detection/known-devices.ts';
import { forgetWindowsOf } from '#features/anti-hacking/detection/windows-store.ts';
import { createDetection } from '#features/anti-hacking/detection.ts';
import { clearedFileIncident } from '#features/anti-hacking/infected-file.ts';
import { createMonitor } from '#features/anti-hacking/monitor.ts';
import { createMovedTokens } from '#features/anti-hacking/moved-tokens.ts';
import { forgetOldDrills } from '#features/anti-hacking/old-drills.ts';
import { serveAntivirus, type UploadLimits } from '#features/antivirus/antivirus.routes.ts';
import { ANTIVIRUS_PERSONAL, type AntivirusTables } from '#features/antivirus/antivirus.tables.ts';
import { type Antivirus, createAntivirus, type InfectedFile } from '#features/antivirus/antivirus.ts';
import { createClamdPool } from '#features/antivirus/engines/clamd-pool.ts';
import { createEnginePair } from '#features/antivirus/engines/engine-pair.ts';
import { SCAN_LIMITS, type ScanLimits } from '#features/antivirus/engines/limits.ts';
import { createYaraPool, type Engine, type YaraPool } from '#features/antivirus/engines/yara-pool.ts';
import { createFalseAlarms } from '#features/antivirus/false-alarms.ts';
import type { FetchLimits } from '#features/antivirus/fetch-feed.ts';
import { serveQuarantine } from '#features/antivirus/quarantine.routes.ts';
import { openQuarantine } from '#features/antivirus/quarantine.ts';
import type { MatchHash } from '#features/antivirus/recheck.ts';
import { serveSignatures } from '#features/antivirus/signatures.routes.ts';
import { createSignatures, type Signatures } from '#features/antivirus/signatures.ts';
import { openSpool } from '#features/antivirus/spool.ts';
import { createTurns, SMALL_BYTES } from '#features/antivirus/turns.ts';
import { serveAudit } from '#features/audit/audit.routes.ts';
import { createAuditLog } from '#features/audit/audit-log.ts';
import { serveAccounts } from '#features/auth/account.routes.ts';
import { createAccounts } from '#features/auth/account.ts';
import { serveAuth } from '#features/auth/auth.routes.ts';
import { AUTH_PERSONAL, type AuthTables } from '#features/auth/auth.tables.ts';
import { createAuth } from '#features/auth/auth.ts';
import { createExport } from '#features/auth/export.ts';
import { createFarewell } from '#features/auth/farewell.ts';
import { readLeakedPasswords } from '#features/auth/leaked-passwords.ts';
import { passkeySite } from '#features/auth/passkey-site.ts';
import { createPasskeys } from '#features/auth/passkeys.ts';
import { createPasswords } from '#features/auth/password.ts';
import { servePrivacy } from '#features/auth/privacy.routes.ts';
import { createProveAgain } from '#features/auth/prove-again.ts';
import { serveRecovery } from '#features/auth/recovery.routes.ts';
import { createRecovery } from '#features/auth/recovery.ts';
import { openSealedSecrets } from '#features/auth/sealed-secret.ts';
import { createSecondFactors } from '#features/auth/second-factors.ts';
import { createSignIn } from '#features/auth/sign-in.ts';
import { createSignInChallenges } from '#features/auth/sign-in-challenges.ts';
import { serveTwoFactor } from '#features/auth/two-factor.routes.ts';
import { TWO_FACTOR_PERSONAL, type TwoFactorTables } from '#features/auth/two-factor.tables.ts';
import { createTwoFactor } from '#features/auth/two-factor.ts';
import { serveUsers } from '#features/auth/users.routes.ts';
import { createUsers } from '#features/auth/users.ts';
import { serveChat } from '#features/chat/chat.routes.ts';
import { CHAT_PERSONAL, type ChatTables } from '#features/chat/chat.tables.ts';
import { createChat } from '#features/chat/chat.ts';
import { serveDashboard } from '#features/dashboard/dashboard.routes.ts';
import { createBlocks } from '#features/enforcement/blocks.ts';
import { createCallGuard } from '#features/enforcement/call-guard.ts';
import { serveEnforcement } from '#features/enforcement/enforcement.routes.ts';
import { ENFORCEMENT_PERSONAL, type EnforcementTables } from '#features/enforcement/enforcement.tables.ts';
import { createLoginGuard } from '#features/enforcement/login-guard.ts';
import { serveFirewall } from '#features/firewall/firewall.routes.ts';
import { FIREWALL_PERSONAL, type FirewallTables } from '#features/firewall/firewall.tables.ts';
import { createFirewall } from '#features/firewall/firewall.ts';
import { serveOutbox } from '#features/outbox/outbox.routes.ts';
import { serveRemote } from '#features/remote/remote.routes.ts';
import { REMOTE_PERSONAL, type RemoteTables } from '#features/remote/remote.tables.ts';
import { createRemote } from '#features/remote/remote.ts';
import { serveSetup } from '#features/setup/setup.routes.ts';
import { createPlanRequests } from '#features/subscriptions/plan-requests.ts';
import { serveSubscriptions } from '#features/subscriptions/subscriptions.routes.ts';
import { SUBSCRIPTION_PERSONAL, type SubscriptionTables } from '#features/subscriptions/subscriptions.tables.ts';
import { createSubscriptions } from '#features/subscriptions/subscriptions.ts';
import { migrations } from '#migrations/all.ts';
import { type AuditTables, createAudit } from '#platform/audit.ts';
import { createBus } from '#platform/bus.ts';
import { createMemoryCounters } from '#platform/counters.ts';
import { type DatabaseLocation, migrate, openDatabase } from '#platform/database.ts';
import { EVENTS_LIMITS, type EventsLimits, serveEvents } from '#platform/events.ts';
import { createHttp, PATIENCE, type PatienceLimits } from '#platform/http.ts';
import { type InstallationTables, readProvider } from '#platform/installation.ts';
import { createMail, MAIL_PERSONAL, type MailTables } from '#platform/mail.ts';
import { isLoopbackSource, sourceOf } from '#platform/origin.ts';
import { type PersonalTable, partOf } from '#platform/personal-data.ts';
import { Problem } from '#platform/problem.ts';
import { createRateLimits } from '#platform/rate-limit.ts';
import { createRedisCounters } from '#platform/redis-counters.ts';
import { createRequestWatch } from '#platform/request-watch.ts';
import { keepRetention } from '#platform/retention.ts';
import type { SecurityEvent } from '#platform/security-event.ts';
import { type Api, serve } from '#platform/serve.ts';
import { createSessions, SESSION_PERSONAL, type SessionTables } from '#platform/session.ts';
import type { Settings } from '#platform/settings.ts';
import { serveWeb } from '#platform/web.ts';

type Tables = AuthTables &
  TwoFactorTables &
  AuditTables &
  SessionTables &
  AntivirusTables &
  SubscriptionTables &
  AlertTables &
  DetectionTables &
  ChatTables &
  RemoteTables &
  InstallationTables &
  MailTables &
  FirewallTables &
  EnforcementTables;

/** What the file of all one's data holds, in this order; the activity comes last. */
export const PERSONAL_TABLES: readonly PersonalTable[] = [
  ...AUTH_PERSONAL,
  ...TWO_FACTOR_PERSONAL,
  ...SESSION_PERSONAL,
  ...ENFORCEMENT_PERSONAL,
  ...ANTIVIRUS_PERSONAL,
  ...ALERT_PERSONAL,
  ...DETECTION_PERSONAL,
  ...FIREWALL_PERSONAL,
  ...CHAT_PERSONAL,
  ...REMOTE_PERSONAL,
  ...SUBSCRIPTION_PERSONAL,
  ...MAIL_PERSONAL,
];

/** What surrounds the application: settings, where things lie, the clock, the log. */
export interface Surroundings {
  settings: Settings;
  database: DatabaseLocation;
  /** `server/signatures`. */
  signatures_folder: string;
  /** The table of leaked passwords that `scripts/leaked-passwords.mjs` makes. */
  leaked_passwords: string;
  /** The built web application. */
  web_folder: string;
  logger: FastifyBaseLogger;
  now?: () => number;
  scan_limits?: ScanLimits;
  upload_limits?: Partial<UploadLimits>;
  events_limits?: EventsLimits;
  patience?: PatienceLimits;
  /** How often the server looks for new signatures, in ms. */
  signatures_look_ms?: number;
  feed_limits?: FetchLimits;
  engine_processes?: number;
  scan_retry_ms?: number;
  /** What is known of files by their SHA-256 alone. */
  match_hash?: MatchHash;
  /** How often each clamd is looked at, in ms. */
  scanner_look_ms?: number;
  /** What drills are drawn with: from 0 up to, not including, 1. */
  random?: () => number;
  mail_look_ms?: number;
  /** How often it is looked whether a weekly digest is due, in ms. */
  digest_look_ms?: number;
  /** How a sign-in that has to wait does so. */
  pause?: (ms: number) => Promise<void>;
  /** How often what is over its time is looked for, in ms. */
  retention_look_ms?: number;
  /** How often detection looks at volumes and forgets what has expired, in ms. */
  detection_look_ms?: number;
}

export interface App {
  fastify: FastifyInstance;
  engine: Engine;
  /** The one of `engine` that is always there. */
  embedded: YaraPool;
  signatures: Signatures;
  /** What raises alerts. */
  antiHacking: Pick<AntiHacking, 'raise'>;
  database: Kysely<Tables>;
  close(): Promise<void>;
}

const UPLOAD_LIMITS: UploadLimits = {
  maximum: UPLOAD_MAXIMUM,
  stall_ms: 30_000,
  // 1 KiB/s: slower than any network that a person would upload files over.
  slow: { window_ms: 30_000, bytes: 30 * 1024 },
  arrivals: { per_person: 64, all: 1_000 },
};
/** From when on an open remote session is one that was forgotten [H]. */
const LONG_REMOTE_SESSION_MS = 8 * 3_600_000;
/** A process scans one file at a time and takes one core and some 100 MB. One more than cores, because one is kept for small files. */
const ENGINE_PROCESSES = { least: 3, most: 5 } as const;

/** What detection is told of an infected upload. */
function scanFinished({ user_id, scan, is_test_file, copy, told_again }: InfectedFile): SecurityEvent {
  const threat = scan.threat_detected ?? 'A threat';
  return {
    at: scan.scanned_at,
    user_id,
    ...{ source: null, address: null, client: null },
    kind: 'scan_finished',
    data: {
      scan_id: scan.id,
      filename: scan.filename,
      member: scan.threat_member,
      verdict: 'infected',
      threat,
      sha256: scan.file_hash,
      is_test_file,
      // The pack's names begin with it, and clamd's either so or after what guessed it.
      is_phishing: /^(Heuristics\.)?Phish/i.test(threat),
      copy,
      told_again,
    },
  };
}

/** Builds every feature by hand and serves it: the one place where features meet. Listens on nothing. */
export async function createApp(surroundings: Surroundings): Promise<App> {
  const { settings, logger, now = Date.now } = surroundings;
  const leaked = readLeakedPasswords(surroundings.leaked_passwords);
  const spool = openSpool(join(settings.data_dir, 'spool'));
  const quarantine = openQuarantine({
    folder: join(settings.data_dir, 'quarantine'),
    key_file: settings.quarantine_key_file,
  });
  const database = openDatabase<Tables>(surroundings.database);
  await migrate(database, migrations);
  const bus = createBus();
  const ownCounters = createMemoryCounters({ now });
  const counters =
    settings.redis_url === undefined
      ? ownCounters
      : await createRedisCounters({ url: settings.redis_url, meanwhile: ownCounters, now, logger });

  const audit = createAudit({ now });
  const auditTables = database.$pickTables<'audit_entries' | 'audit_head'>();

  const engine_processes =
    surroundings.engine_processes ??
    Math.min(ENGINE_PROCESSES.most, Math.max(ENGINE_PROCESSES.least, availableParallelism() + 1));
  const limits = surroundings.scan_limits ?? SCAN_LIMITS;
  const signatures = await createSignatures({
    folder: join(settings.data_dir, 'signatures'),
    signatures_folder: surroundings.signatures_folder,
    feeds: settings.signature_feeds,
    now,
    logger,
    look_ms: surroundings.signatures_look_ms,
    fetch_limits: surroundings.feed_limits,
  });
  const embedded = createYaraPool({ signatures: signatures.files(), size: engine_processes, limits, logger });
  signatures.watch(async (files) => {
    const took_over = await embedded.reload(files);
    if (took_over) {
      antivirus
        .signaturesChanged()
        .catch((error: unknown) => logger.error({ err: error }, 'earlier scans could not be rechecked'));
    }
    return took_over;
  });
  const clamd =
    settings.scanners.length === 0
      ? undefined
      : createClamdPool({
          addresses: settings.scanners,
          time_ms: limits.time_ms,
          logger,
          onRenewed: (change) => {
            antivirus
              .rescanWaiting(change === 'signatures')
              .catch((error: unknown) => logger.error({ err: error }, 'waiting files could not be scanned'));
          },
          look_ms: surroundings.scanner_look_ms,
        });
  const engine = clamd === undefined ? embedded : createEnginePair(embedded, clamd);
  const firewall = createFirewall({ database: database.$pickTables<'firewall_rules' | 'firewall_rule_counts'>(), now });
  const remote = createRemote({ database: database.$pickTables<'remote_sessions'>(), now });
  const falseAlarms = createFalseAlarms({
    database: database.$pickTables<'scans' | 'quarantine_reports' | 'audit_entries' | 'audit_head'>(),
    audit,
    accounts: { findUsers: (ids) => auth.findUsers(ids) },
    now,
  });
  const antivirus: Antivirus = createAntivirus({
    database: database.$pickTables<'scans' | 'quarantine_reports' | 'installation'>(),
    engine,
    turns: createTurns({ slots: engine_processes, small_bytes: SMALL_BYTES }),
    spool,
    quarantine,
    falseAlarms,
    now,
    logger,
    onInfected: (file) => detection.observe(scanFinished(file)),
    onCleared: (file) => antiHacking.raise(clearedFileIncident(file)),
    tell: bus.publish,
    matchHash: surroundings.match_hash ?? signatures.matchHash,
    retry_ms: surroundings.scan_retry_ms,
  });
  const passwords = createPasswords({
    database: database.$pickTables<'installation'>(),
    exposure: settings.exposure,
    leaked,
  });
  const auth = createAuth({
    database: database.$pickTables<'users' | 'reset_tokens' | 'installation' | 'audit_entries' | 'audit_head'>(),
    audit,
    passwords,
    exposure: settings.exposure,
    admin_emails: settings.admin_emails,
    proveEmail: (email) => recovery.mailProof(email),
    now,
  });
  const subscriptionParts = {
    database: database.$pickTables<
      'subscription_templates' | 'subscriptions' | 'subscription_requests' | 'audit_entries' | 'audit_head'
    >(),
    audit,
    accounts: auth,
    now,
  };
  const subscriptions = createSubscriptions(subscriptionParts);
  const sessions = createSessions({ database: database.$pickTables<'sessions'>(), findUser: auth.findUser, now });
  const mail = createMail({
    database: database.$pickTables<'mails' | 'installation'>(),
    server: settings.mail_server,
    now,
    logger,
    look_ms: surroundings.mail_look_ms,
  });
  const blocks = createBlocks({ database: database.$pickTables<'blocks' | 'sign_in_sources'>(), now });
  const guard = createLoginGuard({
    database: database.$pickTables<'blocks' | 'sign_in_sources' | 'audit_entries' | 'audit_head' | 'mails' | 'installation'>(),
    blocks,
    counters,
    limits: settings.limits,
    accounts: auth,
    audit,
    mail,
    isExempt: (source) => settings.exposure === 'local' && isLoopbackSource(source),
    onLift: (block) => detection.forgive(block),
    now,
    pause: surroundings.pause ?? sleep,
    logger,
  });
  const secrets = openSealedSecrets(settings.two_factor_key_file);
  const twoFactorTables = database.$pickTables<
    keyof (AuthTables & TwoFactorTables) | 'audit_entries' | 'audit_head' | 'mails' | 'installation'
  >();
  const passkeys = createPasskeys({
    database: database.$pickTables<'passkeys' | 'passkey_challenges'>(),
    now,
    logger,
  });
  const secondFactors = createSecondFactors({ database: twoFactorTables, passkeys, secrets, audit, mail, now, logger });
  const twoFactor = createTwoFactor({ database: twoFactorTables, passkeys, secondFactors, secrets, audit, mail, now });
  const alertMails = createAlertMails({
    database: database.$pickTables<keyof AlertTables | 'mails' | 'installation'>(),
    mail,
    accounts: auth,
    premium: subscriptions,
    public_url: settings.public_url,
    now,
    logger,
    look_ms: surroundings.digest_look_ms,
  });
  const detectionTables = database.$pickTables<'detection_windows' | 'known_devices'>();
  const devices = createKnownDevices({ database: detectionTables, now });
  const antiHacking = createAntiHacking({
    database: database.$pickTables<keyof AlertTables | 'audit_entries' | 'audit_head' | 'mails' | 'installation'>(),
    audit,
    mails: alertMails,
    tell: bus.publish,
    consequences: {
      async endSession(user_id, session_id) {
        const session = await sessions.find(session_id);
        if (session?.user_id !== user_id) return false;
        await sessions.end(session_id);
        return true;
      },
      secondFactor: twoFactor.secondFactor,
      devices,
    },
    scans: (user_id) => antivirus.counts(user_id),
    rules: firewall.listRules,
    account: async (user_id) => {
      const { created_at, ...standing } = await auth.standing(user_id);
      return {
        ...standing,
        age_ms: now() - Date.parse(created_at),
        second_factor: await twoFactor.secondFactor(user_id),
        unreviewed_devices: (await devices.unreviewedDevices(user_id)).length,
      };
    },
    remote: async (user_id) => ({ long_sessions: await remote.countLonger(user_id, LONG_REMOTE_SESSION_MS) }),
    signaturesAge: signatures.age,
    now,
    logger,
    random: surroundings.random,
  });
  const detection = createDetection({
    database: detectionTables,
    devices,
    raise: antiHacking.raise,
    isRefused: guard.isRefused,
    administrators: () => auth.administrators(),
    now,
    logger,
    look_ms: surroundings.detection_look_ms,
  });
  const readMonitor = await createMonitor({
    database: database.$pickTables<'installation'>(),
    accounts: auth,
    watches: { files: engine.ready, sign_ins: () => true, requests: () => true },
    now,
  });
  const signIn = createSignIn({
    database: twoFactorTables,
    auth,
    sessions,
    guard,
    secondFactors,
    challenges: createSignInChallenges({ database: database.$pickTables<'sign_in_challenges'>(), now }),
    passkeys,
    wakeMail: mail.wake,
    audit,
    observe: detection.observe,
    now,
  });
  const accountTables = database.$pickTables<
    keyof (AuthTables & TwoFactorTables) | 'sessions' | 'mails' | 'installation' | 'audit_entries' | 'audit_head'
  >();
  const accounts = createAccounts({ database: accountTables, audit, passwords, sessions, mail });
  const recovery = createRecovery({
    database: accountTables,
    audit,
    passwords,
    sessions,
    mail,
    public_url: settings.public_url,
    exposure: settings.exposure,
    admin_emails: settings.admin_emails,
    now,
    logger,
  });
  const auditLog = createAuditLog({ database: auditTables, accounts: auth, now });
  const dataExport = createExport({
    database: auditTables,
    audit,
    parts: [
      ...PERSONAL_TABLES.map((table) => partOf(database, table)),
      { name: 'activity', rows: ({ id }) => auditLog.allActivity(id) },
    ],
    now,
  });
  const farewell = createFarewell({
    database: accountTables,
    audit,
    sessions,
    mail,
    forget: [
      (transaction, user_id) =>
        antivirus.forgetPerson(transaction.$extendTables<Pick<Tables, 'scans' | 'quarantine_reports'>>(), user_id),
      async (transaction, user_id) => {
        await remote.forgetAgent(transaction.$extendTables<Pick<Tables, 'remote_sessions'>>(), user_id);
        return () => Promise.resolve();
      },
      async (transaction, user_id) => {
        await forgetWindowsOf(transaction.$extendTables<Pick<Tables, 'detection_windows' | 'known_devices'>>(), user_id);
        return () => Promise.resolve();
      },
    ],
    now,
  });
  const proveAgain = createProveAgain({ database: twoFactorTables, accounts, secondFactors });
  const retention = keepRetention({
    tasks: [mail.forgetOld, () => forgetOldDrills(database.$pickTables<'alerts'>(), now())],
    logger,
    look_ms: surroundings.retention_look_ms,
  });

  const fastify = await createHttp({
    logger,
    trusted_proxies: settings.trusted_proxies,
    patience: surroundings.patience ?? PATIENCE,
    public_url: settings.public_url,
  });
  const watch = createRequestWatch({ observe: detection.observe, now });
  watch.observeAll(fastify);
  const rateLimits = createRateLimits({ counters, limits: settings.limits, observe: detection.observe, now });
  const lookAtToken = createMovedTokens({ observe: detection.observe, now });
  const api: Api = {
    fastify,
    sessions,
    limits: rateLimits,
    watch,
    onCall(request, session) {
      detection.countRequest(session ? { kind: 'account', id: session.user.id } : { kind: 'source', id: sourceOf(request.ip) });
      if (session) lookAtToken(session, request);
    },
  };
  const callGuard = createCallGuard({ counters, limits: settings.limits });
  serveAuth(api, auth, { signIn, guard: callGuard, accounts });
  serveTwoFactor(api, {
    twoFactor,
    passkeys,
    signIn,
    siteOf: ({ headers }) => passkeySite(headers.host, settings),
  });
  serveSubscriptions(api, subscriptions, createPlanRequests(subscriptionParts));
  serveAccounts(api, auth, accounts);
  serveUsers(api, createUsers({ database: accountTables, audit, sessions, secondFactors: twoFactor.secondFactors, now }));
  servePrivacy(api, { accounts, dataExport, farewell, proveAgain });
  serveAudit(api, auditLog);
  serveRecovery(api, recovery, {
    answers: settings.exposure === 'local' && settings.reset_delivery === 'response',
    guard: callGuard,
  });
  serveSetup(api, database.$pickTables<'installation' | 'audit_entries' | 'audit_head'>(), audit);
  serveOutbox(api, mail);
  serveAntivirus(api, antivirus, spool, { ...UPLOAD_LIMITS, ...surroundings.upload_limits });
  serveQuarantine(api, antivirus, falseAlarms, (kind, { user_id, filename, file_hash }, origin) =>
    audit.record(auditTables, { kind, subject_id: user_id, actor_id: user_id, origin, details: { filename, file_hash } }),
  );
  serveSignatures(api, { signatures, embedded, clamd, limits });
  serveAntiHacking(api, antiHacking, subscriptions, readMonitor);
  serveDashboard(api, {
    recentScans: antivirus.recent,
    scanCounts: antivirus.counts,
    plan: subscriptions.current,
    overview: antiHacking.overview,
  });
  serveChat(api, createChat({ database: database.$pickTables<'chat_messages'>(), now }));
  serveRemote(api, remote);
  serveFirewall(api, firewall);
  serveEnforcement(api, { blocks, guard, accounts: auth });

  serve(api, readHealth, 'anyone', () => Promise.resolve({ status: 'ok' as const }));
  serve(api, readReadiness, 'anyone', async () => {
    await sql`select 1`.execute(database).catch((error: unknown) => {
      throw new Problem('unavailable', { detail: 'The database does not answer.', retry_after: 5, cause: error });
    });
    if (!engine.ready()) throw new Problem('unavailable', { detail: 'The scanning engine is starting.', retry_after: 1 });
    return { status: 'ready' as const };
  });
  serve(api, readConfig, 'anyone', async () => ({
    version: VERSION,
    exposure: settings.exposure,
    open_local: settings.open_local,
    demo: settings.demo,
    reset_delivery: settings.reset_delivery,
    ...(await readProvider(database.$pickTables<'installation'>())),
    links: { live_chat: settings.live_chat_url ?? null, remote_portal: settings.remote_portal_url ?? null },
  }));
  const events = await serveEvents(api, {
    bus,
    present: antivirus.progress,
    limits: surroundings.events_limits ?? EVENTS_LIMITS,
    public_url: settings.public_url,
  });
  await serveWeb(fastify, surroundings.web_folder);
  await antivirus.resume();

  return {
    fastify,
    engine,
    embedded,
    signatures,
    antiHacking,
    database,
    async close() {
      events.close();
      await signatures.close();
      await antivirus.close();
      await fastify.close();
      await retention.close();
      await detection.close();
      await recovery.close();
      await alertMails.close();
      await guard.close();
      await counters.close();
      await mail.close();
      await database.destroy();
    },
  };
}
