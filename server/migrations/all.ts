import type { Migration } from 'kysely/migration';
import type { Baseline } from '#platform/migrations.ts';
import * as baseline from './0200-baseline.ts';
import * as auditReading from './0201-audit-reading.ts';
import * as invitationMakers from './0202-invitation-makers.ts';
import * as pushSessions from './0203-push-sessions.ts';
import * as findingOwners from './0204-finding-owners.ts';
import * as confirmedDevices from './0205-confirmed-devices.ts';
import * as timesOfAll from './0206-times-of-all.ts';
import * as infectionLife from './0207-infection-life.ts';
import * as webProtection from './0208-web-protection.ts';
import * as webAddresses from './0209-web-addresses.ts';
import * as keptStates from './0210-kept-states.ts';
import * as webDeviceLimits from './0211-web-device-limits.ts';
import * as shownNames from './0212-shown-names.ts';
import * as agentNames from './0213-agent-names.ts';
import * as profileLimits from './0214-profile-limits.ts';
import * as household from './0215-household.ts';
import * as seenKeys from './0216-seen-keys.ts';

/**
 * Migrations that the version before them does not survive: it answers calls with 500 where they have taken something away. They are not applied while another server of the database lives.
 * The rule is "expand, then contract in the next version" (test/expanding-migrations.test.ts), so that none is needed.
 */
export const BREAKING_MIGRATIONS: ReadonlySet<string> = new Set();

/** The last commit before the baseline, and its migrations. */
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

/** Every migration by its number, in one direction. A landed one is never edited. */
export const migrations: Record<string, Migration> = {
  [BASELINE.name]: baseline,
  '0201-audit-reading': auditReading,
  '0202-invitation-makers': invitationMakers,
  '0203-push-sessions': pushSessions,
  '0204-finding-owners': findingOwners,
  '0205-confirmed-devices': confirmedDevices,
  '0206-times-of-all': timesOfAll,
  '0207-infection-life': infectionLife,
  '0208-web-protection': webProtection,
  '0209-web-addresses': webAddresses,
  '0210-kept-states': keptStates,
  '0211-web-device-limits': webDeviceLimits,
  '0212-shown-names': shownNames,
  '0213-agent-names': agentNames,
  '0214-profile-limits': profileLimits,
  '0215-household': household,
  '0216-seen-keys': seenKeys,
};
