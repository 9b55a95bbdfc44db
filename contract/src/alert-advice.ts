import type { Alert } from './anti-hacking.ts';

/**
 * The subject of an alert, as a heading. A type that this version does not know, as the server calls it. Of files only the industry's harmless
 * test files are of low severity.
 */
export function alertTitle(alert: Pick<Alert, 'threat_type' | 'severity' | 'simulated' | 'rule'>): string {
  const { threat_type } = alert;
  if (alert.rule === CHECKED_SCAM_RULE) return 'You checked a dangerous message';
  if (isOfTestFile(alert)) return 'A harmless test file was found';
  return TITLES.get(threat_type) ?? threat_type.replaceAll('_', ' ');
}

/** The rule of alerts about messages that a person checked and that were dangerous. */
export const CHECKED_SCAM_RULE = 'phishing_attempt.checked';

/** Whether what was found is one of the industry's harmless test files. */
function isOfTestFile({
  threat_type,
  severity,
  simulated,
  rule,
}: Pick<Alert, 'threat_type' | 'severity' | 'simulated' | 'rule'>): boolean {
  return (
    !simulated &&
    rule !== CHECKED_SCAM_RULE &&
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

/** The outcome of the event, as far as it can be proven, in one sentence. */
export function alertProof({ threat_type, outcome, simulated, rule }: Advised): string {
  if (rule === CHECKED_SCAM_RULE) return 'Someone sent it to you. The check stops nothing; your next step decides.';
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

/** Advice for an alert, the most important first. Never empty. */
export function alertAdvice(alert: Advised): string[] {
  const { threat_type, outcome, simulated } = alert;
  if (simulated) return ['No action needed. It shows what an alert looks like.'];
  if (isOfTestFile(alert)) return ['No action needed. This is a test file.'];
  switch (threat_type) {
    case 'brute_force':
      return ['If you mistyped your password, choose “It was me”.', 'If not, choose a new password and turn on two-factor.'];
    case 'suspicious_login':
      return [
        'If you used a new browser or traveled, choose “It was me”.',
        'If not, choose “It wasn’t me”. We’ll end that session.',
      ];
    case 'malware_detected':
      return outcome === 'blocked'
        ? ['Delete the original file without opening it.', 'If you opened it, have that device checked.']
        : ['Don’t open the file. Delete the original.', 'Tell support that the uploaded copy is still on the server.'];
    case 'phishing_attempt':
      return ['Don’t open its links or enter a password.', 'If you did, change that password everywhere you use it.'];
    case 'intrusion_attempt':
      return ['No action needed. Probing like this is common.', 'If it doesn’t stop, tell support.'];
    case 'ddos_attempt':
      return ['If your own program sends these requests, slow it down.', 'Otherwise, no action is needed.'];
    case 'remote_report':
      return [
        'Read the session’s record and ask the customer what happened.',
        'If the report is true, remove the technician’s role. Their sessions will end.',
      ];
    case 'false_alarm':
      return ['No action needed. Restore the file from your scan history.'];
    default:
      return ['Check what happened. If you don’t recognize it, tell support.'];
  }
}
