import { coverageSchema } from '@palisade/contract/antivirus';
import { scanEnglish, scanPhrase } from '@palisade/contract/scan-phrases';
import type { EngineOutcome } from '@palisade/scanner/yara-pool';
import { refuse, refuseField } from './antivirus.refusals.ts';
import { isOfItsFinders } from './known-hashes.ts';
import { notePhrasesOf, notesSchema } from './scan-record.ts';
import type { ScanRow as Row, Verdict } from './scan-row.ts';

/** Whether all engines have answered, or one answer suffices. */
export function isAnswered(outcome: EngineOutcome): boolean {
  return outcome.kind === 'examined' && (outcome.second?.kind !== 'missing' || outcome.examination.threat !== null);
}

/** @throws Problem when the password opened nothing more than was readable without it. */
export function refuseWrongPassword(row: Row, outcome: EngineOutcome): void {
  if (outcome.kind === 'failed' && outcome.detail === 'engine_failed') throw refuse('scan.scanner_failed');
  if (outcome.kind === 'failed') throw refuse('scan.scanner_away', {}, { retry_after: 5 });
  const { unread, threat, coverage } = outcome.examination;
  const before = row.coverage === null ? 0 : coverageSchema.parse(JSON.parse(row.coverage)).members_scanned;
  if (unread.includes('encrypted') && threat === null && coverage.members_scanned <= before) {
    throw refuseField('password', 'scan.wrong_password');
  }
}

/** Whether an earlier finding stays: only a complete reading by the engines that found it can revoke it. */
export function keepsFinding(row: Row, verdict: Partial<Verdict>): boolean {
  const was_found = row.scan_status === 'infected' && verdict.scan_status !== 'infected';
  return was_found && (verdict.scan_status === 'pending' || !isOfItsFinders(row, verdict));
}

/** The notes of a file in which newer signatures find nothing, as its columns hold them. */
export function notesOfCleared(row: Row, { notes, note_phrases }: Partial<Verdict>): Pick<Verdict, 'notes' | 'note_phrases'> {
  const cleared = scanPhrase('cleared', { day: row.scanned_at.slice(0, 10), threat: String(row.threat_detected) });
  const before = notesSchema.parse(JSON.parse(notes ?? '[]'));
  return {
    notes: JSON.stringify([...before, scanEnglish(cleared)]),
    note_phrases: JSON.stringify([...notePhrasesOf(before, note_phrases ?? null), { ...cleared, member: null }]),
  };
}
