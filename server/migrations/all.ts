import type { Migration } from 'kysely/migration';
import type { Baseline } from '#platform/migrations.ts';
import { readFolder } from './folder.ts';

/**
 * Migrations that break the previous version of the server, which then answers calls with status 500. They are not applied while another server of the database runs.
 * Empty by the rule "expand, then contract in the next version" (test/expanding-migrations.test.ts).
 */
export const BREAKING_MIGRATIONS: ReadonlySet<string> = new Set();

/** The last commit before the baseline, and the migrations that the baseline replaces. */
export const BASELINE: Baseline = {
  name: '0200-baseline',
  commit: '509b6c4c',
  replaces: `
    0001-accounts 0002-scans 0003-firewall 0004-subscriptions 0005-support 0006-alerts 0007-accounts 0008-quarantine
    0010-common-passwords 0011-audit 0012-two-factor 0013-detection 0014-alerts 0015-enforcement 0016-administration
    0017-score-history 0018-leaked-passwords 0020-findings 0023-engine-deaths 0025-home 0030-usernames 0031-email-proof
    0033-audit-key 0034-retention 0037-mail-queue 0043-stored-in 0045-jobs 0046-servers 0050-desk 0051-help 0055-browsers
    0056-firewall-revisions 0057-devices 0058-remote-support 0062-device-trials 0063-signature-editions 0064-device-watching
    0065-answers-by-mail 0066-remote-grants 0068-overseen-sessions 0069-remote-files 0070-device-sessions 0071-desk-held
    0072-second-looks 0073-remote-voice 0077-blocked-parts 0084-device-health 0090-folded-text 0091-arrived-mails
    0100-scam-check 0101-push 0120-device-wishes 0130-security-checks 0131-invitations 0140-scan-counts 0141-alert-phrases
    0142-scan-phrases 0143-chat-phrases`
    .trim()
    .split(/\s+/),
};

/** All migrations by name; there are no down migrations. A released one is never edited. */
export const migrations: Record<string, Migration> = await readFolder();
