import type { EngineAnswer, StatusDetail } from '@palisade/contract/antivirus';
import type { EngineOutcome } from '@palisade/scanner/yara-pool';
import { displayName } from './filename.ts';
import type { Verdict } from './keeping.ts';

/** Of several reasons the record names the gravest: what an attacker would do first, what the person could mend last. */
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

/** The record that the outcome makes: the worst verdict of all engines. `clean` only here, and only when nothing was left unread. */
export function verdictOf(outcome: EngineOutcome, filename: string): Partial<Verdict> {
  const { second } = outcome;
  const answers = second?.kind === 'given' ? [second.answer] : [];
  const hit = answers.find((answer) => answer.verdict === 'infected')?.threat ?? null;
  const unseen = second?.kind === 'missing';
  const beside = second?.kind === 'given' && second.detail !== null ? [second.detail] : [];
  if (outcome.kind === 'failed') {
    // Engines die over it: who uploads it again gets the same answer, until engine or signatures change.
    const edition = outcome.detail === 'engine_failed' && !unseen ? outcome.edition || null : null;
    const serving = { edition, answered_from: null };
    if (hit !== null) {
      const status_detail = outcome.detail === 'engine_down' ? null : outcome.detail;
      return { scan_status: 'infected', status_detail, threat_detected: hit, engines: JSON.stringify(answers), ...serving };
    }
    // A file that the engine could not finish in time will not be finished next time.
    const status_detail = unseen ? 'engine_down' : outcome.detail;
    return { scan_status: 'pending', status_detail, engines: JSON.stringify(answers), ...serving };
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
    threat_member: examination.threat_member === null ? null : displayTrail(examination.threat_member),
    threat_facts: examination.threat_facts === null ? null : JSON.stringify(examination.threat_facts),
    media_type: examination.media_type,
    notes: JSON.stringify(
      examination.notes.map(({ member, sentence }) => (member === null ? sentence : `${displayTrail(member)}: ${sentence}`)),
    ),
    engines: JSON.stringify([own, ...answers]),
    coverage: JSON.stringify(examination.coverage),
    edition:
      waits || status_detail === 'time_limit'
        ? null
        : editionFor(outcome.edition, examination.named_after_upload ? filename : undefined),
    answered_from: null,
  };
}

/** What a verdict may serve again for: files of any name, or of this one only. No name that is shown holds a line's end, so none passes for an engine's. */
export function editionFor(edition: string, filename: string | undefined): string {
  return filename === undefined ? edition : `${edition}\n${filename}`;
}

/** A path inside archives: each part as hostile as a file's name. */
function displayTrail(trail: string): string {
  return trail.split(' / ').map(displayName).join(' / ');
}
