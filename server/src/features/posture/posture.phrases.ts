import type { Template } from '@palisade/contract/phrase';
import { sentencesFrom } from '#platform/sentence.ts';

/** Number of recovery codes below which new ones are advised. */
export const RECOVERY_CODES_LEAST = 3;

/** A sentence about a number of things. */
const counted = (one: string, other: string) =>
  ({ english: { count: 'count', one, other }, params: { count: 'grouped' } }) as const satisfies Template;

/**
 * All sentences of the security check. `fault` and `goal` are a check's titles, after its id; `advice` is what to do. A landed code never changes its meaning or its
 * parameters.
 */
export const POSTURE_PHRASES = {
  coverage: {
    english:
      '{known} of {all} checks could run. The others are unknown: connect a device or update threat definitions to run them.',
    params: { known: 'number', all: 'number' },
  },
  unknown: { english: 'We can’t check this yet.' },

  'common_password.fault': { english: 'The password is one of the common ones' },
  'common_password.goal': { english: 'The password is not a common one' },
  'common_password.advice': { english: 'Choose another password, in Security Preferences.' },
  'common_password.leaked': { english: 'This password appears in leaks or is just a name. Attackers try it first.' },
  'common_password.not_leaked': { english: 'It’s not in known leaks and isn’t just a name.' },

  'no_two_factor.fault': { english: 'Only a password protects your sign-in' },
  'no_two_factor.goal': { english: 'Two-factor protects your sign-in' },
  'no_two_factor.advice': { english: 'Turn on two-factor sign-in, in Security Preferences.' },
  'no_two_factor.protected': { english: 'Signing in takes more than your password.' },
  'no_two_factor.anyone': { english: 'Anyone with your password can sign in.' },
  'no_two_factor.anyone_as_admin': { english: 'Anyone with your password can sign in, as an administrator.' },
  'no_two_factor.anyone_from_tomorrow': {
    english: 'Anyone with your password can sign in. This lowers your score from tomorrow.',
  },
  'no_two_factor.anyone_as_admin_from_tomorrow': {
    english: 'Anyone with your password can sign in, as an administrator. This lowers your score from tomorrow.',
  },

  'few_recovery_codes.fault': { english: `Fewer than ${RECOVERY_CODES_LEAST} recovery codes are left` },
  'few_recovery_codes.goal': { english: `At least ${RECOVERY_CODES_LEAST} recovery codes are left` },
  'few_recovery_codes.advice': { english: 'Make new recovery codes, in Security Preferences.' },
  'few_recovery_codes.none_needed': { english: 'You need none until two-factor is on.' },
  'few_recovery_codes.left': counted('1 code is left.', '{count} codes are left.'),

  'idle_session.fault': { english: 'A session has not been used for 30 days' },
  'idle_session.goal': { english: 'Every session was used within 30 days' },
  'idle_session.advice': { english: 'End sessions you no longer use.' },
  'idle_session.end': { english: 'Sessions end after 7 days without use.' },

  'unreviewed_browser.fault': { english: 'A new browser signed in and was not reviewed' },
  'unreviewed_browser.goal': { english: 'Every new browser was reviewed' },
  'unreviewed_browser.advice': { english: 'Open the alert and answer “Was this you?”.' },
  'unreviewed_browser.waiting': counted('1 browser is waiting for your review.', '{count} browsers are waiting for your review.'),
  'unreviewed_browser.none': { english: 'No browser is waiting for your review.' },

  'open_alert_high.fault': { english: 'A threat of high severity was not blocked' },
  'open_alert_high.goal': { english: 'Every threat of high severity was blocked' },
  'open_alert_high.advice': { english: 'Open the alert and follow its advice.' },
  'open_alert_high.count': counted('1 alert of high severity not blocked.', '{count} alerts of high severity not blocked.'),

  'open_alert_critical.fault': { english: 'A threat of critical severity was not blocked' },
  'open_alert_critical.goal': { english: 'Every threat of critical severity was blocked' },
  'open_alert_critical.advice': { english: 'Open the alert and follow its advice.' },
  'open_alert_critical.count': counted(
    '1 alert of critical severity not blocked.',
    '{count} alerts of critical severity not blocked.',
  ),

  'allow_any_inbound.fault': { english: 'A rule lets anyone reach everything' },
  'allow_any_inbound.goal': { english: 'No rule lets anyone reach everything' },
  'allow_any_inbound.advice': {
    english: 'Disable the rule that allows every inbound connection, and allow only what is needed.',
  },
  'allow_any_inbound.named': { english: 'Allowed by {rules}.', params: { rules: 'names' } },
  'allow_any_inbound.many': counted('Allowed by 1 rule.', 'Allowed by {count} rules.'),
  'allow_any_inbound.none': { english: 'No enabled rule allows every inbound connection.' },

  'port_22_open.fault': { english: 'A rule opens port 22 (SSH) to the whole world' },
  'port_22_open.goal': { english: 'Port 22 (SSH) is closed to the world' },
  'port_22_open.advice': { english: 'Limit who may reach port 22 to the addresses that need it, or disable the rule.' },
  'port_23_open.fault': { english: 'A rule opens port 23 (Telnet) to the whole world' },
  'port_23_open.goal': { english: 'Port 23 (Telnet) is closed to the world' },
  'port_23_open.advice': { english: 'Limit who may reach port 23 to the addresses that need it, or disable the rule.' },
  'port_445_open.fault': { english: 'A rule opens port 445 (Windows file sharing) to the whole world' },
  'port_445_open.goal': { english: 'Port 445 (Windows file sharing) is closed to the world' },
  'port_445_open.advice': { english: 'Limit who may reach port 445 to the addresses that need it, or disable the rule.' },
  'port_3389_open.fault': { english: 'A rule opens port 3389 (Remote Desktop) to the whole world' },
  'port_3389_open.goal': { english: 'Port 3389 (Remote Desktop) is closed to the world' },
  'port_3389_open.advice': { english: 'Limit who may reach port 3389 to the addresses that need it, or disable the rule.' },
  'port_5900_open.fault': { english: 'A rule opens port 5900 (VNC) to the whole world' },
  'port_5900_open.goal': { english: 'Port 5900 (VNC) is closed to the world' },
  'port_5900_open.advice': { english: 'Limit who may reach port 5900 to the addresses that need it, or disable the rule.' },
  'port_open.named': { english: 'Opened by {rules}.', params: { rules: 'names' } },
  'port_open.many': counted('Opened by 1 rule.', 'Opened by {count} rules.'),
  'port_open.unknown': {
    english: 'None of your rules opens it. Without a connected device, we can’t tell whether it is closed.',
  },

  'clashing_rules.fault': { english: 'Firewall rules repeat or contradict each other' },
  'clashing_rules.goal': { english: 'Firewall rules do not clash' },
  'clashing_rules.advice': { english: 'Delete or disable rules that repeat or contradict another rule.' },
  'clashing_rules.named': {
    english: {
      count: 'count',
      one: '{rules} repeats or contradicts another rule.',
      other: '{rules} repeat or contradict another rule.',
    },
    params: { count: 'number', rules: 'names' },
  },
  'clashing_rules.many': counted(
    '1 rule repeats or contradicts another rule.',
    '{count} rules repeat or contradict another rule.',
  ),
  'clashing_rules.none': { english: 'No enabled rules repeat or contradict each other.' },

  'rule_not_applied.fault': { english: 'A rule is not applied on a device' },
  'rule_not_applied.goal': { english: 'Every rule is applied on every device' },
  'rule_not_applied.advice': { english: 'Check the device and reconnect it.' },
  'rule_not_applied.none': { english: 'Every device has its rules.' },
  'device_silent.fault': { english: 'A device has been silent for 7 days' },
  'device_silent.goal': { english: 'Every device reported within 7 days' },
  'device_silent.advice': { english: 'See Devices for details.' },
  'device_silent.none': { english: 'Every device reported recently.' },
  'web_device_silent.fault': { english: 'A device doesn’t use web protection now' },
  'web_device_silent.goal': { english: 'Every device asks web protection as usual' },
  'web_device_silent.advice': { english: 'Check the steps on the device, or remove it.' },
  'web_device_silent.none': { english: 'Every device asked as usual.' },
  'ask_waiting.fault': { english: 'Someone in your home asks for a website' },
  'ask_waiting.goal': { english: 'No question of your home waits for an answer' },
  'ask_waiting.advice': { english: 'Allow it for an hour, always, or say no.' },
  'ask_waiting.count': counted('1 question waits for your answer.', '{count} questions wait for your answer.'),
  'ask_waiting.none': { english: 'No question waits for your answer.' },
  'profile_device_silent.fault': { english: 'A device of your home doesn’t use web protection now' },
  'profile_device_silent.goal': { english: 'Every device of your home asks web protection as usual' },
  'profile_device_silent.advice': { english: 'Check the steps on the device, or take it out of its profile.' },
  'profile_device_silent.none': { english: 'Every device of your home asked as usual.' },
  'profile_no_plan.fault': { english: 'A profile of your home has no plan' },
  'profile_no_plan.goal': { english: 'Your plan covers every profile' },
  'profile_no_plan.advice': { english: 'Request a plan with enough profiles, or remove one.' },
  'profile_no_plan.count': counted(
    '1 profile is protected from dangerous websites only.',
    '{count} profiles are protected from dangerous websites only.',
  ),
  'profile_no_plan.none': { english: 'Every profile has a plan.' },
  'agent_outdated.fault': { english: 'A device runs an outdated agent' },
  'agent_outdated.goal': { english: 'Every device runs the current agent' },
  'agent_outdated.advice': { english: 'See Devices for details.' },
  'agent_outdated.none': { english: 'Every agent is up to date.' },
  'updates_waiting.fault': { english: 'A device needs security updates' },
  'updates_waiting.goal': { english: 'No device needs security updates' },
  'updates_waiting.advice': { english: 'See Devices for details.' },
  'updates_waiting.none': { english: 'No device needs one.' },
  'host_firewall_off.fault': { english: 'The firewall of a device is off' },
  'host_firewall_off.goal': { english: 'The firewall of every device is on' },
  'host_firewall_off.advice': { english: 'See Devices for details.' },
  'host_firewall_off.none': { english: 'Every device can enforce rules.' },
  'devices.named': { english: '{devices}.', params: { devices: 'names' } },
  'devices.many': { english: { count: 'count', one: '1 device.', other: '{count} devices.' }, params: { count: 'grouped' } },

  'too_many_devices.fault': { english: 'There are more devices than the plan covers' },
  'too_many_devices.goal': { english: 'The plan covers every device' },
  'too_many_devices.advice': { english: 'Remove a device you don’t use, or request a larger plan.' },
  'too_many_devices.count': {
    english: {
      count: 'count',
      one: '1 device is connected; the plan holds {plan}.',
      other: '{count} devices are connected; the plan holds {plan}.',
    },
    params: { count: 'grouped', plan: 'grouped' },
  },

  'long_remote_session.fault': { english: 'A remote session has been open for more than 8 hours' },
  'long_remote_session.goal': { english: 'No remote session stays open for more than 8 hours' },
  'long_remote_session.advice': { english: 'End the remote session if it’s no longer needed.' },
  'long_remote_session.count': counted(
    '1 session has been open for more than 8 hours.',
    '{count} sessions have been open for more than 8 hours.',
  ),
  'long_remote_session.none': { english: 'No session has been open that long.' },

  'infected_not_removed.fault': { english: 'An infected file on the server is not in quarantine' },
  'infected_not_removed.goal': { english: 'Every infected file on the server is in quarantine' },
  'infected_not_removed.advice': { english: 'Tell support that an infected file couldn’t be quarantined or deleted.' },
  'infected_not_removed.outside': counted(
    '1 infected upload is on the server outside quarantine.',
    '{count} infected uploads are on the server outside quarantine.',
  ),
  'infected_not_removed.none': counted(
    '1 infected upload was found and quarantined or deleted.',
    '{count} infected uploads were found and quarantined or deleted.',
  ),

  'infection_open.fault': { english: 'An infected file is not deleted yet' },
  'infection_open.files': counted('An infected file is not deleted yet', '{count} infected files are not deleted yet'),
  'infection_open.goal': { english: 'Every infected file is deleted' },
  'infection_open.advice': {
    english: 'Delete the original on your device, then choose “I deleted it”. We quarantined only the uploaded copy.',
  },
  'infection_open.named': {
    english: {
      count: 'count',
      one: 'Delete {files} on your device, then tell us.',
      other: 'Delete {files} on your device, then tell us.',
    },
    params: { count: 'number', files: 'names' },
  },
  'infection_open.more': {
    english: {
      count: 'count',
      one: 'Delete {files} and 1 more file on your device, then tell us.',
      other: 'Delete {files} and {count} more files on your device, then tell us.',
    },
    params: { count: 'grouped', files: 'names' },
  },
  'infection_open.none': { english: 'No infected file waits for you.' },

  'open_alert_lesser.fault': { english: 'An alert waits for your answer' },
  'open_alert_lesser.goal': { english: 'No alert waits for your answer' },
  'open_alert_lesser.advice': { english: 'Open the alert and follow its advice.' },
  'open_alert_lesser.count': counted('1 alert you haven’t seen.', '{count} alerts you haven’t seen.'),

  'password_guessing.fault': { english: 'Someone tried wrong passwords' },
  'password_guessing.goal': { english: 'No one tried wrong passwords' },
  'password_guessing.advice': { english: 'Open the alert and say if it was you.' },
  'password_guessing.count': counted(
    'We refused the sign-ins. 1 alert asks if it was you.',
    'We refused the sign-ins. {count} alerts ask if it was you.',
  ),

  'plan_ending.fault': { english: 'Your plan ends soon' },
  'plan_ending.goal': { english: 'Your plan doesn’t end soon' },
  'plan_ending.advice': { english: 'Ask for another plan before it ends.' },
  'plan_ending.days': {
    english: { count: 'days', one: 'It ends in 1 day.', other: 'It ends in {days} days.' },
    params: { days: 'grouped' },
  },
  'plan_ending.none': { english: 'Your plan has no end date.' },

  'action.alert': { english: 'Open the alert' },
  'action.definitions': { english: 'Open the scanner’s details' },
  'action.device': { english: 'Open the device' },
  'action.devices': { english: 'Open your devices' },
  'action.files': { english: 'Open your files' },
  'action.household': { english: 'Open your household' },
  'action.infection': { english: 'See what to do' },
  'action.infections': { english: 'See what to do' },
  'action.password': { english: 'Change the password' },
  'action.plan': { english: 'See plans' },
  'action.recovery_codes': { english: 'Make new codes' },
  'action.remote': { english: 'Open remote help' },
  'action.rule': { english: 'Open the rule' },
  'action.rules': { english: 'Open your rules' },
  'action.sessions': { english: 'See your sessions' },
  'action.support': { english: 'Tell support' },
  'action.web_device': { english: 'Open web protection' },
  'action.two_factor': { english: 'Turn on two-factor' },

  'status.good': { english: 'Nothing needs you right now' },
  'status.good.detail': {
    english: { count: 'ran', one: '1 check ran and found nothing to fix.', other: '{ran} checks ran and found nothing to fix.' },
    params: { ran: 'grouped' },
  },
  'status.unknown': { english: 'Nothing checked yet' },
  'status.unknown.detail': { english: 'Scan a file or add a device, and your status appears here.' },

  'signatures_old.fault': { english: 'Threat definitions are older than 48 hours' },
  'signatures_old.goal': { english: 'Threat definitions are newer than 48 hours' },
  'signatures_very_old.fault': { english: 'Threat definitions are older than 7 days' },
  'signatures_very_old.goal': { english: 'Threat definitions are newer than 7 days' },
  'signatures.advice': { english: 'Ask support to update the threat definitions.' },
  'signatures.advice_for_admin': {
    english: 'Open Details on the Antivirus screen and fix the failing source of threat definitions.',
  },
  'signatures.confirmed': {
    english: {
      count: 'hours',
      one: 'Threat definitions were last confirmed up to date 1 hour ago.',
      other: 'Threat definitions were last confirmed up to date {hours} hours ago.',
    },
    params: { hours: 'grouped' },
  },

  'files_overdue.fault': { english: 'Files have waited more than an hour for the scanner' },
  'files_overdue.goal': { english: 'No file waits long for the scanner' },
  'files_overdue.advice': { english: 'Don’t open the waiting files before they’re checked.' },
  'files_overdue.count': counted('1 file has waited for more than an hour.', '{count} files have waited for more than an hour.'),
} as const satisfies Record<string, Template>;

/** The ids of the checks: those of their titles. */
export type CheckId = {
  [Code in keyof typeof POSTURE_PHRASES]: Code extends `${infer Id}.fault` ? Id : never;
}[keyof typeof POSTURE_PHRASES];

export const sentence = sentencesFrom(POSTURE_PHRASES);
