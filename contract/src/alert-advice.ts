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
  ['brute_force', 'Somebody is guessing a password'],
  ['suspicious_login', 'A sign-in that looks unusual'],
  ['malware_detected', 'A dangerous file was found'],
  ['phishing_attempt', 'Something tries to steal a password'],
  ['intrusion_attempt', 'Somebody looks for a way in'],
  ['ddos_attempt', 'Far more requests than usual'],
  ['false_alarm', 'An earlier alert was a false one'],
  ['remote_report', 'A customer reported a remote session'],
]);

type Advised = Pick<Alert, 'threat_type' | 'severity' | 'outcome' | 'simulated' | 'rule'>;

/** The outcome of the event, as far as it can be proven, in one sentence. */
export function alertProof({ threat_type, outcome, simulated, rule }: Advised): string {
  if (rule === CHECKED_SCAM_RULE) return 'Someone sent it to you. The check stops nothing; your next step decides.';
  if (simulated) return 'A drill, shown as neutralized: nothing of this happened.';
  if (threat_type === 'false_alarm') return 'Nothing was wrong with it.';
  if (outcome === 'blocked') return BLOCKED.get(threat_type) ?? 'Refused: what was tried did not get through.';
  if (outcome === 'allowed') return ALLOWED.get(threat_type) ?? 'Not stopped: it got through.';
  return 'Not known: nothing here can prove whether it was stopped.';
}

const BLOCKED = new Map<string, string>([
  ['brute_force', 'Refused: no sign-in was let in.'],
  ['suspicious_login', 'Ended: whoever it was is signed out.'],
  ['malware_detected', 'Out of reach: the uploaded copy is locked away or deleted.'],
  ['phishing_attempt', 'Out of reach: the uploaded copy is locked away or deleted.'],
  ['intrusion_attempt', 'Refused: the requests were answered with nothing.'],
  ['ddos_attempt', 'Refused: the requests were turned away.'],
]);

const ALLOWED = new Map<string, string>([
  ['brute_force', 'Not refused: further attempts are still answered.'],
  ['suspicious_login', 'Let in: whoever it was had what it takes to sign in.'],
  ['malware_detected', 'Not out of reach: the uploaded copy could not be removed yet.'],
]);

/** Advice for an alert, the most important first. Never empty. */
export function alertAdvice(alert: Advised): string[] {
  const { threat_type, outcome, simulated } = alert;
  if (simulated) return ['Nothing. It shows what an alert looks like.'];
  if (isOfTestFile(alert)) return ['Nothing. The file does no harm: it is made to try out programs like this one.'];
  switch (threat_type) {
    case 'brute_force':
      return [
        'Was it you, with a password that you could not recall? Then say so.',
        'If not, choose a password that you use nowhere else, and turn on two-factor sign-in.',
      ];
    case 'suspicious_login':
      return [
        'Was it you, in a new browser or on a journey? Then say so.',
        'If not, say so: the session is ended. Then choose a new password.',
      ];
    case 'malware_detected':
      return outcome === 'blocked'
        ? ['Delete the original where you took it from.', 'Do not open it. If you did, have that device checked.']
        : ['Do not open the file, and delete the original.', 'Tell support: the uploaded copy still lies on the server.'];
    case 'phishing_attempt':
      return ['Follow no link in it, and enter no password.', 'If you did, change that password now, wherever you use it.'];
    case 'intrusion_attempt':
      return [
        'There is nothing that you must do: probing like this goes on all over the internet.',
        'If it does not stop, tell support.',
      ];
    case 'ddos_attempt':
      return ['If a program of yours asks that often, slow it down.', 'If not, there is nothing that you must do.'];
    case 'remote_report':
      return [
        'Read the record of the session in the audit log, and ask the customer what happened.',
        'If it was as they say, take the role from the technician: their other sessions end at once.',
      ];
    case 'false_alarm':
      return ['Nothing. You can get the file back from your scan history.'];
    default:
      return ['Look at what happened, and tell support if you do not recognise it.'];
  }
}
