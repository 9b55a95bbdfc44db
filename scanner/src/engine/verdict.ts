import type { Coverage, EngineAnswer, Scan, StatusDetail } from '@palisade/contract/antivirus';
import type { ThreatFacts } from '@palisade/contract/quarantine';
import type { ScanPhrase } from '@palisade/contract/scan-phrases';
import { displayName } from './filename.ts';
import type { EngineOutcome } from './yara-pool.ts';

/** With several reasons the verdict names the gravest: ordered from likely attacks to faults that the person can fix. */
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
  /** The engine, signatures and limits that it is valid for; null if another reading of the same bytes may differ. */
  edition: string | null;
  /** Facts found by the embedded engine; undefined if it could not read the file. Names in it are safe to display. */
  seen:
    | {
        threat_member: string | null;
        threat_facts: ThreatFacts | null;
        media_type: string | null;
        notes: { member: string | null; phrase: ScanPhrase }[];
        coverage: Coverage;
        /** Member names derived from the file's own name. */
        named_after_file: boolean;
      }
    | undefined;
}

/** The verdict of an outcome. The only source of `clean`, which requires that everything was read. */
export function verdictOf(outcome: EngineOutcome): Verdict {
  const { second } = outcome;
  const answers = second?.kind === 'given' ? [second.answer] : [];
  const hit = answers.find((answer) => answer.verdict === 'infected')?.threat ?? null;
  const unseen = second?.kind === 'missing';
  const beside = second?.kind === 'given' && second.detail !== null ? [second.detail] : [];
  if (outcome.kind === 'failed') {
    // Engines crash on it, so a repetition gives the same answer until engine or signatures change.
    const edition = outcome.detail === 'engine_failed' && !unseen ? outcome.edition || null : null;
    const rest = { engines: answers, edition, seen: undefined };
    if (hit !== null) {
      const status_detail = outcome.detail === 'engine_down' ? null : outcome.detail;
      return { scan_status: 'infected', status_detail, threat_detected: hit, ...rest };
    }
    // A file that exceeded the time limit would exceed it again.
    return { scan_status: 'pending', status_detail: unseen ? 'engine_down' : outcome.detail, threat_detected: null, ...rest };
  }
  const { examination, name, version, signatures_version, duration_ms } = outcome;
  const own_detail = gravest(examination.unread);
  const threat = examination.threat ?? hit;
  // One finding is enough; without one, both engines must have read the file.
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
