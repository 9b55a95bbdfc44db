import type { LiveEvent } from '@palisade/contract/events';
import type { Status } from '@palisade/contract/status';
import type { Kysely } from 'kysely';
import { createAlertCounts } from '#features/alerts/alert-counts.ts';
import { createAlertMails } from '#features/alerts/alert-mails.ts';
import { serveAlerts } from '#features/alerts/alerts.routes.ts';
import type { AlertTables } from '#features/alerts/alerts.tables.ts';
import { createAlerts } from '#features/alerts/alerts.ts';
import { addDrill } from '#features/alerts/drills.ts';
import { createMonitor } from '#features/alerts/monitor.ts';
import type { InfectedFile } from '#features/antivirus/examination-news.ts';
import type { DetectionTables } from '#features/detection/detection.tables.ts';
import { createDetection } from '#features/detection/detection.ts';
import { createFindingNotifier } from '#features/detection/finding-notifier.ts';
import { createKnownBrowsers } from '#features/detection/known-browsers.ts';
import type { Firewall } from '#features/firewall/firewall.ts';
import { servePosture } from '#features/posture/posture.routes.ts';
import { createPosture } from '#features/posture/posture.ts';
import type { DeviceFacts, PostureFacts } from '#features/posture/posture-facts.ts';
import type { Remote } from '#features/remote/remote.ts';
import type { Subscriptions } from '#features/subscriptions/subscriptions.ts';
import type { Audit } from '#platform/audit.ts';
import type { Incident } from '#platform/incident.ts';
import type { Jobs } from '#platform/jobs/jobs.ts';
import type { SecurityEvent } from '#platform/security-event.ts';
import type { Api } from '#platform/serve.ts';
import type { Tables } from '#platform/tables.ts';
import type { Accounts } from './accounts.ts';
import type { AppOptions } from './app-options.ts';
import type { RestrainedMail } from './letters.ts';
import type { Scanner } from './scanner.ts';

/** An open remote session counts as forgotten after this time, in ms. The value was chosen by this project. */
const LONG_REMOTE_SESSION_MS = 8 * 3_600_000;

/** The detection event of an infected file. */
export function scanFinished({ user_id, scan, is_test_file, copy, told_again }: InfectedFile): SecurityEvent {
  const threat = scan.threat_detected ?? 'A threat';
  return {
    at: scan.scanned_at,
    user_id,
    source: null,
    address: null,
    client: null,
    kind: 'scan_finished',
    data: {
      scan_id: scan.id,
      filename: scan.filename,
      member: scan.threat_member,
      verdict: 'infected',
      threat,
      sha256: scan.file_hash,
      is_test_file,
      // Names of the bundled signatures begin with `Phish`; those of clamd also with `Heuristics.Phish`.
      is_phishing: /^(Heuristics\.)?Phish/i.test(threat),
      copy,
      told_again,
    },
  };
}

interface MonitorParts {
  database: Kysely<Tables>;
  audit: Audit;
  mail: RestrainedMail;
  jobs: Jobs;
  tell: (user_id: string, event: LiveEvent) => void;
  accounts: Accounts;
  scanner: Scanner;
  subscriptions: Subscriptions;
  firewall: Firewall;
  remote: Remote;
  devices: (user_id: string) => Promise<DeviceFacts | undefined>;
  web: (user_id: string) => Promise<PostureFacts['web']>;
  home: (user_id: string) => Promise<PostureFacts['home']>;
  onShown: (incident: Incident, status: (user_id: string) => Promise<Status>) => void;
  now: () => number;
}

/** Builds posture with the data of other features that it rates. */
function buildPosture(
  { logger }: AppOptions,
  parts: Pick<
    MonitorParts,
    'database' | 'accounts' | 'scanner' | 'subscriptions' | 'firewall' | 'remote' | 'devices' | 'web' | 'home' | 'now'
  > & {
    counts: ReturnType<typeof createAlertCounts>;
    browsers: ReturnType<typeof createKnownBrowsers>;
  },
) {
  const { database, accounts, scanner, subscriptions, firewall, remote, counts, browsers, now } = parts;
  return createPosture({
    database: database.$pickTables<'score_history'>(),
    alerts: counts,
    scans: (user_id) => scanner.antivirus.counts(user_id),
    rules: (user_id) => firewall.listRules(user_id),
    account: async (user_id) => {
      const { created_at, ...standing } = await accounts.auth.standing(user_id);
      return {
        ...standing,
        age_ms: now() - Date.parse(created_at),
        second_factor: await accounts.twoFactor.secondFactor(user_id),
        unreviewed_browsers: (await browsers.unreviewedBrowsers(user_id)).map(({ id }) => id),
      };
    },
    devices: parts.devices,
    web: parts.web,
    home: parts.home,
    remote: async (user_id) => ({ long_sessions: await remote.countLonger(user_id, LONG_REMOTE_SESSION_MS) }),
    plan: (user_id) => subscriptions.ending(user_id),
    signaturesAge: () => scanner.signatures.age(),
    now,
    logger,
  });
}

/** Builds the monitor: detection, alerts with their mails, posture, and their endpoints. */
export async function buildMonitor(appOptions: AppOptions, parts: MonitorParts) {
  const { settings, logger } = appOptions;
  const { database, audit, mail, jobs, tell, accounts, scanner, subscriptions, now } = parts;
  const alertMails = createAlertMails({
    database: database.$pickTables<keyof AlertTables | 'mails' | 'installation'>(),
    mail,
    jobs,
    accounts: accounts.auth,
    premium: subscriptions,
    status: (user_id) => statusOf(user_id),
    public_url: settings.public_url,
    now,
  });
  const detectionTables = database.$pickTables<keyof DetectionTables>();
  const browsers = createKnownBrowsers({ database: detectionTables, now });
  const counts = createAlertCounts({ database: database.$pickTables<keyof AlertTables>(), now });
  const alerts = createAlerts({
    database: database.$pickTables<
      keyof AlertTables | 'detection_findings' | 'audit_entries' | 'audit_head' | 'mails' | 'installation'
    >(),
    audit,
    mails: alertMails,
    tell,
    consequences: {
      async endSession(user_id, session_id) {
        const session = await accounts.sessions.find(session_id);
        if (session?.user_id !== user_id) return false;
        await accounts.sessions.end(session_id);
        return true;
      },
      secondFactor: (user_id) => accounts.twoFactor.secondFactor(user_id),
      browsers,
    },
    onChange: counts.forget,
    onShown: (incident) => parts.onShown(incident, statusOf),
    now,
  });
  const posture = buildPosture(appOptions, { ...parts, counts, browsers });
  const statusOf = async (user_id: string) => (await posture.overview(user_id)).status;
  const { wasRefused } = accounts.blocks;
  const notifier = createFindingNotifier({
    database: database.$pickTables<'detection_findings'>(),
    raise: (incident, claim) => alerts.raise(incident, claim),
    wasRefused,
    administrators: () => accounts.auth.administrators(),
    now,
    logger,
  });
  const detection = createDetection({
    database: detectionTables,
    browsers,
    notifier,
    wasRefused,
    jobs,
    now,
    logger,
    fold_ms: appOptions.volumes_fold_ms,
  });
  const readMonitor = await createMonitor({
    database: database.$pickTables<'installation'>(),
    accounts: accounts.auth,
    watches: { files: scanner.engine.ready, sign_ins: () => true, requests: () => true },
    now,
  });

  return {
    alerts,
    posture,
    detection,

    serve(api: Api): void {
      const premium_api = { ...api, premium: subscriptions };
      const { random = Math.random } = appOptions;
      const simulate = (user_id: string) => addDrill(user_id, { database: database.$pickTables<'alerts'>(), now: now(), random });
      serveAlerts(premium_api, { alerts, counts, simulate, readState: readMonitor });
      servePosture(premium_api, posture);
    },

    async close(): Promise<void> {
      await detection.close();
      await posture.close();
    },
  };
}

export type Monitor = Awaited<ReturnType<typeof buildMonitor>>;
