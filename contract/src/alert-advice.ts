import type { Alert } from './anti-hacking.ts';

/**
 * The subject of an alert, as a heading. A type that this version does not know, as the server calls it. Of files only the industry's harmless
 * test files are of low severity.
 */
export function alertTitle(alert: Pick<Alert, 'threat_type' | 'severity' | 'simulated'>): string {
  const { threat_type } = alert;
  if (isOfTestFile(alert)) return 'A harmless test file was found';
  return TITLES.get(threat_type) ?? threat_type.replaceAll('_', ' ');
}

/** Whether what was found is one of the industry's harmless test files. */
function isOfTestFile({ threat_type, severity, simulated }: Pick<Alert, 'threat_type' | 'severity' | 'simulated'>): boolean {
  return !simulated && severity === 'low' && (threat_type === 'malware_detected' || threat_type === 'phishing_attempt');
}

const TITLES = new Map<string, string>([
  ['brute_force', 'Someone is guessing a password'],
  ['suspicious_login', 'An unusual sign-in'],
  ['malware_detected', 'A dangerous file was found'],
  ['phishing_attempt', 'A phishing attempt'],
  ['intrusion_attempt', 'Someone is looking for a way in'],
  ['ddos_attempt', 'Far more requests than usual'],
  ['false_alarm', 'An earlier alert was a false alarm'],
  ['remote_report', 'A customer reported a remote session'],
]);

type Advised = Pick<Alert, 'threat_type' | 'severity' | 'outcome' | 'simulated'>;

/** The outcome of the event, as far as it can be proven, in one sentence. */
export function alertProof({ threat_type, outcome, simulated }: Advised): string {
  if (simulated) return 'Simulated: none of this happened.';
  if (threat_type === 'false_alarm') return 'There was no threat.';
  if (outcome === 'blocked') return BLOCKED.get(threat_type) ?? 'Blocked: the attempt failed.';
  if (outcome === 'allowed') return ALLOWED.get(threat_type) ?? 'Not blocked: the attempt succeeded.';
  return 'Unknown: we can’t tell if it was blocked.';
}

const BLOCKED = new Map<string, string>([
  ['brute_force', 'Blocked: they couldn’t sign in.'],
  ['suspicious_login', 'Ended: we signed them out.'],
  ['malware_detected', 'Contained: our copy is in quarantine or deleted.'],
  ['phishing_attempt', 'Contained: our copy is in quarantine or deleted.'],
  ['intrusion_attempt', 'Blocked: the requests got nothing back.'],
  ['ddos_attempt', 'Blocked: we turned the requests away.'],
]);

const ALLOWED = new Map<string, string>([
  ['brute_force', 'Not blocked: more attempts can get through.'],
  ['suspicious_login', 'They got in with valid sign-in details.'],
  ['malware_detected', 'Not contained: we couldn’t remove our copy yet.'],
]);

/** Advice for an alert, the most important first. Never empty. */
export function alertAdvice(alert: Advised): string[] {
  const { threat_type, outcome, simulated } = alert;
  if (simulated) return ['No action needed. This shows what an alert looks like.'];
  if (isOfTestFile(alert)) return ['No action needed. This is a test file.'];
  switch (threat_type) {
    case 'brute_force':
      return [
        'If you mistyped your password, choose “It was me”.',
        'If not, set a password you use nowhere else and turn on two-factor sign-in.',
      ];
    case 'suspicious_login':
      return [
        'If you used a new browser or traveled, choose “It was me”.',
        'If not, choose “It wasn’t me” to end the session. Then set a new password.',
      ];
    case 'malware_detected':
      return outcome === 'blocked'
        ? ['Delete the original file.', 'Don’t open it. If you did, have that device checked.']
        : ['Don’t open the file. Delete the original.', 'Tell support that our copy is still on the server.'];
    case 'phishing_attempt':
      return ['Don’t follow its links or enter a password.', 'If you did, change that password everywhere you use it.'];
    case 'intrusion_attempt':
      return ['No action needed. Probes like this are common on the internet.', 'If it doesn’t stop, tell support.'];
    case 'ddos_attempt':
      return ['If one of your programs sends these requests, slow it down.', 'If not, no action is needed.'];
    case 'remote_report':
      return [
        'Read the session’s record in the audit log and ask the customer what happened.',
        'If the report is true, remove the technician’s role. Their other sessions end at once.',
      ];
    case 'false_alarm':
      return ['No action needed. You can restore the file from your scan history.'];
    default:
      return ['Check what happened. Tell support if you don’t recognize it.'];
  }
}
