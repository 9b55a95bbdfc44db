import type { Migration } from 'kysely/migration';
import * as accounts from './0001-accounts.ts';
import * as scans from './0002-scans.ts';
import * as firewall from './0003-firewall.ts';
import * as subscriptions from './0004-subscriptions.ts';
import * as support from './0005-support.ts';
import * as alerts from './0006-alerts.ts';
import * as recovery from './0007-accounts.ts';
import * as quarantine from './0008-quarantine.ts';
import * as commonPasswords from './0010-common-passwords.ts';
import * as audit from './0011-audit.ts';
import * as twoFactor from './0012-two-factor.ts';
import * as detection from './0013-detection.ts';
import * as alertDecisions from './0014-alerts.ts';
import * as enforcement from './0015-enforcement.ts';
import * as administration from './0016-administration.ts';
import * as scoreHistory from './0017-score-history.ts';
import * as leakedPasswords from './0018-leaked-passwords.ts';
import * as findings from './0020-findings.ts';
import * as engineDeaths from './0023-engine-deaths.ts';
import * as home from './0025-home.ts';
import * as usernames from './0030-usernames.ts';
import * as emailProof from './0031-email-proof.ts';
import * as auditKey from './0033-audit-key.ts';
import * as retention from './0034-retention.ts';
import * as mailQueue from './0037-mail-queue.ts';
import * as storedIn from './0043-stored-in.ts';
import * as jobs from './0045-jobs.ts';
import * as servers from './0046-servers.ts';
import * as desk from './0050-desk.ts';
import * as help from './0051-help.ts';
import * as browsers from './0055-browsers.ts';
import * as firewallRevisions from './0056-firewall-revisions.ts';
import * as devices from './0057-devices.ts';
import * as remoteSupport from './0058-remote-support.ts';
import * as deviceTrials from './0062-device-trials.ts';
import * as signatureEditions from './0063-signature-editions.ts';
import * as deviceWatching from './0064-device-watching.ts';
import * as answersByMail from './0065-answers-by-mail.ts';
import * as remoteGrants from './0066-remote-grants.ts';
import * as overseenSessions from './0068-overseen-sessions.ts';
import * as remoteFiles from './0069-remote-files.ts';
import * as deviceSessions from './0070-device-sessions.ts';
import * as deskHeld from './0071-desk-held.ts';
import * as secondLooks from './0072-second-looks.ts';
import * as remoteVoice from './0073-remote-voice.ts';
import * as blockedParts from './0077-blocked-parts.ts';
import * as deviceHealth from './0084-device-health.ts';
import * as foldedText from './0090-folded-text.ts';
import * as arrivedMails from './0091-arrived-mails.ts';
import * as scamCheck from './0100-scam-check.ts';
import * as push from './0101-push.ts';
import * as deviceWishes from './0120-device-wishes.ts';
import * as securityChecks from './0130-security-checks.ts';
import * as invitations from './0131-invitations.ts';
import * as scanCounts from './0140-scan-counts.ts';
import * as alertPhrases from './0141-alert-phrases.ts';
import * as scanPhrases from './0142-scan-phrases.ts';
import * as chatPhrases from './0143-chat-phrases.ts';

/**
 * Migrations that the version before them does not survive: it answers calls with 500 where they have taken something away. They are not applied while another server of the database lives. None
 * was added since the rule "expand, then contract in the next version" (test/expanding-migrations.test.ts).
 */
export const BREAKING_MIGRATIONS: ReadonlySet<string> = new Set(['0014-alerts', '0031-email-proof', '0050-desk']);

/** Every migration by its number, in one direction. A landed one is never edited. */
export const migrations: Record<string, Migration> = {
  '0001-accounts': accounts,
  '0002-scans': scans,
  '0004-subscriptions': subscriptions,
  '0006-alerts': alerts,
  '0005-support': support,
  '0007-accounts': recovery,
  '0003-firewall': firewall,
  '0008-quarantine': quarantine,
  '0010-common-passwords': commonPasswords,
  '0011-audit': audit,
  '0012-two-factor': twoFactor,
  '0013-detection': detection,
  '0014-alerts': alertDecisions,
  '0015-enforcement': enforcement,
  '0016-administration': administration,
  '0017-score-history': scoreHistory,
  '0018-leaked-passwords': leakedPasswords,
  '0020-findings': findings,
  '0023-engine-deaths': engineDeaths,
  '0025-home': home,
  '0033-audit-key': auditKey,
  '0034-retention': retention,
  '0037-mail-queue': mailQueue,
  '0030-usernames': usernames,
  '0031-email-proof': emailProof,
  '0043-stored-in': storedIn,
  '0045-jobs': jobs,
  '0046-servers': servers,
  '0050-desk': desk,
  '0051-help': help,
  '0055-browsers': browsers,
  '0056-firewall-revisions': firewallRevisions,
  '0057-devices': devices,
  '0058-remote-support': remoteSupport,
  '0065-answers-by-mail': answersByMail,
  '0062-device-trials': deviceTrials,
  '0063-signature-editions': signatureEditions,
  '0064-device-watching': deviceWatching,
  '0066-remote-grants': remoteGrants,
  '0068-overseen-sessions': overseenSessions,
  '0069-remote-files': remoteFiles,
  '0070-device-sessions': deviceSessions,
  '0071-desk-held': deskHeld,
  '0072-second-looks': secondLooks,
  '0073-remote-voice': remoteVoice,
  '0077-blocked-parts': blockedParts,
  '0084-device-health': deviceHealth,
  '0090-folded-text': foldedText,
  '0091-arrived-mails': arrivedMails,
  '0100-scam-check': scamCheck,
  '0101-push': push,
  '0120-device-wishes': deviceWishes,
  '0130-security-checks': securityChecks,
  '0131-invitations': invitations,
  '0140-scan-counts': scanCounts,
  '0141-alert-phrases': alertPhrases,
  '0142-scan-phrases': scanPhrases,
  '0143-chat-phrases': chatPhrases,
};
