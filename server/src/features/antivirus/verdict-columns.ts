import { noteInEnglish } from '@palisade/contract/scan-phrases';
import type { Verdict as FileVerdict } from '@palisade/scanner/verdict';
import type { Verdict } from './scan-row.ts';

/** A verdict as the record of an upload keeps it. Columns without an answer of an engine stay as they are in the record. */
export function columnsOf(verdict: FileVerdict, filename: string): Partial<Verdict> {
  const { scan_status, status_detail, threat_detected, engines, edition, seen } = verdict;
  const said = { scan_status, status_detail, engines: JSON.stringify(engines), answered_from: null };
  if (seen === undefined) return { ...said, edition, ...(threat_detected !== null && { threat_detected }) };
  return {
    ...said,
    threat_detected,
    threat_member: seen.threat_member,
    threat_facts: seen.threat_facts === null ? null : JSON.stringify(seen.threat_facts),
    media_type: seen.media_type,
    notes: JSON.stringify(seen.notes.map(noteInEnglish)),
    note_phrases: JSON.stringify(seen.notes.map(({ member, phrase }) => ({ ...phrase, member }))),
    coverage: JSON.stringify(seen.coverage),
    edition: edition === null ? null : editionFor(edition, seen.named_after_file ? filename : undefined),
  };
}

/** The scope in which a verdict can be reused: files of any name, or of this one only. Displayed names contain no line end, so a name cannot imitate an engine's edition. */
export function editionFor(edition: string, filename: string | undefined): string {
  return filename === undefined ? edition : `${edition}\n${filename}`;
}
