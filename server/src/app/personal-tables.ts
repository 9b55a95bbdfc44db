import { ALERT_PERSONAL } from '#features/alerts/alerts.tables.ts';
import { ANTIVIRUS_PERSONAL } from '#features/antivirus/antivirus.tables.ts';
import { AUTH_PERSONAL } from '#features/auth/auth.tables.ts';
import { TWO_FACTOR_PERSONAL } from '#features/auth/two-factor.tables.ts';
import { CHAT_PERSONAL } from '#features/chat/chat.tables.ts';
import { DETECTION_PERSONAL } from '#features/detection/detection.tables.ts';
import { DEVICE_PERSONAL } from '#features/devices/devices.tables.ts';
import { ENFORCEMENT_PERSONAL } from '#features/enforcement/enforcement.tables.ts';
import { FIREWALL_PERSONAL } from '#features/firewall/firewall.tables.ts';
import { POSTURE_PERSONAL } from '#features/posture/posture.tables.ts';
import { PUSH_PERSONAL } from '#features/push/push.tables.ts';
import { REMOTE_PERSONAL } from '#features/remote/remote.tables.ts';
import { SCAM_CHECK_PERSONAL } from '#features/scam-check/scam-check.tables.ts';
import { SUBSCRIPTION_PERSONAL } from '#features/subscriptions/subscriptions.tables.ts';
import { WEB_PROTECTION_PERSONAL } from '#features/web-protection/web-protection.tables.ts';
import { MAIL_PERSONAL } from '#platform/mail.ts';
import type { PersonalTable } from '#platform/personal-data.ts';
import { SESSION_PERSONAL } from '#platform/session.ts';

/** Tables in a person's data export, in this order; the activity log is last. */
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
