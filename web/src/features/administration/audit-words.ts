import type { AuditEntry, ShownKind } from '@palisade/contract/audit';
import { KIND_LABELS, roleOf } from '#domain/activity/activity-words.ts';

/** Templates of sentences: `{who}` is the actor, `{whom}` the person whose account it is about, and `{fact}` a detail of the entry. */
const SENTENCES: Partial<Record<ShownKind, string>> = {
  account_registered: '{who} created an account',
  email_proven: '{who} confirmed their email address',
  signed_in: '{who} signed in',
  signed_out: '{who} signed out',
  session_ended: '{who} ended a session of {whom}',
  other_sessions_ended: '{who} signed out everywhere else',
  username_changed: '{who} changed their username to {fact}',
  password_changed: '{who} changed their password',
  password_reset: '{who} reset their password',
  two_factor_enabled: '{who} turned two-factor on',
  two_factor_disabled: '{who} turned two-factor off',
  authenticator_added: '{who} added an authenticator app',
  authenticator_removed: '{who} removed an authenticator app',
  passkey_added: '{who} added a passkey',
  passkey_removed: '{who} removed a passkey',
  recovery_codes_made: '{who} created recovery codes',
  recovery_code_used: '{who} used a recovery code',
  role_changed: '{who} changed the role of {whom} {fact}',
  person_invited: '{who} invited someone',
  account_disabled: '{who} disabled the account of {whom}',
  account_enabled: '{who} enabled the account of {whom}',
  account_deleted: '{who} deleted the account of {whom}',
  data_exported: '{who} downloaded their data',
  subscription_assigned: '{who} assigned the plan {fact} to {whom}',
  subscription_cancelled: '{who} cancelled the plan {fact} of {whom}',
  alert_acknowledged: '{who} acknowledged an alert of {whom}',
  alert_resolved: '{who} resolved an alert of {whom}',
  alert_reopened: '{who} reopened an alert of {whom}',
  suppression_added: '{who} hid alerts of {whom}',
  suppression_removed: '{who} showed alerts of {whom} again',
  browser_trusted: '{who} trusted a browser of {whom}',
  block_added: '{who} blocked sign-ins of {whom} for a while',
  block_lifted: '{who} allowed sign-ins of {whom} again',
  file_restored: '{who} downloaded the quarantined file {fact}',
  file_deleted: '{who} deleted the quarantined file {fact}',
  setup_changed: '{who} changed the company name and contact',
  proxy_findings_cleared: '{who} read the proxy notices',
  false_alarm_decided: '{who} decided on a false alarm of {whom}',
  false_alarm_reopened: '{who} undid a decision on a false alarm of {whom}',
  customer_card_opened: '{who} opened the details of {whom}',
  shared_thing_opened: '{who} opened an item that {whom} shared',
  desk_settings_changed: '{who} changed the support hours',
  device_enrolled: '{who} enrolled a device',
  device_revoked: '{who} revoked a device of {whom}',
  device_removed: '{who} removed a device of {whom}',
  web_device_added: '{who} added a device to web protection',
  web_device_removed: '{who} removed a device from web protection',
  web_key_renewed: '{who} renewed the address of a device of web protection',
  web_names_shown: '{who} chose to see all names of a device',
  web_choices_changed: '{who} changed what web protection blocks',
  web_protection_paused: '{who} paused the protection from dangerous websites',
  web_protection_resumed: '{who} resumed the protection from dangerous websites',
  web_name_allowed: '{who} allowed a website',
  web_name_blocked: '{who} blocked a website',
  web_name_removed: '{who} removed a choice about a website',
  profile_added: '{who} added the profile {fact}',
  profile_changed: '{who} changed the profile {fact}',
  profile_removed: '{who} removed the profile {fact}',
  profile_paused: '{who} paused the internet of the profile {fact}',
  profile_resumed: '{who} resumed the internet of the profile {fact}',
  profile_name_allowed: '{who} allowed a website for the profile {fact}',
  profile_name_blocked: '{who} blocked a website for the profile {fact}',
  profile_name_removed: '{who} removed a choice about a website for the profile {fact}',
  profile_asked_answered: '{who} answered a request of the profile {fact}',
  profile_key_renewed: '{who} renewed the page address of the profile {fact}',
  profile_device_changed: '{who} changed a device of the profile {fact}',
  home_invited: '{who} invited a guardian',
  home_joined: '{who} joined a home',
  home_left: '{who} left a home',
  domain_list_accepted: '{who} accepted the list {fact}',
  remote_session_asked: '{who} asked to join a remote session of {whom}',
  remote_session_approved: '{who} approved a remote session',
  remote_session_declined: '{who} declined a remote session',
  remote_session_ended: '{who} ended a remote session of {whom}',
  remote_session_reported: '{who} reported a remote session',
  remote_share_started: '{who} shared their screen',
  remote_share_stopped: '{who} stopped sharing their screen',
  remote_file_sent: '{who} sent the file {fact} in a remote session of {whom}',
  remote_granted: '{who} gave a permission in a remote session',
  remote_revoked: '{who} removed a permission in a remote session',
};

/** The name of the detail for `{fact}`. */
const FACTS: Partial<Record<ShownKind, string>> = {
  username_changed: 'username',
  profile_added: 'profile',
  profile_changed: 'profile',
  profile_removed: 'profile',
  profile_paused: 'profile',
  profile_resumed: 'profile',
  profile_name_allowed: 'profile',
  profile_name_blocked: 'profile',
  profile_name_removed: 'profile',
  profile_asked_answered: 'profile',
  profile_key_renewed: 'profile',
  profile_device_changed: 'profile',
  domain_list_accepted: 'list',
  subscription_assigned: 'plan_name',
  subscription_cancelled: 'plan_name',
  file_restored: 'filename',
  file_deleted: 'filename',
  remote_file_sent: 'filename',
};

function factOf({ kind, details }: Pick<AuditEntry, 'kind' | 'details'>): string {
  if (kind === 'role_changed')
    return details['to'] === undefined ? '' : `from ${roleOf(details['from'])} to ${roleOf(details['to'])}`;
  const fact = details[FACTS[kind] ?? ''];
  return fact === undefined || fact === null ? '' : String(fact);
}

/**
 * The sentence of an entry with its detail. It names the person whose account it is about, unless that is the actor. For a kind without a template it is the
 * actor and the label: "maria: Remote session extended".
 */
export function auditSentence(entry: Pick<AuditEntry, 'kind' | 'details' | 'subject_id' | 'actor_id'>): {
  text: string;
  fact: string;
} {
  const text = SENTENCES[entry.kind] ?? `{who}: ${KIND_LABELS[entry.kind]}`;
  const fact = factOf(entry);
  // Older entries have no details.
  const told = fact === '' ? text.replace(/ (?:to )?\{fact\}/u, '') : text;
  if (entry.actor_id === entry.subject_id) return { text: told.replace(/ (?:of|to) \{whom\}/u, ''), fact };
  return { text: told.includes('{whom}') ? told : `${told} ({whom})`, fact };
}
