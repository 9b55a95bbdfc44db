import type { Coverage, EngineAnswer, Scan, StatusDetail } from '@palisade/contract/antivirus';
import type { ThreatFacts } from '@palisade/contract/quarantine';
import type { ScanPhrase } from '@palisade/contract/scan-phrases';
import { displayName } from './filename.ts';
import type { EngineOutcome } from './yara-pool.ts';

/** Of several reasons the verdict names the gravest: what an attacker would do first, what the person could mend last. */
const GRAVITY: readonly StatusDetail[] = [
  'bomb',
  'too_many_members',
  'depth',
  'too_large',
  'time_limit',
  'encrypted',
  'unsupported',
  'damaged',
  'unexplained',
];

const gravest = (details: readonly StatusDetail[]): StatusDetail | null =>
  GRAVITY.find((detail) => details.includes(detail)) ?? details[0] ?? null;

/** Joint verdict of all engines on a file: the worst one. */
export interface Verdict {
  scan_status: Scan['scan_status'];
  status_detail: StatusDetail | null;
  threat_detected: string | null;
  engines: EngineAnswer[];
  /** Engine, signatures and limits for which it holds; null where the next reading of the same bytes may say something else. */
  edition: string | null;
  /** Observations of the embedded engine; undefined where it could not read the file. Names in it may be shown as they are. */
  seen:
    | {
        threat_member: string | null;
        threat_facts: ThreatFacts | null;
        media_type: string | null;
        notes: { member: string | null; phrase: ScanPhrase }[];
        coverage: Coverage;
        /** Names in it follow from the file's own. */
        named_after_file: boolean;
      }
    | undefined;
}

/** The verdict that an outcome makes. `clean` only here, and only when nothing was left unread. */
export function verdictOf(outcome: EngineOutcome): Verdict {
  const { second } = outcome;
  const answers = second?.kind === 'given' ? [second.answer] : [];
  const hit = answers.find((answer) => answer.verdict === 'infected')?.threat ?? null;
  const unseen = second?.kind === 'missing';
  const beside = second?.kind === 'given' && second.detail !== null ? [second.detail] : [];
  if (outcome.kind === 'failed') {
    // Engines die over it: who reads it again gets the same answer, until engine or signatures change.
    const edition = outcome.detail === 'engine_failed' && !unseen ? outcome.edition || null : null;
    const rest = { engines: answers, edition, seen: undefined };
    if (hit !== null) {
      const status_detail = outcome.detail === 'engine_down' ? null : outcome.detail;
      return { scan_status: 'infected', status_detail, threat_detected: hit, ...rest };
    }
    // A file that the engine could not finish in time will not be finished next time.
    return { scan_status: 'pending', status_detail: unseen ? 'engine_down' : outcome.detail, threat_detected: null, ...rest };
  }
  const { examination, name, version, signatures_version, duration_ms } = outcome;
  const own_detail = gravest(examination.unread);
  const threat = examination.threat ?? hit;
  // Found by one: no need of the other. Found by none: not before both have read it.
  const waits = unseen && threat === null;
  const status_detail = waits ? 'engine_down' : gravest([...examination.unread, ...beside]);
  const statusOf = (found: string | null, detail: StatusDetail | null) =>
    found !== null ? 'infected' : detail !== null ? 'pending' : 'clean';
  const own: EngineAnswer = {
    name,
    version,
    signatures_version,
    verdict: statusOf(examination.threat, own_detail),
    threat: examination.threat,
    duration_ms: Math.round(duration_ms * 1000) / 1000,
  };
  return {
    scan_status: statusOf(threat, status_detail),
    status_detail,
    threat_detected: threat,
    engines: [own, ...answers],
    edition: waits || status_detail === 'time_limit' ? null : outcome.edition,
    seen: {
      threat_member: examination.threat_member === null ? null : displayTrail(examination.threat_member),
      threat_facts: examination.threat_facts,
      media_type: examination.media_type,
      notes: examination.notes.map(({ member, phrase }) => ({ member: member === null ? null : displayTrail(member), phrase })),
      coverage: examination.coverage,
      named_after_file: examination.named_after_upload,
    },
  };
}

/** A path inside archives: each part as hostile as a file's name. */
function displayTrail(trail: string): string {
  return trail.split(' / ').map(displayName).join(' / ');
}
