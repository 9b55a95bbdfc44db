import type { Alert } from './anti-hacking.ts';

/** The rule of alerts about dangerous messages that a person checked. */
export const CHECKED_SCAM_RULE = 'phishing_attempt.checked';

/** The rule of alerts about dangerous names that web protection refused. */
export const REFUSED_NAME_RULE = 'phishing_attempt.refused_name';

/** Rules that raise alerts of a file type although no file is involved. */
export const RULES_WITHOUT_FILE: readonly string[] = [CHECKED_SCAM_RULE, REFUSED_NAME_RULE];

/**
 * The title of an alert. A type that this version does not know keeps the server's name. An alert about a file has low severity only if it is one of the
 * industry's harmless test files.
 */
export function alertTitle(alert: Pick<Alert, 'threat_type' | 'severity' | 'simulated' | 'rule'>): string {
  const { threat_type } = alert;
  if (alert.rule === CHECKED_SCAM_RULE) return 'You checked a dangerous message';
  if (alert.rule === REFUSED_NAME_RULE) return 'A dangerous website was refused';
  if (isOfTestFile(alert)) return 'A harmless test file was found';
  return TITLES.get(threat_type) ?? threat_type.replaceAll('_', ' ');
}

/** Whether the finding is one of the industry's harmless test files. */
export function isOfTestFile({
  threat_type,
  severity,
  simulated,
  rule,
}: Pick<Alert, 'threat_type' | 'severity' | 'simulated' | 'rule'>): boolean {
  return (
    !simulated &&
    !RULES_WITHOUT_FILE.includes(rule) &&
    severity === 'low' &&
    (threat_type === 'malware_detected' || threat_type === 'phishing_attempt')
  );
}

const TITLES = new Map<string, string>([
  ['brute_force', 'Someone is guessing your password'],
  ['suspicious_login', 'Unusual sign-in'],
  ['malware_detected', 'We found a dangerous file'],
  ['phishing_attempt', 'Something is trying to steal a password'],
  ['intrusion_attempt', 'Someone is looking for a way in'],
  ['ddos_attempt', 'Far more requests than usual'],
  ['false_alarm', 'An earlier alert was a false alarm'],
  ['remote_report', 'A customer reported a remote session'],
]);

type Advised = Pick<Alert, 'threat_type' | 'severity' | 'outcome' | 'simulated' | 'rule'>;

/** The names of the rules on screens. */
const RULES = new Map<string, string>([
  ['brute_force.pair', 'Wrong passwords from one place'],
  ['brute_force.burst', 'Wrong passwords for several accounts, in a burst'],
  ['brute_force.slow', 'Wrong passwords for several accounts, slowly'],
  ['brute_force.spray', 'Wrong passwords for many accounts from one place'],
  ['brute_force.distributed', 'Wrong passwords from many places'],
  ['suspicious_login.new_browser', 'Sign-in with a new browser'],
  ['suspicious_login.token_moved', 'Session used in another browser'],
  ['suspicious_login.block_not_effective', 'Sign-in from a blocked place'],
  ['suspicious_login.after_failures', 'Sign-in right after wrong passwords'],
  ['suspicious_login.after_spray', 'Sign-in right after guessing for many accounts'],
  ['malware_detected.infected', 'Infected file'],
  ['malware_detected.outbreak', 'Many infected files at once'],
  ['malware_detected.outbreak_different', 'Different infected files within an hour'],
  ['phishing_attempt.verdict', 'File that looks like phishing'],
  [CHECKED_SCAM_RULE, 'Message that you checked'],
  [REFUSED_NAME_RULE, 'Dangerous website that was refused'],
  ['intrusion_attempt.probing', 'Search for addresses that don’t exist'],
  ['intrusion_attempt.exploit_strings', 'Requests with an attack'],
  ['intrusion_attempt.exploit_strings_slow', 'Requests with an attack, slowly'],
  ['intrusion_attempt.privilege', 'Attempts at administrator actions'],
  ['ddos_attempt.rate', 'Requests over the limit'],
  ['ddos_attempt.flood', 'Far more requests than usual'],
  ['false_alarm.cleared', 'File that a newer check found harmless'],
  ['remote_session.reported', 'Report about a remote session'],
  ['device_infected_file', 'Infected file on a device'],
  ['device_offline', 'Device that is silent'],
  ['device_ssh_guessing', 'Wrong passwords on a device'],
  ['device_tampered', 'Firewall rules removed from a device'],
  ['device_new_listening_port', 'New open port on a device'],
  ['drill', 'Simulated alert'],
]);

/** The name of an alert's rule on screens; an unknown rule keeps the server's name, without its punctuation. */
export function ruleName(rule: string): string {
  return RULES.get(rule) ?? rule.replaceAll(/[._]/gu, ' ');
}

/** The outcome of the event in one sentence, as far as it is proven. */
export function alertProof({ threat_type, outcome, simulated, rule }: Advised): string {
  if (rule === CHECKED_SCAM_RULE) return 'Someone sent it to you. The check stops nothing; your next step decides.';
  if (rule === REFUSED_NAME_RULE) return 'Refused: the website didn’t open on your device.';
  if (simulated) return 'Simulated: this didn’t happen.';
  if (threat_type === 'false_alarm') return 'The file is fine.';
  if (outcome === 'blocked') return BLOCKED.get(threat_type) ?? 'Blocked: they didn’t get through.';
  if (outcome === 'allowed') return ALLOWED.get(threat_type) ?? 'Not blocked: they got through.';
  return 'Unknown: we can’t prove whether it was blocked.';
}

const BLOCKED = new Map<string, string>([
  ['brute_force', 'Blocked: no one got in.'],
  ['suspicious_login', 'Ended: they’re signed out.'],
  ['malware_detected', 'Quarantined: the uploaded copy can’t do harm.'],
  ['phishing_attempt', 'Quarantined: the uploaded copy can’t do harm.'],
  ['intrusion_attempt', 'Blocked: we refused the requests.'],
  ['ddos_attempt', 'Blocked: we refused the requests.'],
]);

const ALLOWED = new Map<string, string>([
  ['brute_force', 'Not blocked: they can still try.'],
  ['suspicious_login', 'They got in with valid sign-in details.'],
  ['malware_detected', 'Not quarantined: we couldn’t remove the uploaded copy yet.'],
]);

/** Advice for an alert, the most important first. Never empty. `has_two_factor` is undefined if it is unknown. */
export function alertAdvice(alert: Advised, has_two_factor?: boolean): string[] {
  const { threat_type, outcome, simulated } = alert;
  if (simulated) return ['It didn’t happen. It shows what an alert looks like.'];
  if (isOfTestFile(alert)) return ['This is a harmless test file. Delete it when you’re done testing.'];
  switch (threat_type) {
    case 'brute_force':
      return [
        'If you mistyped your password, choose “It was me”.',
        has_two_factor === true ? 'If not, choose a new password.' : 'If not, choose a new password and turn on two-factor.',
      ];
    case 'suspicious_login':
      return [
        'If you used a new browser or traveled, choose “It was me”.',
        'If not, choose “It wasn’t me”. We’ll end that session.',
      ];
    case 'malware_detected':
      return outcome === 'blocked'
        ? [
            'Delete the original file without opening it.',
            'If you already opened it, disconnect that device. Change your passwords from another device.',
          ]
        : ['Don’t open the file. Delete the original.', 'Tell support that the uploaded copy is still on the server.'];
    case 'phishing_attempt':
      return ['Don’t open its links or enter a password.', 'If you did, change that password everywhere you use it.'];
    case 'intrusion_attempt':
      return ['Probing like this is common on the internet.', 'If it doesn’t stop, tell support.'];
    case 'ddos_attempt':
      return ['If your own program sends these requests, slow it down.', 'If it doesn’t stop, tell support.'];
    case 'remote_report':
      return [
        'Read the session’s record and ask the customer what happened.',
        'If the report is true, remove the technician’s role. Their sessions will end.',
      ];
    case 'false_alarm':
      return ['Download the file from your scan history if you need it.'];
    default:
      return ['Check what happened. If you don’t recognize it, tell support.'];
  }
}
