import { type Phrase, phrasesOf, type Template } from './phrase.ts';

/** Sentences about the uploaded copy of an infected file. */
const COPY = {
  sealed: 'Our copy is in quarantine. Delete the original.',
  deleted: 'We deleted our copy. Delete the original too.',
  left: 'We couldn’t delete our copy yet. Delete the original.',
  waiting: 'No one can open our copy. It moves to quarantine when there’s space. Delete the original.',
} as const;
const COPY_OF_TEST_FILE = {
  sealed: 'Our copy is in quarantine.',
  deleted: 'We deleted our copy.',
  left: 'We couldn’t delete our copy yet.',
  waiting: 'No one can open our copy. It moves to quarantine when there’s space.',
} as const;
const PATTERN = {
  sql_injection: 'SQL injection',
  path_traversal: 'path traversal',
  script_injection: 'script injection',
  command_injection: 'command injection',
  unknown: 'of an unknown kind',
} as const;
const REPORT = {
  asked_for_money: 'The technician asked for money or gift cards.',
  asked_for_password: 'The technician asked for a password or a code.',
  did_what_i_did_not_want: 'The technician did something the customer didn’t want.',
  not_who_they_said: 'The technician used a false identity.',
  else: 'Another reason.',
} as const;

/** Descriptions of alerts. A code ending in `.from` has the same text plus the address. A released code never changes its meaning or parameters. */
const DESCRIPTIONS = {
  /** A sentence of an older server, or one without a template. It is shown untranslated. */
  as_written: { english: '{sentence}', params: { sentence: 'text' } },

  'brute_force.pair': { english: 'Five sign-ins to your account failed in 10 minutes.' },
  'brute_force.pair.from': {
    english: 'Five sign-ins to your account failed in 10 minutes, from {address}.',
    params: { address: 'text' },
  },
  'brute_force.burst': { english: 'Sign-ins to several accounts failed in quick succession.' },
  'brute_force.burst.from': {
    english: 'Sign-ins to several accounts failed in quick succession, from {address}.',
    params: { address: 'text' },
  },
  'brute_force.slow': { english: 'Sign-ins to several accounts failed repeatedly.' },
  'brute_force.slow.from': {
    english: 'Sign-ins to several accounts failed repeatedly, from {address}.',
    params: { address: 'text' },
  },
  'brute_force.spray': { english: 'Sign-ins to five different accounts failed in quick succession.' },
  'brute_force.spray.from': {
    english: 'Sign-ins to five different accounts failed in quick succession, from {address}.',
    params: { address: 'text' },
  },
  'brute_force.distributed': {
    english:
      'Twenty sign-ins to your account failed in an hour, from five or more addresses. We slow down further attempts. You can still sign in.',
  },
  'suspicious_login.new_browser': {
    english: 'Someone signed in to your account with a new browser: {client}.',
    params: { client: 'text' },
  },
  'suspicious_login.new_browser.from': {
    english: 'Someone signed in to your account with a new browser: {client}, from {address}.',
    params: { client: 'text', address: 'text' },
  },
  'suspicious_login.token_moved': {
    english: 'Your session in {signed_in_client} was used by {client}. Someone may have copied it.',
    params: { signed_in_client: 'text', client: 'text' },
  },
  'suspicious_login.token_moved.from': {
    english: 'Your session in {signed_in_client} was used by {client}, from {address}. Someone may have copied it.',
    params: { signed_in_client: 'text', client: 'text', address: 'text' },
  },
  'suspicious_login.block_not_effective': {
    english: 'Someone signed in to your account, although we block sign-ins from there.',
  },
  'suspicious_login.block_not_effective.from': {
    english: 'Someone signed in to your account, from {address}, although we block sign-ins from there.',
    params: { address: 'text' },
  },
  'suspicious_login.after_failures': {
    english: 'Someone signed in to your account from somewhere, right after guessing passwords there.',
  },
  'suspicious_login.after_failures.from': {
    english: 'Someone signed in to your account from {address}, right after guessing passwords there.',
    params: { address: 'text' },
  },
  'suspicious_login.after_spray': {
    english: 'Someone signed in from somewhere, right after guessing passwords for five or more accounts.',
  },
  'suspicious_login.after_spray.from': {
    english: 'Someone signed in from {address}, right after guessing passwords for five or more accounts.',
    params: { address: 'text' },
  },
  infected_file: { english: 'We found {threat} in {filename}. {copy}', params: { threat: 'text', filename: 'text', copy: COPY } },
  'infected_file.member': {
    english: 'We found {threat} in {filename} ({member}). {copy}',
    params: { threat: 'text', filename: 'text', member: 'text', copy: COPY },
  },
  test_file: {
    english: 'We found {threat} in {filename}. This is a harmless test file. {copy}',
    params: { threat: 'text', filename: 'text', copy: COPY_OF_TEST_FILE },
  },
  'test_file.member': {
    english: 'We found {threat} in {filename} ({member}). This is a harmless test file. {copy}',
    params: { threat: 'text', filename: 'text', member: 'text', copy: COPY_OF_TEST_FILE },
  },
  'malware_detected.outbreak': {
    english: 'Eight infected files arrived in 6 minutes. A threat may be spreading. Check where they come from.',
  },
  'malware_detected.outbreak.test_files': { english: 'Eight harmless test files arrived in 6 minutes.' },
  'malware_detected.outbreak_different': {
    english: 'Three different infected files arrived in an hour. A threat may be spreading. Check where they come from.',
  },
  'malware_detected.outbreak_different.test_files': { english: 'Three different harmless test files arrived in an hour.' },
  'intrusion_attempt.probing': { english: 'Someone tried many nonexistent addresses in quick succession.' },
  'intrusion_attempt.probing.from': {
    english: 'Someone tried many nonexistent addresses in quick succession, from {address}.',
    params: { address: 'text' },
  },
  'intrusion_attempt.exploit_strings': {
    english: 'Someone sent requests with attacks ({pattern}).',
    params: { pattern: PATTERN },
  },
  'intrusion_attempt.exploit_strings.from': {
    english: 'Someone sent requests with attacks ({pattern}), from {address}.',
    params: { pattern: PATTERN, address: 'text' },
  },
  'intrusion_attempt.privilege': { english: 'Someone without administrator access tried administrator actions.' },
  'intrusion_attempt.privilege.from': {
    english: 'Someone without administrator access tried administrator actions, from {address}.',
    params: { address: 'text' },
  },
  'ddos_attempt.rate': { english: 'Someone repeatedly sent more requests than allowed.' },
  'ddos_attempt.rate.from': {
    english: 'Someone repeatedly sent more requests than allowed, from {address}.',
    params: { address: 'text' },
  },
  'ddos_attempt.flood.source': {
    english: '{source} sent far more requests than usual: {count} within 15 minutes.',
    params: { source: 'text', count: 'number' },
  },
  'ddos_attempt.flood.account': {
    english: 'one account sent far more requests than usual: {count} within 15 minutes.',
    params: { count: 'number' },
  },

  'scam_check.dangerous': { english: 'You checked a message, and it is a scam.' },
  'web_protection.refused': {
    english: '{device} asked for a dangerous website, and it was refused.',
    params: { device: 'text' },
  },
  'web_protection.refused.question': { english: 'Asked for {name}', params: { name: 'text' } },
  'scam_check.dangerous.imitation': {
    english: 'You checked a message, and it is a scam that imitates {organisation}.',
    params: { organisation: 'text' },
  },
  false_alarm: {
    english: 'A newer check found no {threat} in {filename}. You can restore the file.',
    params: { threat: 'text', filename: 'text' },
  },
  remote_report: {
    english: '{customer} reported the remote session with {technician}. {reason}',
    params: { customer: 'text', technician: 'text', reason: REPORT },
  },
  'remote_report.unnamed': {
    english: '{customer} reported the remote session with a technician. {reason}',
    params: { customer: 'text', reason: REPORT },
  },

  'device.ssh_guessing': {
    english: 'Someone at {address} tried to guess passwords on “{device}” by SSH.',
    params: { address: 'text', device: 'text' },
  },
  'device.tampered': {
    english: 'Another program removed the firewall rules of “{device}”. They were put back.',
    params: { device: 'text' },
  },
  'device.tampered.often': {
    english:
      'Another program removed the firewall rules of “{device}”. They will be put back; it happens so often that the agent waits a while.',
    params: { device: 'text' },
  },
  'device.new_port': {
    english: 'A program on “{device}” opened a new port: {port} ({protocol}).',
    params: { device: 'text', port: 'number', protocol: 'text' },
  },
  'device.new_port.program': {
    english: 'The program “{program}” on “{device}” opened a new port: {port} ({protocol}).',
    params: { program: 'text', device: 'text', port: 'number', protocol: 'text' },
  },
  'device.infected_file.quarantined': {
    english: '{threat} was found on “{device}” in {path}. The file is in quarantine there.',
    params: { threat: 'text', device: 'text', path: 'text' },
  },
  'device.infected_file.left': {
    english: '{threat} was found on “{device}” in {path}. The file is still where it was.',
    params: { threat: 'text', device: 'text', path: 'text' },
  },
  /** `reason` is the agent's English sentence. */
  'device.infected_file.left.reason': {
    english: '{threat} was found on “{device}” in {path}. The file is still where it was: {reason}.',
    params: { threat: 'text', device: 'text', path: 'text', reason: 'text' },
  },
  'device.offline': {
    english: '“{device}” has been offline for a week. If you no longer use it, revoke it.',
    params: { device: 'text' },
  },

  'drill.brute_force': { english: 'Someone entered five wrong passwords in ten minutes from one address.' },
  'drill.suspicious_login': { english: 'Someone signed in from a new device.' },
  'drill.malware_detected': { english: 'A download contains a program that steals passwords.' },
  'drill.phishing_attempt': { english: 'An email links to a fake bank sign-in page.' },
  'drill.intrusion_attempt': { english: 'Someone is probing for database errors and hidden folders.' },
  'drill.ddos_attempt': { english: 'More requests came in a minute than usually come in an hour.' },
} as const satisfies Record<string, Template>;

/** The threshold of a rule, as part of the evidence. */
const THRESHOLDS = {
  'threshold.brute_force.pair': { english: '5 failed sign-ins to one account from one source in 10 minutes' },
  'threshold.brute_force.burst': {
    english: 'more than 5 failed sign-ins to 6 or more accounts from one source, minus one every 10 seconds',
  },
  'threshold.brute_force.slow': {
    english: 'failed sign-ins to more than 10 different accounts from one source, minus one every minute',
  },
  'threshold.brute_force.spray': { english: '5 different accounts from one source, minus one every 10 seconds' },
  'threshold.brute_force.distributed': { english: '20 failed sign-ins to one account from 5 or more sources within an hour' },
  'threshold.suspicious_login.new_browser': { english: 'a sign-in with a new browser, a new kind of browser, and a new source' },
  'threshold.suspicious_login.token_moved': {
    english: 'a session used from a different kind of browser and source than at sign-in',
  },
  'threshold.suspicious_login.block_not_effective': { english: 'a sign-in that succeeded from a blocked source' },
  'threshold.suspicious_login.after_failures': {
    english: 'a sign-in within 4 minutes of password guessing from the same source',
  },
  'threshold.suspicious_login.after_spray': {
    english: 'a sign-in within 4 minutes of guessing at five or more accounts from the same source',
  },
  'threshold.malware_detected.infected': { english: 'an infected file' },
  'threshold.malware_detected.outbreak': { english: '8 infected files within 6 minutes' },
  'threshold.malware_detected.outbreak_different': { english: '3 different infected files within an hour' },
  'threshold.phishing_attempt.verdict': { english: 'a file that looks like phishing' },
  'threshold.intrusion_attempt.probing': {
    english: 'more than 10 different unknown paths from one source, minus one every 10 seconds',
  },
  'threshold.intrusion_attempt.exploit_strings': { english: '3 requests with an attack from one source within 10 seconds' },
  'threshold.intrusion_attempt.exploit_strings_slow': { english: '8 requests with an attack from one source within 2 minutes' },
  'threshold.intrusion_attempt.privilege': {
    english: '3 different administrator calls without administrator access within 10 minutes',
  },
  'threshold.ddos_attempt.rate': { english: 'more than 5 requests over a limit, minus one every minute' },
  'threshold.ddos_attempt.flood': {
    english: 'more than {limit} requests within 15 minutes, compared with the previous 4 hours',
    params: { limit: 'number' },
  },
  'threshold.scam_check.dangerous': { english: 'The check answered “dangerous”.' },
  'threshold.web_protection.refused': { english: 'Raised for each device and day.' },
  'threshold.false_alarm': { english: 'Raised for each file.' },
  'threshold.remote_report': { english: 'Raised for each report.' },
  'threshold.device.ssh_guessing': { english: 'Failed sign-ins by SSH from one address within ten minutes' },
  'threshold.device.tampered': { english: 'One change of the agent’s table by another program is enough' },
  'threshold.device.new_port': { english: 'A port that was closed before' },
  'threshold.device.infected_file': { english: 'One file is enough.' },
  'threshold.device.offline': { english: 'Agent offline for seven days' },
  'threshold.drill': { english: 'This is simulated. You requested it, and none of it happened.' },
} as const satisfies Record<string, Template>;

/** One event of an alert's evidence. */
const EVENTS = {
  'event.wrong_password': { english: 'A wrong password' },
  'event.wrong_second_factor': { english: 'A wrong two-factor code' },
  'event.sign_in': { english: 'A sign-in with {client}', params: { client: 'text' } },
  'event.sign_in.unknown': { english: 'A sign-in with an unknown client' },
  'event.token_moved': {
    english: 'Signed in with {signed_in_client} from {signed_in_source}, used with {client}',
    params: { signed_in_client: 'text', signed_in_source: 'text', client: 'text' },
  },
  'event.token_moved.unknown': {
    english: 'Signed in with {signed_in_client} from {signed_in_source}, used with an unknown client',
    params: { signed_in_client: 'text', signed_in_source: 'text' },
  },
  'event.threat': { english: '{threat} in {filename}', params: { threat: 'text', filename: 'text' } },
  'event.over_limit': { english: 'Over the limit for {limit}', params: { limit: 'text' } },
  'event.path': { english: '{path}', params: { path: 'text' } },
  'event.cleared': { english: 'We checked it again with newer threat definitions and found nothing.' },
  'event.asked_to_join': { english: '{technician} asked to join', params: { technician: 'text' } },
  'event.asked_to_join.unnamed': { english: 'A technician asked to join' },
  'event.approved': { english: '{customer} approved', params: { customer: 'text' } },
  'event.reported': { english: 'Reported' },
  'event.reported.comment': { english: 'Reported: {comment}', params: { comment: 'text' } },
  'event.device.failed_sign_ins': {
    english: { count: 'count', one: 'Failed to sign in once', other: 'Failed to sign in {count} times' },
    params: { count: 'number' },
  },
  'event.device.tampered': { english: 'The table of the agent was changed' },
  'event.device.listens': { english: 'Listens on {address}, port {port}', params: { address: 'text', port: 'number' } },
  'event.device.last_heard': { english: 'Was heard of for the last time' },
} as const satisfies Record<string, Template>;

/** All sentences of the server about alerts. */
export const ALERT_PHRASES = { ...DESCRIPTIONS, ...THRESHOLDS, ...EVENTS } as const;
type AlertCode = keyof typeof ALERT_PHRASES;
export type AlertPhrase = Phrase<AlertCode>;

export const { make: alertPhrase, english: alertEnglish, known: knownAlertPhrase } = phrasesOf(ALERT_PHRASES);

/** Wraps a sentence that has no template. */
export function asWritten(sentence: string): AlertPhrase {
  return alertPhrase('as_written', { sentence });
}
