import type { Activity, ShownKind } from '@palisade/contract/audit';
import type { Role } from '@palisade/contract/auth';

/** The fields of an activity that its sentence needs. */
type Told = Pick<Activity, 'kind' | 'address' | 'client' | 'details'>;

/** Label of each kind in the filter, and of an activity without details. */
export const KIND_LABELS: Record<ShownKind, string> = {
  account_registered: 'Account created',
  email_proven: 'Email address confirmed',
  signed_in: 'Signed in',
  signed_out: 'Signed out',
  session_ended: 'Session ended',
  other_sessions_ended: 'Signed out everywhere else',
  username_changed: 'Username changed',
  password_changed: 'Password changed',
  password_reset: 'Password reset',
  two_factor_enabled: 'Two-factor sign-in turned on',
  two_factor_disabled: 'Two-factor sign-in turned off',
  authenticator_added: 'Authenticator app added',
  authenticator_removed: 'Authenticator app removed',
  passkey_added: 'Passkey added',
  passkey_removed: 'Passkey removed',
  recovery_codes_made: 'Recovery codes created',
  recovery_code_used: 'Recovery code used',
  role_changed: 'Role changed',
  account_disabled: 'Account disabled',
  account_enabled: 'Account enabled',
  account_deleted: 'Account deleted',
  data_exported: 'Data exported',
  subscription_assigned: 'Subscription assigned',
  subscription_cancelled: 'Subscription cancelled',
  alert_acknowledged: 'Alert acknowledged',
  alert_resolved: 'Alert resolved',
  alert_reopened: 'Alert reopened',
  suppression_added: 'Alerts hidden',
  suppression_removed: 'Alerts shown again',
  browser_trusted: 'Browser trusted',
  device_enrolled: 'Device enrolled',
  device_revoked: 'Device revoked',
  device_removed: 'Device removed',
  second_look_asked: 'Server rescan of a device’s file requested',
  second_look_withdrawn: 'Server rescan of a device’s file cancelled',
  second_look_received: 'Device’s file received for a server rescan',
  second_look_refused: 'Device’s file refused for a server rescan',
  web_device_added: 'Device added to web protection',
  web_device_removed: 'Device removed from web protection',
  web_key_renewed: 'Address of a device renewed',
  web_names_shown: 'All names of a device shown',
  web_choices_changed: 'Choices of web protection changed',
  web_protection_paused: 'Protection from dangerous websites paused',
  web_protection_resumed: 'Protection from dangerous websites resumed',
  web_name_allowed: 'Website allowed',
  web_name_blocked: 'Website blocked',
  web_name_removed: 'Choice about a website removed',
  profile_added: 'Profile added',
  profile_changed: 'Profile changed',
  profile_removed: 'Profile removed',
  profile_paused: 'Internet of a profile paused',
  profile_resumed: 'Internet of a profile resumed',
  profile_name_allowed: 'Website allowed for a profile',
  profile_name_blocked: 'Website blocked for a profile',
  profile_name_removed: 'Choice about a website removed for a profile',
  profile_asked_answered: 'Request of a profile answered',
  profile_key_renewed: 'Page address of a profile renewed',
  profile_device_changed: 'Device of a profile changed',
  home_invited: 'Guardian invited',
  home_joined: 'Home joined',
  home_left: 'Home left',
  domain_list_accepted: 'List of web protection accepted',
  remote_session_asked: 'A technician asked to join a remote session',
  remote_session_approved: 'Remote session approved',
  remote_session_declined: 'Remote session declined',
  remote_session_ended: 'Remote session ended',
  remote_session_reaffirmed: 'Remote session extended',
  remote_session_reported: 'Remote session reported',
  remote_share_started: 'Screen shared with a technician',
  remote_share_stopped: 'Screen sharing stopped',
  remote_session_paused: 'Screen sharing paused',
  remote_session_resumed: 'Screen sharing resumed',
  remote_voice_on: 'Voice turned on in a remote session',
  remote_voice_off: 'Voice turned off in a remote session',
  remote_file_sent: 'File sent in a remote session',
  remote_file_stopped: 'File in a remote session not received',
  remote_file_opened: 'File from a remote session downloaded',
  remote_file_refused: 'File in a remote session refused',
  remote_recording_started: 'Remote session recording started',
  remote_granted: 'Permission granted in a remote session',
  remote_revoked: 'Permission removed in a remote session',
  block_added: 'Sign-in blocked temporarily',
  block_lifted: 'Sign-in allowed again',
  file_restored: 'Copy of a quarantined file downloaded',
  file_deleted: 'File deleted from quarantine',
  setup_changed: 'Company name and contact changed',
  proxy_findings_cleared: 'Proxy notices read',
  false_alarm_decided: 'False alarm decided',
  false_alarm_reopened: 'Decision on a false alarm undone',
  person_invited: 'Someone invited by email',
  customer_card_opened: 'Support opened your details',
  shared_thing_opened: 'Support opened an item you shared',
  desk_settings_changed: 'Support hours changed',
  other: 'New kind of activity. Reload the page to see it.',
};

export const ROLE_LABELS: Record<Role, string> = { customer: 'Customer', support: 'Support', admin: 'Administrator' };

/** The server's value for a client that does not identify itself. */
const UNKNOWN = 'Unknown client';

/** The name of a role in a sentence. */
export function roleOf(value: unknown): string {
  return value === 'customer' || value === 'support' || value === 'admin' ? ROLE_LABELS[value].toLowerCase() : 'another role';
}

function withClient({ kind, client, address }: Told): string {
  const label = KIND_LABELS[kind];
  if (client === null || client === UNKNOWN) return address === null ? label : `${label} from ${address}`;
  return address === null ? `${label} with ${client}` : `${label} with ${client} from ${address}`;
}

/** The label, followed by a detail if it is present. */
const withFact = (name: string) => (told: Told) => {
  const fact = told.details[name];
  return fact === undefined ? KIND_LABELS[told.kind] : `${KIND_LABELS[told.kind]}: ${fact}`;
};

/** Kinds whose sentence says more than the label. */
const SENTENCES: Partial<Record<ShownKind, (told: Told) => string>> = {
  account_registered: withClient,
  email_proven: withClient,
  signed_in: withClient,
  signed_out: withClient,
  session_ended: (told) => (told.details['all'] === true ? 'Signed out everywhere' : withFact('session')(told)),
  username_changed: withFact('username'),
  role_changed: ({ details }) =>
    details['to'] === undefined ? 'Role changed' : `Role changed from ${roleOf(details['from'])} to ${roleOf(details['to'])}`,
  subscription_assigned: withFact('plan_name'),
  subscription_cancelled: withFact('plan_name'),
  remote_file_sent: withFact('filename'),
  remote_file_stopped: withFact('filename'),
  remote_file_opened: withFact('filename'),
  remote_file_refused: withFact('filename'),
  file_restored: withFact('filename'),
  file_deleted: withFact('filename'),
  setup_changed: withFact('company_name'),
  web_device_removed: withFact('device_name'),
  web_key_renewed: withFact('device_name'),
  profile_device_changed: withFact('device_name'),
  profile_removed: withFact('profile'),
};

/** A sentence about the activity without its full stop: "Signed in with Firefox on Windows from 203.0.113.7". */
export function describeActivity(told: Told): string {
  return SENTENCES[told.kind]?.(told) ?? KIND_LABELS[told.kind];
}
