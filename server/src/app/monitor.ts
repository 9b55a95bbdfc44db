import type { LiveEvent } from '@palisade/contract/events';
import type { Kysely } from 'kysely';
import { createAlertMails } from '#features/anti-hacking/alert-mails.ts';
import { serveAntiHacking } from '#features/anti-hacking/anti-hacking.routes.ts';
import type { AlertTables } from '#features/anti-hacking/anti-hacking.tables.ts';
import { createAntiHacking } from '#features/anti-hacking/anti-hacking.ts';
import type { DetectionTables } from '#features/anti-hacking/detection/detection.tables.ts';
import { createKnownBrowsers } from '#features/anti-hacking/detection/known-browsers.ts';
import { createDetection } from '#features/anti-hacking/detection.ts';
import { createMonitor } from '#features/anti-hacking/monitor.ts';
import type { DeviceFacts } from '#features/anti-hacking/posture-checks.ts';
import { createTelling } from '#features/anti-hacking/telling.ts';
import type { InfectedFile } from '#features/antivirus/examination.ts';
import type { Firewall } from '#features/firewall/firewall.ts';
import type { Remote } from '#features/remote/remote.ts';
import type { Subscriptions } from '#features/subscriptions/subscriptions.ts';
import type { Audit } from '#platform/audit.ts';
import type { Jobs } from '#platform/jobs/jobs.ts';
import type { Mail } from '#platform/mail.ts';
import type { SecurityEvent } from '#platform/security-event.ts';
import type { Api } from '#platform/serve.ts';
import type { Accounts } from './accounts.ts';
import type { Scanner } from './scanner.ts';
import type { Surroundings } from './surroundings.ts';
import type { Tables } from './tables.ts';

/** From when on an open remote session is one that was forgotten [H]. */
const LONG_REMOTE_SESSION_MS = 8 * 3_600_000;

/** What detection is told of an infected upload. */
export function scanFinished({ user_id, scan, is_test_file, copy, told_again }: InfectedFile): SecurityEvent {
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

/** Builds what watches: detection, alerts and their mails, posture, and what is said of all that. */
export async function buildMonitor(
  surroundings: Surroundings,
  parts: {
    database: Kysely<Tables>;
    audit: Audit;
    mail: Mail;
    jobs: Jobs;
    tell: (user_id: string, event: LiveEvent) => void;
    accounts: Accounts;
    scanner: Scanner;
    subscriptions: Subscriptions;
    firewall: Firewall;
    remote: Remote;
    devices: (user_id: string) => Promise<DeviceFacts | undefined>;
    now: () => number;
  },
) {
  const { settings, logger } = surroundings;
  const { database, audit, mail, jobs, tell, accounts, scanner, subscriptions, firewall, remote, now } = parts;
  const alertMails = createAlertMails({
    database: database.$pickTables<keyof AlertTables | 'mails' | 'installation'>(),
    mail,
    jobs,
    accounts: accounts.auth,
    premium: subscriptions,
    public_url: settings.public_url,
    now,
  });
  const detectionTables = database.$pickTables<keyof DetectionTables>();
  const browsers = createKnownBrowsers({ database: detectionTables, now });
  const antiHacking = createAntiHacking({
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
      secondFactor: accounts.twoFactor.secondFactor,
      browsers,
    },
    scans: scanner.antivirus.counts,
    rules: firewall.listRules,
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
    remote: async (user_id) => ({ long_sessions: await remote.countLonger(user_id, LONG_REMOTE_SESSION_MS) }),
    signaturesAge: scanner.signatures.age,
    now,
    logger,
    random: surroundings.random,
  });
  const { wasRefused } = accounts.blocks;
  const telling = createTelling({
    database: database.$pickTables<'detection_findings'>(),
    raise: antiHacking.raise,
    wasRefused,
    administrators: () => accounts.auth.administrators(),
    ...{ now, logger },
  });
  const detection = createDetection({
    database: detectionTables,
    ...{ browsers, telling, wasRefused, jobs, now, logger },
    fold_ms: surroundings.volumes_fold_ms,
  });
  const readMonitor = await createMonitor({
    database: database.$pickTables<'installation'>(),
    accounts: accounts.auth,
    watches: { files: scanner.engine.ready, sign_ins: () => true, requests: () => true },
    now,
  });

  return {
    antiHacking,
    detection,

    serve(api: Api): void {
      serveAntiHacking(api, antiHacking, subscriptions, readMonitor);
    },

    async close(): Promise<void> {
      await detection.close();
    },
  };
}

export type Monitor = Awaited<ReturnType<typeof buildMonitor>>;
