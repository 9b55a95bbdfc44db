import { ALERT_PERSONAL, type AlertTables } from '#features/alerts/alerts.tables.ts';
import { ANTIVIRUS_PERSONAL, type AntivirusTables } from '#features/antivirus/antivirus.tables.ts';
import { AUTH_PERSONAL, type AuthTables } from '#features/auth/auth.tables.ts';
import { TWO_FACTOR_PERSONAL, type TwoFactorTables } from '#features/auth/two-factor.tables.ts';
import { CHAT_PERSONAL, type ChatTables } from '#features/chat/chat.tables.ts';
import { DETECTION_PERSONAL, type DetectionTables } from '#features/detection/detection.tables.ts';
import { DEVICE_PERSONAL, type DeviceTables } from '#features/devices/devices.tables.ts';
import { ENFORCEMENT_PERSONAL, type EnforcementTables } from '#features/enforcement/enforcement.tables.ts';
import { FIREWALL_PERSONAL, type FirewallTables } from '#features/firewall/firewall.tables.ts';
import type { HelpTables } from '#features/help/help.tables.ts';
import { POSTURE_PERSONAL, type PostureTables } from '#features/posture/posture.tables.ts';
import { PUSH_PERSONAL, type PushTables } from '#features/push/push.tables.ts';
import { REMOTE_PERSONAL, type RemoteTables } from '#features/remote/remote.tables.ts';
import { SCAM_CHECK_PERSONAL, type ScamCheckTables } from '#features/scam-check/scam-check.tables.ts';
import { SUBSCRIPTION_PERSONAL, type SubscriptionTables } from '#features/subscriptions/subscriptions.tables.ts';
import { WEB_PROTECTION_PERSONAL, type WebProtectionTables } from '#features/web-protection/web-protection.tables.ts';
import type { AuditTables } from '#platform/audit.ts';
import type { InstallationTables } from '#platform/installation.ts';
import type { JobTables } from '#platform/jobs/job-tables.ts';
import type { ServerTables } from '#platform/live-servers.ts';
import { MAIL_PERSONAL, type MailTables } from '#platform/mail.ts';
import type { PersonalTable } from '#platform/personal-data.ts';
import { SESSION_PERSONAL, type SessionTables } from '#platform/session.ts';

/** Every table; each is one feature's to write. */
export type Tables = AuthTables &
  TwoFactorTables &
  AuditTables &
  SessionTables &
  AntivirusTables &
  SubscriptionTables &
  AlertTables &
  DetectionTables &
  PostureTables &
  ChatTables &
  HelpTables &
  RemoteTables &
  InstallationTables &
  MailTables &
  JobTables &
  ServerTables &
  FirewallTables &
  DeviceTables &
  EnforcementTables &
  PushTables &
  ScamCheckTables &
  WebProtectionTables;

/** The content of the file of a person's data, in this order; the activity is last. */
export const PERSONAL_TABLES: readonly PersonalTable[] = [
  ...AUTH_PERSONAL,
  ...TWO_FACTOR_PERSONAL,
  ...SESSION_PERSONAL,
  ...ENFORCEMENT_PERSONAL,
  ...ANTIVIRUS_PERSONAL,
  ...ALERT_PERSONAL,
  ...POSTURE_PERSONAL,
  ...DETECTION_PERSONAL,
  ...FIREWALL_PERSONAL,
  ...DEVICE_PERSONAL,
  ...CHAT_PERSONAL,
  ...REMOTE_PERSONAL,
  ...SUBSCRIPTION_PERSONAL,
  ...MAIL_PERSONAL,
  ...SCAM_CHECK_PERSONAL,
  ...PUSH_PERSONAL,
  ...WEB_PROTECTION_PERSONAL,
];
