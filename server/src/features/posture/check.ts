import type { FixPlace } from '@palisade/contract/anti-hacking';
import type { Severity } from '@palisade/contract/severity';
import type { Sentence } from '#platform/sentence.ts';
import type { CheckId } from './posture.phrases.ts';
import type { PostureFacts } from './posture-facts.ts';

export type Group = 'account' | 'rules' | 'devices' | 'files';

/** The reason why a check cannot decide, as a sentence. */
interface Undecided {
  reason: Sentence;
}

/** The outcome of a check: no fault (`times` 0), or the number of deductions. */
export interface Outcome {
  times: number;
  evidence: Sentence;
  /** In place of the check's own. */
  title?: Sentence;
  deduction?: number;
  fix?: Fix;
}

/** The advice, the route to follow it, and the text of the button. */
export interface Fix {
  advice: Sentence;
  fix_route:
    | FixPlace
    | `${'/anti-hacking?alert' | '/antivirus?scan' | '/firewall?rule' | '/devices?device' | '/web-protection?device'}=${string}`;
  action: Sentence;
}

export interface Check extends Fix {
  /** Its titles are the sentences `fault`, when it fails, and `goal`. */
  id: CheckId;
  group: Group;
  severity: Severity;
  deduction: number;
  /** While it fails, the person is in danger. */
  is_danger?: boolean;
  /** Absent or undefined result: this server has no data for it. */
  run?: (facts: PostureFacts) => Outcome | Undecided | undefined;
}
